"""What a plan has to reach: for variables and domains, a CV, a standard error, a margin of error or a variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arms import Bools, Floats
from ..checks import entries, nearest, number, short
from ..errors import SettingError, StudyError
from .frame import Frame

WHOLE = "all"  # the domain that is everybody


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean that is to be estimated, of one variable in one domain; S is divided by ``scale`` so that nothing overflows."""

    variable: str
    domain: str
    members: Bools
    scale: float
    a: Floats  # W^2 (S / scale)^2 deff in the domain, 0 outside
    mean: float  # NaN if not known
    target: float | None = None  # of the standard error
    asked_cv: float | None = None  # as it was given

    def se(self, variance: float) -> float:
        """The standard error from a variance in units of scale^2."""
        return float(self.scale * np.sqrt(max(variance, 0.0)))

    def cv(self, variance: float) -> float:
        return self.of_mean(self.se(variance))

    def of_mean(self, se: float) -> float:
        return se / abs(self.mean) if self.mean and not np.isnan(self.mean) else float("nan")


def estimate(frame: Frame, variable: str, domain: str, members: Bools, deff: Floats) -> Estimate:
    """The mean of a variable in a domain, without a target."""
    size = np.where(members, frame.N, 0.0) / frame.N.max()
    W = size / size.sum()
    S = frame.S[variable] * np.sqrt(deff)
    scale = float(S.max()) or 1.0
    a = W**2 * (S / scale) ** 2
    with np.errstate(all="ignore"):
        mean = float((W[members] * frame.mean[variable][members]).sum())
    return Estimate(variable, domain, members, scale, a, mean)


def chosen(frame: Frame, variables: object) -> tuple[str, ...]:
    """The variables to plan for."""
    if not frame.variables:
        raise StudyError(
            f"{frame.source}: there is no column S, variance or p, nor S_income or the like, so nothing tells how answers vary.",
            key="S",
        )
    if variables is None:
        return frame.variables
    names = (variables,) if isinstance(variables, str) else tuple(entries(variables) or ())
    if not names:
        raise SettingError(f"variables must name one or more of {', '.join(map(repr, frame.variables))}.", key="variables")
    for name in names:
        _known(name, frame.variables, "variable", frame)
    return names


def with_targets(frame: Frame, names: tuple[str, ...], kind: str, asked: object, factor: float, deff: Floats) -> list[Estimate]:
    """The estimates that have a target: a number for all, or a dictionary by variable, whose entries may be by domain."""
    domains = dict(frame.groups())
    everybody = np.ones(len(frame), dtype=bool)
    by_name = asked if isinstance(asked, Mapping) else dict.fromkeys(names, asked)
    if not by_name or not all(by_name.values() if isinstance(asked, Mapping) else [True]):
        raise SettingError(f"{kind} has no targets; give a number, or one by variable.", key=kind)
    found: list[Estimate] = []
    for name, value in by_name.items():
        _known(name, names, "variable", frame)
        by_domain = value if isinstance(value, Mapping) else dict.fromkeys(domains, value)
        for domain, level in _each(by_domain, frame).items():
            if domain != WHOLE:
                _known(domain, tuple(domains), "domain", frame)
            x = number(level, kind, "a positive number", lambda x: x > 0)
            bare = estimate(frame, name, domain, everybody if domain == WHOLE else domains[domain], deff)
            target = x * factor
            if kind == "cv":
                _refuse_mean(frame, bare)
                target = x * abs(bare.mean)
            elif kind == "variance":
                target = float(np.sqrt(x))
            found.append(replace(bare, target=target, asked_cv=x if kind == "cv" else None))
    return found


def _each(by_domain: Mapping[str, Any], frame: Frame) -> dict[str, Any]:
    """Targets by domain: the title of a column of domains stands for all of its domains that have no target of their own."""
    groups, found = [name for name, _ in frame.groups()], dict[str, Any]()
    for title, level in by_domain.items():
        if title in frame.domains and title not in groups:
            labels = [label for label in dict.fromkeys(frame.domains[title]) if label]
            found |= {label if len(frame.domains) == 1 else f"{title}={label}": level for label in labels}
    return found | {name: level for name, level in by_domain.items() if name not in frame.domains or name in groups}


def _refuse_mean(frame: Frame, one: Estimate) -> None:
    missing = np.flatnonzero(np.isnan(frame.mean[one.variable]) & one.members)
    if len(missing) == len(frame):
        raise StudyError(
            f"{frame.source}: a CV takes the means, and there is no column mean of {one.variable!r}; add it, or give a "
            "target for the standard error (se).",
            key="mean",
        )
    if len(missing):
        raise StudyError(
            f"{frame.place(int(missing[0]))}: a CV takes the mean of {one.variable!r}, which is not given.", key="mean"
        )
    if one.mean == 0:
        raise StudyError(
            f"{frame.source}: the mean of {one.variable!r} is 0, so that it has no CV; give a target for se.", key="mean"
        )


def _known(name: object, names: tuple[str, ...], what: str, frame: Frame) -> None:
    if name not in names:
        meant = nearest(str(name), names)
        hint = f" Did you mean {meant!r}?" if meant else ""
        raise SettingError(
            f"{frame.source} has no {what} {short(name)}; there are {', '.join(map(repr, names[:20]))}.{hint}", key=what
        )
