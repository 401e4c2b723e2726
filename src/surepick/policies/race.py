"""All candidates that are undecided are judged on the next item of a pool, until none is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arms import Bools, Floats, Ints
from ..checks import vouched
from ..confidence.sets import Sets, choices
from ..confidence.shared import ROUNDING, Shared
from ..pool import Board
from ..problems.base import LinearProblem, Problem
from ..problems.best_of_each import BestOfEach
from .base import TINY, View
from .items import cheapest, level
from .joint import LISTED
from .on_items import OnItems

LARGE = 2_000  # candidates up to which every two are compared
MOST = 20_000  # choices of a group up to which every one has a test of its own
EXACT_SHARE = 0.5  # of delta, with an epsilon: for what is the very best


class Race(OnItems["_Seen"]):
    """Judges the candidates that are undecided on one item after another, all on the same, and stops when none is.

    Best arm, top-k and best of each: every choice of a group's k candidates has a test of its own, without a union
    (:class:`~surepick.confidence.sets.Sets`), as long as there are at most 20,000 choices; groups share delta. Otherwise, and for
    any other matroid, every exchange of two candidates has one, at delta / P (:class:`~surepick.confidence.shared.Shared`), P the
    number of exchanges.

    With an epsilon half of delta goes to tests of exchanges that allow for it: no candidate left out is more than epsilon better
    than one that is chosen. Of other matroids every exchange may gain epsilon / k at most, k being how many arms are chosen, so
    that all of them together gain no more than epsilon.

    A tenth of delta goes to the intervals that are reported, of every candidate by itself.

    Parameters
    ----------
    box_share : float
        The part of delta that the reported intervals get, from 0.001 to 0.999; the tests have the rest.
    """

    name = "race"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if problem.pool is None:
            return "a pool of items that all candidates are judged on"
        if not (isinstance(problem, LinearProblem) and problem.exchangeable and vouched(problem, "exchanges")):
            return "a class in which single exchanges tell whether a decision is optimal"
        if len({(arm.low, arm.high) for arm in problem.arms}) > 1:
            return "the same bounds for the scores of all candidates"
        if problem.m > LARGE and not _groups(problem):
            return f"at most {LARGE:,} candidates where there are more than {MOST:,} choices of them"
        return None if problem.most_exchanges <= LISTED else f"at most {LISTED:,} exchanges"

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.pairs: int = max(problem.most_exchanges, 1)
        self.groups: list[Ints] = _groups(problem)

    # -- what is known -------------------------------------------------------------------------------------------------

    def _begin(self, board: Board, delta: float, epsilon: float) -> _Seen:
        return _Seen(self, board, delta, epsilon)

    def decision(self, view: View) -> np.ndarray[Any, Any]:
        return self._look(view).decision.copy()

    def certified(self, view: View) -> bool:
        return not self._look(view).undecided.any()

    def near(self, view: View) -> bool:
        return self._look(view).near

    def undecided(self, view: View) -> Bools:
        return self._look(view).undecided.copy()

    def candidates(self, view: View) -> Bools:
        return self._look(view).undecided.copy()

    def rival(self, view: View) -> np.ndarray[Any, Any]:
        return self._look(view).rival.copy()

    def gap(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        seen = self._look(view)
        found = view.gap(decision)
        if (decision == seen.decision).all() and seen.near and view.epsilon > 0:
            return min(found, view.epsilon * float(decision.sum()) if self.problem.ranked else view.epsilon)
        return found

    def shortfall(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        found, seen = super().shortfall(view, decision), self._look(view)
        return min(found, view.epsilon) if seen.near and (decision == seen.decision).all() else found

    def attained(self, view: View) -> float:
        """By the tests as they are at this delta: what they would have certified with another part of it."""
        if (view.counts >= self.problem.populations).all():  # all is known
            return TINY
        assert isinstance(view.record, Board)
        return min(1.0, max(TINY, self._look(view).attained(view.record) / (1.0 - self.box_share)))

    # -- what is judged next ---------------------------------------------------------------------------------------------

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        """Those who are sent ahead; then the undecided candidates, those with the fewest scores first: one item after another.
        Nobody else's scores tell. Where every exchange has a test, and prices differ, the cheapest ones to settle come first."""
        most = self._useful(view, np.zeros(self.problem.m, dtype=np.bool_) if view.open is None else ~view.open)
        first, waiting = list[int](), self._waiting(view)
        for arm in np.flatnonzero(waiting & (planned < most)).tolist():
            first += [arm] * min(n - len(first), int(most[arm] - planned[arm]))
        open_ = np.flatnonzero((planned < most) & ~waiting)
        seen, prices = self._look(view), self.problem.dearness
        if seen.shared is not None and (prices != prices[0]).any():
            return cheapest(seen.shared, *seen.open, seen.level_pairs, prices, planned, most, n)
        return first + level(open_, planned[open_], most[open_], n - len(first))

    def _waiting(self, view: View) -> Bools:
        """The candidates that are sent ahead, and not there yet."""
        found = np.zeros(self.problem.m, dtype=np.bool_)
        for group, sets in zip(self.groups, self._look(view).sets, strict=True):
            found[group] = sets.ahead.waiting
        return found

    def stuck(self, view: View, over: Bools) -> bool:
        """A candidate that has ended leaves those undecided with nothing to be compared with."""
        return bool((view.counts >= self._useful(view, over)).all())

    def _useful(self, view: View, closed: Bools) -> Floats:
        """Up to how many scores of every candidate tell something, where some are closed: of a group that is compared as one, as
        many as those of its candidates have that are closed and undecided."""
        seen, sizes = self._look(view), self.problem.populations
        undecided = seen.undecided
        most = np.where(undecided & ~closed, sizes, 0.0)
        for group, sets in zip(self.groups, seen.sets, strict=True):
            short = group[undecided[group] & closed[group] & (view.counts[group] < sizes[group])]
            if len(short):
                most[group] = np.minimum(most[group], view.counts[short].min())
            if (closed[group] & sets.ahead.waiting).any():  # no item is taken any more
                most[group] = np.minimum(most[group], sets.items)
        return np.asarray(most)


def _groups(problem: Problem) -> list[Ints]:
    """The candidates of every group, if all choices in each can be looked at."""
    if not isinstance(problem, BestOfEach):
        return []
    groups = [np.flatnonzero(problem.group == g) for g in range(int(problem.group.max()) + 1)]
    return groups if max(choices(len(group), problem.k) for group in groups) <= MOST else []


class _Seen:
    """What is known at one delta and one epsilon."""

    def __init__(self, policy: Race, board: Board, delta: float, epsilon: float) -> None:
        problem, size = policy.problem, board.scores.shape[1]
        self.policy, self.asked, self.epsilon, self.size = policy, (delta, epsilon), epsilon, size
        self.counts: Ints = np.zeros(problem.m, dtype=np.int64)
        spent = delta * (1.0 - policy.box_share)
        self.spent = spent
        self.exact = spent * (EXACT_SHARE if epsilon > 0 else 1.0)
        arm = problem.arms[0]
        low, high = (arm.low, arm.high) if policy.sign > 0 else (arm.high, arm.low)  # units rise with what is looked for
        k = getattr(problem, "k", 1)
        level, prices = math.log(max(len(policy.groups), 1) / self.exact), problem.dearness
        self.sets = [Sets(len(group), k, size, low, high, level, prices[group]) for group in policy.groups]
        self.level_pairs = math.log(policy.pairs) - math.log(self.exact)
        self.open: tuple[Ints, Ints] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))  # exchanges
        self.shared = None if self.sets else Shared(problem.m, size, low, high)
        self.decision = problem.solve_at(np.zeros(problem.m))
        each = epsilon if problem.ranked else epsilon / max(int(self.decision.sum()), 1)  # of one exchange
        self.slack = Shared(problem.m, size, low, high, each) if epsilon > 0 else None
        self.rival = self.decision
        self.undecided: Bools = np.ones(problem.m, dtype=np.bool_)
        for group, sets in zip(policy.groups, self.sets, strict=True):
            self.undecided[group] = sets.undecided
        self.near = False

    def advance(self, board: Board) -> None:
        if (self.counts == board.counts).all():
            return
        scores = board.scores
        if self.slack is not None:
            self.slack.advance(scores, board.counts)
        if self.sets:
            self._by_sets(scores, board)
        else:
            self._by_pairs(scores, board)
        self.counts = board.counts.copy()

    # -- a test of every choice ----------------------------------------------------------------------------------------

    def _by_sets(self, scores: Floats, board: Board) -> None:
        counts = board.counts
        anew = [sets.advance(scores, group, counts) for group, sets in zip(self.policy.groups, self.sets, strict=True)]
        if not any(anew) and self.slack is None and not (counts == self.size).any():
            return
        total, self.near, worst = self._known(board), self.slack is not None, math.inf
        for group, sets in zip(self.policy.groups, self.sets, strict=True):
            if (counts[group] == self.size).all():  # nothing is left to be unsure of, whatever was excluded before
                self.decision[group] = _first(total[group], int(self.decision[group].sum()), self.size)
                self.undecided[group] = False
                continue
            known, have = self._taken(total[group], counts[group], sets)
            best = sets.best(known, have)
            self.decision[group] = sets.left[best]
            open_ = np.flatnonzero(~sets.no_better(best, known, have))
            self.undecided[group] = sets.undecided if len(open_) else False
            if len(open_):
                row = int(open_[sets.most[open_].argmin()])
                if sets.most[row] < worst:
                    worst, at, instead = float(sets.most[row]), group, sets.left[row]
            self.near = self.near and all(self._close(group, sets, best, row) for row in open_.tolist())
        self.rival = self.decision.copy()
        if worst < math.inf:
            self.rival[at] = instead

    def _taken(self, total: Floats, counts: Ints, sets: Sets) -> tuple[Floats, Ints]:
        """The sums that count, and of how many scores: of the items that were taken, or of all. Who asks at another moment, as
        after a file was read, gets the same answer."""
        whole = counts == self.size
        return np.where(whole, total, sets.sums), np.where(whole, self.size, sets.items)

    def _known(self, board: Board) -> Floats:
        """The sums of all scores that count, in units of the range, which rise with what is looked for."""
        arm = self.policy.problem.arms[0]
        sums = (board.sums + board.carries) / (arm.high - arm.low)
        return sums if self.policy.sign > 0 else board.counts - sums

    def _close(self, group: Ints, sets: Sets, best: int, row: int) -> bool:
        """The choice is at most epsilon worse in every exchange that leads to another one that is left."""
        return self._slight(*_exchanged(group, sets.left[best], sets.left[row]))

    def _slight(self, h: Ints, low: Ints) -> bool:
        """Candidates h are certainly at most epsilon worse than those."""
        return bool((self._slightly(h, low) <= self.spent).all())

    # -- a test of every exchange ----------------------------------------------------------------------------------------

    def _by_pairs(self, scores: Floats, board: Board) -> None:
        assert self.shared is not None
        problem = self.policy.problem
        self.shared.advance(scores, board.counts)
        estimates = np.nan_to_num(board.estimates, nan=0.5 * (problem.low[0] + problem.high[0]))
        self.decision = problem.solve_at(estimates)
        high, low = self._exchanges()
        certain = (self.shared.most[high, low] >= self.level_pairs) | self.shared.sure(high, low)
        self.undecided[:] = False
        open_ = np.flatnonzero(~certain)
        self.open = high[open_], low[open_]
        self.undecided[high[open_]] = self.undecided[low[open_]] = True
        self.near = self.slack is not None and self._slight(high[open_], low[open_])
        self.rival = self.decision.copy()
        if len(open_):
            e = int(open_[self.shared.most[high[open_], low[open_]].argmin()])
            out, in_ = (high[e], low[e]) if self.decision[high[e]] > 0 else (low[e], high[e])
            self.rival[out], self.rival[in_] = 0, 1

    def _exchanges(self) -> tuple[Ints, Ints]:
        """Every exchange: the candidate that is chosen, and the one that is not."""
        problem = self.policy.problem
        high, low, *_ = problem.exchanges(self.decision)
        return (high, low) if self.policy.sign > 0 else (low, high)

    def attained(self, board: Board) -> float:
        """The least part of delta, of the tests, at which they say as much; 1 and more if they say nothing."""
        share, found = EXACT_SHARE if self.epsilon > 0 else 1.0, [0.0]
        if self.shared is not None:
            high, low = self._exchanges()
            exact = _odds(self.policy.pairs / share, self.shared, high, low)
            found += np.minimum(exact, self._slightly(high, low)).tolist()
        total, counts = self._known(board), board.counts
        for group, sets in zip(self.policy.groups, self.sets, strict=True):
            if (counts[group] == self.size).all():
                continue
            known, have = self._taken(total[group], counts[group], sets)
            best = sets.best(known, have)
            found.append(len(self.sets) / share * math.exp(-sets.fallen))
            for row in np.flatnonzero(~sets.no_better(best, known, have)).tolist():
                near = float(self._slightly(*_exchanged(group, sets.left[best], sets.left[row])).max())
                found.append(min(len(self.sets) / share * math.exp(-float(sets.most[row])), near))
        return max(found)

    def _slightly(self, h: Ints, low: Ints) -> Floats:
        """The part of delta at which candidates h are certainly at most epsilon worse than others; infinite without one."""
        if self.slack is None:
            return np.full(len(h), np.inf)
        return _odds(self.policy.pairs / (1.0 - EXACT_SHARE), self.slack, h, low)


def _first(sums: Floats, k: int, size: int) -> Ints:
    """The k largest of some sums; of tied ones the first."""
    order = np.argsort(-np.round(sums / (ROUNDING * size)), kind="stable")
    found = np.zeros(len(sums), dtype=np.int64)
    found[order[:k]] = 1
    return found


def _odds(price: float, shared: Shared, h: Ints, low: Ints) -> Floats:
    return np.where(shared.sure(h, low), 0.0, price * np.exp(-shared.most[h, low]))


def _exchanged(group: Ints, mine: Bools, other: Bools) -> tuple[Ints, Ints]:
    """All pairs of a candidate of one choice that the other one lacks, and one of the other that the first one lacks."""
    h, low = group[mine & ~other], group[other & ~mine]
    return np.repeat(h, len(low)), np.tile(low, len(h))
