"""Arms with a population: evidence without replacement, draws anew, what is certain, and runs that end."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

import surepick as sp
from surepick.confidence import make_confidence
from surepick.engine import start
from surepick.engine.data import Seen, record_of
from surepick.engine.enums import Family
from surepick.engine.kernels import finite, mixtures
from surepick.engine.kernels.mixtures import ABOVE, BELOW, BOTH
from surepick.engine.kernels.record import observe
from surepick.errors import ObservationError, ParameterError, ProblemError, SettingError
from surepick.estimators import Mean, Moments, Variance
from surepick.redraws import Redraws, key_of, places
from surepick.run.drive import drive

SIDES = (BOTH, ABOVE, BELOW)
POPULATIONS = st.one_of(
    st.lists(st.floats(0, 1), min_size=2, max_size=25),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=25),
    st.lists(st.sampled_from([0.0, 0.03, 0.97, 1.0]), min_size=2, max_size=25),
).map(np.array)


def arms(m: int, population: int, kind: str = "bounded") -> list[sp.Arm]:
    return [sp.Arm(f"arm {i}", kind=kind, population=population) for i in range(m)]


def coins(ones: list[int], population: int) -> sp.Replay:
    return sp.Replay([np.repeat([1.0, 0.0], [k, population - k]) for k in ones], replace=False)


# -- evidence ---------------------------------------------------------------------------------------------------------------


def step(past: np.ndarray, rest: np.ndarray, rho: float, side: int, weigh: Callable) -> float:
    """What the next value multiplies the evidence against the true mean by, on average over all that are left."""
    u, whole = float(np.append(past, rest).mean()), float(len(past) + len(rest))

    def evidence(values: np.ndarray) -> float:
        return weigh(float(len(values)), float(values.mean()), whole, u, rho, side) if len(values) else 0.0

    before = evidence(past)
    return float(np.mean([math.exp(evidence(np.append(past, x)) - before) for x in rest]))


@given(POPULATIONS, st.floats(0, 1), st.sampled_from([1.0, 20.0, 80.0]), st.sampled_from(SIDES))
@settings(max_examples=300, deadline=None)
def test_one_value_more_is_fair(population: np.ndarray, share: float, rho: float, side: int) -> None:
    """For 0/1 values the mean step is 1 (two-sided and one-sided), for others no more."""
    n = int(share * (len(population) - 1))
    if not 1e-6 < population.mean() < 1 - 1e-6:
        return
    found = step(population[:n], population[n:], rho, side, mixtures.mean_evidence)
    assert found <= 1 + 1e-8
    if np.isin(population, (0, 1)).all() and len(set(population[n:])) == 2:
        assert found == pytest.approx(1, abs=1e-8)


def test_planted_bugs_about_what_is_left_are_caught() -> None:
    """That fewer are left than there are; and that there is no end of them, as if nothing were gone."""

    def fewer(n: float, p: float, whole: float, u: float, rho: float, side: int) -> float:
        return float(mixtures.mean_evidence(n, p, 0.7 * whole, u, rho, side))

    def forgetful(n: float, p: float, whole: float, u: float, rho: float, side: int) -> float:
        return float(mixtures.unit_evidence(n, p, u, rho, side))

    past, rest = np.append(np.ones(7), np.zeros(5)), np.append(np.ones(5), np.zeros(7))
    assert step(past, rest, 20.0, BOTH, fewer) > 1.05
    assert step(past, rest, 20.0, BOTH, mixtures.mean_evidence) == pytest.approx(1)
    past, rest = np.ones(8), np.append(np.ones(2), np.zeros(10))  # after ones, zeros are no evidence
    assert step(past, rest, 20.0, BELOW, forgetful) > 1.03
    assert step(past, rest, 20.0, BELOW, mixtures.mean_evidence) == pytest.approx(1)


@given(st.integers(1, 60), st.data())
def test_the_probability_is_the_product_of_its_steps(whole: int, data: st.DataObject) -> None:
    ones = data.draw(st.integers(0, whole))
    yes, no = data.draw(st.integers(0, ones)), data.draw(st.integers(0, whole - ones))
    total = sum(math.log((ones - k) / (whole - k)) for k in range(yes))
    total += sum(math.log((whole - ones - k) / (whole - yes - k)) for k in range(no))
    assert finite.log_drawn(float(yes), float(no), float(whole), ones / whole) == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("side", SIDES)
def test_of_very_many_values_it_is_as_with_replacement(side: int) -> None:
    for n, p, u in ((10.0, 0.3, 0.5), (400.0, 0.31, 0.35), (3000.0, 0.98, 0.97)):
        endless = mixtures.unit_evidence(n, p, u, 70.0, side)
        assert mixtures.mean_evidence(n, p, 1e12, u, 70.0, side) == pytest.approx(endless, abs=1e-4)
        assert mixtures.mean_evidence(n, p, 1e6, u, 70.0, side) == pytest.approx(endless, abs=0.02 + n * n / 1e6)


def test_one_sided_evidence_falls_and_then_rises_within_a_quarter() -> None:
    """One valley; towards what is seen it falls, but for less than ``SLIP`` over the last two values (``least.slip``)."""
    from surepick.engine.kernels.least import SLIP, SLIP_WITHIN

    rng, rose = np.random.default_rng(5), 0.0
    for _ in range(3000):
        whole = int(np.exp(rng.uniform(np.log(4), np.log(3000))))
        n = max(1, whole - int(np.exp(rng.uniform(0, np.log(whole)))))
        p = rng.random() ** rng.choice([1, 3])
        p = round(p * n) / n if rng.random() < 0.5 else p
        rho = float(rng.choice([5.0, 20.0, 60.0, 100.0]))
        if n >= whole or not (n * p >= 1 and n * (1 - p) >= 1):
            continue
        low, high = finite.possible(float(n), p, float(whole))
        levels = np.sort(
            np.append(np.linspace(low, high, 60), np.linspace(max(low, p - 3 / whole), min(p + 3 / whole, high), 40))
        )
        found = np.array([mixtures.mean_evidence(float(n), p, float(whole), u, rho, ABOVE) for u in levels])
        least = int(found.argmin())
        assert (np.diff(found[: least + 1]) <= 1e-8).all()
        assert (np.diff(found[least:]) >= -1e-8).all()
        assert levels[least] >= p - SLIP_WITHIN / whole
        rose = max(
            rose, mixtures.mean_evidence(float(n), p, float(whole), p, rho, ABOVE) - found.min() if levels[least] < p else 0
        )
    assert 0 < rose < SLIP


# -- draws anew -------------------------------------------------------------------------------------------------------------


class Noted:
    """In the place of a record: the draws, one after the other."""

    def __init__(self, variance: bool = False) -> None:
        self.counts, self.variance, self.drawn = np.zeros(1, dtype=np.int64), variance, list[float]()

    @property
    def waiting(self) -> list[float]:
        return [0.5 if len(self.drawn) % 2 else math.nan]

    def update(self, arm: int, values: np.ndarray) -> None:
        self.drawn += values.tolist()
        self.counts[arm] += len(values)


def drawn_anew(order: np.ndarray, key: int, n: int, variance: bool = False) -> list[float]:
    """The draws after n of the values in this order."""
    noted = Noted(variance)
    redraws = Redraws(noted, [sp.Arm("x", 0, len(order), population=len(order))])  # type: ignore[arg-type]
    redraws.keys[0] = key
    for k in range(n):
        redraws.take(0, np.array([k]), order[k : k + 1])
    return noted.drawn


def first_three(rng: np.random.Generator, draw: Callable[[np.ndarray, int], list[float]]) -> Iterator[tuple[int, ...]]:
    for _ in range(6000):
        found = draw(rng.permutation(4).astype(float), int(rng.integers(2**63)))
        if len(found) >= 3:
            yield tuple(map(int, found[:3]))


def uneven(draw: Callable[[np.ndarray, int], list[float]], n: int) -> bool:
    """The first three draws are not like independent ones of four values; a false alarm has probability 1e-6.

    Whether there are three after n values must not hang on which they are, so runs that are too short count, too: those with
    three are told apart by how many different values they need, and a triple that needs fewer is there more often.
    """
    found = Counter(first_three(np.random.default_rng(3), draw))
    chi = 0.0
    for kinds in (1, 2, 3):
        cells = [t for t in itertools.product(range(4), repeat=3) if len(set(t)) == kinds]
        seen = np.array([found[t] for t in cells])
        if seen.sum() < 5 * len(cells):
            return True
        chi += float(((seen - seen.mean()) ** 2 / seen.mean()).sum())
    return chi > chi2.ppf(1 - 1e-6, 64 - 3)


def test_draws_anew_are_independent_draws() -> None:
    """After all but one of four values there are three draws at least, and all 64 triples are as likely."""
    triples = Counter(first_three(np.random.default_rng(8), lambda order, key: drawn_anew(order, key, 3)))
    seen = np.array([triples[t] for t in itertools.product(range(4), repeat=3)])
    total = seen.sum()
    assert total == 6000
    # All three are there before a fourth value is needed, unless it takes four; so every triple of up to three values is there.
    assert ((seen - total / 64) ** 2 / (total / 64)).sum() < chi2.ppf(1 - 1e-6, 63)


@pytest.mark.parametrize("bug", ["never repeats", "peeks"])
def test_planted_bugs_in_draws_anew_are_caught(bug: str) -> None:
    def draw(order: np.ndarray, key: int) -> list[float]:
        found = drawn_anew(order, key, 3)
        if bug == "never repeats":
            return list(dict.fromkeys(found))
        return [x for k, x in enumerate(found) if x not in found[:k] or x >= np.mean(found[:k])]  # repeats what is large

    assert uneven(draw, 3)
    assert not uneven(lambda order, key: drawn_anew(order, key, 3), 3)


def test_random_places_are_even_and_unrelated() -> None:
    for position in range(4):
        found = places(key_of(position, sp.Arm("x", population=97)), 0, 97_000, 8.0)
        pairs = np.bincount(found[:-1] * 8 + found[1:], minlength=64)
        assert ((pairs - 96_999 / 64) ** 2 / (96_999 / 64)).sum() < chi2.ppf(1 - 1e-6, 63)
    one, other = (key_of(i, sp.Arm("x", population=97)) for i in range(2))
    assert np.corrcoef(places(one, 0, 10_000, 1e6), places(other, 0, 10_000, 1e6))[0, 1] < 0.05


def test_nothing_is_drawn_for_the_last_value() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 50):
        order = rng.permutation(size).astype(float)
        assert drawn_anew(order, 5, size) == drawn_anew(order, 5, size - 1)


@pytest.mark.parametrize("variance", [False, True])
def test_compiled_draws_are_those_of_python(variance: bool) -> None:
    rng = np.random.default_rng(2)
    declared = [
        sp.Arm("a", 2, 5, population=130),
        sp.Arm("b", population=3),
        sp.Arm("c", kind="bernoulli", population=50),
        sp.Arm("d"),
    ]
    values = [2 + 3 * rng.random(130), rng.random(3), (rng.random(50) < 0.5).astype(float), rng.random(60)]
    by_python, at_once, by_loop = ((Variance() if variance else Mean()).record(4).place(declared) for _ in range(3))  # type: ignore[attr-defined]
    for i, listed in enumerate(values):
        at_once.update(i, listed)
        by_loop.redraws.reserve(i, by_loop.counts, len(listed))
        for x in listed:
            by_python.update(i, np.array([x]))
            observe(i, float(x), record_of(by_loop))
    for other in (at_once, by_loop):
        assert np.array_equal(by_python.redraws.tally.counts, other.redraws.tally.counts)
        assert np.array_equal(by_python.redraws.tally.table, other.redraws.tally.table, equal_nan=True)
        assert np.array_equal(by_python.redraws.seen(0, 130), other.redraws.seen(0, 130))
    assert by_python.redraws.tally.counts.tolist()[2:] == [0, 0]  # 0/1 values need none, and the last arm has no end
    assert by_python.redraws.tally.counts[0] > 300


def test_where_pairs_stay_open_is_foreseen() -> None:
    record = Variance().record(1).place([sp.Arm("a", population=40)])
    values = np.random.default_rng(1).random(40)
    for n in range(41):
        foreseen = [record.redraws.opened(0, record.counts, k) for k in range(41 - n)]
        trial = Variance().record(1).place([sp.Arm("a", population=40)])
        trial.update(0, values[:n])
        for k, open_ in enumerate(foreseen):
            if k:
                trial.update(0, values[n + k - 1 : n + k])
            assert open_ == (n + k < 40 and not math.isnan(trial.redraws.tally.waiting[0]))
        record.update(0, values[n : n + 1])


# -- intervals --------------------------------------------------------------------------------------------------------------

_rng = np.random.default_rng(17)
WORLDS = {
    "coins": np.repeat([1.0, 0.0], [26, 34]),
    "skewed": _rng.beta(0.3, 3, 80),
    "two-point": np.repeat([0.02, 0.93], [70, 5]),
    "nearly constant": 0.62 + 0.001 * _rng.random(60),
    "heavy-headed": np.append(_rng.beta(20, 20, 55), [1, 1, 1, 0.98, 0]),
}
RUNS, DELTA = 300, 0.1
MOST = int(binom.isf(1e-6, RUNS, DELTA))


def missed(name: str, parameter: str, values: np.ndarray, declared: int | None = None) -> int:
    """In how many runs the interval misses the truth at some time."""
    size, kind = declared or len(values), "bernoulli" if np.isin(values, (0, 1)).all() and "bernoulli" in name else "bounded"
    problem = sp.TopK([sp.Arm("x", kind=kind, population=size)], 1, parameter=parameter)
    sequence, truth = (
        make_confidence(name.split()[0], problem, DELTA),
        values.mean() if parameter == "mean" else values.var(ddof=1),
    )
    rng, found = np.random.default_rng(4), 0
    for _ in range(RUNS):
        record = problem.record()
        assert isinstance(record, Moments)
        for k, x in enumerate(rng.permutation(values)[:size]):
            record.update(0, np.array([x]))
            if k < problem.first[0] - 1 or (k % 3 and k < len(values) - 3):
                continue
            lower, upper = sequence.box(record)
            if not lower[0] - 1e-12 <= truth <= upper[0] + 1e-12:
                found += 1
                break
    return found


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", ["auto", "beta"])
def test_intervals_of_means_hold_at_all_times(name: str, world: str) -> None:
    assert missed(name, "mean", WORLDS[world]) <= MOST


@pytest.mark.parametrize("world", WORLDS)
def test_intervals_of_variances_hold_at_all_times(world: str) -> None:
    assert missed("auto", "variance", WORLDS[world]) <= MOST


@pytest.mark.parametrize("parameter", ["mean", "variance"])
def test_intervals_of_coins_hold_at_all_times(parameter: str) -> None:
    assert missed("auto bernoulli", parameter, WORLDS["coins"]) <= MOST


def test_planted_bug_fewer_values_than_there_are() -> None:
    """What was seen of half of them is taken for all."""
    assert missed("auto bernoulli", "mean", WORLDS["coins"], declared=30) > MOST


def test_what_is_certain_is_so_and_closes() -> None:
    rng = np.random.default_rng(9)
    for kind, parameter in itertools.product(("bounded", "bernoulli"), ("mean", "variance")):
        values = (rng.random(30) < 0.4).astype(float) if kind == "bernoulli" else -2 + 7 * rng.random(30)
        bounds = {} if kind == "bernoulli" else {"low": -2, "high": 5}
        problem = sp.TopK([sp.Arm("x", kind=kind, population=30, **bounds)], 1, parameter=parameter)
        record, sequence = problem.record(), make_confidence("auto", problem, 0.05)
        truth = values.mean() if parameter == "mean" else values.var(ddof=1)
        for n, x in enumerate(values, 1):
            record.update(0, np.array([x]))
            if n >= problem.first[0]:
                (least,), (most,) = sequence.certain(record, sequence.seen(record)[1])
                assert least - 1e-12 <= truth <= most + 1e-12
        assert least == most == record.estimates[0] == pytest.approx(truth)
        assert sequence.box(record) == (least, most)


def test_intervals_close_as_values_run_out() -> None:
    """Without replacement the interval is narrower than with it, and a point in the end."""
    values = np.random.default_rng(3).permutation(np.repeat([1.0, 0.0], [240, 160]))
    widths = {}
    for population in (None, 400):
        problem = sp.TopK([sp.Arm("x", kind="bernoulli", population=population)], 1)
        sequence, record = make_confidence("auto", problem, 0.05), problem.record()
        record.update(0, values[:300])
        lower, upper = sequence.box(record)
        widths[population] = float(upper[0] - lower[0])
    assert widths[400] < 0.6 * widths[None]


# -- runs -------------------------------------------------------------------------------------------------------------------


def orders(values: list[float]) -> list[tuple[float, ...]]:
    """All orders of these values, each once; all are as likely."""
    return sorted(set(itertools.permutations(values)))


def error_by_brute_force(problem: sp.Problem, populations: list[list[float]], truth: list[float], **settings: object) -> float:
    """The probability of a wrong certificate, over all orders of all arms."""
    best = problem.reward(truth, problem.solve(truth))
    wrong = total = 0
    for order in itertools.product(*map(orders, populations)):
        ex = sp.Explorer(problem, **settings)  # type: ignore[arg-type]
        used = [0] * problem.m
        while asked := ex.ask(1):
            i = asked[0]
            ex.tell(i, order[i][used[i]])
            used[i] += 1
        assert ex.certified
        total += 1
        wrong += problem.reward(truth, ex.decision) < best - 1e-9
    return wrong / total


@pytest.mark.parametrize("delta", [0.1, 0.6])
@pytest.mark.parametrize("kind", ["bernoulli", "bounded"])
@pytest.mark.parametrize("policy", ["joint", "coci"])
def test_errors_of_the_best_arm_over_all_orders(kind: str, policy: str, delta: float) -> None:
    problem = sp.BestArm(arms(2, 5, kind))
    error = error_by_brute_force(problem, [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]], [0.6, 0.4], delta=delta, policy=policy)
    assert error <= delta


def test_errors_of_top_k_over_all_orders() -> None:
    populations = [[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    assert error_by_brute_force(sp.TopK(arms(3, 4), 2), populations, [0.75, 0.5, 0.25], delta=0.6) <= 0.6
    assert error_by_brute_force(sp.TopK(arms(3, 4), 1), populations, [0.75, 0.5, 0.25], delta=0.6, policy="unified") <= 0.6


def test_errors_of_variances_over_all_orders() -> None:
    populations = [[0.1, 0.9, 0.1, 0.9], [0.4, 0.4, 0.4, 0.6]]
    truth = [float(np.var(values, ddof=1)) for values in populations]
    problem = sp.BestArm(arms(2, 4), parameter="variance")
    for policy in ("joint", "coci"):
        assert error_by_brute_force(problem, populations, truth, delta=0.6, policy=policy) <= 0.6


POLICIES = ["joint", "coci", "unified", "uniform", "gap", "clucb", "lucb", "kl-lucb", "ugape", "elimination"]


@pytest.mark.parametrize("kind", ["bounded", "bernoulli"])
@pytest.mark.parametrize("policy", POLICIES)
def test_exact_ties_end(policy: str, kind: str) -> None:
    problem = sp.TopK(arms(4, 15, kind), 2)
    for batch in (1, 7):
        outcome = sp.explore(problem, coins([8, 8, 8, 8], 15), policy=policy, confidence="auto", batch=batch)
        assert outcome.certified
        assert (outcome.counts <= 15).all()
    assert sp.explore(problem, coins([8, 8, 8, 8], 15), policy="pac", epsilon=1e-6).certified


def test_ties_of_values_in_other_orders_and_units_end() -> None:
    rng = np.random.default_rng(6)
    values = rng.random(20)
    for lows in ((0.0, 0.0, 0.0), (0.0, -1.0, -3.0)):
        declared = [sp.Arm(f"arm {i}", low, 1.5, population=20) for i, low in enumerate(lows)]
        outcome = sp.explore(sp.BestArm(declared), sp.Replay([rng.permutation(values) for _ in lows], replace=False))
        assert outcome.certified


def triangle(population: int) -> sp.SpanningTree:
    return sp.SpanningTree([("a", "b"), ("b", "c"), ("a", "c")], arms=arms(3, population))


@pytest.mark.parametrize(
    "problem",
    [
        sp.BestOfEach(arms(6, 12), [0, 0, 0, 1, 1, 1]),
        sp.Subsets(arms(4, 12), [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
        sp.Matching([("a", 1), ("a", 2), ("b", 1), ("b", 2)], arms=arms(4, 12)),
        sp.ResourcePlan(cost=[[0, 1, 2]] * 3, caps=[2, 2, 2], require=3, arms=arms(3, 12)),
        triangle(12),
    ],
    ids=lambda problem: problem.kind,
)
def test_other_classes_end(problem: sp.Problem) -> None:
    outcome = sp.explore(problem, coins([6] * problem.m, 12))
    assert outcome.certified
    assert sp.explore(problem, coins([6] * problem.m, 12), epsilon=0.01).certified


def test_all_values_are_seen_only_if_that_is_needed() -> None:
    outcome = sp.explore(sp.BestArm(arms(2, 500)), coins([400, 100], 500))
    assert outcome.certified
    assert outcome.samples < 100
    near = sp.explore(sp.BestArm(arms(2, 200)), coins([101, 100], 200))
    assert near.certified
    assert near.decision.tolist() == [1, 0]
    assert near.samples >= 390


def test_wrong_answers_stay_below_delta() -> None:
    """Two arms that are nearly alike, many runs, a large delta."""
    problem, wrong, runs, delta = sp.BestArm(arms(2, 60)), 0, 300, 0.2
    for seed in range(runs):
        outcome = sp.explore(problem, coins([33, 30], 60), delta, seed=seed)
        assert outcome.certified
        wrong += outcome.decision[0] != 1
    assert wrong <= binom.isf(1e-6, runs, delta)


@pytest.mark.parametrize("kind", ["bounded", "bernoulli"])
@pytest.mark.parametrize("confidence", ["auto", "beta"])
def test_compiled_loops_take_the_same_samples(kind: str, confidence: str) -> None:
    world = coins([28, 24, 22, 20, 12], 40)
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("b", "d")]
    tree = sp.SpanningTree(edges, arms=arms(5, 40, kind))
    for problem in (sp.BestArm(arms(5, 40, kind)), sp.TopK(arms(5, 40, kind), 2), tree):
        for seed in range(3):
            found = []
            for compiled in (False, True):
                ex = sp.Explorer(problem, confidence=confidence)
                with start.at_once():
                    drive(ex, world, seed=seed, compiled=compiled)
                found.append(ex)
            assert found[0].certificate().to_dict() == found[1].certificate().to_dict()
            assert np.array_equal(found[0].record.table, found[1].record.table, equal_nan=True)


@pytest.mark.parametrize("sizes", [(9, 31), (9, 9), (45, 36, 20, 23), (1 + 4, 1 + 6, 8)])
def test_variances_take_the_same_samples_and_end(sizes: tuple[int, ...]) -> None:
    """Also where an odd number of values is all that an arm has; their pairs are those of draws anew."""
    rng = np.random.default_rng(0)
    world = sp.Replay([rng.random(size) for size in sizes], replace=False)
    counted = [sp.Arm(f"arm {i}", population=size) for i, size in enumerate(sizes)]
    for problem in (sp.BestArm(counted, parameter="variance"), sp.TopK(counted, len(sizes) - 1, parameter="variance")):
        found = []
        for compiled in (False, True):
            ex = sp.Explorer(problem)
            with start.at_once():
                drive(ex, world, compiled=compiled)
            found.append(ex.certificate().to_dict())
        assert found[0] == found[1]
        assert found[0]["certified"]


def test_finite_arms_far_from_0_are_refused() -> None:
    """When all values are told, what is known must not be lost in the rounding of a large number."""
    assert sp.Arm("a", 1e6 - 1, 1e6, population=9).population == 9
    with pytest.raises(ProblemError, match="count them from another origin"):
        sp.Arm("a", 2e12, 2e12 + 1, population=9)


def test_what_is_suggested_for_finite_arms_can_be_declared() -> None:
    with pytest.raises(ObservationError, match="outside") as error:
        sp.Explorer(sp.BestArm(arms(2, 9))).tell(0, 2.0)
    assert "normal" not in str(error.value)


def test_what_is_asked_for_is_there() -> None:
    ex = sp.Explorer(sp.BestArm(arms(3, 4)))
    assert Counter(ex.ask(100)) == {0: 4, 1: 4, 2: 4}
    assert Counter(ex.ask(100, pending={0: 3})) == {0: 1, 1: 4, 2: 4}
    ex.tell(0, [1, 0, 1, 0])
    assert 0 not in ex.ask(100)
    assert ex.exhausted.tolist() == [True, False, False]
    assert ex.plan(100) == {"arm 1": 4, "arm 2": 4}
    ex.tell(1, [1, 1, 0])
    ex.tell(2, [0])
    assert set(ex.ask(100)) <= {1, 2}
    assert Counter(ex.ask(100))[1] <= 1


def test_more_than_there_are_is_refused_as_a_whole() -> None:
    ex = sp.Explorer(sp.BestArm(arms(2, 3)))
    ex.tell(0, [1, 0])
    with pytest.raises(ObservationError, match=r"'arm 0' has a population of 3 values, and with these .* 4, 2 of them before"):
        ex.tell(0, [1, 1])
    with pytest.raises(ObservationError, match="Nothing was recorded"):
        ex.tell_many([(1, [0]), (0, [1]), (0, [1])])
    assert ex.counts.tolist() == [2, 0]
    ex.tell(0, 1)
    assert ex.exhausted[0]


def test_saved_in_the_middle(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    for parameter in ("mean", "variance"):
        problem = sp.BestArm(
            [sp.Arm("a", 0, 2, population=50), sp.Arm("b", kind="bernoulli", population=40)], parameter=parameter
        )
        ex = sp.Explorer(problem)
        ex.tell_many([("a", 2 * rng.random(30)), ("b", [1, 0, 1, 0])])
        ex.save(tmp_path / "x.json")
        back = sp.Explorer.load(tmp_path / "x.json")
        more = 2 * rng.random(15)
        for one in (ex, back):
            one.tell("a", more)
        assert str(ex.certificate().to_dict()) == str(back.certificate().to_dict())
        assert np.array_equal(ex.record.redraws.tally.table, back.record.redraws.tally.table, equal_nan=True)


def test_a_copy_goes_its_own_way_and_undoing_undoes() -> None:
    import copy

    from surepick.undo import Undo

    ex = sp.Explorer(sp.BestArm(arms(2, 30)))
    ex.tell_many([(0, [0.2, 0.3, 0.9]), (1, [0.1, 0.5])])
    other = copy.deepcopy(ex)
    before = ex.record.redraws.tally.table.copy()
    undo = Undo(ex.record, ex.policy, [0], rows=False)
    ex.record.update(0, np.array([0.1, 0.2, 0.3]))
    assert not np.array_equal(before, ex.record.redraws.tally.table, equal_nan=True)
    assert np.array_equal(before, other.record.redraws.tally.table, equal_nan=True)
    undo()
    assert np.array_equal(before, ex.record.redraws.tally.table, equal_nan=True)
    assert ex.counts.tolist() == [3, 2]


def test_budgets_and_pauses() -> None:
    problem = sp.BestArm(arms(3, 10))
    outcome = sp.explore(problem, coins([5, 5, 5], 10), budget=100, spend=True)
    assert (outcome.certified, outcome.samples) == (True, 30)
    assert sp.explore(problem, coins([5, 5, 5], 10), budget=29, spend=True).samples == 29
    assert sp.explore(problem, coins([5, 5, 5], 10), cost_budget=12).samples == 12
    ex = sp.Explorer(problem)
    ex.pause(0)
    ex.tell_many([(1, [1] * 9), (2, [0] * 10)])
    assert set(ex.ask(5)) == {1}
    ex.resume(0)
    assert 0 in ex.ask(5)


# -- what does not fit ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("population", [0, -1, 2.5, "many", True, 10**13])
def test_populations_are_whole_numbers(population: object) -> None:
    with pytest.raises(ProblemError, match="needs a population that is a whole number from 1") as error:
        sp.Arm("x", population=population)  # type: ignore[arg-type]
    assert error.value.key == "population"


def test_other_kinds_have_none() -> None:
    with pytest.raises(ProblemError, match="is normal and has a population"):
        sp.Arm("x", kind="normal", population=5)
    with pytest.raises(ProblemError, match="is subgaussian and has a population"):
        sp.Arm("x", kind="subgaussian", scale=1, population=5)
    with pytest.raises(ProblemError, match="has a population of 1, and the variance of one value is not defined"):
        sp.TopK([sp.Arm("x", population=1)], 1, parameter="variance")
    assert "population" not in repr(sp.Arm("x"))
    assert repr(sp.Arm("x", population=7)).endswith("population=7)")


@pytest.mark.parametrize("name", ["paper", "normal", "kt-kl", "bernstein", "kl-lucb", "own"])
def test_sequences_for_independent_draws_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match="counts on independent draws, and 'arm 0' has a population"):
        sp.Explorer(sp.BestArm(arms(3, 10)), policy="coci", confidence=name)


@pytest.mark.parametrize("policy", ["joint-linear", "ts-explore", "paired"])
def test_policies_for_independent_draws_are_refused(policy: str) -> None:
    with pytest.raises(SettingError, match="arms without a population"):
        sp.Explorer(sp.BestArm(arms(3, 10)), policy=policy, dependent=policy == "paired")


def test_dependent_arms_are_weighed_one_by_one() -> None:
    ex = sp.Explorer(sp.BestArm(arms(2, 10)), dependent=True)
    ex.tell_row({0: 1, 1: 0})
    assert ex.policy.name == "coci"
    assert sp.explore(sp.BestArm(arms(2, 10)), coins([5, 5], 10), dependent=True).certified


def test_replay_without_replacement() -> None:
    world = sp.Replay({"a": [1, 2, 3, 4], "b": [7]}, replace=False)
    at_once = world.sample(0, 4, world.stream(1, 2, 0))
    rng = world.stream(1, 2, 0)
    assert at_once.tolist() == [float(world.sample(0, 1, rng)[0]) for _ in range(4)]
    assert sorted(at_once) == [1, 2, 3, 4]
    assert world.sample(0, 2, world.stream(1, 2, 0, begun=2)).tolist() == at_once[2:].tolist()
    assert len({tuple(world.sample(0, 4, world.stream(0, run, 0))) for run in range(40)}) > 10
    assert world.variances.tolist() == [pytest.approx(5 / 3), 0]
    with pytest.raises(
        ParameterError, match=r"'a' was asked for 1 values, and 0 of its 4 are left: declare it with population=4"
    ):
        world.sample(0, 1, rng)
    with pytest.raises(ParameterError, match=r"world\.stream"):
        world.sample(0, 1, np.random.default_rng(0))
    assert world.law() is None


def test_environments_fit_the_arms() -> None:
    with pytest.raises(SettingError, match="declared without a population: declare it with population=4"):
        sp.explore(sp.BestArm(2), coins([2, 3], 4))
    with pytest.raises(SettingError, match="has a population of 5"):
        sp.explore(sp.BestArm(arms(2, 5)), coins([2, 3], 4))
    with pytest.raises(SettingError, match=r"Bernoulli draws with replacement: use Replay\(values, replace=False\)"):
        sp.explore(sp.BestArm(arms(2, 5)), sp.Bernoulli([0.2, 0.5]))


def test_a_run_goes_on_with_the_values_that_are_left() -> None:
    problem, world = sp.BestArm(arms(2, 25)), coins([13, 12], 25)
    whole = sp.Explorer(problem)
    drive(whole, world, seed=3)
    halves = sp.Explorer(problem, budget=20)
    drive(halves, world, seed=3)
    halves.budget = None
    drive(halves, world, seed=3)
    assert whole.counts.tolist() == halves.counts.tolist()
    assert whole.record.means.tolist() == halves.record.means.tolist()


# -- surveys ----------------------------------------------------------------------------------------------------------------


def test_finite_strata() -> None:
    problem = sp.SampleAllocation([6, 16, 13], 13, finite=True)
    assert [arm.population for arm in problem.arms] == [6, 16, 13]
    assert problem.most.tolist() == [6, 13, 13]
    assert (problem.solve([0.25, 0.0, 0.0]) <= [6, 16, 13]).all()
    rng = np.random.default_rng(5)
    world = sp.Replay([rng.beta(0.5, 0.5, 6), rng.random(16), rng.beta(9, 9, 13)], replace=False)
    for policy in ("joint", "coci"):
        outcome = sp.explore(problem, world, policy=policy)
        assert outcome.certified
        assert outcome.decision.tolist() == problem.solve(world.truth("variance")).tolist()


def test_what_finite_strata_refuse() -> None:
    with pytest.raises(ProblemError, match="give whole numbers"):
        sp.SampleAllocation([6.5, 16], 5, finite=True)
    with pytest.raises(ProblemError, match="has a population of 5 and a size of 6"):
        sp.SampleAllocation([6, 16], 5, finite=True, arms=[sp.Arm("a", population=5), sp.Arm("b")])
    with pytest.raises(ProblemError, match="is to have at least 7 interviews, and has 6 people"):
        sp.SampleAllocation([6, 16], 20, lower=7, finite=True)
    with pytest.raises(ProblemError, match="the variance of one value is not defined"):
        sp.SampleAllocation([1, 16], 5, finite=True)
    with pytest.raises(ProblemError, match=r"50 interviews, and .* all strata together have 20 people"):
        sp.SampleAllocation([10, 10], 50, finite=True)


def test_finite_strata_are_saved(tmp_path) -> None:  # type: ignore[no-untyped-def]
    ex = sp.Explorer(sp.SampleAllocation([6, 16], 7, finite=True))
    ex.tell_many([(0, [0.1, 0.9]), (1, [0.2, 0.3, 0.4])])
    ex.save(tmp_path / "x.json")
    back = sp.Explorer.load(tmp_path / "x.json")
    assert back.problem.counted
    assert str(back.certificate().to_dict()) == str(ex.certificate().to_dict())


def test_study_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    text = 'arms = [{name = "a", population = 4}, {name = "b", population = 4}]\n[problem]\nkind = "best-arm"\n'
    (tmp_path / "values.csv").write_text("arm,value\na,1\na,0\na,0\na,0\nb,1\nb,1\nb,0\nb,1\n")
    (tmp_path / "study.toml").write_text(text + '[simulate]\nkind = "replay"\nfile = "values.csv"\nreplace = false\n')
    spec = sp.load(tmp_path / "study.toml")
    assert [arm.population for arm in spec.problem.arms] == [4, 4]
    assert sp.explore(spec.problem, spec.environment).decision.tolist() == [0, 1]
    (tmp_path / "arms.csv").write_text("arm,population\na,4\nb,4\n")
    (tmp_path / "table.toml").write_text('arms = "arms.csv"\n[problem]\nkind = "best-arm"\n')
    assert [arm.population for arm in sp.load(tmp_path / "table.toml").problem.arms] == [4, 4]
    (tmp_path / "strata.csv").write_text("stratum,N\na,40\nb,60\n")
    (tmp_path / "poll.toml").write_text(
        'arms = "strata.csv"\n[problem]\nkind = "sample-allocation"\nbudget = 10\nfinite = true\n'
    )
    assert [arm.population for arm in sp.load(tmp_path / "poll.toml").problem.arms] == [40, 60]
    (tmp_path / "values.csv").write_text("arm,value\na,1\nb,0\na,0\na,0\na,0\na,1\n")
    with pytest.raises(sp.errors.StudyError, match=r"values\.csv, line 7, column 'arm': .* population of 4 values"):
        sp.study.tell_table(spec.explorer(), sp.study.read_table(tmp_path / "values.csv"))
    (tmp_path / "arms.csv").write_text("arm,population\na,4.5\nb,4\n")
    with pytest.raises(sp.errors.StudyError, match=r"line 2, column 'population': 4\.5 is not a whole number"):
        sp.load(tmp_path / "table.toml")


def test_simulations_count_right_answers() -> None:
    found = sp.simulate(sp.BestArm(arms(3, 30)), coins([18, 15, 12], 30), ["joint", "coci"], runs=10)
    assert found.table["correct"].all()


def test_families_of_finite_arms() -> None:
    bounded, binary = sp.Arm("x", population=9), sp.Arm("y", kind="bernoulli", population=9)
    for name, families in (
        ("auto", [Family.BETS, Family.UNIT]),
        ("betting", [Family.BETS, Family.UNIT]),
        ("beta", [Family.UNIT] * 2),
    ):
        assert make_confidence(name, sp.BestArm([bounded, binary]), 0.05).families.tolist() == families
    one = Seen(int(Family.BETS), 4.0, 0.5, 0.5, 0.0, 9.0, 6.0, 0.4)
    apart = mixtures.parts(one, 0.7, 20.0, BELOW)
    assert apart[0] == mixtures.mean_evidence(4.0, 0.5, 9.0, 0.7, 20.0, BELOW)


def test_no_lower_bound_is_claimed() -> None:
    """All values drawn settle whatever it is, so a bound for draws with replacement would be wrong."""
    assert sp.hardness(sp.BestArm(arms(2, 5)), [0.6, 0.4]).lower_bound(0.05) is None
    assert sp.hardness(sp.BestArm(2), [0.6, 0.4]).lower_bound(0.05) > 10
