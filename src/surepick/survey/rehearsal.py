"""What each way of splitting the interviews would have cost, by carrying out whole surveys on a known population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arms import Floats, Ints
from ..checks import flag, number, short, whole
from ..errors import SettingError, StudyError
from .estimate import estimate
from .field import Ground
from .frame import Frame, read_frame
from .next_wave import FIRST, RULES, Field, believed, part, planned, shares_of
from .optimum import proportional
from .people import People, people_of
from .spread import known_as, seen

if TYPE_CHECKING:
    from pandas import DataFrame

ONE_LOOK = ("proportional", "equal")  # designs without waves, to compare with


@dataclass(frozen=True)
class Cost:
    """How one way did, over many surveys.

    Attributes
    ----------
    method : str
        ``"shrunk"`` and the like, the rule of the waves; ``"plug-in, one wave"``, which splits the rest by the first wave's s^2;
        or a split that looks at no answers.
    ratio : float
        The variance of the mean at the final numbers of interviews, at the true S_h^2, over that of the best split of the same
        budget: its mean over the surveys. ``ratio_se`` is its simulation error, ``worst`` the 95 % quantile.
    bias : float
        The mean error of the estimate, as a share of the best design's standard error; ``bias_se`` is its simulation error.
    covered, always_covered : float or None
        How often the classical interval, and the one that holds at every moment, hold the true mean in the end; of the latter at
        all waves. None if it was not made.
    width : float or None
        The mean width of the latter over that of the classical one, in the end.
    """

    method: str
    ratio: float
    ratio_se: float
    worst: float
    bias: float
    bias_se: float
    covered: float
    always_covered: float | None
    width: float | None

    @property
    def error(self) -> float:
        """The mean squared error over the variance of the best split: ``ratio``, and the square of the bias, which with many
        strata is the larger part. What the simulation's own error adds to that square is taken off."""
        return self.ratio + max(self.bias**2 - self.bias_se**2, 0.0)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What :func:`rehearse` finds: a row a method, in ``rows``; ``source`` says what the population was."""

    rows: list[Cost]
    best: Ints
    best_se: float
    mean: float
    runs: int
    waves: int
    source: str

    def __getitem__(self, method: str) -> Cost:
        for row in self.rows:
            if row.method == method:
                return row
        raise SettingError(f"There is no {short(method)} among {', '.join(row.method for row in self.rows)}.", key="method")

    def to_frame(self) -> DataFrame:
        """A row a method, for pandas."""
        import pandas as pd

        return pd.DataFrame([vars(row) for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, ready for JSON."""
        return {
            "methods": [{**vars(row), "error": row.error} for row in self.rows],
            "best": self.best.tolist(),
            "best_se": self.best_se,
            "mean": self.mean,
            "runs": self.runs,
            "waves": self.waves,
            "source": self.source,
        }


def rehearse(
    frame: object,
    budget: int,
    population: object = None,
    *,
    variable: str | None = None,
    rules: Sequence[str] = RULES,
    first: str = "auto",
    share: float = 0.2,
    waves: int = 9,
    runs: int = 400,
    seed: int = 0,
    lower: int | None = None,
    watch: bool = False,
    bounds: tuple[float, float] | None = None,
    delta: float = 0.05,
) -> Rehearsal:
    """Carry out a survey in waves many times on a known population, by each rule.

    Parameters
    ----------
    frame, budget, variable, first, lower, bounds, delta
        As for :class:`Waves`.
    population : path, data frame or dictionary of columns, optional
        Values of the people: ``stratum`` and one column, as answers are read; last year's register or survey. Where a stratum
        has fewer values than people, they are repeated at random. Without it a population is made from the frame's S and means:
        shares as 0 and 1, means above 0 as lognormal values, others as normal ones.
    rules : list of str
        The rules to try. Beside them are shown: plug-in in one wave after the first, proportional and equal allocation.
    watch : bool
        Also make the interval that holds at every moment, after every wave, which takes a while; for numbers with ``bounds``.
    share, waves : number
        The first wave's share of the budget, and how many waves there are in all.
    runs, seed : int
        How many surveys, and where the random orders of people begin.

    Examples
    --------
    >>> from surepick import survey
    >>> frame = {"stratum": ["a", "b", "c"], "N": [400, 300, 100], "p": [0.5, 0.1, 0.3]}
    >>> survey.rehearse(frame, 120, runs=20)["shrunk"].ratio < 1.1
    True
    """
    f = read_frame(frame)
    for rule in rules:
        if rule not in RULES:
            raise SettingError(f"rules must be of {', '.join(RULES)}, not {short(rule)}.", key="rules")
    if first not in FIRST:
        raise SettingError(f"first must be one of {', '.join(FIRST)}, not {short(first)}.", key="first")
    share = number(share, "share", "above 0 and below 1", lambda x: 0 < x < 1)
    delta = number(delta, "delta", "between 0 and 1", lambda x: 0 < x < 1)
    watch = flag(watch, "watch")
    waves, runs, seed = whole(waves, "waves", 2), whole(runs, "runs", 2), whole(seed, "seed", 0)
    people = people_of(f, population, variable, seed)
    if watch and bounds is None and not people.yes_no:
        raise SettingError("Without bounds of the values no interval holds at every moment; give bounds.", key="bounds")
    ends = bounds if watch else None
    ground = Ground(f, float(whole(budget, "budget", 1)), False, None if lower is None else whole(lower, "lower", 1), None, None)
    field, _ = ground.field()
    best = planned(field, people.variances, np.zeros(len(f), dtype=np.int64))
    least = _variance(field, people.variances, best)
    if least <= 0:
        raise StudyError(
            f"{people.source}: the best split has no error at all, so that nothing is to be compared.", key="population"
        )
    n0 = max(round(share * budget), field.pairs)
    start = _start(f, people, ground, field, first, n0)
    equal_start = ground.opened(field, np.ones(len(f)), n0)
    steps = {rule: (start, rule, waves - 1) for rule in rules} | {"plug-in, one wave": (equal_start, "plug-in", 1)}
    rows = [_tried(f, people, field, name, *plan, runs, seed, least, watch, ends, delta) for name, plan in steps.items()]
    flat = np.ones(len(f))
    for name, sizes in zip(ONE_LOOK, (field.N, flat), strict=True):
        n = proportional(sizes / sizes.max(), int(best.sum()), field.low, field.high)
        rows.append(_tried(f, people, field, name, n, None, 0, runs, seed, least, watch, ends, delta))
    return Rehearsal(rows, best, float(np.sqrt(least)), people.mean, runs, waves, people.source)


def _start(f: Frame, people: People, ground: Ground, field: Field, first: str, n0: int) -> Ints:
    name = known_as(f, people.variable)
    guess = f.S[name] ** 2 if name in f.S and f.S[name].any() else None
    if first == "auto":
        first = "proportional" if guess is None else "known"
    if first == "known" and guess is None:
        raise SettingError(f"{f.source}: there is no column S, so that first cannot be 'known'.", key="first")
    return ground.opened(field, shares_of(first, field, np.ones(len(f)) if guess is None else guess), n0)


def _variance(field: Field, S2: Floats, n: Ints) -> float:
    return float((field.weight * S2 * (field.N - n) / (field.N * n)).sum())


def _tried(
    f: Frame, people: People, field: Field, method: str, start: Ints, rule: str | None, steps: int, runs: int, seed: int,
    least: float, watched: bool, bounds: tuple[float, float] | None, delta: float,
) -> Cost:  # fmt: skip
    """Surveys of one kind; every method meets the same people in the same order."""
    ratios, errors = np.empty(runs), np.empty(runs)
    right, always, widths = 0, 0, []
    expected = planned(field, np.ones(len(f)), np.zeros(len(f), dtype=np.int64))
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        order = [rng.permutation(y) for y in people.values]
        n, held = start.copy(), True
        sizes = np.diff(np.round(np.linspace(n.sum(), min(field.limit, field.high.sum()), steps + 1)).astype(int))
        for size in [*sizes.tolist(), None]:
            if watched or size is None:
                row = _estimated(f, people, order, n, watched, bounds, delta, expected)
                held &= row.always_lower is None or row.always_lower <= people.mean <= (row.always_upper or 0.0) + 1e-12
            if size is None or rule is None:
                continue
            stratum = np.repeat(np.arange(len(f)), n)
            known = seen(
                f, people.variable, stratum, np.concatenate([y[:k] for y, k in zip(order, n, strict=True)]), people.binary
            )
            S2 = believed(known, rule)
            n = n + part(field, S2, n, planned(field, S2, n), size)
        ratios[run] = _variance(field, people.variances, n) / least
        errors[run] = (row.estimate - people.mean) / np.sqrt(least)
        slack = 1e-9 * abs(people.mean)
        right += row.lower - slack <= people.mean <= row.upper + slack
        always += held
        if row.always_lower is not None and row.always_upper is not None and row.upper > row.lower:
            widths.append((row.always_upper - row.always_lower) / (row.upper - row.lower))
    root = np.sqrt(runs)
    return Cost(
        method, float(ratios.mean()), float(ratios.std(ddof=1) / root), float(np.quantile(ratios, 0.95)), float(errors.mean()),
        float(errors.std(ddof=1) / root), right / runs, always / runs if watched else None,
        float(np.mean(widths)) if widths else None,
    )  # fmt: skip


def _estimated(
    f: Frame, people: People, order: list[Floats], n: Ints, watched: bool, bounds: tuple[float, float] | None, delta: float,
    expected: Ints,
) -> Any:  # fmt: skip
    y = np.concatenate([y[:k] for y, k in zip(order, n, strict=True)])
    told: Any = y.astype(bool).tolist() if watched and people.yes_no else y
    table = {"stratum": np.repeat(np.array(f.strata), n), people.variable: told}
    return estimate(f, table, [people.variable], delta=delta, bounds=bounds, planned=expected)[0]
