"""Every sequence holds at all times together, for all arms together; and the test would notice if it did not.

2,000 paths of 20,000 observations with fixed seeds a law. A path misses if the truth is outside the interval at any time. With
probability exactly delta = 0.1 of a miss, more than 267 misses have probability below 1e-6: the threshold. By default a path is
looked at at its first 200 observations and then whenever it is 1 % longer; the slow part looks after every observation. The
truth is in the interval if and only if the evidence against it is at most the level, which is what the paths are checked by;
that the intervals say the same is a test of its own. (Intervals and martingales: MATHS §6.)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numba import njit
from scipy import special
from scipy.stats import binom

import surepick as sp
from surepick.confidence import CONFIDENCES, Auto, Confidence, Mixture, make_confidence
from surepick.confidence.bernstein import Bernstein
from surepick.confidence.kt_kl import KTKL
from surepick.confidence.mixture import TUNED, width
from surepick.engine.enums import Family
from surepick.engine.kernels.bets import atoms_of
from surepick.engine.kernels.intervals import bernstein_evidence, kt_evidence
from surepick.engine.kernels.least import least_evidence
from surepick.engine.kernels.mixtures import ABOVE, BELOW, BOTH, log_tail, unit_evidence
from surepick.errors import SettingError
from surepick.estimators import Moments

from .weighed import arms_of, evidence

DELTA, PATHS, LENGTH, CHUNK = 0.1, 2000, 20_000, 100
THRESHOLD = int(binom.isf(1e-6, PATHS, DELTA))
EVERY = np.arange(1, LENGTH + 1)
LOOKS = np.unique(np.concatenate((np.arange(1, 201), np.geomspace(200, LENGTH, 464).astype(int))))

UNIT, NORMAL, SPREAD, BETS = map(int, (Family.UNIT, Family.NORMAL, Family.SPREAD, Family.BETS))


# -- laws and their paths -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Law:
    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
    mean: float
    variance: float
    kind: str = "bounded"

    def arm(self, name: str) -> sp.Arm:
        return sp.Arm(name, kind=self.kind, scale=1.0 if self.kind == "subgaussian" else None)


def coin(p: float) -> Law:
    return Law(lambda rng, shape: (rng.random(shape, dtype=np.float32) < p).astype(float), p, p * (1 - p), "bernoulli")


LAWS = {
    "coin": coin(0.5),
    "rare": coin(0.05),
    "common": coin(0.95),
    "beta": Law(lambda rng, shape: rng.beta(2, 6, shape), 0.25, 12 / 576),
    "two-point": Law(lambda rng, shape: np.where(rng.random(shape) < 0.3, 0.9, 0.2), 0.41, 0.21 * 0.49),
    "uniform": Law(lambda rng, shape: rng.random(shape), 0.5, 1 / 12),
    "steady": Law(lambda rng, shape: rng.beta(200, 300, shape), 0.4, 0.24 / 501),
    "skewed": Law(lambda rng, shape: rng.beta(0.1, 1.9, shape), 0.05, 0.0475 / 3),
    "gaussian": Law(lambda rng, shape: rng.standard_normal(shape), 0.0, 1.0, "subgaussian"),
}
BOUNDED = [name for name in LAWS if name != "gaussian"]
MEANS = ["normal", "kt-kl", "beta", "betting", "bernstein", "paper", "auto"]
VARIANCES = ["pairs", "betting", "bernoulli-variance", "u-statistic", "paper", "auto"]


def sequences(law: str) -> list[tuple[str, str]]:
    """The (parameter, sequence) that are valid for a law."""
    kind = LAWS[law].kind
    if kind == "subgaussian":
        return [("mean", name) for name in ("normal", "paper", "auto")]
    able = [name for name in VARIANCES if name != "bernoulli-variance" or kind == "bernoulli"]
    return [("mean", name) for name in MEANS] + [("variance", name) for name in able]


@dataclass(frozen=True)
class Seen:
    """What is known of many paths (rows) at some moments (columns)."""

    n: np.ndarray
    means: np.ndarray
    squares: np.ndarray
    prediction_errors: np.ndarray
    pairs: np.ndarray
    differences: np.ndarray
    first: np.ndarray  # value, a column, and what follows of those after it
    upward: np.ndarray
    downward: np.ndarray
    first_of_pairs: np.ndarray
    upward_of_pairs: np.ndarray
    downward_of_pairs: np.ndarray

    def atoms(self, paired: bool) -> tuple[np.ndarray, np.ndarray]:
        """The inner atoms and their weights."""
        sums = (self.upward_of_pairs, self.downward_of_pairs) if paired else (self.upward, self.downward)
        return all_atoms(np.maximum((self.pairs if paired else self.n) - 1, 1).astype(float), *sums)


@njit
def all_atoms(n, upward, downward):
    inner, share = np.empty(upward.shape), np.empty(upward.shape)
    for i in range(upward.shape[0]):
        for j in range(upward.shape[1]):
            inner[i, j], share[i, j] = atoms_of(n[j], upward[i, j], downward[i, j])
    return inner, share


def bends(y: np.ndarray) -> list[np.ndarray]:
    """Sums of y^2 (1 - y) and of y (1 - y)^2 after 0, 1, 2, ... values, without the first one."""
    nothing = np.zeros((len(y), 1))
    terms = y * y * (1 - y), y * (1 - y) * (1 - y)
    for term in terms:
        term[:, 0] = 0
    return [np.concatenate((nothing, np.cumsum(term, axis=1)), axis=1) for term in terms]


def seen(x: np.ndarray, looks: np.ndarray) -> Seen:
    n = np.arange(1, x.shape[1] + 1)
    means = np.cumsum(x, axis=1)
    means /= n
    steps = x[:, 1:] - means[:, :-1]
    squares = np.zeros_like(x)
    np.cumsum(steps * (x[:, 1:] - means[:, 1:]), axis=1, out=squares[:, 1:])  # Welford's
    errors = np.zeros_like(x)
    np.cumsum(steps * steps, axis=1, out=errors[:, 1:])
    gaps = x[:, : x.shape[1] // 2 * 2 : 2] - x[:, 1::2]
    differences = np.concatenate((np.zeros((len(x), 1)), np.cumsum(gaps * gaps, axis=1)), axis=1)
    at = looks - 1
    values, pairs = ([sums[:, at] for sums in bends(y)] for y, at in ((x, looks), (gaps * gaps, looks // 2)))
    bent = x[:, :1], *values, gaps[:, :1] ** 2, *pairs
    return Seen(looks, means[:, at], squares[:, at], errors[:, at], looks // 2, differences[:, looks // 2], *bent)


def chunks(law: str, looks: np.ndarray) -> Iterator[Seen]:
    for chunk in range(PATHS // CHUNK):
        rng = np.random.default_rng([2018, list(LAWS).index(law), chunk])
        yield seen(LAWS[law].draw(rng, (CHUNK, LENGTH)), looks)


@lru_cache(maxsize=len(LAWS))
def paths(law: str) -> Seen:
    parts = list(chunks(law, LOOKS))
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in (
            "means",
            "squares",
            "prediction_errors",
            "differences",
            "first",
            "upward",
            "downward",
            "first_of_pairs",
            "upward_of_pairs",
            "downward_of_pairs",
        )
    }
    return Seen(n=parts[0].n, pairs=parts[0].pairs, **columns)


def problem_of(laws: list[str], parameter: str) -> sp.Problem:
    return sp.BestArm([LAWS[law].arm(f"{law} {i}") for i, law in enumerate(laws)], parameter=parameter)


# -- the evidence against the truth -----------------------------------------------------------------------------------------


@njit
def weigh(kinds, n, p, u, rho, side, inner, share):
    out = np.empty(p.shape)
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            out[i, j] = evidence(kinds[i], n[j], p[i, j], u, rho[j], side, inner[i, j], share[i, j]) if n[j] > 0 else 0.0
    return out


@njit
def weigh_kt(n, p, u):
    out = np.empty(p.shape)
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            out[i, j] = kt_evidence(n[j], min(max(p[i, j], 0.0), 1.0), u)
    return out


@njit
def weigh_bernstein(s, v, rho, norm):
    out = np.empty(s.shape)
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            out[i, j] = bernstein_evidence(s[i, j], v[i, j], rho, norm)
    return out


def excess(
    confidence: Confidence,
    i: int,
    theta: float,
    data: Seen,
    rho: np.ndarray | None = None,
    side: int = BOTH,
    atoms: Callable[[Seen], tuple[np.ndarray, np.ndarray]] | None = None,
) -> np.ndarray:
    """By how much the evidence against theta, as arm i's parameter, exceeds the level; all arms have as many observations."""
    n = data.n.astype(float)
    if isinstance(confidence, Mixture):
        if confidence.paired[i]:
            n = data.pairs.astype(float)
            values = data.differences / np.maximum(n, 1) / 2
        else:
            values = data.means
        p = (values - confidence.shift[i]) / confidence.scale[i]
        p = p if confidence.families[i] == NORMAL else np.clip(p, 0, 1)
        u = (theta - confidence.shift[i]) / confidence.scale[i]
        rho = np.full(len(n), confidence.rho) if rho is None else rho
        atoms = data.atoms(bool(confidence.paired[i])) if atoms is None else atoms(data)
        kinds = np.full(len(p), confidence.families[i])
        if confidence.families[i] == Family.BETS:  # the first value is not weighed, and tells the sort
            first = data.first_of_pairs if confidence.paired[i] else data.first
            kinds[:] = Family.SQUARES if confidence.paired[i] else Family.BETS
            kinds[((first <= 0) | (first >= 1))[:, 0]] = Family.LUMPS
            p, n = np.clip((p * n - first) / np.maximum(n - 1, 1), 0, 1), n - 1
        return weigh(kinds, n, p, u, rho, side, *atoms) - confidence.level
    if isinstance(confidence, KTKL):
        return weigh_kt(n, data.means, theta) - confidence.level
    if isinstance(confidence, Bernstein):
        s = np.abs(data.means - theta) * n
        return weigh_bernstein(s, 0.25 + data.prediction_errors, confidence.rho, confidence.norm) - confidence.level
    ones = np.ones(confidence.problem.m, dtype=np.int64)
    radius = np.array([confidence.radius(k * ones)[i] for k in data.n])
    if confidence.problem.parameter.name == "variance":
        estimates = data.squares / np.maximum(n - 1, 1)
        return np.where(n > 1, np.abs(estimates - theta) - radius, -1.0)
    return np.abs(data.means - theta) - radius


def truth(law: str, parameter: str) -> float:
    return LAWS[law].mean if parameter == "mean" else LAWS[law].variance


def missed(name: str, parameter: str, laws: list[str], data: Callable[[str], Seen], **changes: object) -> np.ndarray:
    """For every path: some arm's truth is outside its interval at some time. Arm i of run r is path r of its law."""
    confidence = make_confidence(name, problem_of(laws, parameter), DELTA)
    out = [(excess(confidence, i, truth(law, parameter), data(law), **changes) > 0).any(axis=1) for i, law in enumerate(laws)]
    return np.logical_or.reduce(out)


def test_the_threshold() -> None:
    assert THRESHOLD == 267
    assert binom.sf(THRESHOLD, PATHS, DELTA) <= 1e-6 < binom.sf(THRESHOLD - 1, PATHS, DELTA)


@pytest.mark.parametrize(("law", "parameter", "name"), [(law, *case) for law in LAWS for case in sequences(law)])
def test_one_arm_is_covered_at_all_times(law: str, parameter: str, name: str) -> None:
    assert missed(name, parameter, [law], paths).sum() <= THRESHOLD


@pytest.mark.parametrize("name", MEANS)
def test_six_different_arms_are_covered_together(name: str) -> None:
    assert missed(name, "mean", BOUNDED, paths).sum() <= THRESHOLD


PARAMETERS = ["normal:tuned=5", "beta:tuned=5", "beta:tuned=100000", "bernstein:tuned=0.5", "kl-lucb:alpha=2,k1=2.01"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_arms_are_covered_whatever_the_parameters(name: str) -> None:
    assert missed(name, "mean", BOUNDED[:3], paths).sum() <= THRESHOLD


@pytest.mark.parametrize("name", VARIANCES)
def test_the_variances_of_several_arms_are_covered_together(name: str) -> None:
    laws = BOUNDED[:3] if name == "bernoulli-variance" else BOUNDED
    assert missed(name, "variance", laws, paths).sum() <= THRESHOLD


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_one_arm_is_covered_after_every_observation(law: str) -> None:
    """'auto' has the numbers of another sequence, and is left out."""
    misses = {case: 0 for case in sequences(law) if case[1] != "auto"}
    for chunk in chunks(law, EVERY):
        for parameter, name in misses:
            misses[parameter, name] += missed(name, parameter, [law], lambda _, chunk=chunk: chunk).sum()
    assert max(misses.values()) <= THRESHOLD, misses


@pytest.mark.slow
@pytest.mark.parametrize("parameter", ["mean", "variance"])
def test_six_different_arms_are_covered_after_every_observation(parameter: str) -> None:
    misses = dict.fromkeys(MEANS[:-1] if parameter == "mean" else ["pairs", "betting", "u-statistic", "paper", "auto"], 0)
    for parts in zip(*(chunks(law, EVERY) for law in BOUNDED), strict=True):
        data = dict(zip(BOUNDED, parts, strict=True))
        for name in misses:
            misses[name] += missed(name, parameter, BOUNDED, data.__getitem__).sum()
    assert max(misses.values()) <= THRESHOLD, misses


# -- planted bugs -------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def long_walk(_law: str) -> Seen:
    """Sums of up to 10^9 normal observations, drawn only at the moments at which they are looked at."""
    n = np.unique(np.geomspace(1, 1e9, 2500).astype(np.int64))
    steps = np.random.default_rng(2018).standard_normal((PATHS, len(n))) * np.sqrt(np.diff(n, prepend=0))
    means = np.cumsum(steps, axis=1) / n
    return Seen(n, means, means, means, n // 2, means, *[np.zeros_like(means)] * 6)


def test_planted_bug_rho_tuned_on_the_data() -> None:
    """The rho with the narrowest interval at the N at hand. The boundary is then a constant number of standard deviations (2.8
    at delta = 0.1) at all times, and by the law of the iterated logarithm every path crosses it sooner or later."""
    confidence = make_confidence("normal", problem_of(["gaussian"], "mean"), DELTA)
    candidates = width(confidence.level) * np.array([0.9, 1.0, 1.1])
    assert np.argmin((TUNED + candidates) * (np.log1p(TUNED / candidates) + 2 * confidence.level)) == 1
    assert missed("normal", "mean", ["gaussian"], long_walk).sum() <= THRESHOLD
    for law, data in (("gaussian", long_walk), ("coin", paths)):
        assert missed("normal", "mean", [law], data, rho=data(law).n * width(confidence.level) / TUNED).sum() > THRESHOLD


@pytest.mark.parametrize("name", ["normal", "beta", "kt-kl", "bernstein"])
def test_planted_bug_no_union_over_arms(name: str) -> None:
    """100 runs of 20 arms: with the union most are fine, without it every arm takes all of delta for itself."""
    law = "rare" if name == "bernstein" else "coin"
    confidence = make_confidence(name, problem_of([law] * 20, "mean"), DELTA)
    count = lambda: (excess(confidence, 0, LAWS[law].mean, paths(law)) > 0).any(axis=1).reshape(100, 20).any(axis=1).sum()
    assert count() <= binom.isf(1e-6, 100, DELTA)
    confidence.level -= math.log(20)
    assert count() > binom.isf(1e-6, 100, DELTA)


def test_planted_bug_bets_on_values_all_at_their_mean() -> None:
    """Atoms that promise more than any bet had: as if a value were known to be the mean of all."""

    def at_the_mean(data: Seen) -> tuple[np.ndarray, np.ndarray]:
        return data.means, np.ones_like(data.means)

    assert missed("betting", "mean", ["uniform"], paths).sum() <= THRESHOLD
    assert missed("betting", "mean", ["uniform"], paths, atoms=at_the_mean).sum() > THRESHOLD


def test_planted_bug_overlapping_pairs() -> None:
    """X1 - X2, X2 - X3, ... A rare 1 makes two pairs in a row differ: the same surprise is counted twice."""

    def overlapping(law: str) -> Seen:
        parts = []
        for chunk in range(PATHS // CHUNK):
            x = LAWS[law].draw(np.random.default_rng([7, chunk]), (CHUNK, LENGTH + 1))
            parts.append(np.cumsum((x[:, 1:] - x[:, :-1]) ** 2, axis=1)[:, LOOKS - 1])
        return replace(paths(law), pairs=LOOKS, differences=np.concatenate(parts))

    assert missed("pairs", "variance", ["rare"], paths).sum() <= THRESHOLD
    assert missed("pairs", "variance", ["rare"], overlapping).sum() > THRESHOLD


@pytest.mark.parametrize(("name", "law"), [("normal", "coin"), ("normal", "gaussian"), ("beta", "coin"), ("beta", "common")])
def test_planted_bug_one_sided_evidence_on_both_sides(name: str, law: str) -> None:
    """Each side alone misses in a share delta of the paths at most; both together need ln 2 more."""
    confidence = make_confidence(name, problem_of([law], "mean"), DELTA)
    data = long_walk(law) if law == "gaussian" else paths(law)
    above, below = (excess(confidence, 0, LAWS[law].mean, data, side=side).max(axis=1) for side in (ABOVE, BELOW))
    assert (above > 0).sum() <= THRESHOLD
    assert (below > 0).sum() <= THRESHOLD
    both = np.maximum(above, below)
    assert (both > math.log(2)).sum() <= THRESHOLD
    assert (both > 0).sum() > THRESHOLD


# -- the martingales ------------------------------------------------------------------------------------------------------------

counts = st.integers(0, 3000)
shares = st.floats(0, 1)
inner = st.floats(1e-4, 1 - 1e-4)
widths = st.floats(0.5, 1000)
sides = st.sampled_from([ABOVE, BELOW, BOTH])
laws = st.lists(st.tuples(shares, st.integers(1, 9)), min_size=1, max_size=5)  # values and their weights


def after(kind: int, n: int, p: float, x: float, u: float, rho: float, side: int) -> float:
    """The evidence after one more observation x."""
    return evidence(kind, n + 1.0, (n * p + x) / (n + 1.0), u, rho, side)


@given(n=counts, p=shares, u=inner, rho=widths, side=sides)
def test_unit_evidence_is_a_martingale_for_coins(n: int, p: float, u: float, rho: float, side: int) -> None:
    yes, no = (after(UNIT, n, p, x, u, rho, side) for x in (1.0, 0.0))
    mean = np.logaddexp(math.log(u) + yes, math.log1p(-u) + no)
    assert mean == pytest.approx(evidence(UNIT, float(n), p, u, rho, side), rel=1e-9, abs=1e-6)


@given(n=counts, p=shares, law=laws, rho=widths, side=sides)
def test_unit_evidence_is_a_supermartingale_for_other_laws(
    n: int, p: float, law: list[tuple[float, int]], rho: float, side: int
) -> None:
    values, weights = np.array(law).T
    weights = weights / weights.sum()
    u = float(values @ weights)
    assume(1e-4 < u < 1 - 1e-4)
    logs = [math.log(w) + after(UNIT, n, p, x, u, rho, side) for x, w in zip(values, weights, strict=True)]
    assert special.logsumexp(logs) <= evidence(UNIT, float(n), p, u, rho, side) + 1e-6


@given(n=counts, p=st.floats(-0.2, 0.2), u=st.floats(-0.2, 0.2), rho=widths, side=sides)
def test_normal_evidence_is_a_martingale_for_normal_values(n: int, p: float, u: float, rho: float, side: int) -> None:
    top, wide = n * (p - u) / (n + rho), math.sqrt((n + 1 + rho) / (n + rho))  # where the integrand lives
    z = top + wide * np.linspace(-12, 12, 801)
    logs = [after(NORMAL, n, p, u + x, u, rho, side) - x * x / 2 for x in z]
    mean = special.logsumexp(logs) + math.log((z[1] - z[0]) / math.sqrt(2 * math.pi))  # the trapezoid rule, exact here
    assert mean == pytest.approx(evidence(NORMAL, float(n), p, u, rho, side), rel=1e-8, abs=1e-8)
    coin = np.logaddexp(after(NORMAL, n, p, u + 1, u, rho, side), after(NORMAL, n, p, u - 1, u, rho, side)) - math.log(2)
    assert coin <= evidence(NORMAL, float(n), p, u, rho, side) + 1e-9


@given(n=counts, p=shares, u=inner)
def test_kt_evidence_is_a_martingale_for_coins(n: int, p: float, u: float) -> None:
    yes, no = (kt_evidence(n + 1.0, min((n * p + x) / (n + 1.0), 1.0), u) for x in (1.0, 0.0))
    assert np.logaddexp(math.log(u) + yes, math.log1p(-u) + no) == pytest.approx(kt_evidence(float(n), p, u), rel=1e-9, abs=1e-8)


@given(n=counts, p=shares, u=inner)
def test_kt_evidence_is_its_formula(n: int, p: float, u: float) -> None:
    s = n * p
    against = special.betaln(s + 0.5, n - s + 0.5) - math.log(math.pi) - special.xlogy(s, u) - special.xlog1py(n - s, -u)
    assert kt_evidence(float(n), p, u) == pytest.approx(against, rel=1e-9, abs=1e-8)


@given(s=st.floats(0, 500), v=st.floats(0.25, 5000), rho=st.floats(0.2, 50))
def test_bernstein_evidence_is_never_more_than_the_mixture(s: float, v: float, rho: float) -> None:
    """And less by almost nothing where it is in use."""
    norm = rho * math.log(rho) - math.lgamma(rho) - math.log(special.gammainc(rho, rho))
    a, x = v + rho, s + v + rho
    mixture = norm + math.lgamma(a) + math.log(special.gammainc(a, x)) - a * math.log(x) + s + v
    found = bernstein_evidence(s, v, rho, norm)
    assert found <= mixture + 1e-9
    assert found >= mixture - (0.01 if mixture > 2 else math.log(2))
    # the mixture over l, by quadrature in y = 1 - l on a scale on which it is smooth
    z = np.linspace(-40, 0, 40_001)
    y = np.exp(z / min(rho, 1))
    logs = norm + rho * np.log(y) - rho * y + (1 - y) * s + v * (np.log(y) + 1 - y)
    dz = (z[1] - z[0]) / min(rho, 1)
    assert mixture == pytest.approx(special.logsumexp(logs, b=np.r_[0.5, np.ones(39_999), 0.5]) + math.log(dz), abs=0.01)


@given(past=shares, law=laws, bet=st.floats(0, 0.99))
def test_bernstein_products_are_supermartingales(past: float, law: list[tuple[float, int]], bet: float) -> None:
    """E exp(l (X - mu) - (X - h)^2 (-ln(1 - l) - l)) <= 1 for any prediction h and any law on [0, 1]."""
    values, weights = np.array(law).T
    weights = weights / weights.sum()
    mu = values @ weights
    for x, m, h in ((values, mu, past), (1 - values, 1 - mu, 1 - past)):
        assert weights @ np.exp(bet * (x - m) - (x - h) ** 2 * (-math.log1p(-bet) - bet)) <= 1 + 1e-12


@given(a=st.floats(1e-3, 5000), b=st.floats(1e-3, 5000), x=inner)
@example(a=1.0, b=1.0, x=0.5)
def test_log_tail(a: float, b: float, x: float) -> None:
    direct = special.betaincc(a, b, x)
    if direct > 1e-290:
        assert log_tail(a, b, x) == pytest.approx(math.log(direct), rel=1e-8, abs=1e-9)
    else:
        assert log_tail(a, b, x) < -600


@given(n=st.integers(1, 3000), p=shares, u=st.floats(1e-4, 0.25), rho=widths)
def test_evidence_about_a_variance_is_never_more_than_about_the_mean(n: int, p: float, u: float, rho: float) -> None:
    """Whichever of the two means with this variance is the true one."""
    small = (1 - math.sqrt(1 - 4 * u)) / 2
    least = min(unit_evidence(n, p, q, rho, BOTH) for q in (small, 1 - small))
    for side in (BOTH, BELOW):
        assert evidence(SPREAD, n, p, u, rho, side) <= least + 1e-6
    # above: the mean is above the small one and below the large one
    found = evidence(SPREAD, n, p, u, rho, ABOVE)
    assert found <= unit_evidence(n, p, small, rho, ABOVE) + 1e-6
    assert found <= unit_evidence(n, p, 1 - small, rho, BELOW) + 1e-6


# -- two arms together ----------------------------------------------------------------------------------------------------------


@st.composite
def two_arms(draw: st.DrawFn) -> tuple[np.ndarray, ...]:
    """kinds, n, p, low, high, shift, scale of two arms; theta = shift + scale u."""
    kinds = draw(
        st.sampled_from([(UNIT, UNIT), (NORMAL, NORMAL), (SPREAD, SPREAD), (UNIT, NORMAL), (SPREAD, UNIT), (UNIT, SPREAD)])
    )
    n = [draw(st.integers(1, 5000)) for _ in kinds]
    p = [draw(st.floats(0, 1)) for _ in kinds]
    scale = [draw(st.sampled_from([0.25, 0.5, 1.0, 3.0])) for _ in kinds]
    shift = [draw(st.sampled_from([-0.5, 0.0, 1.0])) if kind != SPREAD else 0.0 for kind in kinds]
    low = [-np.inf if kind == NORMAL else shift[i] for i, kind in enumerate(kinds)]
    high = [np.inf if kind == NORMAL else shift[i] + scale[i] * (0.25 if kind == SPREAD else 1) for i, kind in enumerate(kinds)]
    return tuple(np.array(x, dtype=float if i else np.int64) for i, x in enumerate((kinds, n, p, low, high, shift, scale)))


@njit
def along(kind, n, p, u, rho, side):
    return np.array([evidence(kind, n, p, x, rho, side) for x in u])


@given(arms=two_arms(), slopes=st.tuples(*[st.sampled_from([0.5, 1.0, 2.0])] * 2), rho=st.sampled_from([5.0, 77.0]))
def test_the_evidence_of_two_arms_is_the_least_where_the_claim_is_false(
    arms: tuple[np.ndarray, ...], slopes: tuple[float, float], rho: float
) -> None:
    """Over all (theta_h, theta_l) with slope_h theta_h <= slope_l theta_l, on a grid.

    Only where it decides anything: at least 3, which is ln(1 / delta) at delta = 0.05. And but for parameters that are absurd by
    themselves: near the ends of the range one-sided evidence of an arm seen far away on the other side falls without a bound.
    """
    kinds, n, p, low, high, shift, scale = arms
    at = shift + scale * np.where(kinds == SPREAD, p * (1 - p), p)
    found = least_evidence(0, 1, *slopes, arms_of(*arms, rho))
    if slopes[0] * low[0] > slopes[1] * high[1]:
        assert found == np.inf  # it is never false
        return
    start, end = np.maximum(low, at - 12), np.minimum(high, at + 12)

    def weighed(i: int, theta: np.ndarray, most: float) -> np.ndarray:
        u = (theta - shift[i]) / scale[i]
        alone = along(kinds[i], n[i], p[i], u, rho, BOTH)
        return np.where(alone <= most, along(kinds[i], n[i], p[i], u, rho, (ABOVE, BELOW)[i]), np.inf)

    theta = [
        np.concatenate((np.linspace(start[i], end[i], 1000), [at[i], slopes[1 - i] * at[1 - i] / slopes[i]])) for i in (0, 1)
    ]
    theta = [np.clip(theta[i], low[i], high[i]) for i in (0, 1)]
    above, below = (weighed(i, theta[i], 2 * max(found, 3.0) + 5) for i in (0, 1))
    false = slopes[0] * theta[0][:, None] <= slopes[1] * theta[1][None, :]
    least = np.where(false, above[:, None] + below[None, :], np.inf).min()
    if max(found, least) < 3:
        return
    assert found <= least + 1e-3 * least
    # The grid is coarse: it has no less on a fine one along the boundary.
    g = np.linspace(max(slopes * start), min(slopes * end), 20_001)
    fine = sum(along(kinds[i], n[i], p[i], (g / slopes[i] - shift[i]) / scale[i], rho, (ABOVE, BELOW)[i]) for i in (0, 1))
    assert found >= min(fine.min(), least) - 0.01 * least


# -- the intervals ---------------------------------------------------------------------------------------------------------------

WIDE = [
    sp.Arm("unit"),
    sp.Arm("wide", low=-10, high=30),
    sp.Arm("narrow", low=0, high=1e-9),
    sp.Arm("far", low=1e6, high=1e6 + 1),
]
COINS = [sp.Arm(f"coin {i}", kind="bernoulli") for i in range(4)]
OWN = sorted((set(CONFIDENCES) | {Auto.name}) - {"student"})  # which is for normal arms: see test_student.py
FOR_MEANS = [name for name in OWN if name not in ("pairs", "bernoulli-variance", "u-statistic")]
FOR_VARIANCES = [name for name in OWN if name not in ("normal", "beta", "kt-kl", "kl-lucb", "bernstein")]
CASES = [("mean", name) for name in FOR_MEANS] + [("variance", name) for name in FOR_VARIANCES]


def a_problem(parameter: str, name: str) -> sp.Problem:
    return sp.BestArm(COINS if name == "bernoulli-variance" else WIDE, parameter=parameter)


def a_record(problem: sp.Problem, n: int, p: float, spread: float) -> Moments:
    """n observations of every arm, with mean p and variance ``spread`` in units of its range."""
    record = problem.record()
    assert isinstance(record, Moments)
    wide = np.array([a.high - a.low for a in problem.arms])
    record.counts[:] = n
    record.sums[:] = n * wide * p
    record.squares[:] = wide**2 * spread * (n - 1)
    record.prediction_errors[:] = wide**2 * spread * (n - 1)
    record.differences[:] = 2 * wide**2 * spread * (n // 2)
    record.firsts[:] = p == 1.0 and not record.variance
    record.refresh()
    return record


@pytest.mark.parametrize(("parameter", "name"), CASES)
@pytest.mark.parametrize("p", [0.0, 1e-9, 0.05, 0.5, 1.0])
def test_intervals_shrink_around_the_estimate(parameter: str, name: str, p: float) -> None:
    problem = a_problem(parameter, name)
    confidence, spread = make_confidence(name, problem, 0.05), p * (1 - p)
    limit = a_record(problem, 10, p, spread).means if parameter == "mean" else problem.scales * spread
    last = problem.high - problem.low
    for n in (1, 2, 3, 10, 100, 10_000, 10**6, 10**9):
        if n < problem.parameter.minimum:
            continue
        record = a_record(problem, n, p, spread)
        lower, upper = confidence.box(record)
        assert np.isfinite(lower).all()
        assert np.isfinite(upper).all()
        assert (problem.low <= lower).all()
        assert (upper <= problem.high).all()
        slack = 1e-9 * problem.scales
        assert (lower <= limit + slack).all()
        assert (limit - slack <= upper).all()
        assert (upper - lower <= last + slack).all()
        last = upper - lower
        again = make_confidence(name, problem, 0.05).box(record)  # nothing is left over from before
        assert (again[0] == lower).all()
        assert (again[1] == upper).all()
    assert (last <= 1e-3 * problem.scales).all()
    units = [(x - problem.low) / problem.scales for x in (lower, upper)]
    for x in units:  # all arms alike, whatever their range
        assert x == pytest.approx(x[0], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("parameter", "name"), CASES)
def test_one_observation_says_little(parameter: str, name: str) -> None:
    problem = a_problem(parameter, name)
    record = problem.record()
    for _ in range(problem.parameter.minimum):
        for i, arm in enumerate(problem.arms):
            record.update(i, np.array([arm.high]))
    lower, upper = make_confidence(name, problem, 0.05).box(record)
    assert (upper - lower >= 0.9 * (problem.high - problem.low)).all()


@pytest.mark.parametrize(("parameter", "name"), CASES)
def test_intervals_of_an_arm_depend_on_its_own_data_alone(parameter: str, name: str) -> None:
    """All but those of the papers that count the samples of all arms."""
    problem = a_problem(parameter, name)
    confidence = make_confidence(name, problem, 0.05)
    record = a_record(problem, 500, 0.3, 0.21)
    before = [x.copy() for x in confidence.box(record)]
    values = np.tile([0.0, 1.0, 1.0], 40) if problem.arms[1].kind == "bernoulli" else np.linspace(-10, 30, 120)
    record.update(1, values)
    after = confidence.box(record)
    changed = (after[0] != before[0]) | (after[1] != before[1])
    alone = name in ("normal", "beta", "betting", "kt-kl", "bernstein", "pairs", "bernoulli-variance", "auto", "elimination")
    assert changed.tolist() == [not alone, True, not alone, not alone]


@pytest.mark.parametrize(
    ("parameter", "name"), [("mean", n) for n in MEANS if n != "paper"] + [("variance", n) for n in VARIANCES[:2]]
)
def test_a_parameter_is_in_the_interval_if_the_evidence_against_it_is_at_most_the_level(parameter: str, name: str) -> None:
    """All that pass are one interval, and this is the one."""
    law = "rare" if name == "bernoulli-variance" else "two-point"
    data, top = paths(law), 0.25 if parameter == "variance" else 1.0
    confidence = make_confidence(name, problem_of([law], parameter), DELTA)
    for path, look in itertools.product(range(5), [0, 1, 4, 30, 150, 199, 300, 450, len(LOOKS) - 1]):
        record = confidence.problem.record()
        assert isinstance(record, Moments)
        record.counts[0] = data.n[look]
        record.sums[0] = data.n[look] * data.means[path, look]
        bent = ("upward_of_pairs", "downward_of_pairs") if parameter == "variance" else ("upward", "downward")
        for column in ("squares", "prediction_errors", "differences", *bent):
            getattr(record, column.removesuffix("_of_pairs"))[0] = getattr(data, column)[path, look]
        record.firsts[0] = (data.first_of_pairs if parameter == "variance" else data.first)[path, 0]
        record.refresh()
        (lower,), (upper,) = confidence.box(record)
        one = Seen(
            data.n[[look]], data.means[[path]][:, [look]], data.squares[[path]][:, [look]],
            data.prediction_errors[[path]][:, [look]], data.pairs[[look]], data.differences[[path]][:, [look]],
            data.first[[path]], data.upward[[path]][:, [look]], data.downward[[path]][:, [look]],
            data.first_of_pairs[[path]], data.upward_of_pairs[[path]][:, [look]], data.downward_of_pairs[[path]][:, [look]],
        )  # fmt: skip
        for theta in np.concatenate((np.linspace(1e-6, top - 1e-6, 200), [lower, upper])):
            over = excess(confidence, 0, float(theta), one)[0, 0]
            close = 1e-6 * (1 + data.n[look])
            assert over <= close or not lower < theta < upper
            assert over >= -close or lower <= theta <= upper


def halves(name: str, m: int, n: int, p: float, spread: float, parameter: str = "mean") -> float:
    """Half the interval as a multiple of the paper's radius, all arms having n observations."""
    problem = sp.BestArm(m, parameter=parameter)
    lower, upper = make_confidence(name, problem, 0.05).box(a_record(problem, n, p, spread))
    return float((upper - lower)[0] / 2 / make_confidence("paper", problem, 0.05).radius(np.full(m, n))[0])


@pytest.mark.parametrize(
    ("name", "p", "shares"),
    [
        ("normal", 0.5, [0.63, 0.49, 0.47, 0.46]),
        ("kt-kl", 0.5, [0.54, 0.53, 0.52, 0.50]),
        ("kt-kl", 0.05, [0.26, 0.24, 0.23, 0.22]),
    ],
)
def test_reference_widths(name: str, p: float, shares: list[float]) -> None:
    """MATHS §6: m = 50, delta = 0.05, T = 10^2 .. 10^5 of every arm, so t = 50 T in the paper's radius."""
    assert [halves(name, 50, n, p, p * (1 - p)) for n in (100, 1000, 10_000, 100_000)] == pytest.approx(shares, abs=0.006)


def test_the_paper_radius_over_the_u_statistics() -> None:
    problem, counts = sp.BestArm(3, parameter="variance"), np.array([10, 1001, 400])
    radius = make_confidence("u-statistic", problem, 0.05).radius(counts)
    assert radius == pytest.approx(np.sqrt(np.log(4 * 1411**3 / (2 * 0.05)) / (8 * (counts // 2))), rel=1e-14)
    assert radius[2] == pytest.approx(make_confidence("paper", problem, 0.05).radius(counts)[2] / math.sqrt(2))


def test_bernstein_is_narrow_for_arms_that_vary_little() -> None:
    widths = {name: halves(name, 10, 10_000, 0.5, 0.001) for name in MEANS}
    assert widths["bernstein"] < 0.25 * widths["beta"]
    assert halves("bernstein", 10, 10_000, 0.5, 0.25) < 1.15 * widths["beta"]


@pytest.mark.parametrize("name", ["beta", "kt-kl", "bernstein", "kl-lucb"])
def test_sub_gaussian_arms_are_refused_where_bounds_are_needed(name: str) -> None:
    arms = [sp.Arm("bounded"), sp.Arm("loose", kind="subgaussian", scale=2.0)]
    with pytest.raises(SettingError, match=f"confidence='{name}' is for (means of )?bounded arms"):
        make_confidence(name, sp.BestArm(arms), 0.05)


def test_sub_gaussian_arms() -> None:
    arms = [sp.Arm("loose", kind="subgaussian", scale=2.0), sp.Arm("bounded")]
    record = sp.BestArm(arms).record()
    record.update(0, np.full(100, 7.0))
    record.update(1, np.full(100, 0.5))
    for name in ("normal", "auto"):
        confidence = make_confidence(name, sp.BestArm(arms), 0.05)
        lower, upper = confidence.box(record)
        rho, level = width(math.log(40)), math.log(40)
        half = 2 * math.sqrt((100 + rho) * (math.log1p(100 / rho) + 2 * level)) / 100
        assert (lower[0], upper[0]) == (pytest.approx(7 - half), pytest.approx(7 + half))
    lower, upper = make_confidence("paper", sp.BestArm(arms), 0.05).box(record)
    assert upper[0] - 7 == pytest.approx(2 * math.sqrt(2 * math.log(4 * 200**3 / 0.05) / 100))


@pytest.mark.parametrize(
    ("name", "parameter", "says"),
    [
        ("kt-kl", "variance", "'kt-kl' is for means; use 'auto' or 'pairs'"),
        ("bernstein", "variance", "'bernstein' is for means; use 'auto' or 'pairs'"),
        ("normal", "variance", "'normal' is for means"),
        ("beta", "variance", "'beta' is for means"),
        ("pairs", "mean", "'pairs' is for variances; use 'auto'"),
        ("u-statistic", "mean", "'u-statistic' is for variances; use 'auto'"),
        ("bernoulli-variance", "mean", "'bernoulli-variance' is for variances"),
        ("bernoulli-variance", "variance", "kind='bernoulli', and 'arm 0' is bounded: use 'auto'"),
    ],
)
def test_other_parameters_are_refused(name: str, parameter: str, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        make_confidence(name, sp.BestArm(2, parameter=parameter), 0.05)


def test_auto_is_the_tightest_for_every_kind_of_arm() -> None:
    arms = [sp.Arm("bounded"), sp.Arm("coin", kind="bernoulli")]
    for parameter, names in (("mean", ["betting", "beta"]), ("variance", ["betting", "bernoulli-variance"])):
        auto = make_confidence("auto", sp.BestArm(arms, parameter=parameter), 0.05)
        box = auto.box(a_record(auto.problem, 300, 0.2, 0.16))
        for i, name in enumerate(names):
            other = make_confidence(name, sp.BestArm([arms[i], sp.Arm("other", kind=arms[i].kind)], parameter=parameter), 0.05)
            assert [x[i] for x in box] == [x[0] for x in other.box(a_record(other.problem, 300, 0.2, 0.16))]
