"""The exact allocation: against the heap, at ties, with bounds, at any budget."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surepick as sp
from surepick.errors import InfeasibleError, ParameterError, ProblemError
from surepick.lab.paper.greedy_osa import greedy_osa
from surepick.run.drive import drive


def by_heap(sizes: list[float], variances: list[float], budget: int, lower: list[int], upper: list[int]) -> list[int]:
    """One unit at a time to the largest gain, exactly; equal gains to the larger index."""
    y = list(lower)

    def entry(i: int) -> tuple[Fraction, int]:
        return (-(Fraction(sizes[i]) ** 2) * Fraction(variances[i]) / (y[i] * (y[i] + 1)), -i)

    heap = [entry(i) for i in range(len(sizes)) if y[i] < upper[i]]
    heapq.heapify(heap)
    for _ in range(budget - sum(lower)):
        if not heap:
            break
        i = -heap[0][1]
        y[i] += 1
        if y[i] < upper[i]:
            heapq.heapreplace(heap, entry(i))
        else:
            heapq.heappop(heap)
    return y


@st.composite
def surveys(draw: st.DrawFn) -> tuple[list[float], list[float], int, list[int], list[int]]:
    m = draw(st.integers(1, 12))
    sizes = draw(st.lists(st.integers(1, 20) | st.sampled_from([2**20, 3 * 2**18]), min_size=m, max_size=m))
    variance = st.sampled_from([0.0, 0.25, 0.0625, 1 / 64, 0.1, 0.3]) | st.floats(0, 0.25, allow_subnormal=False)
    variances = [v if v == 0 or v > 1e-30 else 0.0 for v in draw(st.lists(variance, min_size=m, max_size=m))]
    lower = draw(st.lists(st.integers(1, 4), min_size=m, max_size=m))
    extra = draw(st.integers(0, 300))
    upper = [lo + draw(st.integers(0, 40)) for lo in lower] if draw(st.booleans()) else [10**9] * m
    return sizes, variances, sum(lower) + extra, lower, upper


@given(surveys())
def test_equals_the_heap(survey: tuple[list[float], list[float], int, list[int], list[int]]) -> None:
    sizes, variances, budget, lower, upper = survey
    assert sp.allocate(sizes, variances, budget, lower=lower, upper=upper).tolist() == by_heap(*survey)


@pytest.mark.parametrize("m", [3, 50, 2000])
def test_equals_the_heap_on_larger_surveys(m: int) -> None:
    rng = np.random.default_rng(m)
    sizes = rng.integers(1, 1000, m).tolist()
    variances = (rng.random(m) * (rng.random(m) > 0.2)).tolist()
    budget = 20 * m
    assert sp.allocate(sizes, variances, budget).tolist() == by_heap(sizes, variances, budget, [1] * m, [10**9] * m)


def test_erratum_1_zero_variances() -> None:
    """GreedyOSA gives (1, 4, 8) here."""
    assert sp.allocate([6, 16, 13], [0, 0.05, 0.2], 13).tolist() == [1, 5, 7]
    assert greedy_osa([6, 16, 13], [0, 0.05, 0.2], 13).y == [1, 4, 8]
    assert sp.allocate([5, 5, 5], [0, 0, 0], 13).tolist() == [1, 1, 11]
    assert sp.allocate([5, 5, 5], [0, 0, 0], 13, upper=[9, 6, 4]).tolist() == [3, 6, 4]
    with pytest.raises(ZeroDivisionError):
        greedy_osa([5, 5, 5], [0, 0, 0], 13)


def test_erratum_1_is_common_with_zeros_and_absent_without() -> None:
    rng = np.random.default_rng(1)
    over = wrong = wrong_positive = 0
    for _ in range(3000):
        m = int(rng.integers(2, 5))
        n, k = rng.integers(1, 20, m).tolist(), int(rng.integers(m, 20))
        theta = rng.choice([0.0, 0.05, 0.1, 0.2, 0.25], m)
        if not theta.any():
            continue
        best = sp.allocate(n, theta, k)
        y = greedy_osa(n, theta.tolist(), k).y
        over += sum(y) > k
        wrong += sum(y) <= k and variance(n, theta, y) > variance(n, theta, best) * (1 + 1e-12)
        positive = np.maximum(theta, 0.01)
        y = greedy_osa(n, positive.tolist(), k).y
        least = variance(n, positive, sp.allocate(n, positive, k))
        wrong_positive += sum(y) != k or variance(n, positive, y) > least * (1 + 1e-12)
    assert over > 200
    assert wrong > 10
    assert wrong_positive == 0


def variance(n: list[int], theta: np.ndarray, y: object) -> float:
    return float((np.square(n) * theta / np.asarray(y)).sum())


@pytest.mark.parametrize("c", [6, 10, 40])
@pytest.mark.parametrize("m", [3, 7, 11])
def test_lemma_on_the_tight_base(c: int, m: int) -> None:
    """a_1 = c(m-1), a_j = 1, k = 1.5 (c+1)(m-1): the optimum is 0.5 (m-1) below the real solution in its first entry.

    "When c is large enough", says the paper; 6 is: the third case of the proof needs c / (1.5 c - 0.5) < sqrt(1/2).
    """
    k = 3 * (c + 1) * (m - 1) // 2
    y = sp.allocate([c * (m - 1)] + [1] * (m - 1), [1.0] * m, k)
    real = c * (m - 1) * k / (c * (m - 1) + (m - 1))
    assert y.tolist() == [int(real - 0.5 * (m - 1))] + [2] * (m - 1)


@pytest.mark.parametrize("k", [10**6, 10**8, 10**12, 2**53])
def test_any_budget(k: int) -> None:
    """No single interview moved helps (by exact fractions), and the budget is spent to the last."""
    rng = np.random.default_rng(7)
    sizes, variances = rng.integers(1, 10**6, 40), rng.random(40)
    y = sp.allocate(sizes, variances, k)
    assert y.sum() == k

    def gain(i: int, unit: int) -> Fraction:
        return Fraction(int(sizes[i])) ** 2 * Fraction(variances[i]) / (unit * (unit + 1))

    worst_held = min((gain(i, int(y[i]) - 1), i) for i in range(40) if y[i] > 1)
    best_lacking = max((gain(i, int(y[i])), i) for i in range(40))
    assert best_lacking < worst_held


def test_equal_gains_are_equal_though_rounding_differs() -> None:
    """n^2 theta is the same rational for all strata, but n and theta differ; extra units go to the larger index."""
    sizes = [8, 4, 2, 1, 16]
    variances = [1 / 64, 1 / 16, 1 / 4, 1.0, 1 / 256]
    assert sp.allocate(sizes, variances, 12).tolist() == [2, 2, 2, 3, 3]
    # 10 * 10 * .01 is not 1 in floating point, nor is it as a fraction: the exact comparison decides.
    sizes, variances = [10, 1, 100], [0.01, 1.0, 0.0001]
    assert sp.allocate(sizes, variances, 4).tolist() == by_heap(sizes, variances, 4, [1] * 3, [9] * 3)
    assert sp.allocate(sizes, variances, 5).tolist() == by_heap(sizes, variances, 5, [1] * 3, [9] * 3)


@pytest.mark.parametrize(("size", "scale"), [(1e-150, 1e-300), (1e150, 1e300), (1.0, 5e-324)])
def test_units_do_not_matter(size: float, scale: float) -> None:
    base = sp.allocate([1, 2, 3], [1, 2, 4], 50)
    assert sp.allocate(np.array([1, 2, 3]) * size, np.array([1, 2, 4]) * scale, 50).tolist() == base.tolist()


@pytest.mark.parametrize(
    ("sizes", "variances", "budget", "bounds", "error", "words"),
    [
        ([5, 5], [0.1, 0.1], 1, {}, InfeasibleError, "below the number of strata, 2"),
        ([5, 5], [0.1, 0.1], 5, {"lower": 3}, InfeasibleError, "sum of the lower bounds, 6"),
        ([5, 5], [0.1], 5, {}, ParameterError, "2 sizes but 1 variances"),
        ([5, 0], [0.1, 0.1], 5, {}, ProblemError, r"sizes\[1\] = 0.0 must be a positive"),
        ([5, 5], [0.1, -0.1], 5, {}, ParameterError, r"variances\[1\]"),
        ([5, 5], [0.1, math.nan], 5, {}, ParameterError, r"variances\[1\] = nan"),
        ([5, math.inf], [0.1, 0.1], 5, {}, ProblemError, r"sizes\[1\]"),
        ([], [], 5, {}, ProblemError, "no strata"),
        ([5, 5], [0.1, 0.1], 5.5, {}, ProblemError, "whole number"),
        ([5, 5], [0.1, 0.1], 5, {"lower": 0}, ProblemError, r"lower\[0\] = 0"),
        ([5, 5], [0.1, 0.1], 5, {"lower": 2, "upper": [2, 1]}, ProblemError, r"upper\[1\] = 1 is below"),
        ([5, 5], [0.1, 0.1], 5, {"upper": [2, 1, 3]}, ProblemError, "one bound a stratum"),
        ([5, 5], [0.1, 0.1], 2**60, {}, ProblemError, "from 0 to 9,007,199,254,740,992"),
        (["a", "b"], [0.1, 0.1], 5, {}, ProblemError, "sizes must be"),
        ([5, 5], [1e-300, 1.0], 5, {}, ParameterError, "set the tiny variances to 0"),
    ],
)
def test_bad_input(
    sizes: list[float], variances: list[float], budget: int, bounds: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sp.allocate(sizes, variances, budget, **bounds)


def test_gains_at_the_edge_of_the_exact_comparison() -> None:
    """Relative differences of about 1e-14, where rounding of the comparison itself once lost a candidate."""
    assert sp.allocate([1, 1, 1], [0.26, float.fromhex("0x1.0a3d70a3d70d3p-2"), 0.26], 5).tolist() == [1, 2, 2]
    sizes, variances = [8, 12, 12], [0.4943313118184921, 0.6090856134486796, 0.8894085423237347]
    y = sp.allocate(sizes, variances, 2**53, lower=[91, 1, 1]).tolist()
    assert sum(y) == 2**53
    gain = lambda i, u: Fraction(sizes[i]) ** 2 * Fraction(variances[i]) / (u * (u + 1))
    assert max(gain(i, y[i]) for i in range(3)) <= min(gain(i, y[i] - 1) for i in range(3))


def test_equal_fractions_with_different_units() -> None:
    """36/(8*9) = 1/(1*2): the same gain at step 8 of size 6 and step 1 of size 1; .24 and .15 are not dyadic."""
    assert sp.allocate([6, 6, 1], [0.24] * 3, 18).tolist() == [8, 8, 2]
    assert sp.allocate([10, 3, 1], [0.15] * 3, 34).tolist() == [24, 7, 3]
    for k in range(3, 60):
        assert sp.allocate([6, 6, 1], [0.24] * 3, k).tolist() == by_heap([6, 6, 1], [0.24] * 3, k, [1] * 3, [99] * 3)


@pytest.mark.parametrize("seed", range(6))
def test_huge_budgets_are_exact_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        sizes, variances = rng.integers(1, 20, 3).tolist(), rng.random(3).tolist()
        k = int(rng.integers(2**45, 2**53))
        y = sp.allocate(sizes, variances, k).tolist()
        gain = lambda i, u: Fraction(sizes[i]) ** 2 * Fraction(variances[i]) / (u * (u + 1))  # noqa: B023
        assert sum(y) == k
        lacking = max((gain(i, y[i]), i) for i in range(3))
        assert all(lacking < (gain(i, y[i] - 1), i) or lacking[1] == i for i in range(3))


def test_observations_may_give_variances_that_are_hardly_comparable() -> None:
    explorer = sp.Explorer(problem := sp.SampleAllocation([1, 1], 4))
    explorer.tell(0, [0, 1e-130])
    explorer.tell(1, [0, 1])
    assert explorer.certificate().decision.tolist() == [1, 3]
    assert explorer.ask(3)
    with pytest.raises(ParameterError, match="set the tiny variances to 0"):  # these are the user's own
        problem.solve([1e-260, 1.0])
    with pytest.raises(ParameterError, match="at least 0"):
        problem.solve([-1.0, 1.0])


def test_estimates_of_any_size_are_allocated_exactly() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        m = int(rng.integers(2, 6))
        sizes, theta = rng.integers(1, 9, m).astype(float), 10.0 ** rng.choice([-320, -310, -305, -200, -160, -3, 0, 2], m)
        theta[rng.random(m) < 0.15] = 0.0
        budget, upper = int(rng.integers(m, m + 12)), rng.integers(1, 6, m).tolist()
        found = sp.SampleAllocation(sizes, budget, upper=upper).solve_at(theta)
        assert found.tolist() == by_heap(sizes.tolist(), theta.tolist(), budget, [1] * m, upper)


class Tiny(sp.Environment):
    """Whose first arm hardly varies."""

    means, variances = np.array([0.0, 0.5, 0.45]), np.array([0.0, 0.25, 0.2])

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random(n) < 0.5) * [1e-130, 1.0, 0.9][arm]


@pytest.mark.parametrize("policy", ["joint", "coci", "pac"])
def test_compiled_code_takes_the_same_samples_where_an_arm_hardly_varies(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surepick.engine.start.patience", 0.0)
    found = []
    for compiled in (True, False):
        explorer = sp.Explorer(sp.SampleAllocation([1, 2, 3], 9, upper=[9, 3, 3]), policy=policy, budget=3_000)
        drive(explorer, Tiny(), compiled=compiled)
        found.append(explorer.certificate().to_dict())
    assert found[0] == found[1]
    assert found[0]["certified"]
