"""How much answers vary in every stratum, from the answers so far, when some strata have few of them or all alike.

With r_h answers of stratum h, s_h^2 may be anything, even 0, and an allocation at the s_h^2 starves the strata where it happened
to be small. So the strata lend each other strength (empirical Bayes; Morris 1983, JASA 78; Smyth 2004 for variances).

Numbers. ln s_h^2 is about ln S_h^2 with the variance psi'(d_h / 2), as if it had d_h degrees of freedom, where

    d_h = 2 (r_h - 1) / (kappa_h - 1) / (1 - r_h / N_h),

kappa_h being the kurtosis: r_h - 1 for normal values, less for skewed ones, and endless once all are asked. The ln S_h^2 are in
turn about a line b_0 + b_1 ln |mean_h| with a variance tau^2: amounts vary more where they are larger, with b_1 about 2 (Taylor's
law). If the frame has last year's S, the line is b_0 + b_1 ln S_h^2 of then, with b_1 about 1. All tau of a grid are averaged,
weighted by how well they explain the s_h^2. Where all r_h answers are alike, s_h^2 = 0 says only that others are rare: the line
is taken there, divided by r_h + 1.

0 and 1. A stratum's share p_h has a Beta distribution around the share of all, or around last year's; the concentrations of a
grid are averaged by the likelihood (beta-binomial). Of S_h^2 = p_h (1 - p_h) N_h / (N_h - 1) that is the posterior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, polygamma

from ..arms import Floats, Ints
from .frame import Frame

PLAIN_KURTOSIS = 5.0  # of one stratum at least, when strata are pooled: a few answers do not show a long tail
TRUSTED = 50.0  # answers of a stratum that count for its own kurtosis as much as the pooled one
POOLED = 20  # answers of a stratum that count for the pooled kurtosis at most
FEWEST = 0.3  # degrees of freedom
SLOPE_OF_MEAN, SLOPE_OF_GUESS = (2.0, 0.5), (1.0, 0.25)  # what is expected of b_1, and how closely
TAU2 = np.geomspace(0.01, 10.0, 25)
CONCENTRATION = np.geomspace(0.5, 200.0, 25)
WIDEST = 3.0  # variance of ln S^2 that is believed in the mean of S^2


@dataclass(frozen=True, eq=False)
class Seen:
    """What the answers to one question say, by stratum; values are divided by ``scale``.

    ``n`` who answered, ``mean`` (NaN without answers), ``s2`` with the divisor n - 1 (0 below two), ``fourth`` the fourth moment
    about the mean; ``guess`` and ``guess_mean`` are S^2 and the mean that the frame gives, NaN where it does not.
    """

    N: Floats
    n: Ints
    mean: Floats
    s2: Floats
    fourth: Floats
    binary: bool
    guess: Floats
    guess_mean: Floats
    scale: float


@dataclass(frozen=True, eq=False)
class Spread:
    """What is believed of the S_h^2: their mean, and a value that is exceeded one time in six. In units of ``scale`` squared.

    ``parts`` is a mixture: a weight, and by stratum the mean and variance of ln S^2, or the parameters of a Beta distribution.
    """

    mean: Floats
    high: Floats
    parts: list[tuple[float, Floats, Floats]]
    known: Seen

    def draw(self, rng: np.random.Generator, many: int) -> Floats:
        """S^2 as they may be: a row a draw."""
        weights = np.array([weight for weight, _, _ in self.parts])
        which = rng.choice(len(weights), size=many, p=weights / weights.sum())
        first, second = (np.array([part[k] for part in self.parts])[which] for k in (1, 2))
        N = self.known.N
        if self.known.binary:
            told = self.known.n / N
            p = told * np.nan_to_num(self.known.mean) + (1 - told) * rng.beta(first, second)
            out: Floats = p * (1 - p) * N / np.maximum(N - 1, 1)
        else:
            out = np.exp(first + np.sqrt(np.minimum(second, WIDEST)) * rng.standard_normal(first.shape))
        return np.where(N > 1, out, 0.0)


def known_as(frame: Frame, variable: str) -> str:
    """Under which name the frame has last year's S of a question: its own, or the only one there is."""
    known = frame.variables
    return known[0] if variable not in known and len(known) == 1 else variable


def seen(frame: Frame, variable: str, stratum: Ints, y: Floats, binary: bool) -> Seen:
    """Moments by stratum. The order of the answers does not matter, to the last digit."""
    H = len(frame)
    order = np.lexsort((y, stratum))
    stratum, y = stratum[order], y[order]
    scale = 1.0 if binary or not len(y) else float(np.abs(y).max()) or 1.0
    z = y / scale
    n = np.bincount(stratum, minlength=H)
    count = np.maximum(n, 1)
    mean = np.bincount(stratum, z, H) / count
    off = z - mean[stratum]
    alike = np.ones(H, dtype=bool)
    np.logical_and.at(alike, stratum[1:], (z[1:] == z[:-1]) | (stratum[1:] != stratum[:-1]))
    s2 = np.where(alike, 0.0, np.bincount(stratum, off**2, H) / np.maximum(n - 1, 1))
    fourth = np.bincount(stratum, off**4, H) / count
    name = known_as(frame, variable)
    guess, middle = frame.S.get(name), frame.mean.get(name)
    unknown = np.full(H, np.nan)
    return Seen(
        frame.N, n, np.where(n > 0, mean, np.nan), s2, fourth, binary,
        unknown if guess is None else (guess / scale) ** 2, unknown if middle is None else middle / scale, scale,
    )  # fmt: skip


def spread(known: Seen) -> Spread:
    """What is believed of every stratum's S^2."""
    return _of_shares(known) if known.binary else _of_numbers(known)


def plug_in(known: Seen) -> Floats:
    """The s^2 as they are; where there are fewer than two answers, the pooled one."""
    two = known.n >= 2
    return np.where(two, known.s2, _pooled(known))


def _pooled(known: Seen) -> float:
    df = np.maximum(known.n - 1, 0)
    return float((df * known.s2).sum() / max(df.sum(), 1))


def _of_numbers(known: Seen) -> Spread:
    if not (known.s2 > 0).any():
        flat = np.zeros(len(known.N))
        return Spread(flat, flat, [(1.0, np.full(len(flat), -np.inf), flat)], known)
    z, v, rare = _logs(known)
    X, about, tight = _line(known)
    parts: list[tuple[float, Floats, Floats]] = []
    logs = []
    told = np.isfinite(v)
    for tau2 in TAU2:
        w = np.where(told, 1.0 / (np.where(told, v, 1.0) + tau2), 0.0)
        A = X.T @ (w[:, None] * X) + tight
        b = np.linalg.solve(A, X.T @ (w * z) + tight @ about)
        line = X @ b
        off = z - line
        logs.append(
            0.5 * float(np.log(w[told]).sum())
            - 0.5 * float(np.linalg.slogdet(A)[1])
            - 0.5 * float((w * off**2).sum())
            - 0.5 * float((b - about) @ tight @ (b - about))
            - 0.5 * np.log1p(tau2)
        )
        trust = tau2 * w  # 0 where nothing was seen
        parts.append((0.0, line + trust * off - rare, np.where(told, trust * np.where(told, v, 1.0), tau2)))
    weight = np.exp(np.array(logs) - max(logs))
    weight /= weight.sum()
    parts = [(float(q), middle, var) for q, (_, middle, var) in zip(weight, parts, strict=True)]
    mean, high = np.zeros(len(z)), np.zeros(len(z))
    for q, middle, var in parts:
        var = np.minimum(var, WIDEST)
        mean += q * np.exp(middle + 0.5 * var)
        high += q * np.exp(middle + 0.5 * var + np.sqrt(var))
    one = known.N <= 1
    return Spread(np.where(one, 0.0, mean), np.where(one, 0.0, high), parts, known)


def _logs(known: Seen) -> tuple[Floats, Floats, Floats]:
    """ln s^2 and its variance, which is infinite where nothing is known of it; and by how much ln S^2 is below the line there."""
    n = known.n.astype(np.float64)
    some = (known.n >= 2) & (known.s2 > 0)
    second = known.s2 * (n - 1) / np.maximum(n, 1)
    peak = np.where(some, known.fourth / np.where(some, second, 1.0) ** 2, 0.0)
    count = np.minimum(n - 1, POOLED) * some
    common = max(float((count * peak).sum() / max(count.sum(), 1.0)), PLAIN_KURTOSIS)
    kurtosis = np.maximum(np.where(some, (n * peak + TRUSTED * common) / (n + TRUSTED), common), 2.0)
    left = np.maximum(1.0 - n / known.N, 1e-6)
    d = np.maximum(2.0 * (n - 1) / (kurtosis - 1), FEWEST) / left
    v = np.where(some, polygamma(1, d / 2), np.inf)
    z = np.log(np.where(some, known.s2, 1.0))
    rare = np.where((known.n >= 2) & ~some, np.log((n + 1) / left), 0.0)
    return z, v, rare


def _line(known: Seen) -> tuple[Floats, Floats, Floats]:
    """The columns of the line, what is expected of its coefficients, and how tightly."""
    H, one = len(known.N), np.ones(len(known.N))
    told = known.n > 0
    means = known.mean[told]
    if (known.guess > 0).all():
        x, (slope, sd) = np.log(known.guess), SLOPE_OF_GUESS
    elif H > 3 and len(means) and ((means > 0).all() or (means < 0).all()):  # amounts, which have a natural 0
        x, (slope, sd) = np.where(told, np.log(np.abs(np.where(told, known.mean, 1.0))), np.nan), SLOPE_OF_MEAN
        x = np.where(told, x, np.nanmean(x))
    else:
        return one[:, None], np.zeros(1), np.zeros((1, 1))
    return np.column_stack([one, x - x.mean()]), np.array([0.0, slope]), np.diag([0.0, 1.0 / sd**2])


def _of_shares(known: Seen) -> Spread:
    n = known.n.astype(np.float64)
    yes = np.where(known.n > 0, known.mean, 0.0) * n
    no = n - yes
    overall = (yes.sum() + 0.5) / (n.sum() + 1.0)
    given = (known.guess_mean > 0) & (known.guess_mean < 1)
    centre = np.where(given, np.where(given, known.guess_mean, 0.5), overall)
    logs = np.array(
        [
            float((betaln(yes + c * centre, no + c * (1 - centre)) - betaln(c * centre, c * (1 - centre))).sum())
            for c in CONCENTRATION
        ]
    )
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    mean, square = np.zeros(len(n)), np.zeros(len(n))
    parts = []
    for q, c in zip(weight.tolist(), CONCENTRATION, strict=True):
        a, b = yes + c * centre, no + c * (1 - centre)
        one = a * b / ((a + b) * (a + b + 1))  # E p (1 - p)
        mean += q * one
        square += q * one * (a + 1) * (b + 1) / ((a + b + 2) * (a + b + 3))
        parts.append((q, a, b))
    seen_part = n / known.N  # the answers are part of the population
    large = known.N / np.maximum(known.N - 1, 1)
    spare = (1 - seen_part) * np.sqrt(np.maximum(square - mean**2, 0.0)) * large
    middle = np.where(known.N > 1, seen_part * known.s2 + (1 - seen_part) * mean * large, 0.0)
    return Spread(middle, middle + np.where(known.N > 1, spare, 0.0), parts, known)
