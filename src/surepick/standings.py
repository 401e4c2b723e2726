"""How far candidates on shared items are from being chosen, each compared on the items that it shares with another one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import display
from .arms import Floats, Ints
from .confidence.paired_intervals import paired_intervals
from .errors import SettingError
from .pool import Board
from .problems.base import Problem
from .problems.best_of_each import BestOfEach
from .problems.ranking import Ranking

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Standings:
    """The difference of every candidate to one of them, the reference: its mean over all items of the pool minus the reference's.

    With probability at least 1 - delta all intervals hold together: at all times, between any two candidates, and so whichever is
    compared with whichever, chosen by looking. That is a statement of its own, beside the certificate. Each of the two is false
    with probability at most delta; that both hold has probability at least 1 - 2 delta.

    Attributes
    ----------
    names : list
        The candidates.
    reference : list
        Whom each was compared with, by name: the one that is chosen; where several are, the last of them, who was judged on most
        items. Who is ahead of it is chosen, as a rule, and who is behind is not.
    difference : array
        On the items that both were judged on, in units of the scores; NaN where there are none. Two candidates are best compared
        by this: means over different items differ by the items, too.
    lower, upper : array
        The interval of the difference of the means over all items. A point once all scores of both are known.
    items : array
        How many items both were judged on; of a reference, how many it was judged on.
    size : int
        How many items there are.
    delta : float
    """

    names: list[Any]
    reference: list[Any]
    difference: Floats
    lower: Floats
    upper: Floats
    items: Ints
    size: int
    delta: float

    @property
    def references(self) -> list[Any]:
        """Those who are compared with: one, or one of every group."""
        return list(dict.fromkeys(self.reference))

    def to_frame(self) -> pd.DataFrame:
        """A row a candidate: ``candidate`` and ``reference`` (names), ``difference``, ``lower``, ``upper`` and ``items``."""
        import pandas as pd

        named = {"candidate": pd.Series(self.names, dtype=object), "reference": pd.Series(self.reference, dtype=object)}
        return pd.DataFrame({**named, **{part: getattr(self, part) for part in ("difference", "lower", "upper", "items")}})

    def __repr__(self) -> str:
        return f"<Standings of {len(self.names):,} candidates, compared with {display.listed(self.references)}>"


def why_not(problem: Problem) -> str | None:
    """Why there are no standings of a problem; None if there are."""
    if problem.pool is None:
        return "Standings compare candidates on shared items: make the explorer with pool=Pool(items)."
    if len({(arm.low, arm.high) for arm in problem.arms}) > 1:
        return "Standings compare scores of candidates: declare the same bounds, low and high, for all of them."
    return None


def standings(problem: Problem, board: Board, decision: np.ndarray[Any, Any], delta: float, to: int | None = None) -> Standings:
    """All candidates, each compared with the reference of its group, or with one candidate."""
    if reason := why_not(problem):
        raise SettingError(reason, key="pool")
    m, size = problem.m, board.scores.shape[1]
    unit, each = problem.arms[0].high - problem.arms[0].low, np.arange(m)
    with_ = _references(problem, board, decision) if to is None else np.full(m, to)
    level = math.log(max(m * (m - 1), 1)) - math.log(delta)  # for every two candidates and either side
    found = paired_intervals(board.scores, board.counts, board.sums + board.carries, each, with_, unit, level)
    difference, lower, upper = (np.where(with_ == each, 0.0, part) for part in found)
    return Standings(
        names=problem.names,
        reference=[problem.names[i] for i in with_],
        difference=difference,
        lower=lower,
        upper=upper,
        items=np.minimum(board.counts, board.counts[with_]),
        size=size,
        delta=delta,
    )


def _references(problem: Problem, board: Board, decision: np.ndarray[Any, Any]) -> Ints:
    """Of every candidate whom in its group it is compared with: of those chosen (the first of a ranking) the ones with the most
    scores, and of these the last one on the items that they share. As a rule that is the one that was hardest to tell from those
    who are left out."""
    groups = problem.group if isinstance(problem, BestOfEach) else np.zeros(problem.m, dtype=np.int64)
    chosen = decision == 1 if isinstance(problem, Ranking) else decision != 0
    sign, found = getattr(problem, "sign", 1.0), np.empty(problem.m, dtype=np.int64)
    for g in np.unique(groups):
        members = np.flatnonzero(groups == g)
        some = members[chosen[members]] if chosen[members].any() else members
        most = int(board.counts[some].max())
        deep = some[board.counts[some] == most]
        found[members] = deep[np.argmin(sign * board.scores[deep, :most].sum(axis=1))]
    return found
