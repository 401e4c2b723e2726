"""Evidence by betting, for means and variances of bounded arms."""

from __future__ import annotations

from ..arms import Arm
from ..engine.enums import Family
from ..errors import SettingError
from ..estimators import Mean
from .mixture import Mixture, Unit, variance_scale


class Betting(Mixture):
    """{u : ln(w M(u) + (1 - w) K(u)) <= ln(m / delta)}, M the beta mixture and K the capital of bets against the mean u.

    For N values X in [0, 1] (other bounds are scaled to it) and a bet 0 <= c < 1 the capitals

        K+(u) = Prod(1 + c (X - u) / u)        K-(u) = Prod(1 + c (u - X) / (1 - u))

    are supermartingales that start at 1 if the mean is u, and so is every average of them with weights that are fixed in advance
    (Waudby-Smith and Ramdas 2024). K is half K+ and half K-, each an average over the bets 0.12, 0.3, 0.6 and 0.95 with weights
    0.15, 0.27, 0.33 and 0.25. Averaged with the beta mixture (see :class:`~surepick.confidence.beta.Beta`), each is there where
    it is best: values that vary little are settled by large bets, 0/1 values by the beta mixture.

    An arm's first value tells which of them to expect, and is not weighed itself. If it is an end of the range, w = 0.75, else
    0.08. What comes after is independent of it, so given the first values all of this is a supermartingale. For two arms together
    the joint rule takes an average of the products M M, K K, M K and K M, each with the side that it is about: 0.72, 0.24, 0.02
    and 0.02 if both began with an end of the range, 0.08, 0.88, 0.02 and 0.02 if neither did, and for one that did and one that
    did not 0.10, 0.26, 0.62 (the mixture of the first, the bets of the second) and 0.02.

    Values need not be kept. ln(1 + c (x - u) / u) has negative fourth derivative in x, so that its sum over all values is at
    least its sum over the three atoms 0, y and 1 with the same first three moments, whatever u and c are; equality holds for 0/1
    values and for values that are all alike. So an arm is its count and three sums, and the evidence here never exceeds the
    logarithm of the capital itself.

    Variances are weighed by pairs as in :class:`~surepick.confidence.pairs.Pairs`: W = ((X - X') / (high - low))^2, values in
    [0, 1], mostly small and skewed; of these the first one is not weighed. They have bets of their own: that their mean is above
    u is bet on with care (0.02, 0.06, 0.2 and 0.5, weights 0.2, 0.25, 0.35 and 0.2), since one W may be many times u; that it is
    below u boldly (0.3, 0.6, 0.9 and 0.99, weights 0.06, 0.14, 0.2 and 0.6), since W never falls far below u. If both sides are
    in question, these have 0.35 and 0.65 of the capital. Arms declared Bernoulli are weighed by M alone.

    Of an arm with a population all values are weighed by M, without replacement, and bets are on draws with replacement made from
    them (see :mod:`surepick.redraws`); w is 0.4 there, and the four parts of two such arms 0.41, 0.55, 0.02 and 0.02.

    How far bounds matter: evidence that a mean is above u grows with X / u and knows no upper bound; evidence that it is below u
    grows by at most about (u - X) / (high - u) a value. So a generous upper bound costs samples where large means are to be ruled
    out, and a tight one saves them.
    """

    name = "betting"
    without_replacement = True

    def unit(self, arm: Arm) -> Unit:
        if arm.scale is not None:
            raise SettingError(
                f"confidence='betting' is for bounded arms, and {arm.name!r} is sub-Gaussian: use 'auto' or 'normal'.",
                key="confidence",
            )
        return by_bets(arm, type(self.problem.parameter) is Mean)


def by_bets(arm: Arm, mean: bool) -> Unit:
    """How an arm with bounds is weighed; one declared Bernoulli has nothing to gain from bets."""
    if arm.kind == "bernoulli":
        return Unit(Family.UNIT, arm.low, arm.high - arm.low) if mean else Unit(Family.SPREAD, 0.0, variance_scale(arm))
    if mean:
        return Unit(Family.BETS, arm.low, arm.high - arm.low)
    return Unit(Family.BETS, 0.0, (arm.high - arm.low) ** 2 / 2.0 * variance_scale(arm), pairs=True)
