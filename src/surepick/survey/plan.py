"""Planning a survey: how many people to ask in which stratum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import norm

from ..arms import Floats, Ints
from ..checks import flag, number, whole
from ..errors import InfeasibleError, SettingError, StudyError
from .frame import Frame, read_frame
from .result import Plan, planned
from .solve import Solution, reach, shares, shares_reach, spend, spend_on_all
from .targets import WHOLE, Estimate, chosen, estimate, with_targets
from .units import Units, units

TARGETS = ("cv", "se", "moe", "variance")
METHODS = ("optimum", "proportional", "power", "equal")

Target = float | Mapping[str, Any] | None


def plan(
    frame: object,
    *,
    cv: Target = None,
    se: Target = None,
    moe: Target = None,
    variance: Target = None,
    budget: int | None = None,
    cost: float | None = None,
    confidence: float = 0.95,
    lower: int = 1,
    upper: int | None = None,
    max_weight: float | None = None,
    resp_rate: float | None = None,
    deff: float | None = None,
    variables: object = None,
    finite: bool = True,
    two_stage: bool = False,
    method: str = "optimum",
    power: float = 0.5,
) -> Plan:
    """Plan a survey.

    Parameters
    ----------
    frame : path, data frame, dictionary or Frame
        The strata, as :func:`read_frame` takes them.
    cv, se, moe, variance : float or dictionary, one of them
        What every estimated mean has to reach: the coefficient of variation, the standard error, the margin of error at the
        ``confidence``, or the variance. The plan is the cheapest that does. A number is for every variable and domain; else
        ``{"income": 0.02}``, or ``{"income": {"North": 0.03, "all": 0.01}}``, where ``"all"`` is everybody, and
        the title of a column of domains all of its domains that have no target of their own.
    budget, cost : number
        Or how many interviews there are, or what all may cost (column ``cost``). The plan has the least variance of the overall
        mean; of several variables, the least of their largest CV; with targets also given, of the largest multiple of one.
    lower, upper : int
        Bounds on the interviews of every stratum, beside the columns of these names; ``lower`` is at most N.
    max_weight : float
        No interview stands for more people than this.
    resp_rate, deff : float
        For strata where the frame gives none.
    variables : text or list of texts
        The variables to plan for; all by default.
    finite : bool
        Nobody is asked twice, and the variance has the finite population correction.
    two_stage : bool
        Primary units are drawn first, by the columns ``delta``, ``psu_cost`` and, if given, ``psus``.
    method : text
        ``"optimum"``, or to compare with ``"proportional"``, ``"equal"``, or ``"power"``: in proportion to N^power.

    Examples
    --------
    >>> from surepick import survey
    >>> frame = {"stratum": ["a", "b", "c"], "N": [4000, 3000, 3000], "S": [10, 15, 8], "mean": [50, 60, 55]}
    >>> design = survey.plan(frame, cv=0.005)
    >>> design.n, design.guarantee
    (array([502, 564, 301]), 'No plan with fewer interviews reaches the target.')
    """
    f = read_frame(frame)
    asked = {kind: value for kind, value in zip(TARGETS, (cv, se, moe, variance), strict=True) if value is not None}
    purse = {kind: value for kind, value in (("budget", budget), ("cost", cost)) if value is not None}
    _check(asked, purse, method)
    names = chosen(f, variables)
    rate = _filled(f, "resp_rate", resp_rate, lambda x: 0 < x <= 1, "above 0 and at most 1")
    deffs = _filled(f, "deff", deff, lambda x: x > 0, "a positive number")
    parts = units(
        f,
        lower=whole(lower, "lower", 1),
        upper=None if upper is None else whole(upper, "upper", 1),
        max_weight=None if max_weight is None else number(max_weight, "max_weight", "at least 1", lambda x: x >= 1),
        rate=rate,
        finite=flag(finite, "finite"),
        two_stage=flag(two_stage, "two_stage"),
    )
    level = number(confidence, "confidence", "above 0 and below 1", lambda x: 0 < x < 1)
    everybody = np.ones(len(f), dtype=bool)
    overall = [estimate(f, name, WHOLE, everybody, deffs) for name in names]
    targets: list[Estimate] = []
    for kind, value in asked.items():
        factor = 1.0 / float(norm.ppf(0.5 + level / 2)) if kind == "moe" else 1.0
        targets = with_targets(f, names, kind, value, factor, deffs)
    each = parts.cost / parts.take
    paid = "cost" in purse or ("budget" not in purse and bool((each != each[0]).any() or (parts.take > 1).any()))
    price = parts.cost if paid else parts.take.astype(np.float64)
    if purse:
        least = float((price * parts.low).sum())
        limit = _purse(f, purse, least)
        solution = _spent(f, method, power, overall, targets, parts, price, limit)
    elif method == "optimum":
        solution = reach(targets, parts, price, f.source)
    else:
        n = shares_reach(_sizes(f, method, power), targets, parts, f.source)
        solution = Solution(n, n.astype(np.float64), np.nan, "cost")
        limit = None
    shown = targets or [estimate(f, name, domain, members, deffs) for name in names for domain, members in f.groups()]
    return planned(
        f, solution, parts, overall, shown, rate, paid=paid, method=method, limit=limit if purse else None, finite=finite,
    )  # fmt: skip


def _spent(
    f: Frame,
    method: str,
    power: float,
    overall: list[Estimate],
    targets: list[Estimate],
    parts: Units,
    price: Floats,
    limit: float,
) -> Solution:
    """What a budget is spent on."""
    if method != "optimum":
        n = _affordable(_sizes(f, method, power), parts, price, limit)
        return Solution(n, n.astype(np.float64), np.nan, "variance")
    wanted = targets or overall
    if not any(one.a.any() for one in wanted):
        n = _affordable(f.N, parts, price, limit)
        return Solution(n, n.astype(np.float64), 0.0, "flat")
    if len(wanted) == 1:
        return spend(wanted[0], parts, price, limit)
    if not targets:
        unknown = [one.variable for one in wanted if np.isnan(one.mean) or one.mean == 0]
        if unknown:
            raise StudyError(
                f"{f.source}: of several variables a budget makes the largest CV small, which takes the mean of {unknown[0]!r}; "
                "add it, choose one variable, or give targets.",
                key="mean",
            )
        wanted = [replace(one, target=abs(one.mean)) for one in wanted]
    return spend_on_all([one for one in wanted if one.a.any()], parts, price, limit)


def _affordable(sizes: Floats, parts: Units, price: Floats, limit: float) -> Ints:
    """The most units in proportion to ``sizes`` that the budget pays for."""
    low, high = int(parts.low.sum()), int(parts.high.sum())
    while high > low:
        middle = (low + high + 1) // 2
        if float((price * shares(sizes, parts, middle)).sum()) <= limit * (1 + 1e-12):
            low = middle
        else:
            high = middle - 1
    return shares(sizes, parts, low)


def _sizes(f: Frame, method: str, power: float) -> Floats:
    exponent = {"proportional": 1.0, "equal": 0.0}.get(method)
    if exponent is None:
        exponent = number(power, "power", "from 0 to 1", lambda x: 0 <= x <= 1)
    out: Floats = (f.N / f.N.max()) ** exponent
    return out


def _filled(f: Frame, column: str, value: float | None, good: Any, wanted: str) -> Floats:
    """A column, with a number of the caller's where the table has none at all."""
    given: Floats = getattr(f, column)
    if value is None:
        return given
    if column in f.given:
        raise SettingError(f"{f.source} has a column {column}; leave out the setting of that name, or the column.", key=column)
    return np.full(len(f), number(value, column, wanted, good))


def _purse(f: Frame, purse: dict[str, Any], least: float) -> float:
    (kind, value), *_ = purse.items()
    limit = float(whole(value, "budget", 1)) if kind == "budget" else number(value, "cost", "a positive number", lambda x: x > 0)
    if limit * (1 + 1e-12) < least:
        what = "interviews" if kind == "budget" else "cost"
        raise InfeasibleError(
            f"{f.source}: {limit:,.10g} is below the least {what} that the bounds take, {least:,.10g}; raise it, "
            "or lower the bounds.",
            key=kind,
        )
    return limit


def _check(asked: dict[str, Any], purse: dict[str, Any], method: str) -> None:
    if len(asked) > 1:
        raise SettingError(f"Give only one of {' and '.join(asked)}.", key=list(asked)[1])
    if len(purse) > 1:
        raise SettingError("Give either a budget (of interviews) or a cost.", key="cost")
    if not asked and not purse:
        raise SettingError("Say what to plan for: cv, se, moe or variance, or budget or cost.", key="cv")
    if method not in METHODS:
        raise SettingError(f"method must be one of {', '.join(METHODS)}, not {method!r}.", key="method")
