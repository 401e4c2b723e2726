"""Which arms are undecided when every decision can be listed: reward theta . y + b(y), one row of D and b a decision."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..arms import Bools, Floats, Ints

DOUBT = 1e-9  # by which a row may seem to be beaten everywhere, in units of the rewards' differences
NEAR = 1e-12  # relative to the size of the rewards: closer values are compared exactly, or kept as possible


def leading(D: Floats, b: Floats, theta: Floats) -> int:
    """The first row with the largest reward; rewards that rounding cannot tell apart are compared as exact fractions."""
    values = D @ theta + b
    return _first_best(D, b, theta, values)


def _first_best(D: Floats, b: Floats, theta: Floats, values: Floats) -> int:
    near = np.flatnonzero(values >= values.max() - NEAR * _size(D, b, theta))
    if len(near) == 1:
        return int(near[0])
    point = [Fraction(t) for t in theta.tolist()]
    best, row = None, -1
    for y in near.tolist():
        exact = Fraction(b[y]) + sum((Fraction(d) * t for d, t in zip(D[y].tolist(), point, strict=True) if d), Fraction(0))
        if best is None or exact > best:
            best, row = exact, y
    return row


def _size(D: Floats, b: Floats, theta: Floats) -> float:
    return float((np.abs(D) @ np.abs(theta) + np.abs(b)).max())


def width_of(sets: list[frozenset[int]]) -> int:
    """The width of a list of subsets (see :meth:`Problem.width`), by enumeration."""
    known = set(sets)
    widest = 0
    for s in sets:
        for other in sets:
            smallest: dict[int, int] = {}
            for t in sets:
                into, out = t - s, s - t
                if not (into <= other and not out & other) or (other - into) | out not in known:
                    continue
                for i in out:
                    smallest[i] = min(smallest.get(i, len(into) + len(out)), len(into) + len(out))
            for i in s - other:
                widest = max(widest, smallest[i])
    return widest


def undecided_binary(D: Floats, lower: Floats, upper: Floats) -> Bools:
    """0/1 rows, no offset. y is possible iff it is leading at its own best corner (U on y, L off y): exact."""
    zeros = np.zeros(len(D))
    seen: list[int] = []
    for y in _candidates(D, zeros, lower, upper):
        corner = np.where(D[y] > 0, upper, lower)
        if leading(D, zeros, corner) == y:
            seen.append(y)
    possible = D[seen]
    return np.asarray((possible != possible[0]).any(axis=0))


def _candidates(D: Floats, b: Floats, lower: Floats, upper: Floats) -> Ints:
    """Rows that are not beaten all over the box by the leading row of its middle."""
    centre = leading(D, b, (lower + upper) / 2)
    edge = _most(D - D[centre], lower, upper) + b - b[centre]
    size = max(_size(D, b, lower), _size(D, b, upper))
    return np.flatnonzero(edge >= -NEAR * size)


def _most(difference: Floats, lower: Floats, upper: Floats) -> Floats:
    """Largest value of difference . theta over the box."""
    most: Floats = np.maximum(difference, 0) @ upper + np.minimum(difference, 0) @ lower
    return most


def undecided_real(D: Floats, b: Floats, lower: Floats, upper: Floats) -> Bools:
    """Real rows: y is possible iff a linear program finds a point of the box where no other row beats it.

    The rows that lead at the corners (L but U_i), (U but L_i), at L, U and the middle settle most arms; rows that one
    of them beats all over the box need no program.
    """
    points = np.column_stack((lower, upper, (lower + upper) / 2))
    flips = np.where(np.eye(len(lower), dtype=bool), upper[:, None], lower[:, None])
    flops = np.where(np.eye(len(lower), dtype=bool), lower[:, None], upper[:, None])
    points = np.hstack((points, flips, flops))
    values = D @ points + b[:, None]
    winners = list(dict.fromkeys(_first_best(D, b, points[:, p], values[:, p]) for p in range(points.shape[1])))
    known = D[winners[0]]
    out: Bools = (D[winners] != known).any(axis=0)
    if out.all():
        return out
    size = max(_size(D, b, lower), _size(D, b, upper))
    rows = np.flatnonzero((D[:, ~out] != known[~out]).any(axis=1))
    for w in winners:
        edge = _most(D[rows] - D[w], lower, upper) + b[rows] - b[w]
        rows = rows[~((edge < -NEAR * size) | ((edge <= 0) & (w < rows)))]
    for y in rows.tolist():
        news = (D[y] != known) & ~out
        if news.any() and _possible(D, b, lower, upper, y):
            out |= news
    return out


def _possible(D: Floats, b: Floats, lower: Floats, upper: Floats, y: int) -> bool:
    from scipy.optimize import linprog

    # In units of the box, theta = lower + width u with 0 <= u <= 1, and each row by its own size: the solver's tolerances are
    # absolute, and entries near 1e-9 would all be nothing to it. Maximise s subject to (D_z - D_y) theta + s <= b_y - b_z.
    width = upper - lower
    others = np.delete(np.arange(len(D)), y)
    difference = D[others] - D[y]
    A, rest = difference * width, b[y] - b[others] - difference @ lower
    sizes = np.maximum(np.abs(A).max(axis=1, initial=0.0), np.abs(rest))
    A, rest = A[sizes > 0] / sizes[sizes > 0, None], rest[sizes > 0] / sizes[sizes > 0]
    if not len(A):
        return True
    found = linprog(
        np.append(np.zeros(len(lower)), -1.0),
        A_ub=np.column_stack((A, np.ones(len(A)))),
        b_ub=rest,
        bounds=[*[(0.0, 1.0)] * len(lower), (None, 1.0)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return bool(found.status != 0 or -found.fun >= -DOUBT)  # in doubt the row stays possible
