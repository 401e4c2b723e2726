"""What surveys got wrong once: repeats, corrections, first waves, words."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick.engine import compiled, start
from surepick.problems.allocate import unrounded
from surepick.run.drive import drive

OK = "stratum,N,S\na,100,1\nb,60,2\nc,40,3\n"


@pytest.fixture
def strata(tmp_path):
    path = tmp_path / "ok.csv"
    path.write_text(OK)
    return path


# -- surepick allocate ------------------------------------------------------------------------------------------------------


def test_nobody_is_asked_twice_unless_told(ask, cli, strata):
    answer = ask("allocate", strata, "--budget", 400)
    assert (answer["interviews"], answer["unspent"], answer["standard_error"]) == ([100, 60, 40], 200, 0)
    assert "this is a census" in cli("allocate", strata, "--budget", 400)[1]
    some = ask("allocate", strata, "--budget", 150)
    assert (some["interviews"], some["taken_whole"]) == ([50, 60, 40], ["b", "c"])
    assert "Taken whole, everybody is asked: b, c." in cli("allocate", strata, "--budget", 150)[1]
    again = ask("allocate", strata, "--budget", 400, "--repeats")
    assert sum(again["interviews"]) == 400
    assert not again["finite_population"]


def test_sizes_and_upper_bounds_both_hold(ask, strata):
    strata.write_text("stratum,N,S,upper\na,100,1,10\nb,60,2,200\nc,40,3,30\n")
    assert ask("allocate", strata, "--budget", 400, "--cap-at-size")["interviews"] == [10, 60, 30]
    assert ask("allocate", strata, "--budget", 400, "--upper", 50)["interviews"] == [50, 50, 40]


def test_the_standard_error_is_no_difference_of_large_numbers(ask, strata):
    rng = np.random.default_rng(4)
    sizes, S = rng.integers(500, 4000, 300), rng.random(300) + 0.5
    strata.write_text(
        "stratum,N,S\n" + "".join(f"{i},{n},{s!r}\n" for i, (n, s) in enumerate(zip(sizes, S.tolist(), strict=True)))
    )
    answer = ask("allocate", strata, "--budget", int(sizes.sum()) - 400)
    y, W = np.array(answer["interviews"]), sizes / sizes.sum()
    right = np.sqrt((W**2 * S**2 * (sizes - y) / (sizes * y)).sum())
    assert answer["standard_error"] == pytest.approx(right, rel=1e-10)


def test_a_least_number_stops_at_the_size(ask, strata):
    strata.write_text("stratum,N,S\na,1,2\nb,60,1\n")
    assert ask("allocate", strata, "--budget", 50, "--lower", 5)["interviews"] == [1, 49]


def test_unrounded_shares_keep_the_bounds(ask, strata):
    answer = ask("allocate", strata, "--budget", 150)
    assert answer["neyman"] == pytest.approx([50, 60, 40])
    assert answer["standard_error_neyman"] == pytest.approx(answer["standard_error"])


@given(st.data())
def test_unrounded_is_the_best_in_fractions(data):
    m = data.draw(st.integers(1, 6))
    draw = st.lists(st.integers(1, 30), min_size=m, max_size=m)
    n, v = (
        np.array(data.draw(draw), dtype=float),
        np.array(data.draw(st.lists(st.sampled_from([0, 0.1, 1, 4]), min_size=m, max_size=m))),
    )
    low = np.array(data.draw(draw), dtype=float)
    high = low + np.array(data.draw(st.lists(st.integers(0, 30), min_size=m, max_size=m)))
    total = data.draw(st.floats(float(low.sum()), float(high.sum())))
    y = unrounded(n, v, total, low, high)
    assert y.sum() == pytest.approx(total, rel=1e-9)
    assert ((y >= low - 1e-9) & (y <= high + 1e-9)).all()
    worth = n**2 * (v if v.any() else np.ones(m)) / y**2  # nothing is gained by moving a little
    for i, j in itertools.permutations(range(m), 2):
        if y[i] > low[i] + 1e-9 and y[j] < high[j] - 1e-9:
            assert worth[i] >= worth[j] * (1 - 1e-6)


def test_where_nobody_differs_the_split_is_proportional(ask, cli, strata):
    strata.write_text("stratum,N,S\na,100,0\nb,60,0\nc,40,0\n")
    assert ask("allocate", strata, "--budget", 50)["interviews"] == [25, 15, 10]
    assert "S is 0 everywhere" in cli("allocate", strata, "--budget", 50)[1]
    strata.write_text("stratum,N,S\na,100,0\nb,60,0\nc,4,1\n")
    assert ask("allocate", strata, "--budget", 20)["interviews"] == [10, 6, 4]


@pytest.mark.parametrize(
    ("table", "words", "never"),
    [
        (OK.replace("60,2", "60,1e200"), ["line 3", "'S'", "too large"], "Warning"),
        (OK.replace("60,2", "60,"), ["line 3", "'S'", "the cell is empty", "similar stratum"], "delete"),
        (OK.replace("60,2", "60,nan"), ["line 3", "'S'", "not a finite number"], "delete"),
        (OK.replace("60,2", '"1,060",2'), ["line 3", "'N'", "write 1060 if the comma parts thousands"], "Excel"),
        (b"PK\x03\x04\x14\x00\x06\x00\x9c\xff", ["zip file", "no Excel table (.xlsx) that can be read"], "byte"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x9c\xff", [".xls", "save it as .xlsx or CSV"], "byte"),
        ("stratum,N\n".encode("utf-16"), ["UTF-16", "CSV UTF-8"], "byte"),
    ],
)
def test_bad_tables_say_what_to_do(cli, strata, recwarn, table, words, never):
    strata.write_bytes(table if isinstance(table, bytes) else table.encode())
    code, out, err = cli("allocate", strata, "--budget", 50)
    said = " ".join(err.split())
    assert (code, out) == (2, "")
    assert all(word in said for word in words), said
    assert never not in said
    assert not recwarn.list


# -- surepick check ---------------------------------------------------------------------------------------------------------

STUDY = 'arms = "strata.csv"\n[problem]\nkind = "sample-allocation"\nbudget = 40\n'


@pytest.fixture
def poll(tmp_path):
    (tmp_path / "strata.csv").write_text("stratum,N,min,max\na,50,0,1\nb,60,0,1\n")
    (tmp_path / "poll.toml").write_text(STUDY)
    values = np.random.default_rng(1).random(90).round(3).tolist()

    def answers(a: int, b: int):
        names = ["a"] * a + ["b"] * b
        (tmp_path / "answers.csv").write_text(
            "stratum,value\n" + "".join(f"{x},{v}\n" for x, v in zip(names, values, strict=False))
        )
        return tmp_path / "poll.toml", tmp_path / "answers.csv"

    return answers


def test_check_asks_nobody_twice(ask, cli, poll):
    assert ask("check", *poll(50, 20))["next"] == {"b": 40}
    code, _, err = cli("check", *poll(70, 20))
    assert code == 2
    assert "line 52" in err
    assert "finite = false" in " ".join(err.split())
    study, answers = poll(70, 20)
    study.write_text(STUDY + "finite = false\n")
    assert ask("check", study, answers)["certificate"]["samples"] == 90


def test_check_plans_the_first_wave(ask, cli, poll):
    study, answers = poll(0, 0)
    for data in ((study, answers), (study,)):
        assert ask("check", *data, "--next", 20)["next"] == {"a": 10, "b": 10}
        assert "first wave" in cli("check", *data)[1]


# -- what is certified ------------------------------------------------------------------------------------------------------

BERNOULLI = [sp.Arm(str(i), kind="bernoulli") for i in range(3)]


def test_a_relative_certificate_counts_the_correction():
    """N = 3 x 300, budget 700: without the correction 13 of these 40 exceed their 5 % of the variance with it."""
    people = [np.arange(300) < share * 300 for share in (0.5, 0.2, 0.05)]
    town = sp.Replay([x.astype(float) for x in people], replace=False)
    problem = sp.SampleAllocation([300] * 3, 700, arms=BERNOULLI, finite=True)
    truth = np.array([x.var(ddof=1) for x in people])

    def variance(y):
        return float((truth * (1 / np.asarray(y) - 1 / 300)).sum()) / 9

    assert -problem.reward(truth, [300, 250, 150]) == pytest.approx(variance([300, 250, 150]))
    best = variance(problem.solve(truth))
    over = []
    for seed in range(40):
        outcome = sp.explore(problem, town, epsilon=0.05, relative=True, seed=seed, batch=10)
        over.append(variance(outcome.decision) / best - 1)
    assert max(over) <= 0.05


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_relative_gaps_with_the_correction(data):
    """The largest ratio of corrected variances over all allocations and all corners of the box."""
    m = data.draw(st.integers(1, 3))
    sizes = np.array(data.draw(st.lists(st.integers(2, 7), min_size=m, max_size=m)))
    problem = sp.SampleAllocation(sizes, data.draw(st.integers(m, int(sizes.sum()))), finite=True)
    spread = st.lists(st.sampled_from([0.0, 0.01, 0.1, 0.2]), min_size=m, max_size=m)
    lower = np.array(data.draw(spread))
    upper = lower + np.array(data.draw(spread))
    y, ratios = problem.solve((lower + upper) / 2), [0.0]
    others = [o for o in itertools.product(*(range(1, n + 1) for n in sizes)) if sum(o) <= problem.budget]
    for theta in itertools.product(*zip(lower, upper, strict=True)):
        mine = -problem.reward(theta, y)
        for other in others:
            its = -problem.reward(theta, other)
            ratios.append(mine / its - 1 if its > 0 else (0.0 if mine == 0 else np.inf))
    share = problem.relative_rival(lower, upper, y)[1]
    assert share == pytest.approx(max(ratios), rel=1e-9, abs=1e-12)
    bound = compiled("allocation_ratio").ratio_bound(
        problem.lower(), lower, upper, y.astype(float), np.zeros(2), np.empty(m, dtype=np.int64)
    )
    assert bound >= share * (1 - 1e-6) - 1e-12


@pytest.mark.parametrize("sizes", [(30, 40, 20), (300, 300, 300)])
def test_compiled_loops_take_the_same_samples_with_the_correction(sizes):
    rng, found = np.random.default_rng(2), []
    town = sp.Replay([(rng.random(n) < p).astype(float) for n, p in zip(sizes, (0.5, 0.2, 0.05), strict=True)], replace=False)
    problem = sp.SampleAllocation(sizes, sum(sizes) * 3 // 4, arms=BERNOULLI, finite=True)
    for fast in (False, True):
        explorer = sp.Explorer(problem, epsilon=0.1, relative=True)
        with start.at_once():
            drive(explorer, town, batch=5, compiled=fast)
        found.append(explorer.certificate().to_dict())
    assert found[0] == found[1]
    assert found[0]["certified"]


def test_certificates_say_which_variance_is_meant():
    for finite, words in ((True, "with the correction"), (False, "without correction")):
        certificate = sp.Explorer(sp.SampleAllocation([30, 40, 20], 12, arms=BERNOULLI, finite=finite)).certificate()
        assert words in certificate.conditions[-1]


# -- words ------------------------------------------------------------------------------------------------------------------


def test_what_is_in_the_way_is_an_allocation():
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        sizes, share = rng.integers(50, 300, 4), rng.random(4) / 2
        arms = [sp.Arm(str(i), kind="bernoulli") for i in range(4)]
        problem = sp.SampleAllocation(sizes, int(sizes.sum() * 0.3), finite=True, arms=arms)
        explorer = sp.Explorer(problem, epsilon=0.02, relative=True)
        for _ in range(2):
            for name, n in explorer.plan(20).items():
                explorer.tell(name, (rng.random(n) < share[int(name)]).astype(float))
            certificate = explorer.certificate()
            if certificate.rival is not None and (certificate.rival != certificate.decision).any():
                found += 1
                assert certificate.rival.sum() == certificate.decision.sum() == problem.budget
                assert problem.contains(certificate.rival)
                assert "nothing" not in certificate.blocking
    assert found > 12


def test_the_best_guess_is_named_beside_the_decision():
    problem = sp.SampleAllocation([100, 100], 40, arms=[sp.Arm("a"), sp.Arm("b", high=4.0)])
    explorer = sp.Explorer(problem, epsilon=0.001, relative=True)
    rng = np.random.default_rng(3)
    explorer.tell("a", rng.random(12))
    explorer.tell("b", 0.1 * rng.random(12))
    certificate = explorer.certificate()
    assert certificate.guess.tolist() == problem.solve(certificate.estimate).tolist()
    assert certificate.guess.tolist() != certificate.decision.tolist()
    assert certificate.to_dict()["guess"] == certificate.guess.tolist()


@pytest.mark.parametrize("kind", ["xlsx", "parquet", "semicolons"])
def test_strata_in_the_trades_files(cli, tmp_path: Path, kind: str) -> None:
    """Excel, Parquet, decimal commas between semicolons, and the titles Nh and Sh: as the same table in CSV."""
    table = pd.DataFrame({"strata": ["a", "b"], "Nh": [300, 500], "Sh": [1.5, 2.25], "sd19": [4.0, 1.25]})
    path, plain = tmp_path / f"frame.{kind}", tmp_path / "frame.csv"
    table.to_csv(plain, index=False)
    if kind == "xlsx":
        table.to_excel(path, index=False)
    elif kind == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep=";", decimal=",")
    for option in ((), ("--s-column", "sd19")):
        found = [json.loads(cli("allocate", f, "--budget", 50, *option, "--json")[1]) for f in (path, plain)]
        assert found[0]["interviews"] == found[1]["interviews"]
        assert found[0]["S"] == found[1]["S"]
    assert found[0]["interviews"] != [50, 50]
    bad = tmp_path / "bad.xlsx"
    table.assign(Sh=["x", 2.25]).to_excel(bad, index=False)
    code, out, err = cli("allocate", bad, "--budget", 50)
    assert (code, out) == (2, "")
    assert "bad.xlsx, line 2, column 'Sh': 'x' is not a number" in " ".join(err.split())
