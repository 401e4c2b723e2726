"""Standard errors and intervals of stratified samples without replacement, by linearisation.

Sources: Cochran (1977), Sampling Techniques, 3rd ed.: 5.6-5.9 (stratified means, their variance), 5.16 (degrees of freedom),
6.11 (combined ratio); Särndal, Swensson, Wretman (1992), 5.5-5.8 and 10.3 (domains as ratios, linearisation); Lumley's R
package survey: ``svytotal``, ``svymean``, ``svyratio`` (variances), ``svymean(deff=TRUE)`` (design effect), ``svyciprop`` with
the method ``"logit"``, ``options(survey.lonely.psu="adjust")``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..arms import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Design:
    """The people who have answered a question: their strata, with how many there are and how many have answered."""

    stratum: Ints
    N: Floats
    n: Ints

    @property
    def weight(self) -> Floats:
        """Of every person: how many of the stratum he stands for, N_h / n_h."""
        return (self.N / np.maximum(self.n, 1))[self.stratum]

    def variances(self, score: Floats) -> Floats:
        """Of every stratum, its part of the variance of sum w e: N_h^2 (1/n_h - 1/N_h) s_h^2.

        A stratum with one answer of several people has no s_h; it counts with its distance from the mean of all.
        """
        H = len(self.N)
        n = np.maximum(self.n, 1)
        mean = np.bincount(self.stratum, score, H) / n
        spread = np.bincount(self.stratum, (score - mean[self.stratum]) ** 2, H) / np.maximum(n - 1, 1)
        lonely = (self.n == 1) & (self.N > 1)
        if lonely.any():
            centre = float((self.weight * score).sum() / self.weight.sum())
            spread[lonely] = (mean[lonely] - centre) ** 2
        parts: Floats = self.N**2 * (1.0 - self.n / self.N) / n * spread * (self.n > 0)
        return parts


@dataclass(frozen=True)
class Linear:
    """An estimate sum w y z / sum w x z, or a total, with its variance by linearisation.

    ``df`` are Satterthwaite's: (sum v_h)^2 / sum (v_h^2 / (n_h - 1)), v_h being the parts of the variance, and n_h the answers
    inside the domain; n - H where all of them are 0.
    """

    estimate: float
    se: float
    df: float
    deff: float | None
    n: int

    @property
    def cv(self) -> float | None:
        return self.se / abs(self.estimate) if self.estimate else None

    def times(self, people: float) -> Linear:
        """The total that a mean of so many people makes."""
        return replace(self, estimate=self.estimate * people, se=self.se * people)


def ratio(design: Design, y: Floats, x: Floats, inside: Bools, rule: str) -> Linear | None:
    """sum w y / sum w x over a domain; means and shares have x = 1. None if nobody there has x."""
    w = design.weight
    below = float((w * x)[inside].sum())
    if below == 0.0:
        return None
    estimate = float((w * y)[inside].sum()) / below
    residual = np.where(inside, y - estimate * x, 0.0)
    parts = design.variances(residual) / below**2
    n = int(inside.sum())
    deff = None
    if n > 1:
        people = float(w[inside].sum())
        alone = float((w * residual**2)[inside].sum()) / people * n / (n - 1) * (people / below) ** 2
        deff = _over(float(parts.sum()), alone * max(1.0 - n / people, 0.0) / n)
    return Linear(estimate, math.sqrt(float(parts.sum())), freedom(design, parts, inside, rule), deff, n)


def total(design: Design, y: Floats, inside: Bools, rule: str) -> Linear:
    """sum w y over a domain."""
    score = np.where(inside, y, 0.0)
    parts = design.variances(score)
    w, n = design.weight, int(inside.sum())
    deff = None
    if n > 1:
        people = float(w[inside].sum())
        middle = float((w * score)[inside].sum()) / people
        alone = float((w * (y - middle) ** 2)[inside].sum()) / people * n / (n - 1)
        deff = _over(float(parts.sum()), alone * people**2 * max(1.0 - n / people, 0.0) / n)
    return Linear(float((w * score)[inside].sum()), math.sqrt(float(parts.sum())), freedom(design, parts, inside, rule), deff, n)


def freedom(design: Design, parts: Floats, inside: Bools, rule: str) -> float:
    """Degrees of freedom, at least 1. Of a domain only those inside count: what the others show is no more than that they are
    others, and with them the interval would be too narrow where a domain is small."""
    some = parts > 0
    here = np.bincount(design.stratum[inside], minlength=len(design.N))
    free = np.maximum(here - 1, 0)
    if rule == "n-H" or not some.any():
        return max(float(free.sum()), 1.0)
    share = parts[some] / parts[some].sum()
    return max(1.0 / float((share**2 / np.maximum(free[some], 1)).sum()), 1.0)


def t_interval(found: Linear, delta: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    half = float(stdtrit(found.df, 1.0 - delta / 2.0)) * found.se
    return found.estimate - half, found.estimate + half


def logit_interval(found: Linear, delta: float) -> tuple[float, float]:
    """The t interval of ln(p / (1 - p)), turned back, so that it stays within [0, 1]."""
    from scipy.special import expit, logit, stdtrit

    p = found.estimate
    half = float(stdtrit(found.df, 1.0 - delta / 2.0)) * found.se / (p * (1.0 - p))
    return float(expit(logit(p) - half)), float(expit(logit(p) + half))


def all_alike(design: Design, y: Floats, inside: Bools, delta: float, low: float, high: float) -> tuple[float, float]:
    """A mean of values from low to high whose standard error is 0: within every stratum not taken whole all answers are alike.

    Let strata whose answers are below high hold the part W of the people. That a share x of larger values among them is missed
    has probability at most (1 - x)^k, k being the least n_h W / W_h of them: people over the largest weight (by concavity of the
    logarithm), which is n if all weigh the same, as with Clopper and Pearson. So at most W (1 - (delta / 2)^(1/k)) of all people
    have more than was seen, and the mean is larger by that times the room up to high. From below likewise. Where the only
    members of a domain that were seen are of strata taken whole, others may have members that were not seen.
    """
    w = design.weight
    people = float(w[inside].sum())
    p = float((w * y)[inside].sum()) / people
    open_ = inside & (design.n < design.N)[design.stratum]
    if not open_.any():
        rest = design.n < design.N
        more = float(design.N[rest].sum()) * _missed(
            float((design.n / design.N)[rest].min()) * float(design.N[rest].sum()), delta
        )
        return (p * people + more * low) / (people + more), (p * people + more * high) / (people + more)
    ends = []
    for room in (y - low, high - y):
        some = open_ & (room > 0.0)
        part = float(w[some].sum())
        ends.append(part / people * _missed(part / float(w[some].max()), delta) * float(room[some].max()) if part else 0.0)
    return max(p - ends[0], low), min(p + ends[1], high)


def _missed(k: float, delta: float) -> float:
    """The largest share that k answers may have missed."""
    return -math.expm1(math.log(delta / 2.0) / k)


def _over(a: float, b: float) -> float | None:
    return a / b if b > 0 else None
