"""One wave of a survey: what to ask next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arms import Floats, Ints
from ..checks import short
from ..errors import SettingError
from .frame import Frame

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Wave:
    """What to ask next; one entry a stratum.

    Attributes
    ----------
    n : array of int
        Interviews.
    contacts : array of int
        People to contact for them, by the response rate.
    answered, missing : array of int
        Answers so far, and people who were asked and did not answer.
    planned : array of int
        Interviews in the end, the answers so far and this wave among them, if nothing new is learnt.
    S : array
        The standard deviations that this was planned with; NaN before there are any.
    spent, budget : float
        What the answers cost, and what all may: in interviews, or in units of cost.
    notes : list of str
        What should be known.
    """

    frame: Frame
    n: Ints
    contacts: Ints
    answered: Ints
    missing: Ints
    planned: Ints
    S: Floats
    spent: float
    budget: float
    notes: list[str]

    def __getitem__(self, stratum: str) -> int:
        """Interviews of a stratum, by its name."""
        index = self.frame.index
        if stratum not in index:
            raise SettingError(f"There is no stratum {short(stratum)} in {self.frame.source}.", key="stratum")
        return int(self.n[index[stratum]])

    def __repr__(self) -> str:
        return f"<Wave: {self.n.sum():,} interviews after {self.answered.sum():,} of {self.planned.sum():,}>"

    def to_frame(self) -> DataFrame:
        """One row a stratum, for pandas."""
        import pandas as pd

        N, rate = self.frame.N, bool((self.contacts != self.n).any())
        return pd.DataFrame(
            {
                "stratum": list(self.frame.strata),
                "N": N.astype(np.int64) if (N == np.floor(N)).all() else N,
                "answered": self.answered,
                **({"missing": self.missing} if self.missing.any() else {}),
                "next": self.n,
                **({"contacts": self.contacts} if rate else {}),
                "planned": self.planned,
                "S": self.S,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, ready for JSON."""
        names = ("answered", "missing", "next", "contacts", "planned")
        arrays = (self.answered, self.missing, self.n, self.contacts, self.planned)
        rows = [dict(zip(names, row, strict=True)) for row in zip(*(x.tolist() for x in arrays), strict=True)]
        S = [None if np.isnan(s) else s for s in self.S.tolist()]
        strata = [{"stratum": name, **row, "S": s} for name, row, s in zip(self.frame.strata, rows, S, strict=True)]
        return {"next": int(self.n.sum()), "spent": self.spent, "budget": self.budget, "strata": strata, "notes": self.notes}
