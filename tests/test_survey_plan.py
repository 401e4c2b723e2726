"""Plans of surveys: figures that users of other packages know, and brute force as the judge of what is exact or bounded."""

from __future__ import annotations

import itertools
import json
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from surepick import survey
from surepick.errors import InfeasibleError, SettingError, StudyError, SurepickError
from surepick.problems import allocate
from surepick.survey import words
from surepick.survey.bethel import cheapest, lower_bound
from surepick.survey.limits import Limits
from surepick.survey.optimum import least_cost, least_variance
from surepick.survey.result import planned
from surepick.survey.solve import Solution
from surepick.survey.tables import reached_table, strata_table
from surepick.survey.units import units
from surepick.survey.variance import SLACK, Strata, real_optimum, unseen

THREE = {"stratum": ["a", "b", "c"], "N": [4000, 3000, 3000], "S": [10, 15, 8], "mean": [50, 60, 55]}

# The example of the help of strAlloc in PracTools (Valliant, Dever and Kreuter): six strata of establishments.
PRACTOOLS = {
    "Nh": [215, 65, 252, 50, 149, 144],
    "Sh": [26787207, 10645109, 6909676, 11085034, 9817762, 44553355],
    "ch": [1400, 200, 300, 600, 450, 1000],
}

# Wright (2017), Exact optimal sample allocation: more efficient than Neyman, Statistics & Probability Letters 129, as in the
# package allocation: the precision is that of the total.
WRIGHT = {
    "N": [819, 672, 358, 196, 135, 83, 53, 40, 35, 13],
    "S": [330e3, 518e3, 488e3, 634e3, 1126e3, 2244e3, 2468e3, 5869e3, 29334e3, 1233311e3],
    "take_all": [0] * 9 + [1],
}


def variance(plan: survey.Plan) -> float:
    f = plan.frame
    W = f.N / f.N.sum()
    return float((W**2 * f.S["value"] ** 2 * f.deff * (1 / plan.n - 1 / f.N)).sum())


# -- figures ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "n"),
    [({"cv": 0.005}, [502, 564, 301]), ({"cv": 0.03}, [16, 19, 10]), ({"moe": 0.5, "confidence": 0.95}, [561, 631, 337])],
)
def test_svyplan(target: dict[str, float], n: list[int]) -> None:
    """Three strata, as in svyplan, which rounds up and takes one interview more."""
    plan = survey.plan(THREE, **target)
    assert plan.n.tolist() == n
    assert plan.above == 0
    assert plan.targets[0].se <= plan.targets[0].target_se


def test_svyplan_with_costs() -> None:
    plan = survey.plan(THREE | {"cost": [1, 1.5, 1]}, cost=1000)
    assert plan.n.tolist() == [336, 308, 202]
    assert (plan.cost, plan.above) == (1000, 0)


def test_svyplan_with_a_response_rate() -> None:
    plan = survey.plan(THREE, cv=0.005, resp_rate=0.6)
    assert plan.n.tolist() == [502, 564, 301]
    assert plan.fielded.tolist() == [836, 941, 502]


def test_practools() -> None:
    plan = survey.plan(PRACTOOLS, cost=100_000)
    assert plan.n.tolist() == [30, 10, 19, 5, 14, 41]
    assert plan.overall[0].se == pytest.approx(1_636_834.3, abs=0.05)
    assert plan.above == 0
    N, S, c = (np.array(PRACTOOLS[name], dtype=float) for name in ("Nh", "Sh", "ch"))
    strata = Strata((N * S / N.sum()) ** 2, 1 / N, c, np.ones(6, dtype=int), N.astype(int))
    real = real_optimum(strata, cost=100_000)
    np.testing.assert_allclose(real, [30.605, 9.728, 19.989, 4.499, 13.712, 40.340], atol=5e-4)


def test_wright() -> None:
    size = sum(WRIGHT["N"])
    plan = survey.plan(WRIGHT, se=388_910_760 / size, lower=3)
    assert plan.n.tolist() == [4, 5, 3, 3, 3, 3, 3, 3, 13, 13]
    assert variance(plan) * size**2 == pytest.approx(149_400_057_961_841_025.6)  # the package's "achieved v"


def test_two_stages_of_practools() -> None:
    """The example of the help of clusOpt2."""
    design = survey.two_stage(750, 100, 0.05, relvariance=1, budget=100_000)
    assert (round(design.psus, 1), round(design.take, 1), round(design.cv, 4)) == (51.4, 11.9, 0.0502)


@given(st.floats(0.1, 50), st.floats(0.2, 10), st.floats(0.001, 0.999), st.floats(1.01, 60), st.floats(0.05, 2))
def test_two_stages_in_whole_numbers_are_the_best_of_all(psu: float, cost: float, delta: float, many: float, cv: float) -> None:
    budget = (psu + cost) * many
    n = np.arange(1, int((budget - psu) / cost) + 1)
    m = np.floor(budget / (psu + cost * n))
    found = survey.two_stage(psu, cost, delta, budget=budget)
    assert found.whole_cost <= budget * (1 + 1e-11)
    assert found.whole_cv <= np.sqrt((delta + (1 - delta) / n) / m).min() * (1 + 1e-11)
    assert found.cv <= found.whole_cv * (1 + 1e-11)
    assert found.psus >= 1 - 1e-12
    n = np.arange(1, 20_001)
    m = np.ceil((delta + (1 - delta) / n) / cv**2)
    found = survey.two_stage(psu, cost, delta, cv=cv)
    assert found.whole_cv <= cv * (1 + 1e-11)
    assert found.whole_cost <= (m * (psu + cost * n)).min() * (1 + 1e-11)
    assert found.cost <= found.whole_cost * (1 + 1e-11)
    assert found.psus >= 1 - 1e-12


# -- brute force ------------------------------------------------------------------------------------------------------------

sizes = st.lists(st.integers(1, 7), min_size=1, max_size=4)


@st.composite
def small(draw: st.DrawFn) -> tuple[Strata, np.ndarray]:
    """A few strata, and all designs within their bounds."""
    N = np.array(draw(sizes), dtype=float)
    one = st.sampled_from([0.0, 0.3, 1.0, 2.0, 3.7])
    S = np.array([draw(one) for _ in N])
    price = np.array([draw(st.sampled_from([1.0, 1.0, 1.5, 0.3, 2.9])) for _ in N])
    if draw(st.booleans()):
        price[:] = 1.0
    high = np.array([draw(st.integers(1, int(n))) for n in N])
    low = np.array([draw(st.integers(1, int(h))) for h in high])
    grid = np.array(list(itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))))
    return Strata((N / N.sum() * S) ** 2, 1 / N, price, low, high), grid


@given(small(), st.floats(0, 1))
def test_the_least_variance_for_a_budget(case: tuple[Strata, np.ndarray], where: float) -> None:
    strata, grid = case
    costs, variances = grid @ strata.price, (strata.a * (1 / grid - strata.rest)).sum(axis=1)
    budget = costs.min() + where * (costs.max() - costs.min())
    found = least_variance(strata, budget)
    best = variances[costs <= budget * (1 + SLACK)].min()
    assert (found.n >= strata.low).all()
    assert (found.n <= strata.high).all()
    assert strata.cost(found.n) <= budget * (1 + 1e-11)
    assert best - 1e-12 <= strata.variance(found.n) <= best + found.above + 1e-12
    assert found.above == 0 or not strata.one_price


@given(small(), st.floats(0, 1), st.booleans())
def test_the_least_cost_for_a_variance(case: tuple[Strata, np.ndarray], where: float, attained: bool) -> None:
    strata, grid = case
    costs, variances = grid @ strata.price, (strata.a * (1 / grid - strata.rest)).sum(axis=1)
    limit = variances.min() + where * (variances.max() - variances.min())
    if attained:  # the variance of a design is met by that design
        limit = np.sort(variances)[int(where * (len(variances) - 1))]
    found = least_cost(strata, limit)
    best = costs[variances <= limit * (1 + SLACK)]
    if len(best):  # else the limit lies below the smallest variance by a rounding error
        assert best.min() - 1e-9 <= strata.cost(found.n) <= best.min() + found.above + 1e-9
        assert strata.variance(found.n) <= limit * (1 + 1e-9) + 1e-15
    assert found.above == 0 or not strata.one_price


def test_unequal_prices_are_mostly_exact() -> None:
    rng = np.random.default_rng(0)
    exact = 0
    for _ in range(20):
        N, S, c = rng.integers(50, 500, 30).astype(float), rng.uniform(1, 9, 30), rng.integers(1, 20, 30).astype(float)
        strata = Strata((N / N.sum() * S) ** 2, 1 / N, c, np.ones(30, dtype=int), N.astype(int))
        found = least_variance(strata, 4000.0)
        exact += found.above == 0
        assert found.above <= 1e-5 * strata.variance(found.n)
    assert exact >= 10


@pytest.mark.parametrize("part", [0.5, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("seed", range(4))
def test_few_strata_near_a_census_with_unequal_prices_are_exact(seed: int, part: float) -> None:
    """There gains fall slowly, so that many interviews have to be tried up and down."""
    rng = np.random.default_rng(seed)
    N, S, price = rng.integers(100, 400, 2).astype(float), rng.lognormal(0, 1, 2), rng.uniform(0.5, 5, 2)
    strata = Strata((N / N.sum() * S) ** 2, 1 / N, price, np.ones(2, dtype=int), N.astype(int))
    grid = np.array(list(itertools.product(*(range(1, int(n) + 1) for n in N))))
    costs, variances = grid @ price, (strata.a * (N - grid) / (N * grid)).sum(axis=1)
    budget = part * float(price @ N)
    found = least_variance(strata, budget)
    assert found.above == 0
    assert strata.variance(found.n) <= variances[costs <= budget].min() * (1 + 1e-9)
    limit = float(strata.variance(np.floor(part * N)))
    found = least_cost(strata, limit)
    assert found.above == 0
    assert strata.cost(found.n) <= costs[variances <= limit].min() * (1 + 1e-9)


def test_a_variance_that_is_only_just_attained_near_a_census() -> None:
    """All asked but one person: sums of a/n and of a/N would differ in digits that are not there."""
    N = np.array([3.0, 3, 3, 4, 2])
    a, price = np.array([5.625e-05, 7.700625e-04, 5.625e-03, 1.0, 2.5e-05]), np.array([5.8, 3.4, 4.2, 4.6, 6.9])
    strata = Strata(a, 1 / N, price, np.array([1, 2, 1, 1, 1]), N.astype(int))
    assert least_cost(strata, 1.25e-05).n.tolist() == [3, 3, 3, 4, 1]


@st.composite
def several(draw: st.DrawFn) -> tuple[Limits, np.ndarray]:
    strata, grid = draw(small())
    m = len(strata.a)
    entry = st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0, 4.0])
    A = np.array([[draw(entry) for _ in range(m)] for _ in range(draw(st.integers(1, 4)))])
    used = (1 / grid - strata.rest) @ A.T
    limits = np.maximum(used[draw(st.integers(0, len(grid) - 1))], 1e-3) * draw(st.sampled_from([1.0, 1.3]))
    return Limits(sparse.csr_array(A / limits[:, None]), strata.rest, strata.price, strata.low, strata.high), grid


@given(several())
def test_several_limits(case: tuple[Limits, np.ndarray]) -> None:
    """The design keeps all limits, and the bound is below what any design costs."""
    limits, grid = case
    used = (1 / grid - limits.rest) @ limits.A.toarray().T
    best = (grid @ limits.price)[(used <= 1 + SLACK).all(axis=1)].min()
    found = cheapest(limits)
    assert limits.meets(found.n)
    assert (found.n >= limits.low).all()
    assert (found.n <= limits.high).all()
    assert found.bound <= best + 1e-9
    assert best <= limits.cost(found.n) + 1e-9
    assert limits.cost(found.n) <= best + 3 * limits.price.max()


@given(several(), st.lists(st.floats(0, 100), min_size=4, max_size=4))
def test_the_bound_holds_for_all_multipliers(case: tuple[Limits, np.ndarray], mu: list[float]) -> None:
    limits, grid = case
    used = (1 / grid - limits.rest) @ limits.A.toarray().T
    best = (grid @ limits.price)[(used <= 1 + SLACK).all(axis=1)].min()
    assert lower_bound(limits, np.array(mu[: limits.A.shape[0]])) <= best + 1e-9


def test_a_bound_that_is_too_high_is_caught() -> None:
    """Planted: with the limits loosened by half, the bound of the tight ones is above the best design."""
    A = np.array([[1.0, 2.0], [3.0, 0.5]])
    strata = (np.zeros(2), np.ones(2), np.ones(2, dtype=int), np.full(2, 50))
    tight, loose = cheapest(Limits(sparse.csr_array(A), *strata)), cheapest(Limits(sparse.csr_array(A / 1.5), *strata))
    assert tight.bound > loose.n.sum()


def establishments(seed: int, H: int = 641, domains: int = 7, variables: int = 4) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    frame: dict[str, object] = {
        "stratum": range(H),
        "N": rng.integers(20, 5000, H),
        "domain": [f"d{i % domains}" for i in range(H)],
    }
    for v in range(variables):
        mean = rng.lognormal(3, 1, H)
        frame |= {f"mean_v{v}": mean, f"S_v{v}": mean * rng.uniform(0.3, 1.5, H)}
    return frame


@pytest.mark.parametrize("seed", range(3))
def test_bethel_of_a_usual_size_is_within_a_few_interviews(seed: int) -> None:
    plan = survey.plan(establishments(seed), cv=0.03, lower=2)
    assert len(plan.targets) == 28
    assert all(one.cv <= 0.03 * (1 + 1e-9) for one in plan.targets)
    assert plan.above <= 4
    assert "above the optimum" in plan.guarantee or "No plan with fewer" in plan.guarantee


def test_domains_and_everybody() -> None:
    plan = survey.plan(establishments(1, H=60), cv={"v0": {"all": 0.02, "d1": 0.05}, "v3": 0.08})
    assert [(one.variable, one.domain) for one in plan.targets][:2] == [("v0", "all"), ("v0", "d1")]
    assert len(plan.targets) == 9
    assert all(one.cv <= one.target * (1 + 1e-9) for one in plan.targets)


def test_a_target_for_all_domains_of_a_column(ask, tmp_path) -> None:
    frame = establishments(1, H=12, domains=3, variables=1) | {"DOM2": ["x", "y"] * 6}
    plan = survey.plan(frame, cv={"v0": {"domain": 0.1, "DOM2": 0.07, "DOM2=y": 0.05, "all": 0.04}})
    wanted = {one.domain: one.target for one in plan.targets}
    assert wanted == {
        "domain=d0": 0.1, "domain=d1": 0.1, "domain=d2": 0.1, "DOM2=x": 0.07, "DOM2=y": 0.05, "all": 0.04,
    }  # fmt: skip
    pd.DataFrame(frame).to_csv(tmp_path / "frame.csv", index=False)
    told = ask("plan", tmp_path / "frame.csv", "--cv", "v0:domain=.1,v0:DOM2=.07,v0:DOM2=y=.05,v0:all=.04")
    assert told["n"] == plan.n.sum()
    assert {one["domain"]: one["target"] for one in told["targets"]} == wanted


def test_a_budget_for_several_variables_is_spent_nearly_as_well_as_can_be() -> None:
    for budget in (1000, 4000):
        assert survey.plan(establishments(0), budget=budget).above < 5e-3


def test_a_budget_for_several_variables_makes_the_worst_cv_small() -> None:
    frame = establishments(2, H=4, domains=1, variables=2) | {"N": [9, 8, 7, 6]}
    plan = survey.plan(frame, budget=14)
    f = plan.frame
    grid = np.array([n for n in itertools.product(*(range(1, int(N) + 1) for N in f.N)) if sum(n) <= 14])
    worst = np.zeros(len(grid))
    for name in f.variables:
        W = f.N / f.N.sum()
        v = (W**2 * f.S[name] ** 2 * (1 / grid - 1 / f.N)).sum(axis=1) / (W * f.mean[name]).sum() ** 2
        worst = np.maximum(worst, v)
    reached = max(one.cv for one in plan.overall) ** 2
    assert plan.n.sum() == 14
    assert worst.min() - 1e-12 <= reached <= worst.min() * (1 + plan.above) + 1e-12


# -- what a plan holds -----------------------------------------------------------------------------------------------------


def test_a_size_is_allocated_as_allocate_does() -> None:
    rng = np.random.default_rng(3)
    N, S = rng.integers(1, 300, 50), rng.random(50)
    plan = survey.plan({"N": N, "S": S}, budget=700)
    assert plan.n.tolist() == allocate(N, S**2, 700, upper=N).tolist()


def test_nobody_is_asked_twice() -> None:
    plan = survey.plan(THREE, budget=20_000)
    assert plan.n.tolist() == THREE["N"]
    assert plan.overall[0].se == 0
    assert "Everybody who can be had is asked." in plan.notes
    assert "10,000 of the interviews of 20,000 are not used." in plan.notes
    again = survey.plan(THREE, budget=20_000, finite=False)
    assert again.n.sum() == 20_000
    assert again.overall[0].se > 0
    with pytest.raises(InfeasibleError, match="cannot be reached"):
        survey.plan(THREE, cv=0.0001, upper=500)


def test_no_more_can_answer_than_are_contacted() -> None:
    plan = survey.plan({"N": [10, 100], "S": [9, 1]}, budget=30, resp_rate=0.5)
    assert plan.n.tolist() == [5, 25]
    assert plan.fielded.tolist() == [10, 50]
    assert plan.binding == ["population", None]


def test_the_standard_error_is_no_difference_of_large_numbers() -> None:
    N = np.array([300_000, 276_470])
    plan = survey.plan({"N": N, "S": [0.5, 0.4]}, budget=int(N.sum()) - 470)
    left = N - plan.n
    exact = np.sqrt(((N / N.sum()) ** 2 * np.array([0.5, 0.4]) ** 2 * left / (plan.n * N.astype(float))).sum())
    assert plan.overall[0].se == pytest.approx(exact, rel=1e-9)


def test_bounds() -> None:
    frame = {
        "stratum": list("abcd"),
        "N": [1, 500, 300, 40],
        "S": [3, 2, 1, 1],
        "upper": [None, 12, None, None],
        "take_all": [0, 0, 0, 1],
    }
    plan = survey.plan(frame, budget=90, lower=5, max_weight=50)
    assert plan.n.tolist() == [1, 12, 37, 40]  # at least 5 of one person
    assert plan.binding == ["population", "upper", None, "take_all"]
    with pytest.raises(InfeasibleError, match=r"stratum 'b'\): the maximal weight takes at least 25 interviews, but at most 12"):
        survey.plan(frame, budget=90, max_weight=20)
    with pytest.raises(InfeasibleError, match="at least 100, at most 20"):
        survey.plan(THREE, cv=0.1, lower=100, upper=20)
    assert survey.plan(THREE, budget=215, max_weight=50).binding == ["max_weight", None, "max_weight"]
    assert survey.plan(THREE, cv=0.5, lower=7).n.tolist() == [7, 7, 7]


def test_design_effects_count_like_variances() -> None:
    double = survey.plan(THREE, cv=0.01, deff=2.0)
    root = survey.plan(THREE | {"S": np.array(THREE["S"]) * np.sqrt(2)}, cv=0.01)
    assert double.n.tolist() == root.n.tolist()
    assert survey.plan(THREE | {"deff": [2, 2, 2]}, cv=0.01).n.tolist() == double.n.tolist()


def test_where_nobody_differs() -> None:
    plan = survey.plan(THREE | {"S": [0, 0, 0]}, budget=100)
    assert plan.n.tolist() == [40, 30, 30]
    assert "nobody differs" in plan.notes[0]
    assert "in proportion" in plan.notes[0]
    assert survey.plan(THREE | {"S": [0, 0, 0]}, cv=0.01).n.tolist() == [1, 1, 1]
    some = survey.plan({"N": [10, 40, 20], "S": [1, 0, 0]}, budget=40)
    assert some.n.tolist() == [10, 20, 10]


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_any_unit(scale: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = THREE | {"S": np.array(THREE["S"]) * scale, "mean": np.array(THREE["mean"]) * scale}
        assert survey.plan(frame, cv=0.005).n.tolist() == [502, 564, 301]
        assert survey.plan(frame, budget=1367).n.tolist() == [502, 564, 301]


@pytest.mark.parametrize("asked", [{"variance": 0.1}, {"cv": 0.1}, {"budget": 10**6}])
def test_variables_that_differ_by_more_than_numbers_can_tell(asked: dict[str, float]) -> None:
    frame = {
        "N": [1_000_000, 2, 30],
        "p_a": [0.5, 0.9, 0.1],
        "S_b": [5e151, 1e156, 0],
        "mean_b": [1e150, -3e150, 1e150],
        "S_c": [1, 0, 1e-9],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = survey.plan(frame | {"mean_c": [1, 1, 5]}, **asked)
    assert all(one.target_se is None or one.se <= one.target_se * (1 + 1e-9) for one in plan.targets)
    assert (plan.n <= frame["N"]).all()


def test_one_target_in_all_its_forms() -> None:
    plan = survey.plan(THREE, cv=0.01)
    se = plan.targets[0].target_se
    assert se == pytest.approx(0.545)
    for target in ({"se": se}, {"variance": se**2}, {"moe": 1.959963984540054 * se}, {"cv": {"value": 0.01}}):
        assert survey.plan(THREE, **target).n.tolist() == plan.n.tolist()
    assert survey.plan(THREE, variance=variance(plan)).n.tolist() == plan.n.tolist()


def test_allocations_to_compare_with() -> None:
    best = survey.plan(THREE, cv=0.01)
    for method, n in (("proportional", [40, 30, 30]), ("equal", [34, 33, 33])):
        plan = survey.plan(THREE, budget=100, method=method)
        assert plan.n.tolist() == n
        assert np.isnan(plan.above)
        reached = survey.plan(THREE, cv=0.01, method=method)
        assert reached.n.sum() > best.n.sum()
        assert reached.targets[0].cv <= 0.01
        fewer = survey.plan(THREE, budget=int(reached.n.sum()) - 1, method=method)
        assert fewer.overall[0].cv > 0.01
    assert survey.plan(THREE, budget=100, method="power", power=1.0).n.tolist() == [40, 30, 30]


def test_sensitivity() -> None:
    plan = survey.plan(THREE, budget=1367)
    more = survey.plan(THREE, budget=1368)
    assert plan.sensitivity["one_more_interview"] == pytest.approx(more.overall[0].se / plan.overall[0].se - 1)
    reached, looser = survey.plan(THREE, cv=0.005), survey.plan(THREE, cv=0.00505)
    assert reached.sensitivity["saved_by_1_percent"] == pytest.approx(reached.n.sum() - looser.n.sum(), abs=1.5)
    assert sum(plan.share["value"]) == pytest.approx(1)


def test_two_stages_in_a_frame() -> None:
    frame = {"N": [10**6], "S": [1], "mean": [1], "delta": [0.05], "psu_cost": [750], "cost": [100]}
    plan = survey.plan(frame, cost=100_000, two_stage=True)
    best = survey.two_stage(750, 100, 0.05, budget=100_000)
    assert plan.take.tolist() == [12]
    assert plan.psus.tolist() == [51]
    assert plan.n.tolist() == [612]
    assert plan.overall[0].cv == pytest.approx(best.whole_cv, rel=0.01)
    assert plan.cost == 51 * (750 + 1200)
    few = survey.plan(frame | {"N": [600], "psus": [60]}, budget=10_000, two_stage=True)
    assert few.n.tolist() == [600]
    assert few.overall[0].se == pytest.approx(0, abs=1e-9)
    with pytest.raises(StudyError, match="columns delta and psu_cost"):
        survey.plan(THREE, cv=0.1, two_stage=True)


def test_two_stages_keep_the_bounds() -> None:
    base = {"N": [1000], "S": [1], "mean": [1], "delta": [0.01], "psu_cost": [1000], "cost": [10]}
    plan = survey.plan(base, cost=100_000, two_stage=True, upper=20)
    assert plan.n[0] <= 20
    rates = survey.plan(base | {"psus": [10]}, cost=100_000, two_stage=True, resp_rate=0.3)
    assert rates.take[0] <= 30  # of 100 people in a unit
    assert rates.n[0] <= 300
    for lower, upper in ((95, 100), (7, 7), (150, 151)):
        plan = survey.plan(base, cost=10**6, two_stage=True, lower=lower, upper=upper)
        assert lower <= plan.n[0] <= upper
    with pytest.raises(InfeasibleError, match="in two stages no equal number of interviews"):
        survey.plan(base | {"psus": [3]}, cost=10**6, two_stage=True, lower=997, upper=998)


def test_a_share_above_the_best_is_of_the_variance_that_was_minimised() -> None:
    frame = {
        "stratum": list("abcdefgh"), "N": [400, 300, 300, 500, 200, 350, 250, 450],
        "cost": [3.7, 5.1, 7.3, 2.9, 11.3, 1.7, 6.1, 4.3],
        "S_y": [10, 15, 8, 3, 30, 5, 9, 12], "S_z": [1000, 20, 30, 4000, 5, 60, 70, 8], "domain": list("ppppqqqq"),
    }  # fmt: skip
    plan = survey.plan(frame, se={"z": {"q": 1.0}}, cost=900)
    assert "of 'z' in 'q'" in plan.guarantee
    solution = Solution(plan.psus, plan.n.astype(float), 1.0, "variance", least=survey.targets.estimate(
        plan.frame, "z", "q", np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=bool), plan.frame.deff))  # fmt: skip
    assert "variance of 'z' in 'q' is at most 50 % above" in words.guarantee(
        solution, True, 2.0, 1, False, 900.0, " of 'z' in 'q'"
    )
    parts = units(plan.frame, lower=1, upper=None, max_weight=None, rate=np.ones(8), finite=True, two_stage=False)
    overall = [survey.targets.estimate(plan.frame, "y", "all", np.ones(8, dtype=bool), plan.frame.deff)]
    made = planned(plan.frame, solution, parts, overall, overall, np.ones(8), paid=True, method="optimum", limit=900, finite=True)
    one = solution.least
    assert made.above == pytest.approx(1 / (one.a * (1 / plan.n - 1 / plan.frame.N)).sum())


def test_no_cheaper_plan_is_told_by_the_cost() -> None:
    """Also where prices are tiny: what is above the least by a hundredth is said."""
    dear = Solution(np.ones(1, dtype=int), np.ones(1), 1e-11, "cost")
    assert words.guarantee(dear, True, 1.0, 1, False, 1e-9, "").startswith("At most 1e-11 above the least cost")
    assert words.guarantee(dear, True, 1.0, 1, False, 1e3, "") == "No cheaper plan reaches the target."


def test_near_a_census_variances_keep_their_digits() -> None:
    N = np.array([10**7, 49, 3_333_333], dtype=float)
    exact = [float(Fraction(1, int(n) - 1) - Fraction(1, int(n))) for n in N]
    assert unseen(N - 1, 1 / N) == pytest.approx(exact, rel=1e-14)
    assert (unseen(N, 1 / N) == 0).all()
    assert unseen(N, np.zeros(3)) == pytest.approx(1 / N)
    frame = {"stratum": ["a"], "N": [10**7], "S": [1.0], "mean": [1.0]}
    for left in (1, 2, 5):  # the target is what so many people less than all reach
        n = 10**7 - left
        assert survey.plan(frame, variance=left / (n * 1e7)).n[0] == n


def test_json_and_tables(tmp_path) -> None:
    plan = survey.plan(THREE | {"domain": ["north", "south", "south"]}, cv=0.02)
    told = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert told["n"] == plan.n.sum() == told["cost"]
    assert {"stratum", "n", "fielded", "weight", "binding"} <= set(told["strata"][0])
    assert [one["domain"] for one in told["targets"]] == ["north", "south"]
    assert all({"variable", "domain", "cv", "target"} <= set(one) and one["target"] == 0.02 for one in told["targets"])
    table = pd.read_csv(plan.write(tmp_path / "plan.csv"))
    assert table["n"].tolist() == plan.n.tolist()
    assert table["weight"].tolist() == pytest.approx(plan.weight.tolist())
    pytest.importorskip("openpyxl")
    assert pd.read_excel(plan.write(tmp_path / "plan.xlsx"))["n"].tolist() == plan.n.tolist()
    with pytest.raises(SettingError, match=r"written as \.csv or \.xlsx"):
        plan.write(tmp_path / "plan.doc")


def test_a_report_escapes_names(tmp_path) -> None:
    plan = survey.plan(THREE | {"stratum": ["<script>", "a & b", "$x$"]}, cv=0.01)
    page = plan.report(tmp_path / "plan.html", title="Who <is> asked").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "Who &lt;is&gt; asked" in page
    assert page.count("<tr>") == 2 + 1 + 3
    assert "data:image/png;base64," in page


def test_a_report_of_many_strata_is_one_page_and_an_annex(tmp_path) -> None:
    few, many = (survey.plan(establishments(1, H=H), cv=0.1).report(tmp_path / f"{H}.html").read_text() for H in (7, 300))
    assert "annex" not in few.partition("<body>")[2]
    page, _, annex = many.partition('<div class="annex">')
    assert page.count("<tr>") == 2 + 4 + 28  # two tables beside each other: everybody, and seven domains by four variables
    assert annex.count("<tr>") == 1 + 300


def test_tables_say_whence_the_variance_comes() -> None:
    plan = survey.plan(THREE, cv=0.02)
    columns, rows = strata_table(plan, 60)
    assert [row[columns.index("share")] for row in rows] == [f"{100 * x:.3g} %" for x in plan.share["value"]]
    assert sum(plan.share["value"]) == pytest.approx(1)
    several = survey.plan(establishments(1, H=14, variables=2), cv=0.1)
    assert {"share v0", "share v1"} <= set(strata_table(several, 60)[0])
    columns, rows = reached_table(several)
    assert columns[-1] == "1 % looser saves"
    assert [row[-1] for row in rows] == ["–"] * 2 + [f"{one.saves:,.3g}" for one in several.targets]
    assert all(one.saves == 0 or one.saves > 1e-6 for one in several.targets)
    assert sum(one.saves for one in several.targets) == pytest.approx(several.sensitivity["saved_by_1_percent"])


@pytest.mark.parametrize(
    "asked",
    [
        {}, {"cv": 0.1, "se": 1}, {"budget": 10, "cost": 10}, {"cv": -1}, {"cv": 0}, {"cv": "x"}, {"cv": {"x": 0.1}},
        {"cv": {"value": {"west": 0.1}}}, {"budget": 2}, {"budget": 1.5}, {"cv": 0.1, "confidence": 2}, {"cv": 0.1, "lower": 0},
        {"cv": 0.1, "max_weight": 0.5}, {"cv": 0.1, "resp_rate": 0}, {"cv": 0.1, "deff": 0}, {"cv": 0.1, "method": "best"},
        {"cv": 0.1, "variables": "income"}, {"cost": 1}, {"cv": 0.1, "method": "power", "power": 3}, {"cv": 0.1, "finite": "no"},
    ],
)  # fmt: skip
def test_bad_settings(asked: dict[str, object]) -> None:
    with pytest.raises(SurepickError):
        survey.plan(THREE, **asked)


def test_a_cv_takes_means() -> None:
    with pytest.raises(StudyError, match="there is no column mean"):
        survey.plan({"N": [10], "S": [1]}, cv=0.1)
    with pytest.raises(StudyError, match=r"row 1 .*takes the mean of 'value'"):
        survey.plan({"N": [10, 5], "S": [1, 1], "mean": [1, None]}, cv=0.1)
    with pytest.raises(StudyError, match="the mean of 'value' is 0"):
        survey.plan({"N": [10, 10], "S": [1, 1], "mean": [1, -1]}, cv=0.1)
    with pytest.raises(StudyError, match="no column S"):
        survey.plan({"N": [10]}, cv=0.1)
    assert survey.plan({"N": [10], "S": [1]}, se=0.5).n.tolist() == [3]


# -- the command -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "frame.csv"
    path.write_text("stratum,N,S,mean\na,4000,10,50\nb,3000,15,60\nc,3000,8,55\n", encoding="utf-8")
    return path


def test_the_command(ask, cli, file, tmp_path) -> None:
    told = ask("plan", file, "--cv", "0.005", "--resp-rate", "0.6")
    assert [one["n"] for one in told["strata"]] == [502, 564, 301]
    assert [one["fielded"] for one in told["strata"]] == [836, 941, 502]
    assert ask("plan", file, "--budget", "1367")["n"] == 1367
    assert ask("plan", file, "--moe", "value:all=0.5")["n"] == 1529
    code, out, _ = cli(
        "plan", file, "--se", "1", "--out", tmp_path / "p.csv", "--report", tmp_path / "p.html", "--picture", tmp_path / "p.png"
    )
    assert code == 0
    assert "No plan with fewer interviews reaches the target." in out
    assert all((tmp_path / name).stat().st_size > 100 for name in ("p.csv", "p.html", "p.png"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--cv", "abc"], "'abc' is not a number"),
        (["--cv", "0.1,0.2"], "say what each number is for"),
        (["--cv", "value=0.1,value=0.2"], "two targets for 'value'"),
        ([], "Say what to plan for"),
        (["--cv", "0.1", "--se", "2"], "Give only one of cv and se"),
        (["--cv", "0.1", "--out", "frame.csv"], "the frame itself"),
        (["--budget", "2"], "below the least interviews"),
    ],
)
def test_what_the_command_refuses(cli, file, monkeypatch, options: list[str], said: str) -> None:
    monkeypatch.chdir(file.parent)
    code, out, err = cli("plan", file, *options)
    assert (code, out) == (2, "")
    assert said in err
