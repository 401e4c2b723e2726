"""The characteristic time T* and the proportions w*, judged by enumeration and nested bisection."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick.difficulty import rivals
from surepick.errors import SettingError

from .cases import CASES, vectors
from .reference import brute_solve, decisions_of, exact_reward
from .test_hardness import TOP3

BISECTIONS = 50


# -- the judge ------------------------------------------------------------------------------------------------------------


def judged_d(problem: sp.Problem, theta: np.ndarray, q: np.ndarray) -> np.ndarray:
    """d(theta, lambda) by its definition, where q is lambda for sub-Gaussian arms and a probability for all others."""
    out = np.empty(q.shape)
    for i, arm in enumerate(problem.arms):
        x = q[..., i]
        if arm.kind == "subgaussian":
            out[..., i] = (x - theta[i]) ** 2 / (2 * arm.scale**2)
            continue
        p = probability(problem, theta, i)
        with np.errstate(divide="ignore", invalid="ignore"):
            ones = p * np.log(p / x) if p > 0 else np.zeros(x.shape)
            zeros = (1 - p) * np.log((1 - p) / (1 - x)) if p < 1 else np.zeros(x.shape)
        out[..., i] = ones + zeros
    return out


def probability(problem: sp.Problem, theta: np.ndarray, i: int) -> float:
    arm = problem.arms[i]
    if problem.parameter.name == "mean":
        return (theta[i] - arm.low) / (arm.high - arm.low)
    share = theta[i] / (arm.high - arm.low) ** 2
    return (1 - math.sqrt(1 - 4 * share)) / 2


def judged_value(problem: sp.Problem, theta: np.ndarray, w: np.ndarray) -> float:
    """min over every other decision, and over all lambda at which it is better, of sum w d: two bisections, one in the other."""
    best = tuple(problem.solve(theta).tolist())
    zero, units = np.zeros(problem.m), np.eye(problem.m)

    def line(y: tuple[float, ...]) -> list[float]:
        base = exact_reward(problem, zero, y)
        return [float(base), *(float(exact_reward(problem, e, y) - base) for e in units)]

    at_best = np.array(line(best))
    lines = np.array([line(y) for y in decisions_of(problem) if tuple(y) != best]).reshape(-1, problem.m + 1) - at_best
    b, c = lines[:, 0], lines[:, 1:]
    # From theta towards the end of each arm's range that suits the other decision; far enough for a sub-Gaussian arm.
    normal = np.array([arm.kind == "subgaussian" for arm in problem.arms])
    variance = problem.parameter.name == "variance"
    start = np.array([theta[i] if normal[i] else probability(problem, theta, i) for i in range(problem.m)])
    size = np.array([1.0 if normal[i] else problem.scales[i] for i in range(problem.m)])
    low = np.array([0.0 if normal[i] else problem.low[i] for i in range(problem.m)])
    top = np.where(normal, start + 1e4, 0.5 if variance else 1.0)
    bottom = np.where(normal, start - 1e4, 0.0)

    def reached(q: np.ndarray) -> np.ndarray:
        value = q * (1 - q) if variance else q
        return (c * (low + size * value)).sum(axis=1) + b

    reachable = reached(np.where(c > 0, top, bottom)) > 1e-9
    b, c = b[reachable], c[reachable]
    if len(b) == 0:
        return math.inf
    scale = np.array([arm.scale or 1.0 for arm in problem.arms])

    def pulled(nu: np.ndarray) -> np.ndarray:
        """argmin of w d - nu c lambda, where its derivative changes sign."""
        near, far = np.broadcast_to(start, c.shape).copy(), np.where(c > 0, top, np.where(c < 0, bottom, start))
        for _ in range(BISECTIONS):
            q = (near + far) / 2
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = np.where(normal, (q - start) / scale**2, (q - start) / (q * (1 - q)))
                pull = nu[:, None] * c * size * ((1 - 2 * q) if variance else 1.0)
            on = np.where(far > near, w * slope < pull, w * slope > pull)
            near, far = np.where(on, q, near), np.where(on, far, q)
        return near

    left, right = np.full(len(b), -60.0), np.full(len(b), 60.0)  # ln nu
    for _ in range(BISECTIONS):
        middle = (left + right) / 2
        inside = reached(pulled(np.exp(middle))) >= 0
        left, right = np.where(inside, left, middle), np.where(inside, middle, right)
    found = judged_d(problem, theta, pulled(np.exp(right)))
    return float(np.where(c != 0, w * found, 0.0).sum(axis=1).min())


def judge(problem: sp.Problem, theta: np.ndarray, seed: int = 0) -> None:
    """T* is not beaten by other proportions, and w* attains it."""
    h = sp.hardness(problem, theta)
    T, w = h.characteristic_time, h.proportions
    assert T is not None
    best = brute_solve(problem, theta)[1]
    if isinstance(problem, sp.SampleAllocation):  # interviews left over are never of use, so they make no tie
        best = [y for y in best if sum(y) == max(map(sum, best))]
    if len(best) > 1:
        assert (T, w) == (math.inf, None)
        assert h.lower_bound(0.05) == math.inf
        return
    if w is None:
        assert T == 0
        assert judged_value(problem, theta, np.full(problem.m, 1 / problem.m)) == math.inf
        return
    assert w.sum() == pytest.approx(1)
    assert (w >= 0).all()
    inner = (w + 1e-12) / (w + 1e-12).sum()
    assert judged_value(problem, theta, inner) * T == pytest.approx(1, rel=2e-5)
    # The value is concave in w: a better w would show nearby.
    rng = np.random.default_rng(seed)
    for spread in (0.02, 0.2):
        other = inner * np.exp(spread * rng.standard_normal(problem.m))
        assert judged_value(problem, theta, other / other.sum()) * T <= 1 + 1e-5


# -- published and closed-form figures ------------------------------------------------------------------------------------


def test_the_reference_instance() -> None:
    h = sp.hardness(sp.TopK(10, 3), TOP3)
    assert h.characteristic_time == pytest.approx(294.6, abs=0.06)
    assert h.lower_bound(0.05) == pytest.approx(781, abs=0.5)


@pytest.mark.parametrize(
    ("means", "shares"),
    [
        ((0.5, 0.45, 0.43, 0.4), (0.417, 0.390, 0.136, 0.057)),
        ((0.3, 0.21, 0.2, 0.19, 0.18), (0.336, 0.251, 0.177, 0.132, 0.104)),
    ],
)
def test_the_proportions_of_garivier_and_kaufmann(means: tuple[float, ...], shares: tuple[float, ...]) -> None:
    assert sp.hardness(sp.BestArm(len(means)), means).proportions == pytest.approx(shares, abs=1e-3)


@given(st.floats(0.01, 50), st.floats(0.01, 10), st.floats(-5, 5))
def test_two_normal_arms(R: float, gap: float, mean: float) -> None:
    arms = [sp.Arm(n, kind="subgaussian", scale=R) for n in "ab"]
    h = sp.hardness(sp.BestArm(arms), [mean, mean + gap])
    assert h.characteristic_time == pytest.approx(8 * R**2 / gap**2, rel=1e-5)
    assert h.proportions == pytest.approx([0.5, 0.5], abs=1e-2)


def test_normal_arms_of_two_sets() -> None:
    """One half-space: T* = 2 (sum_i |c_i| R_i)^2 / gap^2, and the shares go with R."""
    R = np.array([1.0, 2.0, 3.0, 0.5])
    arms = [sp.Arm(str(i), kind="subgaussian", scale=r) for i, r in enumerate(R)]
    h = sp.hardness(sp.Subsets(arms, [[1, 1, 0, 0], [0, 0, 1, 1]]), [1.0, 2.0, 1.5, 1.0])
    assert h.characteristic_time == pytest.approx(2 * R.sum() ** 2 / 0.5**2, rel=1e-5)
    assert h.proportions == pytest.approx(R / R.sum(), abs=1e-3)


def test_one_arm_against_a_known_cost() -> None:
    """A plan of one unit at cost 0.4: T* = 1 / kl(p, 0.4)."""
    p = 0.55
    h = sp.hardness(sp.ResourcePlan([[0, 0.4]], [1], 0), [p])
    kl = p * math.log(p / 0.4) + (1 - p) * math.log((1 - p) / 0.6)
    assert h.characteristic_time == pytest.approx(1 / kl, rel=1e-5)
    assert h.proportions == pytest.approx([1])


# -- every class against the judge ----------------------------------------------------------------------------------------

KNOWN = [name for name in CASES if not name.startswith("separable") and name != "unlisted-plan"]


@pytest.mark.parametrize("name", KNOWN)
@settings(max_examples=25)
@given(data=st.data())
def test_every_class(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    assume(len(decisions_of(problem)) <= 64)
    judge(problem, theta)


def grid(n: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    right = [((i, j), (i + 1, j)) for i in range(n - 1) for j in range(n)]
    return right + [((i, j), (i, j + 1)) for i in range(n) for j in range(n - 1)]


def mixed(m: int) -> list[sp.Arm]:
    kinds = (
        {"kind": "bernoulli"},
        {"kind": "subgaussian", "scale": 0.4},
        {"low": -1, "high": 2},
        {"kind": "subgaussian", "scale": 0.2},
    )
    return [sp.Arm(f"arm {i}", **kinds[i % 4]) for i in range(m)]


SOME = {
    "top-k of mixed kinds": sp.TopK(mixed(6), 2),
    "subsets of mixed kinds": sp.Subsets(mixed(5), [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 0, 1], [0, 1, 0, 1, 1]]),
    "real vectors": sp.Subsets(mixed(4), [[1, 0.5, 0, 0], [0, 0, 2, 1], [0.5, 0.5, 0.5, 0.5], [-1, 0, 0, 1]], sense="min"),
    "matching": sp.Matching([(i, j) for i in range(3) for j in range(3)]),
    "matching of mixed kinds": sp.Matching([(i, j) for i in range(3) for j in range(3)], arms=mixed(9), sense="min"),
    "matching with nodes alone": sp.Matching([(i, j) for i in range(2) for j in range(3)], perfect=False, arms=mixed(6)),
    "path": sp.Path(grid(3), (0, 0), (2, 2)),
    "longest path": sp.Path(grid(3), (0, 0), (2, 2), sense="max", arms=mixed(12)),
    "path with cycles": sp.Path([(0, 1), (1, 2), (2, 1), (0, 2), (1, 3), (2, 3)], 0, 3),
    "largest variances": sp.TopK(5, 2, parameter="variance"),
    "path by variance": sp.Path(grid(2), (0, 0), (1, 1), parameter="variance"),
    "subsets by variance": sp.Subsets(
        [sp.Arm(str(i), 0, 1 + i) for i in range(4)], [[1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]], parameter="variance"
    ),
    "tree": sp.SpanningTree([(i, j) for i in range(4) for j in range(i)], sense="min", arms=mixed(6)),
    "allocation": sp.SampleAllocation([3, 1, 2, 2], 9, arms=[sp.Arm(n, 0, 1 + i) for i, n in enumerate("abcd")]),
    "tight plan": sp.ResourcePlan(lambda y: 0.3 * y * y, [2, 2, 2], 4, arms=mixed(3)),
    "loose plan": sp.ResourcePlan(lambda y: 0.1 * y * y, [2, 2, 2], 1),
    "plan with concave cost": sp.ResourcePlan(lambda y: 0.9 * y**0.5, [2, 2, 2], 2, arms=mixed(3)),
    "program": sp.Program(4, [[3, 4, 2, 5]], upper=8),
}


@pytest.mark.parametrize("name", SOME)
def test_some_instances(name: str) -> None:
    """Kinds of arms mixed, and parameters without ties."""
    problem = SOME[name]
    rng = np.random.default_rng(3)
    for seed in range(3):
        share = rng.uniform(0.05, 0.95, problem.m)
        low, high = np.nan_to_num(problem.low, neginf=0.0), np.nan_to_num(problem.high, posinf=1.0)
        theta = low + share * (high - low)
        judge(problem, theta, seed)


def test_the_search_for_rivals_agrees_with_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    pairs = [(i, j) for i in range(4) for j in range(5)]
    for problem in (sp.Matching(pairs), sp.Matching(pairs, sense="min"), sp.Path(grid(4), (0, 0), (3, 3))):
        theta = rng.uniform(0.1, 0.9, problem.m)
        rows = _matchings(pairs) if isinstance(problem, sp.Matching) else decisions_of(problem)
        listed = sp.Subsets(problem.m, rows, sense=problem.sense)
        expected = sp.hardness(listed, theta).characteristic_time
        assert sp.hardness(problem, theta).characteristic_time == pytest.approx(expected, rel=1e-5)
    monkeypatch.setattr(rivals, "PARTS", 2)  # a search that is cut short says nothing
    h = sp.hardness(sp.Matching(pairs), rng.uniform(0.1, 0.9, 20))
    assert (h.characteristic_time, h.proportions, h.lower_bound(0.1)) == (None, None, None)


def _matchings(pairs: list[tuple[int, int]]) -> list[list[int]]:
    return [[int(chosen[i] == j) for i, j in pairs] for chosen in itertools.permutations(range(5), 4)]


# -- invariance, edges, laziness --------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 31), min_size=3, max_size=5, unique=True), st.floats(0.01, 100), st.floats(-50, 50))
@settings(max_examples=30)
def test_units_do_not_matter(levels: list[int], size: float, low: float) -> None:
    p = np.array(levels) / 32
    plain = sp.hardness(sp.TopK(len(p), 2), p)
    arms = [sp.Arm(str(i), low, low + size) for i in range(len(p))]
    other = sp.hardness(sp.TopK(arms, 2), low + size * p)
    assert other.characteristic_time == pytest.approx(plain.characteristic_time, rel=1e-5)
    arms = [sp.Arm(str(i), low, low + size) for i in range(len(p))]
    v = p / 4
    plain = sp.hardness(sp.SampleAllocation(np.arange(1, len(p) + 1), 11), v)
    other = sp.hardness(sp.SampleAllocation(np.arange(1, len(p) + 1) * 7, 11, arms=arms), size**2 * v)
    assert other.characteristic_time == pytest.approx(plain.characteristic_time, rel=1e-5)


def test_ties_and_what_never_changes() -> None:
    tie = sp.hardness(sp.BestArm(3), [0.5, 0.5, 0.1])
    assert (tie.characteristic_time, tie.proportions, tie.lower_bound(0.1)) == (math.inf, None, math.inf)
    same = sp.hardness(sp.TopK(3, 3), [0.1, 0.2, 0.3])
    assert (same.characteristic_time, same.proportions, same.lower_bound(0.1)) == (0, None, 0)
    # The first arm is alone in its group: no sample of it is of use.
    h = sp.hardness(sp.BestOfEach(3, ["x", "y", "y"]), [0.2, 0.4, 0.9])
    assert h.proportions is not None
    assert h.proportions[0] == 0
    # In a range this narrow the second arm can never win.
    far = sp.hardness(sp.BestArm([sp.Arm("a", 5, 6), sp.Arm("b", 0, 1)]), [5.5, 0.9])
    assert (far.characteristic_time, far.proportions) == (0, None)


def test_at_the_ends_of_the_range() -> None:
    """kl(0, 1/2) = kl(1, 1/2) = ln 2: telling Bernoulli(0) from Bernoulli(1) takes few samples."""
    assert sp.hardness(sp.BestArm(2), [0.0, 1.0]).characteristic_time == pytest.approx(1 / math.log(2), rel=1e-5)


def test_classes_without_a_search() -> None:
    own = sp.Separable(
        lambda theta, y: theta * y, [[0, 1]] * 2, lambda theta: np.eye(2, dtype=int)[np.argmax(theta)], bimonotone=True
    )
    assert sp.hardness(own, [0.3, 0.7]).characteristic_time is None
    many = sp.Program(20, [[1] * 20], upper=7)
    assert sp.hardness(many, np.linspace(0.2, 0.9, 20)).lower_bound(0.05) is None


def test_the_bound_in_delta() -> None:
    h = sp.hardness(sp.TopK(10, 3), TOP3)
    T = h.characteristic_time
    assert T is not None
    for delta in (1e-9, 0.01, 0.3):
        assert h.lower_bound(delta) == pytest.approx(T * (1 - 2 * delta) * math.log((1 - delta) / delta))
        assert h.lower_bound(delta) < h.upper_bound(delta)
    assert h.lower_bound(0.5) == h.lower_bound(0.9) == 0
    for wrong in (0, 1, "x"):
        with pytest.raises(SettingError, match="delta"):
            h.lower_bound(wrong)


def test_a_run_takes_at_least_so_many_samples_on_average() -> None:
    p = [0.8, 0.5, 0.3]
    problem = sp.BestArm([sp.Arm(n, kind="bernoulli") for n in "abc"])
    runs = [sp.explore(problem, sp.Bernoulli(p), 0.05, seed=s).samples for s in range(20)]
    bound = sp.hardness(problem, p).lower_bound(0.05)
    assert bound is not None
    assert np.mean(runs) > bound


def test_it_is_quick() -> None:
    """And worked out only when asked for."""
    rng = np.random.default_rng(0)
    h = sp.hardness(sp.SampleAllocation(rng.integers(50, 500, 20), 1000), 0.25 * rng.random(20))
    assert "_bound" not in vars(h)
    started = time.perf_counter()
    assert h.characteristic_time is not None
    assert time.perf_counter() - started < 10  # 0.4 s on a laptop
