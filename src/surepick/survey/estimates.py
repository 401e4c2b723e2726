"""What estimation finds: figures of a population and its domains, and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arms import Floats
from ..errors import SettingError
from .answers import Answers
from .question import columns

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Estimate:
    """One figure of the population, or of a domain.

    Attributes
    ----------
    what : str
        ``"mean"``, ``"share"``, ``"total"`` or ``"ratio"``.
    variable, domain : str
        ``domain`` is ``"all"`` for the whole population.
    estimate, se : float
        ``se`` is corrected for a finite population.
    cv : float or None
        ``se`` as a share of the estimate.
    lower, upper : float
        The classical interval: for one look, at a sample whose size was fixed before.
    method : str
        How it was made: ``"t"``, ``"logit"``, or ``"all alike"`` where a standard error of 0 says nothing.
    df : float
        Degrees of freedom.
    deff : float or None
        The design effect: the variance over that of a simple random sample of as many people.
    always_lower, always_upper : float or None
        The interval that holds at every moment; None without bounds of the values, for ratios, and for domains that are not made
        of whole strata.
    n, missing : int
        Answers, and those that are missing.
    """

    what: str
    variable: str
    domain: str
    estimate: float
    se: float
    cv: float | None
    lower: float
    upper: float
    method: str
    df: float
    deff: float | None
    always_lower: float | None
    always_upper: float | None
    n: int
    missing: int


@dataclass(frozen=True, eq=False)
class Estimates(Sequence[Estimate]):
    """What :func:`surepick.survey.estimate` finds: a sequence of :class:`Estimate`.

    Attributes
    ----------
    rows : list of Estimate
    notes : list of str
        What was done about missing answers, lonely strata and the like, in sentences.
    weights : dict of arrays
        By variable: how many people of the population every row of the answers stands for; 0 where the answer is missing.
    delta : float
    """

    rows: list[Estimate]
    notes: list[str]
    weights: dict[str, Floats]
    delta: float
    answers: Answers

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: Any) -> Any:
        return self.rows[i]

    def find(self, variable: str, what: str | None = None, domain: str = "all") -> Estimate:
        """The estimate of this variable; its mean, share or ratio unless ``what`` says total."""
        for row in self.rows:
            if row.variable == variable and row.domain == domain and (row.what == what or (what is None and row.what != "total")):
                return row
        raise SettingError(f"There is no {what or 'mean'} of {variable!r} for {domain!r} among the estimates.", key="variable")

    def to_frame(self) -> pd.DataFrame:
        """A row an estimate, with the attributes of :class:`Estimate` as columns."""
        import pandas as pd

        return pd.DataFrame([vars(row) for row in self.rows])

    def weights_frame(self) -> pd.DataFrame:
        """The answers as they were read, with a column ``weight``, or one for every variable where people left out some.

        Where numbers were written with decimal commas they are numbers here. Where a column has this name already, the new one
        is ``survey_weight``.
        """
        import pandas as pd

        table = {title: _plain_column(column) for title, column in columns(self.answers).items()}
        found = list(self.weights.values())
        if all((found[0] == other).all() for other in found):
            return pd.DataFrame({**table, "survey_weight" if "weight" in table else "weight": found[0]})
        return pd.DataFrame({**table, **{f"weight_{variable}": w for variable, w in self.weights.items()}})

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, ready for JSON."""
        rows = [{key: None if _unknown(x) else x for key, x in vars(row).items()} for row in self.rows]
        return {"delta": self.delta, "estimates": rows, "notes": self.notes}

    def __repr__(self) -> str:
        return f"<Estimates: {len(self)} of {len(self.answers):,} answers>"


def _plain_column(column: Any) -> list[Any]:
    return ["" if x is None or x != x else x for x in (column.tolist() if hasattr(column, "tolist") else column)]


def _unknown(x: object) -> bool:
    return isinstance(x, float) and not np.isfinite(x)
