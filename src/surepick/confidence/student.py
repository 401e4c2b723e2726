"""Evidence for means of normal arms whose variance is unknown."""

from __future__ import annotations

from ..arms import Arm
from ..engine.enums import Family
from ..errors import SettingError
from ..problems.base import Problem
from .mixture import Mixture, Unit, mean_only


class Student(Mixture):
    """{u : ln(0.4 A(u) + 0.6 B(u)) <= ln(m / delta)}, A evidence by symmetry and B evidence by likelihood.

    The first three values of an arm (more, until two of them differ) are held back. Their mean and standard deviation s are the
    arm's origin and unit, set before the values that are weighed. Of the N values after them let u be the mean in question,
    D = N (mean - u) / s and V = sum of ((X - u) / s)^2.

    A = sqrt(30 / (V + 30)) exp(D^2 / (2 (V + 30))). For Y symmetric about 0, exp(l Y - l^2 Y^2 / 2) has mean at most 1 (de la
    Pena 1999), and A is the product over values, mixed over l normal with variance 1 / 30: a supermartingale for every law that
    is symmetric about u.

    B = q(X) / sup { density of X : normal with mean u }, q the density under a normal-inverse-gamma prior with the held values'
    mean and variance, each worth three values. q over the true density is a martingale, and B is never more (universal
    inference: Wasserman, Ramdas and Balakrishnan 2020).

    Both start at 1 and are at most supermartingales with respect to all that is observed of all arms, whatever the variances are.
    So evidence of two arms may be multiplied, and which arm is sampled next may depend on all values. The t-statistics of Lai
    (1976) are martingales for an arm that is looked at by itself only, in a unit that is not known; across arms they are not.

    Assumed: an arm's values are independent and normal, with one mean and one variance. Values that are rounded to less than
    about a tenth of their standard deviation will do. Skewed values will not: transform them, or declare bounds.

    A is cut off where it would fall with the distance from u, see engine/kernels/student.py; an arm all of whose values are equal
    has no evidence at all.
    """

    name = "student"
    scale_free = True

    def bind(self, problem: Problem, delta: float) -> None:
        mean_only(self.name, problem)
        super().bind(problem, delta)

    def unit(self, arm: Arm) -> Unit:
        if arm.kind != "normal":
            raise SettingError(
                f"confidence='student' is for arms of kind 'normal', and {arm.name!r} is {arm.kind}: use 'auto', which weighs "
                "every arm by its kind.",
                key="confidence",
            )
        return Unit(Family.STUDENT, 0.0, 1.0)
