"""A whole population to rehearse a survey on: from values of people, or made from what a frame says of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arms import Floats
from ..errors import SettingError, StudyError
from .answers import read_answers
from .frame import Frame

MOST = 5_000_000  # people


@dataclass(frozen=True, eq=False)
class People:
    """Values of everybody, a list an array a stratum; ``yes_no``: answers that are 0 or 1 by nature. ``source`` in words."""

    variable: str
    values: list[Floats]
    yes_no: bool
    source: str

    @property
    def binary(self) -> bool:
        return all(bool(np.isin(y, (0.0, 1.0)).all()) for y in self.values)

    @property
    def variances(self) -> Floats:
        return np.array([y.var(ddof=1) if len(y) > 1 and (y != y[0]).any() else 0.0 for y in self.values])

    @property
    def mean(self) -> float:
        return float(sum(y.sum() for y in self.values) / sum(map(len, self.values)))


def people_of(frame: Frame, population: object, variable: str | None, seed: int) -> People:
    """The population of a frame, as :func:`surepick.survey.rehearse` takes it."""
    if (frame.N != np.floor(frame.N)).any():
        raise StudyError(f"{frame.source}: a rehearsal takes head counts; N must be whole numbers.", key="N")
    if frame.N.sum() > MOST:
        raise StudyError(f"{frame.source}: a rehearsal is for at most {MOST:,} people; divide N by some number.", key="N")
    rng = np.random.default_rng([seed, 2**31])
    if population is None:
        return _made(frame, variable, rng)
    told = read_answers(population, frame, None if variable is None else [variable])
    if len(told.values) > 1:
        raise SettingError(
            f"{told.cells.source}: there are columns {', '.join(map(repr, told.values))}; say which one (variable).",
            key="variable",
        )
    name, y = next(iter(told.values.items()))
    values, fewer = [], 0
    for h, label in enumerate(frame.strata):
        here = y[(told.stratum == h) & ~np.isnan(y)]
        if not len(here):
            raise StudyError(f"{told.cells.source}: no value of stratum {label!r}; every stratum needs some.", key="population")
        lacking = int(frame.N[h]) - len(here)
        fewer += lacking > 0
        values.append(np.concatenate([here, rng.choice(here, lacking)]) if lacking else here)
    source = f"{told.cells.source}, column {name!r}"
    if fewer:
        source += f"; values of {fewer:,} {'stratum' if fewer == 1 else 'strata'} are repeated at random up to N"
    return People(name, values, name in told.yes_no, source)


def _made(frame: Frame, variable: str | None, rng: np.random.Generator) -> People:
    """Values with the frame's means and S: 0 and 1, lognormal, or normal."""
    known = frame.variables
    if not known or (variable is None and len(known) > 1) or (variable is not None and variable not in known):
        few = f"there are {', '.join(map(repr, known))}" if known else "there is none"
        raise SettingError(
            f"{frame.source}: a population is made from the S of one variable, and {few}; give population, values of people, or "
            "say which variable.",
            key="population",
        )
    name = variable or known[0]
    S, mean, N = frame.S[name], frame.mean[name], frame.N.astype(np.int64)
    p = np.clip(mean, 0.0, 1.0)
    share = bool((np.abs(S**2 - N / np.maximum(N - 1, 1) * p * (1 - p) * (N > 1)) <= 1e-6).all() and (p == mean).all())
    if share:
        values = [(np.arange(n) < round(n * q)).astype(np.float64) for n, q in zip(N.tolist(), p.tolist(), strict=True)]
        return People(name, values, True, f"made from the shares of {frame.source}")
    values = []
    skewed = bool((mean > 0).all())
    for n, m, s in zip(N.tolist(), mean.tolist(), S.tolist(), strict=True):
        z = rng.standard_normal(n)
        if skewed:
            sigma2 = np.log1p((s / m) ** 2)
            y = m * np.exp(np.sqrt(sigma2) * z - 0.5 * sigma2)
        else:
            y = (0.0 if np.isnan(m) else m) + s * z
        values.append(y)
    kind = "lognormal values with the means and S" if skewed else "normal values with the S"
    return People(name, values, False, f"{kind} of {frame.source}, made at random")
