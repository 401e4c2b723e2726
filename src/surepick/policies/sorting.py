"""Two candidates after two others are told apart on shared items, until the whole order is certain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arms import Bools, Floats, Ints
from ..confidence.shared import ROUNDING, Shared
from ..order import Order, closure, consistent, cuts
from ..pool import Board
from ..problems.base import Problem
from ..problems.ranking import Ranking
from .base import TINY, View, worth
from .items import cheapest
from .on_items import OnItems

LARGE = 1_000  # candidates up to which every two are compared


class Sorting(OnItems["_Seen"]):
    """Judges candidates whose place is open, and stops when the order is certain.

    The first items are for all of them; then come the two who lack least to be told apart, in evaluations times prices, and so on
    (:func:`~surepick.policies.items.cheapest`). So as much of the order as may be is certain at any time.

    Every two candidates have a bet on their differences on shared items (:class:`~surepick.confidence.shared.Shared`). Certain is

    * a *cut*: every candidate before it has won its bets against every candidate behind it, at (m - 1) times the odds. If a cut
      is wrong, then somewhere two neighbours of the true order stand on the wrong sides of it, so that a bet against the truth
      was won by neighbours; there are but m - 1 of them;
    * a *pair* whose bet was won at m (m - 1) / 2 times the odds, wherever the two stand;
    * with an epsilon, that two candidates are within epsilon of each other, where bets that allow for it were won both ways at as
      many times the odds;
    * what follows from these, and from the scores that are known.

    Cuts get two parts of delta, and pairs one; with an epsilon all three get one. A tenth of delta goes to the intervals that are
    reported, of every candidate by itself.

    Parameters
    ----------
    box_share : float
        The part of delta that the reported intervals get, from 0.001 to 0.999; the bets have the rest.
    """

    name = "sorting"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if problem.pool is None:
            return "a pool of items that all candidates are judged on"
        if not isinstance(problem, Ranking):
            return "a ranking"
        if len({(arm.low, arm.high) for arm in problem.arms}) > 1:
            return "the same bounds for the scores of all candidates"
        return None if problem.m <= LARGE else f"at most {LARGE:,} candidates"

    # -- what is known -------------------------------------------------------------------------------------------------

    def _begin(self, board: Board, delta: float, epsilon: float) -> _Seen:
        return _Seen(self, board, delta, epsilon)

    def order(self, view: View) -> Order:
        return self._look(view).order

    def decision(self, view: View) -> np.ndarray[Any, Any]:
        return self._look(view).decision.copy()

    def certified(self, view: View) -> bool:
        return not self._look(view).order.unclear.any()

    def near(self, view: View) -> bool:
        return not self._look(view).order.open.any()

    def undecided(self, view: View) -> Bools:
        return np.asarray(self._look(view).order.unclear.any(axis=1))

    def candidates(self, view: View) -> Bools:
        return np.asarray(self._look(view).order.open.any(axis=1))

    def rival(self, view: View) -> np.ndarray[Any, Any]:
        """The decision after the two that are known least have changed places."""
        seen = self._look(view)
        found, doubtful = seen.decision.copy(), seen.order.open if seen.order.open.any() else seen.order.unclear
        if doubtful.any():
            known = np.where(doubtful, np.maximum(seen.exact.most, seen.exact.most.T), np.inf)
            i, j = np.unravel_index(int(known.argmin()), known.shape)
            found[i], found[j] = found[j], found[i]
        return found

    def gap(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        """How far any two in wrong order are apart at most: by the box, of those that are not in certain order."""
        seen, (lower, upper) = self._look(view), worth(view)
        wrong = seen.order.unclear & np.less.outer(decision, decision)
        found = float(np.where(wrong, upper[None, :] - lower[:, None], 0.0).max())
        return min(found, view.epsilon) if self.near(view) and view.epsilon > 0 else found

    def attained(self, view: View) -> float:
        """By the bets as they are at this delta: what they would have certified with another part of it."""
        seen = self._look(view)
        if (view.counts >= self.problem.populations).all():  # all is known
            return TINY

        before = np.less.outer(seen.decision, seen.decision)

        def certified(log_scale: float) -> bool:
            order = seen.certain(log_scale)
            return bool((order.above | order.close)[before].all())

        spent = math.log(seen.spent)
        # At the largest deltas bets may be won both ways; what is certified at this delta is so, whatever is claimed at those.
        low, high = math.log(TINY) - spent, 0.0 if certified(0.0) else -spent
        if not certified(high):
            return 1.0
        if certified(low):
            return TINY
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (low, middle) if certified(middle) else (middle, high)
        return min(1.0, max(TINY, math.exp(high + spent) / (1.0 - self.box_share)))

    # -- what is judged next ---------------------------------------------------------------------------------------------

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        """Of the candidates whose place is open two that are told apart by few evaluations, or cheap ones."""
        return self._next(view, planned, n, self._look(view).order.open)

    def spend(self, view: View, planned: Ints, n: int) -> list[int]:
        """As ever, but what is within epsilon is told apart, too; and once the order is certain, all."""
        return self._next(view, planned, n, self._look(view).order.unclear) or super().spend(view, planned, n)

    def _next(self, view: View, planned: Ints, n: int, pairs: Bools) -> list[int]:
        closed = np.zeros(self.problem.m, dtype=np.bool_) if view.open is None else ~view.open
        most = self._useful(view, pairs, closed)
        seen = self._look(view)
        h, low = np.nonzero(np.triu(pairs))
        return cheapest(seen.exact, h, low, seen.level, self.problem.dearness, planned, most, n)

    def stuck(self, view: View, over: Bools) -> bool:
        """What has ended leaves those that are open with nobody to be compared with."""
        return bool((view.counts >= self._useful(view, self._look(view).order.open, over)).all())

    def _useful(self, view: View, pairs: Bools, closed: Bools) -> Floats:
        """Up to how many scores of every candidate tell something about these pairs, where some candidates are closed: as many as
        somebody has, or may get, with whom it is to be compared."""
        reach = np.where(closed, view.counts, self.problem.populations)
        return np.where(closed, 0.0, np.where(pairs, reach, 0.0).max(axis=1, initial=0.0))


class _Seen:
    """What is known at one delta and one epsilon: it hangs on the scores alone, and not on how they came in."""

    def __init__(self, policy: Sorting, board: Board, delta: float, epsilon: float) -> None:
        problem, self.size = policy.problem, board.scores.shape[1]
        self.policy, self.asked, self.m = policy, (delta, epsilon), problem.m
        self.counts: Ints = np.zeros(self.m, dtype=np.int64)
        self.whole: Floats = np.full(self.m, np.nan)  # the sums of those all of whose scores are known
        self.spent = delta * (1.0 - policy.box_share)
        self.level: float = math.log(1.5 * max(self.m - 1, 1) / self.spent)  # at which a pair is told apart
        arm = problem.arms[0]
        low, high = (arm.low, arm.high) if policy.sign > 0 else (arm.high, arm.low)  # units rise with what is looked for
        self.exact = Shared(self.m, self.size, low, high)
        self.slack = Shared(self.m, self.size, low, high, epsilon) if epsilon > 0 else None
        self.facts = self._facts(0.0)
        self.order = self._order(self.facts)
        self.decision = np.arange(1, self.m + 1)

    def advance(self, board: Board) -> None:
        if (self.counts == board.counts).all():
            return
        self.counts = board.counts.copy()
        for bets in (self.exact, self.slack):
            if bets is not None:
                bets.advance(board.scores, board.counts)
        self.whole = np.where(board.counts == self.size, board.sums + board.carries, np.nan)
        facts = self._facts(0.0)
        if any((new != old).any() for new, old in zip(facts, self.facts, strict=True)):
            self.facts, self.order = facts, self._order(facts)
        self.decision = consistent(self.order.above, self.policy.sign * np.nan_to_num(board.estimates))

    def certain(self, log_scale: float) -> Order:
        """What would be certain with this multiple of delta."""
        return self._order(self._facts(log_scale))

    def _facts(self, log_scale: float) -> tuple[Bools, Bools, Bools]:
        """[i, j] for the three kinds of claim: that i is above j, where neighbours are paid for, where pairs are, and that it is
        no more than epsilon below."""
        m, parts = self.m, math.log(3.0) - math.log(self.spent) - log_scale
        h, low = np.ogrid[:m, :m]
        least = self._least(h, low)
        equal = (np.abs(least) <= ROUNDING) & (np.abs(least.T) <= ROUNDING)
        pairs = parts + math.log(max(m * (m - 1) // 2, 1))
        cut = parts + math.log(max(m - 1, 1)) - (0.0 if self.slack is not None else math.log(2.0))
        doubtful = not (self.counts == self.size).all()  # else there is nothing to bet on
        across = doubtful & (self.exact.most >= cut) | (least > ROUNDING) | (equal & (h < low))  # equal ones as they are listed
        above = doubtful & (self.exact.most >= pairs) | (least >= -ROUNDING)
        behind = above
        if self.slack is not None:
            behind = above | doubtful & (self.slack.most >= pairs) | (least >= -self.slack.slack - ROUNDING)
        return across, above, behind

    def _order(self, facts: tuple[Bools, Bools, Bools]) -> Order:
        """All that follows from claims."""
        across, above, behind = facts
        above = closure(above | cuts(across))
        behind = above | behind
        close = behind & behind.T if self.slack is not None else np.eye(self.m, dtype=np.bool_)
        return Order(above, close)

    def _least(self, h: Ints, low: Ints) -> Floats:
        """By how much each is at least above each other, in units of the range, whatever the scores are that are missing."""
        least = self.exact.least(h, low)
        totals = self.policy.sign * np.subtract.outer(self.whole, self.whole) / (self.size * abs(self.exact.range))
        return np.asarray(np.where(np.isnan(totals), least, totals))
