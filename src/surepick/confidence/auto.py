"""The tightest sequence for every arm as it was declared."""

from __future__ import annotations

from ..arms import Arm
from ..engine.enums import Family
from ..estimators import Mean
from .betting import by_bets
from .mixture import Mixture, Unit


class Auto(Mixture):
    """Chooses by the arms' declared kinds, never by the data.

    ================  ==========================================  ==============================
    arm               mean                                        variance
    ================  ==========================================  ==============================
    bounded           :class:`~surepick.confidence.betting`       :class:`~surepick.confidence.betting`, of pairs
    Bernoulli         :class:`~surepick.confidence.beta`          :class:`~surepick.confidence.bernoulli_variance`
    sub-Gaussian      :class:`~surepick.confidence.normal`        (has no bound)
    normal            :class:`~surepick.confidence.student`       (has no bound)
    ================  ==========================================  ==============================

    A problem may have arms of different kinds. For an estimator of your own ``confidence="auto"`` is the paper's radius, which
    needs no more than the estimator states.
    """

    name = "auto"
    without_replacement = True
    scale_free = True

    def unit(self, arm: Arm) -> Unit:
        if type(self.problem.parameter) is Mean:
            if arm.kind == "normal":
                return Unit(Family.STUDENT, 0.0, 1.0)
            if arm.scale is not None:
                return Unit(Family.NORMAL, 0.0, arm.scale)
        return by_bets(arm, type(self.problem.parameter) is Mean)
