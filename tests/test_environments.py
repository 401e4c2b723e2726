"""Every world draws what it says it draws, whatever the chunk."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from surepick.environments import ENVIRONMENTS, Bernoulli, Beta, Environment, Gaussian, Replay, VoterModel, stream
from surepick.errors import ProblemError
from surepick.estimators import Mean, Variance

SIGMAS = 5.5  # a fair comparison goes beyond this once in 26 million


def small_town() -> VoterModel:
    """Eleven people: three groups, mixed opinions, one isolated person and one who never copies."""
    return VoterModel(
        groups=["old", "old", "old", "young", "young", "young", "young", "new", "new", "new", "new"],
        edges=[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 6), (6, 3), (6, 7), (7, 8), (8, 9), (1, 5)],
        innate=[1, 0.9, 0, 0, 0.25, 1, 0, 0.5, 1, 0, 0.7],
        stubbornness=[0.2, 0.5, 1.0, 0.25, 0.4, 0.2, 0.3, 0.6, 0.2, 0.9, 0.2],
    )


WORLDS: dict[str, Environment] = {
    "bernoulli": Bernoulli([0.0, 0.03, 0.5, 1.0]),
    "beta": Beta([0.02, 0.3, 0.5, 0.95], [0.5, 2, 10, 1]),
    "gaussian": Gaussian([-3, 0, 1e3], [1, 0, 20]),
    "replay": Replay([[1, 2, 2, 9], [0.5], np.linspace(-1, 1, 13)]),
    "voter-model": small_town(),
}


def far_off(values: np.ndarray, mean: float, variance: float) -> bool:
    """Whether the mean or the variance of independent values is too far from the truth to be chance."""
    spread = (values - mean) ** 2
    return any(
        abs(seen.mean() - true) > SIGMAS * seen.std() / np.sqrt(len(seen)) + 1e-12
        for seen, true in ((values, mean), (spread, variance))
    )


def test_every_environment_is_registered_and_tried_here() -> None:
    assert set(ENVIRONMENTS) - {"scores"} == set(WORLDS)  # which needs a pool; see test_pool.py
    assert all(type(world) is ENVIRONMENTS[name] for name, world in WORLDS.items())


@pytest.mark.parametrize("name", WORLDS)
class TestEveryEnvironment:
    def test_values_do_not_depend_on_the_chunk(self, name: str) -> None:
        world = WORLDS[name]
        for arm in range(world.m):
            at_once = world.sample(arm, 700, stream(3, 1, arm))
            for chunks in ([1] * 700, [0, 1, 2, 3, 5, 177, 512], [350, 350]):
                rng = stream(3, 1, arm)
                assert np.array_equal(np.concatenate([world.sample(arm, n, rng) for n in chunks]), at_once)

    def test_moments_are_those_of_the_samples(self, name: str) -> None:
        world = WORLDS[name]
        for arm in range(world.m):
            values = world.sample(arm, 200_000, stream(11, 0, arm))
            assert values.shape == (200_000,)
            assert values.dtype == np.float64
            assert not far_off(values, world.means[arm], world.variances[arm])
            if world.variances[arm] > 0:  # and the check has teeth
                assert far_off(values, world.means[arm] + 0.1 * np.sqrt(world.variances[arm]), world.variances[arm])
                assert far_off(values, world.means[arm], 1.2 * world.variances[arm])

    def test_truth_is_a_copy_of_the_moments(self, name: str) -> None:
        world = WORLDS[name]
        assert world.means.shape == world.variances.shape == (world.m,)
        for parameter, moments in ((Mean(), world.means), (Variance(), world.variances)):
            truth = world.truth(parameter)
            assert np.array_equal(truth, moments)
            assert not np.shares_memory(truth, moments)

    def test_survives_the_way_to_another_process(self, name: str) -> None:
        world = WORLDS[name]
        twin = pickle.loads(pickle.dumps(world))
        assert np.array_equal(twin.sample(0, 50, stream(0, 0, 0)), world.sample(0, 50, stream(0, 0, 0)))


class Always:
    """Stands in for a generator at the edge of its range."""

    def __init__(self, u: float) -> None:
        self.u = u

    def random(self, n: int) -> np.ndarray:
        return np.full(n, self.u)


LOWEST, HIGHEST = Always(0.0), Always(1 - 2.0**-53)


class TestBernoulli:
    def test_certain_arms(self) -> None:
        world = Bernoulli([0, 1])
        for edge in (LOWEST, HIGHEST):
            assert world.sample(0, 1, edge).tolist() == [0]  # type: ignore[arg-type]
            assert world.sample(1, 1, edge).tolist() == [1]  # type: ignore[arg-type]

    def test_does_not_share_the_callers_array(self) -> None:
        p = np.array([0.2, 0.4])
        world = Bernoulli(p)
        p[:] = 9
        assert world.p.tolist() == world.means.tolist() == [0.2, 0.4]

    @pytest.mark.parametrize(
        ("p", "message"),
        [
            ([0.5, 1.01], r"p\[1\] = 1.01 is not a probability"),
            ([-0.1], r"p\[0\] = -0.1 is not a probability"),
            ([0.5, np.nan], r"p\[1\] is not a finite number"),
            ([], "one an arm"),
            (0.5, "one an arm"),
            ([[0.5]], "one an arm"),
            (["a"], "flat list of numbers"),
        ],
    )
    def test_refuses(self, p: object, message: str) -> None:
        with pytest.raises(ProblemError, match=message):
            Bernoulli(p)  # type: ignore[arg-type]


class TestBeta:
    def test_moments(self) -> None:
        world = Beta([0.25, 0.5], [3, 1])
        assert (world.a.tolist(), world.b.tolist()) == ([0.75, 0.5], [2.25, 0.5])
        assert world.variances.tolist() == [0.25 * 0.75 / 4, 0.125]

    def test_one_concentration_serves_all_arms(self) -> None:
        assert np.array_equal(Beta([0.2, 0.7], 5).variances, Beta([0.2, 0.7], [5, 5]).variances)

    @pytest.mark.parametrize("concentration", [1e-300, 1e-3, 1, 1e6, 1e300])
    def test_stays_within_its_bounds(self, concentration: float) -> None:
        values = Beta([1e-3, 0.5], concentration).sample(0, 2000, stream(0, 0, 0))
        assert ((values >= 0) & (values <= 1)).all()

    @pytest.mark.parametrize(
        ("mean", "concentration", "message"),
        [
            ([0.5, 1.0], 2, r"mean\[1\] = 1 does not lie strictly between 0 and 1"),
            ([0.0], 2, r"mean\[0\] = 0"),
            ([0.5], 0, r"concentration\[0\] = 0 must be a positive number"),
            ([0.5, 0.5], [1, -1], r"concentration\[1\] = -1"),
            ([0.5, 0.5], [1, 1, 1], "concentration has 3 entries but there are 2 arms"),
            ([0.5], np.inf, r"concentration\[0\] is not a finite number"),
            ([np.nan], 1, r"mean\[0\] is not a finite number"),
        ],
    )
    def test_refuses(self, mean: object, concentration: object, message: str) -> None:
        with pytest.raises(ProblemError, match=message):
            Beta(mean, concentration)  # type: ignore[arg-type]


class TestGaussian:
    @pytest.mark.parametrize(
        ("mean", "sd", "message"),
        [
            ([0, 1], [1, -1], r"sd\[1\] = -1 is not a standard deviation"),
            ([0, 1], [1, 1, 1], "sd has 3 entries"),
            ([0, np.inf], 1, r"mean\[1\] is not a finite number"),
            ([0], np.nan, r"sd\[0\] is not a finite number"),
            ([], 1, "one an arm"),
        ],
    )
    def test_refuses(self, mean: object, sd: object, message: str) -> None:
        with pytest.raises(ProblemError, match=message):
            Gaussian(mean, sd)  # type: ignore[arg-type]


class TestReplay:
    def test_names_come_from_a_mapping_only(self) -> None:
        data = {"a": np.array([1.0, 3.0]), "b": np.array([2])}
        world = Replay(data)
        assert world.names == ("a", "b")
        assert world.means.tolist() == [2, 2]
        assert world.variances.tolist() == [1, 0]
        assert Replay(list(data.values())).names is None

    def test_every_value_is_drawn_and_nothing_else(self) -> None:
        values = [3.5, -1, 8, 8, 2]
        assert set(Replay([values]).sample(0, 500, stream(0, 0, 0))) == set(values)

    def test_the_edges_of_a_generator_stay_within_the_values(self) -> None:
        for length in [*range(1, 300), 10**6 + 7]:
            world = Replay([np.arange(length)])
            assert world.sample(0, 1, LOWEST).tolist() == [0]  # type: ignore[arg-type]
            assert world.sample(0, 1, HIGHEST).tolist() == [length - 1]  # type: ignore[arg-type]

    def test_does_not_share_the_callers_arrays(self) -> None:
        values = np.array([1.0, 1.0])
        world = Replay([values])
        values[:] = np.nan
        assert world.sample(0, 2, stream(0, 0, 0)).tolist() == [1, 1]

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ([], "no arms"),
            ({}, "no arms"),
            ([[1], []], "Arm 1 has no values"),
            ({"x": []}, "Arm 'x' has no values"),
            ({"x": [1, np.nan]}, "Value nan at position 1 of arm 'x'"),
            ([[1, np.inf]], "Value inf at position 1 of arm 0"),
            ([1, 2], "arm 0 must be a flat list"),
            ([[[1, 2]]], "arm 0 must be a flat list"),
            ([[[1, 2], [3]]], "arm 0 must be a flat list"),
            ([["1"]], "arm 0 must be a flat list"),
            ([[1, None]], "arm 0 must be a flat list"),
            ("12", "list of values for every arm"),
            (7, "list of values for every arm"),
        ],
    )
    def test_refuses(self, values: object, message: str) -> None:
        with pytest.raises(ProblemError, match=message):
            Replay(values)  # type: ignore[arg-type]


def polls(world: VoterModel, steps: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Play the dynamics forward in many towns at once; at the end ask a random member of every group."""
    n = len(world.group)
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for u, v in world.edges.tolist():
        neighbours[u].append(v)
        neighbours[v].append(u)
    opinions = np.zeros((runs, n))
    for _ in range(steps):
        before = opinions.copy()
        for person, known in enumerate(neighbours):
            falls_back = rng.random(runs) < world.stubbornness[person]
            copied = before[np.arange(runs), rng.choice(known, runs)] if known else world.innate[person]
            opinions[:, person] = np.where(falls_back, world.innate[person], copied)
    asked = [rng.choice(np.flatnonzero(world.group == g), runs) for g in range(world.m)]
    return np.array([opinions[np.arange(runs), people] for people in asked])


def by_fixed_point(world: VoterModel, power: int) -> np.ndarray:
    """E[opinion^power] of a random member of every group, from what one step of the dynamics leaves unchanged."""
    n = len(world.group)
    knows = np.zeros((n, n))
    for u, v in world.edges.tolist():
        knows[u, v] = knows[v, u] = 1
    degree = knows.sum(axis=1)
    s = np.where(degree > 0, world.stubbornness, 1)
    copy = (1 - s)[:, None] * knows / np.maximum(degree, 1)[:, None]
    expected = np.linalg.solve(np.eye(n) - copy, s * world.innate**power)
    return np.array([expected[world.group == g].mean() for g in range(world.m)])


class TestVoterModel:
    def test_two_who_know_each_other_and_one_who_knows_nobody(self) -> None:
        # From Ann the walk stops at Ann with probability s (1 + r + r² + …) = s / (1 - r), where r = (1 - s)(1 - t).
        s, t = 0.3, 0.6
        world = VoterModel(["Ann", "Bob", "Cid"], [(0, 1)], [1, 0, 0.5], [s, t, 0.01])
        ann, bob = s / (1 - (1 - s) * (1 - t)), 1 - t / (1 - (1 - s) * (1 - t))
        assert world.names == ("Ann", "Bob", "Cid")
        assert world.means == pytest.approx([ann, bob, 0.5], abs=1e-14)
        assert world.variances == pytest.approx([ann * (1 - ann), bob * (1 - bob), 0], abs=1e-14)

    def test_a_star_whose_centre_never_copies(self) -> None:
        # Leaves stop at once with probability s, else at the centre.
        world = VoterModel(["hub", *["leaf"] * 4], [(0, i) for i in range(1, 5)], [1, 0, 0, 0, 0], [1, 0.25, 0.25, 0.25, 0.25])
        assert world.sizes.tolist() == [1, 4]
        assert world.means == pytest.approx([1, 0.75], abs=1e-14)
        assert world.probabilities == pytest.approx(np.array([[0, 1], [0.25, 0.75]]), abs=1e-14)

    def test_without_ties_everybody_has_the_innate_opinion(self) -> None:
        world = VoterModel("aab", [], [0.2, 0.6, 1], 0.1)
        assert world.means == pytest.approx([0.4, 1])
        assert world.variances == pytest.approx([0.04, 0])

    def test_the_dynamics_played_forward(self) -> None:
        world = small_town()
        # After 80 steps no more than 0.8^80 < 2e-8 of the starting opinions is left.
        seen = polls(world, steps=80, runs=20_000, rng=np.random.default_rng(5))
        for g in range(world.m):
            assert not far_off(seen[g], world.means[g], world.variances[g])
        # A town that ignores who is how stubborn is told apart.
        plain = VoterModel([world.names[g] for g in world.group], world.edges, world.innate, 0.4)
        assert any(far_off(seen[g], plain.means[g], plain.variances[g]) for g in range(world.m))

    @pytest.mark.parametrize("seed", range(20))
    def test_moments_solve_the_fixed_point_equations(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        edges = rng.integers(0, n, (int(rng.integers(0, 2 * n)), 2))
        stubbornness = np.where(rng.random(n) < 0.2, 1, rng.uniform(0.01, 1, n))
        groups = rng.integers(0, 4, n).tolist()
        world = VoterModel(groups, edges[edges[:, 0] != edges[:, 1]], rng.random(n).round(1), stubbornness)
        assert world.means == pytest.approx(by_fixed_point(world, 1), abs=1e-12)
        assert world.variances == pytest.approx(by_fixed_point(world, 2) - world.means**2, abs=1e-12)
        assert world.probabilities.sum(axis=1) == pytest.approx(1)
        assert world.sizes.sum() == n

    @pytest.mark.parametrize("stubbornness", [1e-2, 1e-5])
    def test_a_long_row_of_people_who_hardly_ever_stop(self, stubbornness: float) -> None:
        n = 300
        world = VoterModel([0] * 100 + [1] * 200, [(i, i + 1) for i in range(n - 1)], np.arange(n) < 120, stubbornness)
        assert world.means == pytest.approx(by_fixed_point(world, 1), abs=1e-9)

    def test_a_tie_counts_once(self) -> None:
        once = VoterModel("abc", [(0, 1), (1, 2)], [1, 0, 0.3], 0.2)
        again = VoterModel("abc", [(1, 0), (0, 1), (2, 1), (1, 2), (1, 2)], [1, 0, 0.3], 0.2)
        assert np.array_equal(once.means, again.means)
        assert again.edges.tolist() == [[0, 1], [1, 2]]

    def test_groups_are_arms_in_order_of_appearance(self) -> None:
        world = VoterModel([7, 3, 7, 7], [], [0, 1, 0, 1])
        assert world.names == ("7", "3")
        assert world.group.tolist() == [0, 1, 0, 0]
        assert world.sizes.tolist() == [3, 1]

    def test_draws_at_the_edge_are_opinions_that_can_occur(self) -> None:
        # Two separate circles of friends: the first never hears opinions 0 and 1 of the second.
        rng = np.random.default_rng(0)
        n = 60
        circle = [(i, (i + 1) % n) for i in range(n)]
        innate = np.concatenate((rng.uniform(0.2, 0.8, n), [0.0, 1.0]))
        world = VoterModel(["a"] * n + ["b"] * 2, [*circle, (n, n + 1)], innate, 0.07)
        for edge in (LOWEST, HIGHEST):
            assert 0.2 <= world.sample(0, 1, edge)[0] <= 0.8  # type: ignore[arg-type]
            assert world.sample(1, 1, edge)[0] in (0, 1)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"groups": []}, "no people"),
            ({"groups": [["a"], ["b"], ["c"]]}, "one label a person"),
            ({"groups": 3}, "one label a person"),
            ({"groups": [1, "1", "x"]}, "read the same"),
            ({"groups": "ab"}, "names somebody who is not there"),
            ({"edges": [(0, 3)]}, r"edges\[0\] = \(0, 3\) names somebody who is not there: people are 0 to 2"),
            ({"edges": [(0, 1), (-1, 1)]}, r"edges\[1\] = \(-1, 1\) names somebody"),
            ({"edges": [(1, 1)]}, r"edges\[0\] ties person 1 to themselves"),
            ({"edges": [(0, 1), (2,)]}, "pairs"),
            ({"edges": [(0.0, 1.0)]}, "pairs"),
            ({"edges": [0, 1]}, "pairs"),
            ({"edges": 5}, "pairs"),
            ({"innate": [0, 1]}, "There are 3 people but 2 numbers in innate"),
            ({"innate": [0, 1, 1.5]}, r"innate\[2\] = 1.5 must be a number from 0 to 1"),
            ({"innate": [0, np.nan, 1]}, r"innate\[1\] = nan"),
            ({"innate": ["0", "1", "1"]}, "innate must be"),
            ({"innate": [[0], [1, 1]]}, "innate must be"),
            ({"stubbornness": 0}, r"stubbornness\[0\] = 0: give a number above 0"),
            ({"stubbornness": [0.1, 0.0, 0.1]}, r"stubbornness\[1\] = 0"),
            ({"stubbornness": 1.2}, r"stubbornness\[0\] = 1.2"),
            ({"stubbornness": [0.1, 0.1]}, "There are 3 people but 2 numbers in stubbornness"),
        ],
    )
    def test_refuses(self, change: dict[str, object], message: str) -> None:
        good: dict[str, object] = {"groups": "aab", "edges": [(0, 2)], "innate": [0, 1, 0.5]}
        with pytest.raises(ProblemError, match=message):
            VoterModel(**{**good, **change})  # type: ignore[arg-type]


class TestRandomVoterModel:
    def test_is_the_network_that_was_asked_for(self) -> None:
        sizes = [200, 50, 100, 150]
        world = VoterModel.random(
            sizes, share=[0.1, 0.5, 0.2, 0], ties=6, homophily=0.75, stubbornness=[0.1, 0.2, 0.3, 1], seed=4
        )
        assert world.sizes.tolist() == sizes
        assert [world.innate[world.group == g].sum() for g in range(4)] == [20, 25, 20, 0]
        assert [set(world.stubbornness[world.group == g]) for g in range(4)] == [{0.1}, {0.2}, {0.3}, {1.0}]
        same = world.group[world.edges[:, 0]] == world.group[world.edges[:, 1]]
        assert len(world.edges) == pytest.approx(6 * 500 / 2, abs=4)
        assert same.mean() == pytest.approx(0.75, abs=0.005)
        within = np.bincount(world.group[world.edges[same, 0]])
        assert within == pytest.approx(0.75 * 6 * np.array(sizes) / 2, abs=1)

    def test_ties_are_spread_evenly(self) -> None:
        world = VoterModel.random([30, 40], ties=20, homophily=0.5, seed=2)
        degree = np.bincount(world.edges.ravel(), minlength=70)
        assert degree.mean() == 20
        assert 4 < degree.min() < degree.max() < 36

    def test_homophily_keeps_groups_apart(self) -> None:
        sizes = [100] * 6
        spread = [np.ptp(VoterModel.random(sizes, homophily=h).means) for h in (1 / 6, 0.5, 0.9, 1.0)]
        assert spread == sorted(spread)
        assert spread[-1] > 2 * spread[0]

    def test_complete_homophily_leaves_no_tie_between_groups(self) -> None:
        world = VoterModel.random([33, 21, 15], ties=5, homophily=1)
        assert (world.group[world.edges[:, 0]] == world.group[world.edges[:, 1]]).all()
        assert VoterModel.random([40], homophily=1).m == 1

    def test_defaults_make_groups_that_differ(self) -> None:
        world = VoterModel.random([400, 300, 250, 200, 150, 100, 80])
        assert (np.diff(world.variances) > 0.005).all()
        assert (world.means > 0.05).all()

    def test_the_seed_decides(self) -> None:
        first, same, other = (VoterModel.random([50, 60], seed=seed) for seed in (1, 1, 2))
        assert np.array_equal(first.edges, same.edges)
        assert np.array_equal(first.means, same.means)
        assert not np.array_equal(first.edges, other.edges)

    def test_names(self) -> None:
        assert VoterModel.random([20, 30]).names == ("group 0", "group 1")
        assert VoterModel.random([20, 30], names=["north", "south"]).names == ("north", "south")

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"sizes": []}, "sizes must be"),
            ({"sizes": 50}, "sizes must be"),
            ({"sizes": [50, 0]}, r"sizes\[1\] must be a whole number of at least 1"),
            ({"sizes": [50, 2.5]}, r"sizes\[1\]"),
            ({"sizes": [50, 5]}, "There are 10 pairs of people within 'group 1', too few for 18 ties"),
            ({"sizes": [50]}, "There are 0 pairs of people between groups"),
            ({"share": 1.5}, r"share\[0\] = 1.5"),
            ({"share": [0.1, 0.2, 0.3]}, "There are 2 groups but 3 numbers in share"),
            ({"homophily": -0.1}, r"homophily\[0\] = -0.1"),
            ({"homophily": np.nan}, "homophily"),
            ({"ties": -1}, "ties must be"),
            ({"ties": np.inf}, "ties must be"),
            ({"ties": "8"}, "ties must be"),
            ({"stubbornness": 0}, "stubbornness"),
            ({"stubbornness": [0.1]}, "There are 2 groups but 1 numbers in stubbornness"),
            ({"names": ["a"]}, "give 2 different names"),
            ({"names": ["a", "a"]}, "give 2 different names"),
            ({"seed": -1}, "seed must be"),
            ({"seed": 0.5}, "seed must be"),
        ],
    )
    def test_refuses(self, change: dict[str, object], message: str) -> None:
        with pytest.raises(ProblemError, match=message):
            VoterModel.random(**{"sizes": [50, 60], **change})  # type: ignore[arg-type]


def test_importing_the_environments_does_not_import_scipy() -> None:
    code = "import sys, surepick.environments; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_short_repr() -> None:
    class Half(Environment):
        def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
            return np.zeros(n)

    assert repr(Bernoulli([0.1] * 5)) == "<Bernoulli: 5 arms>"
    assert repr(Replay({"a": [0.1], "b": [0.3]})) == "<Replay: 2 arms>"
    assert repr(Half()) == "<Half>"
