"""A confidence sequence: intervals for every arm that hold for all arms and all times together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from ..arms import Floats, Ints
from ..engine.data import Sequence
from ..engine.enums import Form
from ..errors import SettingError
from ..estimators import Mean, Moments, Record
from ..parameters import Parametric
from ..problems.base import Problem


class Confidence(Parametric, ABC):
    """Intervals that all contain the truth, at all times at once, with probability at least 1 - delta.

    A subclass may use the counts and estimates of the arms, never a setting tuned on the data. An object of it says which
    sequence is meant, with which parameters; ``bound`` makes one for the arms of a problem.

    Attributes
    ----------
    scale_free : bool
        It is valid for arms of kind "normal", of whose values neither bounds nor a scale are known.
    without_replacement : bool
        It is valid for arms that have a population.
    """

    scale_free: ClassVar[bool] = False
    without_replacement: ClassVar[bool] = False

    def bound(self, problem: Problem, delta: float) -> Self:
        """The same sequence for a problem and a delta; this one stays as it is."""
        working = self.fresh()
        working.bind(problem, delta)
        return working

    def bind(self, problem: Problem, delta: float) -> None:
        """Work out, once, what depends on the problem and on delta."""
        if not self.scale_free and type(problem.parameter) is Mean:
            for arm in problem.arms:
                if arm.kind == "normal":
                    raise SettingError(
                        f"confidence={self.name!r} needs bounds or a scale, and {arm.name!r} is normal with an unknown variance: "
                        "use 'auto' or 'student', or declare the arm otherwise.",
                        key="confidence",
                    )
        if problem.finite and not self.without_replacement:
            name = next(arm.name for arm in problem.arms if arm.population is not None)
            raise SettingError(
                f"confidence={self.name!r} counts on independent draws, and {name!r} has a population, so that its values are "
                "drawn without replacement: use 'auto', which weighs them for what they are, or leave population out if a value "
                "may come again.",
                key="confidence",
            )
        self.problem = problem
        self.delta = delta

    def at(self, delta: float) -> Self:
        """The same sequence at another delta; what was fixed in advance stays as it is."""
        return self.bound(self.problem, delta)

    @abstractmethod
    def radius(self, counts: Ints) -> Floats:
        """Half-width of every arm's interval before it is clipped to the parameter's range."""

    def box(self, record: Record) -> tuple[Floats, Floats]:
        """Lower and upper bounds of every arm's parameter, within its range."""
        radius = self.radius(np.maximum(record.counts, 1))
        return self.placed(-radius, radius, record.estimates, 1.0, record)

    def placed(
        self, below: Floats, above: Floats, origin: Floats, scale: Floats | float, record: Record
    ) -> tuple[Floats, Floats]:
        """Bounds in the user's units, from those counted from an origin; put outwards by what rounding may take."""
        slack: Floats | float = record.rounding if isinstance(record, Moments) else 0.0
        low, high = self.problem.low, self.problem.high
        lower = np.minimum(np.maximum(origin + scale * below - slack, low), high)
        upper = np.minimum(np.maximum(origin + scale * above + slack, low), high)
        return lower, upper

    def positions(self, record: Record) -> Floats:
        """Where between low and high the means of bounded arms are, from 0 to 1."""
        assert isinstance(record, Moments)
        positions: Floats = np.clip(((record.origins - self.problem.low) + record.offsets) / self.problem.scales, 0.0, 1.0)
        return positions

    def missing(self, record: Record) -> Ints:
        """Observations of every arm that are needed before a policy can be asked."""
        missing: Ints = np.maximum(self.problem.first - record.counts, 0)
        return missing

    def lower(self, record: Moments) -> Sequence | None:
        """The sequence for compiled loops, or None if only the Python loop can run it.

        A subclass that changes anything about the intervals must say so here, too, so those outside of this package are not taken
        at the word of the class that they derive from.
        """
        return None

    def sequence(
        self,
        record: Moments,
        form: Form,
        logs: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
        level: float = 0.0,
        rho: float = 0.0,
        norm: float = 0.0,
        units: Floats | None = None,
    ) -> Sequence:
        """For ``lower``: the form of the intervals, the four terms of the logarithm in a radius, and other constants."""
        problem = self.problem
        signs = np.full(problem.m, getattr(problem, "sign", 1.0))
        span = np.array([problem.low, problem.high, problem.scales, record.rounding, signs, problem.priority, problem.dearness])
        known = np.zeros((4, 0)) if units is None else units
        first, power, second, third = map(float, logs)
        return Sequence(int(form), first, power, second, third, float(level), float(rho), float(norm), known, span)
