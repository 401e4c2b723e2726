"""Normal arms of unknown variance: the evidence, the record, the guarantee, and what a t-statistic would do."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import surepick as sp
from surepick.confidence import Mixture
from surepick.engine import compiled
from surepick.engine.data import Arms, Record, Seen
from surepick.engine.enums import Family
from surepick.engine.kernels.record import observe
from surepick.errors import ProblemError, SettingError
from surepick.estimators import Mean, Moments

ABOVE, BELOW, BOTH = 1, -1, 0


def record_of(values: np.ndarray) -> Moments:
    record = Moments(1, variance=False).place([sp.Arm("a", kind="normal")])
    record.update(0, values)
    return record


def seen_of(values: np.ndarray) -> tuple[Seen, float, float]:
    """What is seen of one arm, and its unit."""
    record = record_of(values)
    seen, shift, scale = np.zeros((4, 1)), np.zeros(1), np.ones(1)
    compiled("student").fill_student(np.array([Family.STUDENT]), record.counts, record.table, shift, scale, seen)
    return Seen(int(Family.STUDENT), *map(float, seen[:, 0])), float(shift[0]), float(scale[0])


def plain_parts(values: np.ndarray, mean: float, side: int) -> tuple[float, float]:
    """The two sorts of evidence from the values themselves, by their definitions, without the cut."""
    held, later = values[:3], (values[3:] - values[:3].mean()) / values[:3].std(ddof=1)
    u, n = (mean - held.mean()) / held.std(ddof=1), len(later)
    total, square = float((later - u).sum()), float(((later - u) ** 2).sum())

    def log_product(x: float) -> float:
        return x * total - x * x * square / 2

    best = total / (square + 30)

    def density(x: float) -> float:
        return math.exp(log_product(x) - log_product(best)) * float(stats.norm.pdf(x, 0, 1 / math.sqrt(30)))

    halves = [(0.0, math.inf, 1.0 - 0.01 / 2), (-math.inf, 0.0, 0.01 / 2)]
    if side == BELOW:
        halves = [(a, b, 1.0 - weight) for a, b, weight in halves]
    if side == BOTH:
        halves = [(-math.inf, math.inf, 0.5)]
    capital = 0.0
    for a, b, weight in halves:
        capital += 2 * weight * integrate.quad(density, a, b)[0]
    symmetric = math.log(capital) + log_product(best)

    log_q, kappa, alpha, beta, centre = 0.0, 3.0, 1.0, 1.0, 0.0  # predictive densities, value by value
    for x in later:
        log_q += stats.t.logpdf(x, 2 * alpha, centre, math.sqrt(beta * (kappa + 1) / (alpha * kappa)))
        beta += kappa * (x - centre) ** 2 / (2 * (kappa + 1))
        centre, kappa, alpha = (kappa * centre + x) / (kappa + 1), kappa + 1, alpha + 0.5
    p = later.mean()
    wrong = (side == ABOVE and p < u) or (side == BELOW and p > u)
    at = p if wrong else u
    spread = math.sqrt(((later - at) ** 2).mean())
    return symmetric, log_q - float(stats.norm.logpdf(later, at, spread).sum()), n


@pytest.mark.parametrize("seed", range(6))
def test_evidence_is_what_its_definition_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(5, 2, 3 + [2, 5, 9, 20, 40, 80][seed])
    seen, shift, scale = seen_of(values)
    for side in (ABOVE, BELOW, BOTH):
        for mean in (4.0, 5.0, 6.5):
            symmetric, likely, n = plain_parts(values, mean, side)
            found = compiled("student").student_parts(seen, (mean - shift) / scale, side)
            assert found[1] == pytest.approx(likely, abs=1e-8)
            assert found[0] <= symmetric + 1e-7  # it may be cut off
            if n >= 9:
                assert found[0] == pytest.approx(symmetric, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 300), st.floats(-30, 30), st.floats(1e-6, 1e4), st.integers(0, 1000))
def test_evidence_of_two_arms_never_falls_with_the_distance(n: int, p: float, v: float, seed: int) -> None:
    """However large the evidence of the other arm is: this is what the search for the least evidence rests on."""
    table = np.zeros((1, 16))
    table[0, 11:15] = 3.0, 0.0, 2.0, v * n
    table[0, 0] = p * n
    n_, p_, v_, fixed = compiled("student").student_seen(0, np.array([n + 3]), table)
    seen = Seen(int(Family.STUDENT), n_, p_, v_, fixed)
    rng = np.random.default_rng(seed)
    mixed, likely = rng.normal(0, 20, 2)
    other = int(rng.integers(3))  # the sort of the other arm
    distances = np.concatenate(([0.0], np.geomspace(1e-4, 1e6, 60) * math.sqrt(v)))
    for side in (ABOVE, BELOW):
        found = []
        for d in distances:
            parts = compiled("student").student_parts(seen, p_ - side * d, side)
            found.append(compiled("mixtures").together(0, *parts, other, mixed, likely))
        assert (np.diff(found) >= -1e-9 * (1 + np.abs(found[1:]))).all()


def test_one_value_more_is_worth_one_on_average() -> None:
    """The supermartingale step, by quadrature: the mean of what the capital is multiplied by is at most 1, at the truth."""
    rng = np.random.default_rng(3)
    for sd in (0.1, 1.0, 7.0):
        values = rng.normal(0, sd, 12)
        now = plain_parts(values, 0.0, ABOVE)

        def after(x: float, values: np.ndarray = values, sd: float = sd, now: tuple = now) -> float:
            symmetric = plain_parts(np.append(values, x), 0.0, ABOVE)[0]
            return math.exp(symmetric - now[0]) * stats.norm.pdf(x, 0, sd)

        grid = np.linspace(-8 * sd, 8 * sd, 241)
        assert integrate.trapezoid([after(x) for x in grid], grid) <= 1.0 + 1e-4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([1.0, 1.5, -2.25, 1e6, 3.125]) | st.floats(-1e6, 1e6), min_size=1, max_size=40), st.data())
def test_the_record_is_the_same_however_values_come(values: list[float], data: st.DataObject) -> None:
    numbers = np.array(values)
    arms = [sp.Arm("a", kind="normal")]
    whole, parts, kernel = (Moments(1, variance=False).place(arms) for _ in range(3))
    whole.update(0, numbers)
    cut = data.draw(st.integers(0, len(values)))
    parts.update(0, numbers[:cut])
    parts.update(0, numbers[cut:])
    for x in values:
        observe(0, x, Record(kernel.counts, kernel.table, kernel.variance))
    np.testing.assert_array_equal(whole.table, parts.table)
    np.testing.assert_array_equal(whole.table, kernel.table)
    if len(set(values)) > 1 and len(values) >= 3:
        held = int(whole.held[0])
        assert held == next(k for k in range(3, len(values) + 1) if len(set(values[:k])) > 1)
        later = numbers[held:] - numbers[0]
        assert whole.later_squares[0] == pytest.approx(
            ((later - later.mean()) ** 2).sum() if len(later) else 0.0, rel=1e-6, abs=1e-3
        )


def crossings(sd: float, runs: int, seed: int, level: float, looks: int = 400) -> int:
    """In how many runs the evidence against the true mean ever exceeds the level."""
    rng, crossed = np.random.default_rng(seed), 0
    for _ in range(runs):
        values, record = rng.normal(0, sd, looks), Moments(1, variance=False).place([sp.Arm("a", kind="normal")])
        seen, shift, scale = np.zeros((4, 1)), np.zeros(1), np.ones(1)
        for x in values:
            observe(0, float(x), Record(record.counts, record.table, record.variance))
            compiled("student").fill_student(np.array([Family.STUDENT]), record.counts, record.table, shift, scale, seen)
            if (
                compiled("mixtures").evidence(
                    Seen(int(Family.STUDENT), *map(float, seen[:, 0])), -float(shift[0]) / float(scale[0]), 1.0, ABOVE
                )
                > level
            ):
                crossed += 1
                break
    return crossed


@pytest.mark.parametrize("sd", [1e-3, 1.0, 1e4])
def test_intervals_hold_at_all_times(sd: float) -> None:
    runs, alpha = 600, 0.1
    wrong = crossings(sd, runs, seed=11, level=math.log(1 / alpha))
    assert stats.binom.sf(wrong - 1, runs, alpha) > 1e-4


def lai(y: np.ndarray, rate: float = 0.1) -> float:
    """ln of the t-martingale of Lai (1976) with a normal prior of the standardised mean, for one arm by itself."""
    n = len(y)
    t = y.sum() ** 2 / ((n + rate) * (y**2).sum())
    return 0.5 * math.log(rate / (n + rate)) - 0.5 * n * math.log1p(-t)


def test_a_t_martingale_across_arms_is_caught() -> None:
    """Planted: the size of another arm's values tells whether an arm's first value was a large one, which ratios do not see. Who
    goes on only then has a capital of more than 1 on average, at the truth, after two values: by quadrature."""
    grid = np.linspace(-9, 9, 721)
    weights = stats.norm.pdf(grid) * (grid[1] - grid[0])

    def after_two(first: float) -> float:
        return float(sum(w * math.exp(lai(np.array([first, x]))) for x, w in zip(grid, weights, strict=True)))

    firsts = grid[grid > 0]
    by_first = np.array([after_two(x) for x in firsts])
    mass = 2 * weights[grid > 0]
    assert (mass * by_first).sum() == pytest.approx(1.0, abs=5e-3)  # alone it is a martingale
    assert (mass * np.maximum(by_first, 1.0)).sum() > 1.04  # next to an arm of the same deviation it is not


def test_what_other_arms_tell_of_the_deviation_does_no_harm() -> None:
    """An arm is left as soon as a second arm, whose deviation is the same, tells that its last value was a large one upwards."""
    runs, alpha, wrong = 1500, 0.1, 0
    rng = np.random.default_rng(8)
    for _ in range(runs):
        sd = math.exp(rng.uniform(-6, 6))
        guide, x = abs(rng.normal(0, sd, 50)).mean(), list(rng.normal(0, sd, 4))
        while len(x) < 40 and x[-1] < 2 * guide:
            x.append(float(rng.normal(0, sd)))
        seen, shift, scale = seen_of(np.array(x))
        wrong += compiled("mixtures").evidence(seen, -shift / scale, 1.0, BOTH) > math.log(1 / alpha)
    assert stats.binom.sf(wrong - 1, runs, alpha) > 1e-4


def arms_of(n: int) -> list[sp.Arm]:
    return [sp.Arm(f"machine {i}", kind="normal") for i in range(n)]


@pytest.mark.parametrize("sd", [0.06, 0.5, [0.02, 0.5, 0.1, 1.0]])
def test_the_best_is_found(sd: float | list[float]) -> None:
    problem, world, wrong = sp.BestArm(arms_of(4)), sp.Gaussian([10.5, 10.3, 10.0, 9.0], sd=sd), 0
    for seed in range(60):
        result = sp.explore(problem, world, delta=0.1, seed=seed)
        assert result.certified
        wrong += result.decision[0] != 1
    assert stats.binom.sf(wrong - 1, 60, 0.1) > 1e-4


@pytest.mark.parametrize("policy", ["auto", "coci", "unified", "gap", "uniform"])
def test_errors_on_near_ties_stay_below_delta(policy: str) -> None:
    problem, world, wrong, runs = sp.TopK(arms_of(3), k=1), sp.Gaussian([0.0, 0.02, 0.0], sd=[0.1, 0.05, 0.3]), 0, 80
    for seed in range(runs):
        result = sp.explore(problem, world, delta=0.2, seed=seed, budget=400, policy=policy)
        wrong += result.certified and result.decision[1] != 1
    assert stats.binom.sf(wrong - 1, runs, 0.2) > 1e-4


@pytest.mark.parametrize(
    "problem",
    [
        sp.TopK(arms_of(5), k=2),
        sp.SpanningTree([("a", "b"), ("b", "c"), ("a", "c")], arms=arms_of(3)),
        sp.Subsets(arms_of(4), [[1, 1, 0, 0], [0, 0, 1, 1]]),
    ],
)
@pytest.mark.parametrize("batch", [1, 4])
def test_compiled_rounds_take_the_same_samples(problem: sp.Problem, batch: int) -> None:
    world = sp.Gaussian(np.linspace(0, 2, problem.m), sd=0.6)
    one = sp.explore(problem, world, delta=0.05, seed=2, batch=batch)
    plain = sp.Explorer(problem, delta=0.05)
    from surepick.run.drive import looks

    for _ in looks(plain, world, seed=2, batch=batch, compiled=False):
        pass
    assert one.certified
    assert one.samples == plain.samples
    np.testing.assert_array_equal(one.counts, plain.counts)


def test_wrong_answers_far_from_0_stay_below_delta() -> None:
    """Values of ten steps of floating point a deviation: where u = 0 is must be exact, or many values show an error of its."""
    wrong, runs = 0, 40
    for run in range(runs):
        rng, n = np.random.default_rng(run), 200
        explorer = sp.Explorer(sp.BestArm(arms_of(2)), 0.01)
        while n < 100_000:
            moment = [(i, 1e9 + rng.normal(2.4e-9 * i, 1.2e-6, n)) for i in range(2)]
            explorer.tell_many(moment)
            n = int(1.7 * n)
        wrong += explorer.certified and bool(explorer.decision[0])
    assert wrong <= stats.binom.isf(1e-6, runs, 0.01)


def test_arms_are_placed_exactly_far_from_0() -> None:
    """Two arms with the same mean of what is weighed are at the same place, whatever was held back."""
    step = np.spacing(1e9)
    explorer = sp.Explorer(sp.BestArm(arms_of(2)))
    explorer.tell(0, 1e9 + step * np.array([0, 1, 2, 1, 0, 1, 2, 1]))
    explorer.tell(1, 1e9 + step * np.array([0, 1, 1, 1, 0, 1, 2, 1]))
    confidence = explorer.confidence
    assert isinstance(confidence, Mixture)
    _, seen = confidence.seen(explorer.record)
    at = (confidence.places(explorer.record) - 1e9) + confidence.scales(explorer.record) * seen[1]
    assert at[0] == pytest.approx(at[1], abs=1e-9 * step)


def test_what_the_guarantee_assumes_is_said() -> None:
    """Bounds where there are bounds, and normality where values are taken to be normal."""
    mixed = [*arms_of(1), sp.Arm("b", 0.0, 1.0), sp.Arm("c", kind="subgaussian", scale=1.0)]
    words = " ".join(sp.Explorer(sp.BestArm(mixed)).certificate().conditions)
    assert "bounds that were declared for its arm" in words
    assert "normally distributed" in words
    assert "declared scale" in words
    certificate = sp.Explorer(sp.BestArm(arms_of(2))).certificate()
    assert certificate.kinds == ["normal"]
    assert not any("bounds that were declared for its arm" in condition for condition in certificate.conditions)


@pytest.mark.filterwarnings("error")
def test_intervals_that_have_no_end_yet_are_no_number() -> None:
    """Until much is known of normal arms, nothing bounds them; the middle of such an interval is nowhere."""
    for seed in range(5):
        explorer = sp.Explorer(sp.BestArm(arms_of(3)), policy="pac", epsilon=0.3)
        sp.explore(explorer, sp.Gaussian([1.0, 2.0, 3.0], 0.5), seed=seed)
        assert explorer.certified
        assert explorer.decision[0] == 0


def test_epsilon_and_a_smallest_are_served() -> None:
    result = sp.explore(sp.BestArm(arms_of(3), sense="min"), sp.Gaussian([1.0, 1.01, 3.0], sd=0.3), delta=0.1, epsilon=0.3)
    assert result.certified
    assert result.decision[2] == 0


def test_equal_values_give_no_evidence_and_are_asked_for_again() -> None:
    explorer = sp.Explorer(sp.BestArm(arms_of(2)), delta=0.1)
    explorer.tell("machine 0", [5.0] * 50)
    explorer.tell("machine 1", [1.0, 1.1, 0.9, 1.0, 1.05, 1.0])
    assert not explorer.certified
    assert explorer.ask(2) == [0, 0]
    assert explorer.box()[0][0] == -math.inf
    explorer.tell("machine 0", [5.1, 5.0, 5.1])
    assert np.isfinite(explorer.box()[0]).all()


def test_saved_and_loaded(tmp_path: Path) -> None:
    explorer = sp.Explorer(sp.BestArm(arms_of(3)), delta=0.05)
    rng = np.random.default_rng(0)
    for i in range(3):
        explorer.tell(i, rng.normal(i, 1, 7))
    explorer.save(tmp_path / "e.json")
    again = sp.Explorer.load(tmp_path / "e.json")
    assert again.problem.arms == explorer.problem.arms
    assert again.ask(5) == explorer.ask(5)
    np.testing.assert_array_equal(again.record.table, explorer.record.table)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"scale": 2.0}, "leave scale out"),
        ({"low": 0, "high": 5}, "leave out low and high"),
        ({"low": 0.0, "high": 2.0}, "unbounded"),
    ],
)
def test_bad_normal_arms(keys: dict[str, float], words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        sp.Arm("a", kind="normal", **keys)  # type: ignore[arg-type]


def test_what_normal_arms_cannot_do_is_said() -> None:
    with pytest.raises(ProblemError, match="evidence about a variance"):
        sp.SampleAllocation([10, 20], 10, arms=arms_of(2))
    for name in ("paper", "beta", "betting", "normal", "bernstein"):
        with pytest.raises(SettingError, match="'auto' or 'student'"):
            sp.Explorer(sp.BestArm(arms_of(2)), confidence=name)
    with pytest.raises(SettingError, match="for a forecast declare kind='subgaussian'"):
        sp.hardness(sp.BestArm(arms_of(2)), [1.0, 0.0])
    with pytest.raises(ProblemError, match="did you mean 'normal'"):
        sp.Arm("a", kind="norml")  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match="did you mean 'normal'"):
        sp.Arm("a", kind="gaussian")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="kind 'normal'"):
        sp.Explorer(sp.BestArm(2), confidence="student")
    with pytest.raises(SettingError, match="all of kind 'normal', or none"):
        sp.Explorer(sp.BestArm([*arms_of(1), sp.Arm("b", 0.0, 1.0)]), policy="joint-linear")
    assert Mean().first(sp.Arm("a", kind="normal")) == 5


def test_least_evidence_against_a_grid() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        rows, shift, scale = [], [], []
        for mean in (1.0, 0.0):
            seen, at, unit = seen_of(rng.normal(mean, rng.uniform(0.2, 2), int(rng.integers(5, 60))))
            rows.append(seen)
            shift.append(at)
            scale.append(unit)
        arms = Arms(
            np.array([Family.STUDENT] * 2), np.array([s.n for s in rows]), np.array([s.p for s in rows]), np.full(2, -np.inf),
            np.full(2, np.inf), np.array(shift), np.array(scale), np.ones(2), np.array([[s[k] for s in rows] for k in (3, 4)]),
            np.ones(2),
        )  # fmt: skip
        found = compiled("least").least_evidence(0, 1, 1.0, 1.0, arms)
        least = min(
            compiled("mixtures").together(
                0,
                *compiled("student").student_parts(rows[0], (g - shift[0]) / scale[0], ABOVE),
                0,
                *compiled("student").student_parts(rows[1], (g - shift[1]) / scale[1], BELOW),
            )
            for g in np.linspace(-6, 7, 4001)
        )
        assert found <= least + 1e-9
        if found > 0:
            assert found >= least - 0.05
            assert compiled("least").least_evidence(0, 1, 1.0, 1.0, arms, 0.0, found - 0.05) >= found - 0.05
