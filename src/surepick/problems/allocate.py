"""The exact integer optimum of a stratified sample's allocation, whatever the budget.

Minimise sum_i n_i^2 theta_i / y_i over integers lower_i <= y_i <= upper_i with sum y <= k. The l-th step of stratum i, from
l to l + 1 units, gains n_i^2 theta_i / (l (l + 1)), which falls with l, so the optimum takes the largest gains of all
strata (the paper's GreedyOSA takes them one by one, and is wrong where a theta is 0; see the errata in the docs).

Here a threshold on the gain is searched instead: the units that gain at least 1/x^2 have a closed form, so one pass over
the strata counts them, and only the units near the threshold are looked at one by one. Gains that floating point cannot
tell apart are compared as exact fractions, so equal gains are equal and go to the larger index, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from ..arms import Bools, Floats, Ints
from ..checks import LARGEST, numbers, short, whole
from ..errors import InfeasibleError, ParameterError, ProblemError, SurepickError

NEAR = 1e-14  # relative distance below which two gains are compared exactly; their rounding errors stay below 1e-15
MARGIN = 1e-12  # relative widening of the final bracket, far above rounding and far below what costs time


def allocate(
    sizes: ArrayLike,
    variances: ArrayLike,
    budget: int,
    *,
    lower: int | Sequence[int] | Ints = 1,
    upper: int | Sequence[int] | Ints | None = None,
) -> Ints:
    """Split ``budget`` interviews over strata so that the estimate of the population mean has the least variance.

    Parameters
    ----------
    sizes : array of positive numbers
        Stratum sizes N_i.
    variances : array of numbers >= 0
        Within-stratum variances S_i^2.
    budget : int
        Interviews in all.
    lower, upper : int or array of int, optional
        Bounds on every stratum's interviews; by default at least 1 and no upper bound. Pass ``upper=sizes`` when nobody
        can be asked twice.

    Returns
    -------
    array of int
        The exact integer optimum. Equal gains go to the stratum with the larger index. Units that no stratum gains from
        (variance 0) go to the last stratum with room.

    Examples
    --------
    >>> allocate([6, 16, 13], [0, 0.05, 0.2], 13)
    array([1, 5, 7])
    """
    n = check_sizes(sizes)
    theta = check_variances(variances, len(n))
    k, low, high = check_limits(len(n), budget, lower, upper)
    return fill(n, theta, k, low, high)


def even_out(sizes: Floats, variances: Floats, interviews: Ints, lower: Ints, upper: Ints) -> Ints:
    """The same allocation with the interviews of strata of variance 0, from which nobody gains, in proportion to their sizes."""
    y, flat = interviews.copy(), variances == 0
    if y[flat].sum() > lower[flat].sum():
        y[flat] = fill(sizes[flat], np.ones(int(flat.sum())), int(y[flat].sum()), lower[flat], upper[flat])
    return y


def unrounded(sizes: Floats, variances: Floats, budget: float, lower: Floats, upper: Floats) -> Floats:
    """The best split in fractions of an interview, within bounds: Neyman's shares, and of what they leave over or lack the same
    again. Where no variance is known to be above 0, in proportion to the sizes."""
    spread = sizes / sizes.max() * np.sqrt(variances / (variances.max() or 1.0))
    spread = spread if spread.any() else sizes / sizes.max()
    least, most = lower.astype(np.float64), upper.astype(np.float64)
    full = np.where(spread > 0, most, least)
    if budget >= full.sum():  # what nobody gains from goes to strata of variance 0
        flat = spread == 0
        if flat.any() and budget > full.sum():
            rest = budget - float(full[~flat].sum())
            full[flat] = unrounded(sizes[flat], np.ones(int(flat.sum())), rest, least[flat], most[flat])
        return full
    with np.errstate(divide="ignore"):  # a stratum leaves its bound at such a number of interviews for a unit of spread
        rates = np.sort(np.concatenate([least / spread, most / spread]))
    rates = rates[np.isfinite(rates)]
    i, j = 0, len(rates) - 1
    while j - i > 1:
        middle = (i + j) // 2
        i, j = (middle, j) if np.clip(rates[middle] * spread, least, most).sum() <= budget else (i, middle)
    few, many = (np.clip(rates[at] * spread, least, most) for at in (i, j))
    rise = float((many - few).sum())
    y: Floats = few + (many - few) * (min(max((budget - few.sum()) / rise, 0.0), 1.0) if rise > 0 else 0.0)
    return y


def check_sizes(sizes: ArrayLike) -> Floats:
    n = _numbers(sizes, "sizes")
    if len(n) == 0:
        raise ProblemError("There are no strata; give at least one size.", key="sizes")
    _refuse(n, ~(np.isfinite(n) & (n > 0)), "sizes", "must be a positive number", ProblemError)
    if float(n.max()) > 1e75 * float(n.min()):
        raise ProblemError("The sizes differ by more than a factor of 1e75; express them in one unit.", key="sizes")
    return n


def check_variances(variances: ArrayLike, m: int) -> Floats:
    theta = _numbers(variances, "variances")
    if len(theta) != m:
        raise ParameterError(f"There are {m} sizes but {len(theta)} variances: give one variance a stratum.", key="variances")
    _refuse(theta, ~(np.isfinite(theta) & (theta >= 0)), "variances", "must be a finite number of at least 0", ParameterError)
    return theta


def check_limits(
    m: int, budget: int, lower: int | Sequence[int] | Ints, upper: int | Sequence[int] | Ints | None
) -> tuple[int, Ints, Ints]:
    k = whole(budget, "budget", 0, LARGEST, ProblemError)
    low = _limits(lower, m, "lower")
    high = np.full(m, LARGEST, dtype=np.int64) if upper is None else _limits(upper, m, "upper")
    _refuse(low, low < 1, "lower", "must be at least 1, since a stratum with no interviews has no estimate", ProblemError)
    _refuse(high, high < low, "upper", "is below the stratum's lower bound", ProblemError)
    if k < low.sum():
        what = f"the number of strata, {m}" if (low == 1).all() else f"the sum of the lower bounds, {low.sum()}"
        raise InfeasibleError(f"A budget of {k} is below {what}: raise the budget, or merge strata.", key="budget")
    return k, low, np.minimum(high, k)


def fill(sizes: Floats, theta: Floats, k: int, lower: Ints, upper: Ints, strict: bool = True) -> Ints:
    """The allocation for input that has been checked. ``strict``: variances that are hardly comparable are refused."""
    gaining = theta > 0
    y: Ints = np.where(gaining, upper, lower)
    spare = k - int(y.sum())
    if spare >= 0:  # every stratum that gains is full; what is left goes to the last strata with room
        room = np.where(gaining, 0, upper - lower)[::-1]
        y += np.clip(spare - (np.cumsum(room) - room), 0, room)[::-1]
        return y
    if gaining.all():
        return _threshold(sizes, theta, k, lower, upper, strict)
    where = np.flatnonzero(gaining)
    y = lower.copy()
    y[where] = _threshold(sizes[where], theta[where], k - int(lower[~gaining].sum()), lower[where], upper[where], strict)
    return y


def weights(sizes: Floats, theta: Floats) -> Floats:
    """n^2 theta, divided by powers of two so that nothing overflows; ratios are unchanged."""
    s = np.ldexp(sizes, -int(np.frexp(sizes.max())[1]))
    t = np.ldexp(theta, -int(np.frexp(theta.max())[1]))
    product: Floats = s * s * t
    return product


def _apart(sizes: Floats, theta: Floats, k: int, lower: Ints, upper: Ints) -> Ints:
    """The allocation where n^2 theta differs by more than numbers can hold: parted where the difference is largest, the strata
    with the larger ones are filled first."""
    size = 2.0 * np.log2(sizes) + np.log2(theta)
    order = np.argsort(-size, kind="stable")
    cut = int(np.argmax(-np.diff(size[order]))) + 1
    rich, poor = np.sort(order[:cut]), np.sort(order[cut:])
    y: Ints = lower.copy()
    for part, rest in ((rich, k - int(lower[poor].sum())), (poor, k - int(upper[rich].sum()))):
        if rest > lower[part].sum():
            y[part] = fill(sizes[part], theta[part], rest, lower[part], upper[part], strict=False)
    return y


def _threshold(sizes: Floats, theta: Floats, k: int, lower: Ints, upper: Ints, strict: bool) -> Ints:
    a = weights(sizes, theta)
    if a.min() < 1e-250 and not strict:
        return _apart(sizes, theta, k, lower, upper)
    if a.min() < 1e-250:
        raise ParameterError(
            "The strata's n^2 * variance differ by more than a factor of 1e250; set the tiny variances to 0.", key="variances"
        )
    low, high = lower.astype(np.float64), upper.astype(np.float64)

    def take(x: float) -> Floats:
        """Units at which the next one gains less than 1/x^2: l (l + 1) <= a x^2 has the root sqrt(a x^2 + 1/4) - 1/2."""
        y = a * (x * x)
        y += 0.25
        np.sqrt(y, out=y)
        y += 0.5
        np.floor(y, out=y)
        return np.minimum(np.maximum(y, low, out=y), high, out=y)

    # Bracket: below x0 at most k units are taken, above x1 at least k.
    few = max(64, len(a) // 8)
    x0, n0 = 0.0, float(low.sum())
    x1, n1 = np.inf, float(high.sum())
    x = max(k - 0.5 * len(a), 1.0) / float(np.sqrt(a).sum())
    for step in range(400):
        n = float(take(x).sum())
        if n <= k:
            x0, n0 = x, n
        if n >= k:
            x1, n1 = x, n
        if n1 - n0 <= few or (x1 < np.inf and x1 - x0 <= MARGIN * x1):
            break
        if x1 == np.inf:
            x = 2.0 * x0
        elif step % 3 == 2 or x0 == 0.0:
            x = 0.5 * (x0 + x1)
        else:  # regula falsi, kept off the ends
            share = (k - n0 + 0.5) / (n1 - n0 + 1.0)
            x = x0 + (x1 - x0) * min(max(share, 0.01), 0.99)
    taken = take(x0 * (1.0 - MARGIN))
    reach = take(x1 * (1.0 + MARGIN)) if x1 < np.inf else high
    y: Ints = taken.astype(np.int64)
    more = reach.astype(np.int64) - y
    arm = np.repeat(np.arange(len(a)), more)
    unit = np.arange(len(arm)) - np.repeat(np.cumsum(more) - more, more) + y[arm]  # step from unit to unit + 1
    pick = largest(sizes, theta, a, arm, unit, k - int(y.sum()))
    y += np.bincount(arm[pick], minlength=len(a))
    return y


def largest(sizes: Floats, theta: Floats, a: Floats, arm: Ints, unit: Ints, q: int) -> Ints:
    """Positions of the q largest gains among the candidate steps, equal ones by larger arm."""
    if q >= len(arm):
        return np.arange(len(arm))
    if q <= 0:
        return np.arange(0)
    gains = a[arm] / (unit * (unit + 1.0))
    edge = float(np.partition(gains, len(gains) - q)[len(gains) - q])
    high, low = edge * (1.0 + NEAR), edge * (1.0 - NEAR)
    sure = np.flatnonzero(gains > high)
    band = np.flatnonzero((gains <= high) & (gains >= low))
    if len(sure) + len(band) > q:
        kinds = np.column_stack((sizes[arm[band]], theta[arm[band]], unit[band]))
        rank = np.zeros(len(band), dtype=np.int64)
        if (kinds != kinds[0]).any():
            kinds, which = np.unique(kinds, axis=0, return_inverse=True)
            exact = [exact_gain(n, t, int(u)) for n, t, u in kinds.tolist()]
            ranks = {g: r for r, g in enumerate(sorted(set(exact), reverse=True))}
            rank = np.array([ranks[g] for g in exact])[which.ravel()]
        band = band[np.lexsort((unit[band], -arm[band], rank))]
    chosen: Ints = np.concatenate((sure, band[: q - len(sure)]))
    return chosen


def exact_gain(size: float, theta: float, unit: int) -> Fraction:
    """n^2 theta / (l (l + 1)) as the fraction that it is."""
    return Fraction(size) ** 2 * Fraction(theta) / (unit * (unit + 1))


def _numbers(values: ArrayLike, what: str) -> Floats:
    array = numbers(values)
    if array is None or array.ndim != 1:
        raise ProblemError(f"{what} must be a flat list of numbers, not {short(values)}.", key=what)
    return array


def _limits(values: int | Sequence[int] | Ints, m: int, what: str) -> Ints:
    array = numbers(values)
    if array is None or not (np.isfinite(array) & (array == np.floor(array))).all():
        raise ProblemError(f"{what} must be a whole number or one a stratum, not {short(values)}.", key=what)
    array = np.clip(array, -1, LARGEST)
    if array.ndim == 0:
        return np.full(m, int(array), dtype=np.int64)
    if array.shape != (m,):
        raise ProblemError(f"There are {m} strata but {what} has shape {array.shape}: give one bound a stratum.", key=what)
    return array.astype(np.int64)


def _refuse(values: Floats | Ints, bad: Bools, what: str, why: str, error: type[SurepickError]) -> None:
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        raise error(f"{what}[{where}] = {values[where]} {why}.", key=f"{what}[{where}]")
