"""The parameters at which another decision is best, as half-spaces: sum_i c_i (lambda_i - theta_i) >= gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arms import Floats, Ints
from ..problems import BestOfEach, Problem, Program, ResourcePlan, SampleAllocation, SpanningTree, Subsets

LARGEST = 2_000_000  # entries of the table of half-spaces; more than that takes too long
LISTED = 65_536  # whole vectors up to which a program's decisions are listed
TIE = 1e-13  # a smaller gap, as a share of the arms' scales, is rounding


@dataclass(frozen=True)
class HalfSpaces:
    """One row a half-space: its arms, their coefficients (0 fills up short rows), and by how much theta misses it."""

    arms: Ints
    c: Floats
    gap: Floats

    @classmethod
    def of(cls, c: Floats, gap: Floats) -> HalfSpaces:
        """From rows with a coefficient for every arm."""
        longest = int((c != 0).sum(axis=1).max(initial=0))
        arms = np.argsort(c == 0, axis=1, kind="stable")[:, :longest]
        return cls(arms, np.take_along_axis(c, arms, axis=1), gap)

    def joined(self, other: HalfSpaces) -> HalfSpaces:
        wide = max(self.arms.shape[1], other.arms.shape[1])
        both = [(s.arms, s.c, ((0, 0), (0, wide - s.arms.shape[1]))) for s in (self, other)]
        arms = np.vstack([np.pad(arms, room) for arms, _, room in both])
        c = np.vstack([np.pad(c, room) for _, c, room in both])
        return HalfSpaces(arms, c, np.concatenate((self.gap, other.gap)))

    def tie(self, problem: Problem, theta: Floats) -> bool:
        """Theta itself is on the edge of one of them."""
        rounding = TIE * problem.scales + 1e-15 * np.abs(theta)
        return bool((self.gap <= (np.abs(self.c) * rounding[self.arms]).sum(axis=1)).any())

    def reachable(self, problem: Problem, theta: Floats) -> HalfSpaces:
        """Those that hold parameters within the arms' ranges, where the other decision is better and not just as good."""
        up, down = problem.high - theta, problem.low - theta
        with np.errstate(invalid="ignore"):  # 0 * inf of a coefficient that only fills up
            most = np.where(self.c > 0, self.c * up[self.arms], np.where(self.c < 0, self.c * down[self.arms], 0.0)).sum(axis=1)
        kept = most > self.gap * (1.0 + 1e-9)
        return HalfSpaces(self.arms[kept], self.c[kept], self.gap[kept])


def alternatives(problem: Problem, theta: Floats) -> HalfSpaces | None:
    """Half-spaces whose union is every parameter at which the decision at theta is beaten; None if they are not at hand.

    - Bases of a matroid: one arm out, one in. Concave separable rewards: one unit moved. A decision that no such step
      improves is optimal, so the steps are enough.
    - Explicit lists, and programs and plans that can be listed: one half-space for every other decision.
    """
    best = problem.solve_at(theta)
    if isinstance(problem, BestOfEach):
        same = problem.group[:, None] == problem.group
        leave, enter = np.nonzero((best[:, None] > 0) & (best == 0) & same)
        return _swaps(theta, leave, enter, problem.sign)
    if isinstance(problem, SpanningTree):
        leave, enter = _cycles(problem, best)
        return _swaps(theta, leave, enter, problem.sign)
    if isinstance(problem, SampleAllocation):
        return _interviews(problem, theta, best)
    if isinstance(problem, ResourcePlan):
        return _units(problem, theta, best) if problem.convex else _plans(problem, theta, best)
    if isinstance(problem, Subsets):
        return _listed(problem, theta, best, problem.decisions)
    if isinstance(problem, Program) and np.prod(problem.levels + 1.0) <= LISTED:
        whole = np.indices((problem.levels + 1).tolist()).reshape(problem.m, -1).T
        rows = whole @ problem.A.T
        return _listed(problem, theta, best, whole[((rows >= problem.least - 1e-9) & (rows <= problem.most + 1e-9)).all(axis=1)])
    return None


def _swaps(theta: Floats, leave: Ints, enter: Ints, sign: float = 1.0) -> HalfSpaces | None:
    if 2 * len(leave) > LARGEST:
        return None
    arms = np.column_stack((enter, leave))
    c = np.tile((sign, -sign), (len(arms), 1))
    return HalfSpaces(arms, c, -(c * theta[arms]).sum(axis=1))


def _cycles(problem: SpanningTree, best: np.ndarray[Any, Any]) -> tuple[Ints, Ints]:
    """For every edge outside the tree, the edges of the tree on the cycle that it closes."""
    u, v = problem._u.tolist(), problem._v.tolist()
    near: list[list[tuple[int, int]]] = [[] for _ in problem.nodes]
    for e in np.flatnonzero(best).tolist():
        near[u[e]].append((v[e], e))
        near[v[e]].append((u[e], e))
    way: list[frozenset[int]] = [frozenset()] * len(near)  # the edges from node 0
    todo = [(0, -1)]
    while todo:
        node, before = todo.pop()
        for other, e in near[node]:
            if e != before:
                way[other] = way[node] | {e}
                todo.append((other, e))
    pairs = [(i, j) for j in np.flatnonzero(best == 0).tolist() for i in way[u[j]] ^ way[v[j]]]
    leave, enter = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return leave, enter


def _interviews(problem: SampleAllocation, theta: Floats, best: Ints) -> HalfSpaces | None:
    """One interview from stratum i, whose last one gains c_i theta_i, to stratum j, whose next one gains c_j theta_j."""
    gives, takes = np.nonzero((best > problem.least)[:, None] & (best < problem.most) & ~np.eye(problem.m, dtype=bool))
    if 2 * len(gives) > LARGEST:
        return None
    next_, last = best[takes].astype(np.float64), best[gives] - 1.0
    c = np.column_stack((problem._n[takes] ** 2 / (next_ * (next_ + 1)), -(problem._n[gives] ** 2) / (last * (last + 1))))
    arms = np.column_stack((takes, gives))
    return HalfSpaces(arms, c, -(c * theta[arms]).sum(axis=1))


def _units(problem: ResourcePlan, theta: Floats, best: Ints) -> HalfSpaces | None:
    """One unit more, one less, or, where the requirement is tight, one moved."""
    steps = [np.diff(problem.cost_table(i)) for i in range(problem.m)]
    more, less = np.flatnonzero(best < problem.caps), np.flatnonzero(best > 0)
    loss = {i: float(steps[i][best[i]] - theta[i]) for i in more.tolist()}  # of taking the next unit
    worth = {i: float(theta[i] - steps[i][best[i] - 1]) for i in less.tolist()}  # of the last unit
    moves = [([i, i], [1.0, 0.0], loss[i]) for i in loss]
    if best.sum() > problem.require:
        moves += [([i, i], [-1.0, 0.0], worth[i]) for i in worth]
    elif 2 * len(loss) * len(worth) > LARGEST:
        return None
    else:
        moves += [([j, i], [1.0, -1.0], loss[j] + worth[i]) for j in loss for i in worth if i != j]
    arms, c, gap = zip(*moves, strict=True) if moves else ((), (), ())
    return HalfSpaces(np.array(arms, dtype=np.int64).reshape(-1, 2), np.array(c).reshape(-1, 2), np.array(gap))


def _plans(problem: ResourcePlan, theta: Floats, best: Ints) -> HalfSpaces | None:
    if not problem.exact or problem._plans.size > LARGEST:
        return None
    c = problem._plans - best
    gap = problem.reward_at(theta, best.astype(np.float64)) - problem._plan_rewards - problem._plans @ theta
    other = (c != 0).any(axis=1)
    return HalfSpaces.of(c[other], gap[other])


def _listed(problem: Subsets | Program, theta: Floats, best: np.ndarray[Any, Any], decisions: Floats | Ints) -> HalfSpaces | None:
    if decisions.size > LARGEST:
        return None
    c = (1.0 if problem.sense == "max" else -1.0) * (decisions - best)
    c = c[(c != 0).any(axis=1)]
    return HalfSpaces.of(c, -(c @ theta))
