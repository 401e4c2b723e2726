"""The report on the paper: verdicts that data can overturn, the literal GreedyOSA, and a page that needs nothing else."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import surepick as sp
from surepick.errors import SettingError
from surepick.lab.paper import (
    CLAIMS,
    NOT_MEASURED,
    Lab,
    Table,
    Verdict,
    clucb,
    lemma_1_radius,
    lemma_2_arms,
    lemma_4_width,
    lemma_5_event,
    lemma_8_base,
    opinion,
    opinion_variance,
    theorem_1_bound,
    theorem_1_error,
    theorem_1_scaling,
    theorem_2_lower,
    theorem_3_condition,
    theorem_4_uniform,
    theorem_5_greedy,
    water,
)
from surepick.lab.paper.claims import chosen
from surepick.lab.paper.greedy_osa import greedy_osa
from surepick.lab.paper.listed import KINDS
from surepick.lab.paper.report import write
from surepick.lab.paper.statistics import Mean, Slope, rates, ratio, slope

from .processes import heed_ctrl_c
from .reference import undecided_by_calls

FAST = ("radius", "event", "bi-monotone", "width", "base")  # these need no compiled loop


# -- verdicts: good data hold, planted bad data do not ----------------------------------------------------------------------


def test_errors() -> None:
    judge = theorem_1_error.judge
    assert judge([(0.05, r) for r in rates([(0, 400), (1, 400)])]) == Verdict("holds", "1 wrong in 800 runs")
    many = judge([(0.05, r) for r in rates([(0, 400), (45, 400)])])
    assert many.standing == "not confirmed"
    assert "45 of 400" in many.remark
    few = judge([(0.05, r) for r in rates([(0, 40)])])  # no error, but 40 runs say little
    assert few.standing == "not confirmed"
    assert "too few runs" in few.remark


def test_the_intervals_of_a_claim_hold_together() -> None:
    alone, together = rates([(0, 100)])[0], rates([(0, 100)] * 10)[0]
    assert alone.high == pytest.approx(1 - 0.025**0.01)
    assert together.high == pytest.approx(1 - 0.0025**0.01)


def test_bounds() -> None:
    judge = theorem_1_bound.judge
    rate, broken = rates([(0, 200)])[0], rates([(30, 200)])[0]
    good = judge([(0.05, rate, 1000.0, 100.0), (0.05, rate, 1000.0, 250.0)])
    assert good.standing == "holds"
    assert "4.0 times" in good.remark
    assert judge([(0.05, rate, 1000.0, 100.0), (0.05, broken, 1000.0, 1500.0)]).standing == "not confirmed"


def test_scaling() -> None:
    judge = theorem_1_scaling.judge
    x = np.geomspace(100, 10_000, 7)
    noise = 1 + 0.02 * np.sin(np.arange(7))
    assert judge({"a": slope(x, 3 * x * noise)}).standing == "holds"
    twice = judge({"a": slope(x, x * noise), "b": slope(x, x**2 * noise)})
    assert twice.standing == "not confirmed"
    assert "2.0" in twice.remark
    assert judge({"a": Slope(1.0, 0.7, 1.3)}).standing == "not confirmed"  # right, but not shown


def test_slopes_and_ratios() -> None:
    x = np.geomspace(1, 1000, 9)
    fit = slope(x, 5 * x**1.5)
    assert fit == pytest.approx((1.5, 1.5, 1.5))
    rng = np.random.default_rng(0)
    luck = rng.normal(1, 0.3, 400)
    r, low, high = ratio(2 * luck + rng.normal(0, 0.01, 400), luck)
    assert low < 2 < high
    assert high - low < 0.005  # shared luck cancels
    assert r == pytest.approx(2, abs=0.005)


def test_radii() -> None:
    found = lemma_1_radius.Found("top-k", 10, 1000, 0, 40, 40, 10)
    assert lemma_1_radius.judge([found]).standing == "holds"
    assert lemma_1_radius.judge([found, found._replace(inside=1)]).standing == "not confirmed"
    assert lemma_1_radius.judge([found._replace(positive=9)]).standing == "not confirmed"


def test_arms() -> None:
    found = lemma_2_arms.Found("top-k", "arm 0", 0.1, 100.0, 400.0, 0.3)
    assert "30 %" in lemma_2_arms.judge([found]).remark
    assert lemma_2_arms.judge([found, found._replace(largest=1.01)]).standing == "not confirmed"


def test_the_event() -> None:
    rng = np.random.default_rng(1)
    good = lemma_5_event.Found("mean", rng.uniform(0.1, 0.5, 400))
    verdict = lemma_5_event.judge([good])
    assert verdict.standing == "holds"
    assert f"{1 / np.quantile(good.worst, 0.95) ** 2:.1f} times" in verdict.remark
    bad = lemma_5_event.Found("mean", np.concatenate([good.worst, np.full(40, 1.2)]))
    assert lemma_5_event.judge([good, bad]).standing == "not confirmed"


@pytest.mark.parametrize("tau", [1, 2])
def test_the_largest_error_in_radii(tau: int) -> None:
    """By plain loops over arms and times, in the order in which the arms are sampled."""
    X = np.random.default_rng(tau).random((3, 2, 7))
    for run, found in zip(X, lemma_5_event.farthest(X, 0.3, tau), strict=True):
        worst = 0.0
        for arm in range(2):
            for s in range(tau, 8):
                estimate = run[arm, :s].mean() if tau == 1 else run[arm, :s].var(ddof=1)
                t = max((s - 1) * 2 + arm + 1, 2 * tau)
                radius = math.sqrt(math.log(4 * t**3 / (tau * lemma_5_event.DELTA)) / (2 * s))
                worst = max(worst, abs(estimate - 0.3) / radius)
        assert found == pytest.approx(worst)


def test_the_lower_bound() -> None:
    found = theorem_2_lower.Found(8, 8, 100.0, 100.0, 30.0, 50.0, 60.0, {"auto": Mean(80.0, 2.0)})
    assert theorem_2_lower.judge([found, found]).standing == "holds"
    assert theorem_2_lower.judge([found._replace(H=101.0)]).standing == "not confirmed"
    assert theorem_2_lower.judge([found._replace(samples={"auto": Mean(40.0, 2.0)})]).standing == "not confirmed"
    assert theorem_2_lower.judge([found, found._replace(bound=20.0)]).standing == "not confirmed"


def test_sets_of_the_lower_bound_share_at_most_half() -> None:
    sets = theorem_2_lower.code(16, np.random.default_rng(0))
    assert len(sets) > 4
    assert (sets.sum(axis=1) == 8).all()
    shared = sets @ sets.T
    assert (shared[~np.eye(len(sets), dtype=bool)] <= 4).all()


def test_bimonotonicity() -> None:
    judge, false = theorem_3_condition.judge, theorem_3_condition.FALSE
    good = theorem_3_condition.Found("top-k", "Section 3.1", 100, 0, 10, 20, 0)
    matching = theorem_3_condition.Found("matching", "", 100, 9, 10, 20, 5)
    wrong = theorem_3_condition.Found(false, "Lemma 3", 100, 3, 10, 20, 1)
    assert judge([good, matching]).standing == "holds"
    assert judge([good, matching, wrong]).standing == "wrong as stated"
    assert judge([good._replace(broken=1), matching]).standing == "not confirmed"
    assert judge([good, matching._replace(broken=0)]).standing == "not confirmed"


def test_uniform_sampling() -> None:
    def found(m: int, times: float, uniform: float) -> theorem_4_uniform.Found:
        return theorem_4_uniform.Found(0.5, m, 800.0, 400.0 * m, 1000.0, uniform, times, times - 0.2, times + 0.2, 0)

    good = [found(m, m / 2, 500.0 * m) for m in (4, 8, 16, 32)]
    assert theorem_4_uniform.judge(good).standing == "holds"
    assert theorem_4_uniform.judge([f._replace(times=2.0, low=1.8, high=2.2) for f in good]).standing == "not confirmed"
    assert theorem_4_uniform.judge([*good[:3], good[3]._replace(above=1)]).standing == "not confirmed"
    assert theorem_4_uniform.judge([f._replace(uniform=f.m**2.0) for f in good]).standing == "not confirmed"


def test_widths() -> None:
    found = lemma_4_width.Found("any list", [2], [1.0, 1.5], [0.9])
    assert "attained" in lemma_4_width.judge([found]).remark
    assert lemma_4_width.judge([found._replace(ratios=[0.99, 1.5])]).standing == "not confirmed"
    assert lemma_4_width.judge([found._replace(hard=[1.01])]).standing == "not confirmed"


def test_against_clucb() -> None:
    found = clucb.Found("top-k", 100.0, 2, 30.0, 1e4, 1e6, 500.0, 450.0, 0.9, 0.8, 1.0, 0.85, 0)
    assert clucb.judge([found]).standing == "holds"
    assert clucb.judge([found._replace(above=1)]).standing == "not confirmed"
    assert clucb.judge([found._replace(coci_bound=2e6)]).standing == "not confirmed"
    assert clucb.judge([found, found._replace(times=5.0)]).standing == "not confirmed"


def test_greedy() -> None:
    positive = theorem_5_greedy.Found("positive", 100, 0, 0, 1.0, 0, 0)
    zeros = theorem_5_greedy.Found("zeros", 100, 20, 3, 1.05, 1, 0)
    mended = positive._replace(what="mended")

    def judge(positive, zeros, most, mended=mended):
        return theorem_5_greedy.judge(positive, zeros, mended, most)

    assert judge(positive, zeros, 0.5).standing == "wrong as stated"
    assert "24 of 100" in judge(positive, zeros, 0.5).remark
    assert judge(positive, zeros._replace(over=0, not_optimal=0, failed=0), 0.5).standing == "holds"
    assert judge(positive._replace(not_optimal=1), zeros, 0.5).standing == "not confirmed"
    assert judge(positive, zeros, 1.1).standing == "not confirmed"
    assert judge(positive, zeros._replace(wrong=1), 0.5).standing == "not confirmed"
    assert judge(positive, zeros, 0.5, mended._replace(not_optimal=1)).standing == "not confirmed"


def test_the_base() -> None:
    found = [lemma_8_base.instance(m, c) for m in (9, 25) for c in (5, 6, 12)]
    assert lemma_8_base.judge(found) == Verdict("holds", "from c = 6 on (“large enough” in the paper)")
    assert lemma_8_base.judge([f._replace(below=0.0) for f in found]).standing == "not confirmed"


def test_applications() -> None:
    good, bad = rates([(0, 120)])[0], rates([(20, 120)])[0]
    plan = water.Found("COCI", good, 120, 0, 1000.0)
    assert water.judge([plan], True).standing == "holds"
    for found, right in (([plan], False), ([plan._replace(rate=bad)], True), ([plan._replace(infeasible=1)], True)):
        assert water.judge(found, right).standing == "not confirmed"
    split = opinion.Found("COCI", good, 120, 1000.0)
    assert opinion.judge([split], True).standing == "holds"
    for found, right in (([split], False), ([split._replace(rate=bad)], True), ([split._replace(certified=119)], True)):
        assert opinion.judge(found, right).standing == "not confirmed"


def test_the_variance_of_a_poll() -> None:
    found = opinion_variance.Found(30, "(1, 2)", 1.0, 1.02, 0.97, 1.07, 1.01, True)
    assert opinion_variance.judge([found]).standing == "holds"
    apart = found._replace(measured=1.5, low=1.4, high=1.6, corrected=1.52)
    assert opinion_variance.judge([found, apart]).standing == "wrong as stated"
    assert opinion_variance.judge([found, apart._replace(corrected=1.2)]).standing == "not confirmed"


# -- the means of measuring ---------------------------------------------------------------------------------------------------


def test_greedy_osa_to_the_letter() -> None:
    """The paper's example of a tight base, erratum 1, and optimal whenever all variances are positive."""
    assert greedy_osa([6, 16, 13], [0, 0.05, 0.2], 13) == ([1, 4, 8], [1, 4, 8], 0)
    assert sp.allocate([6, 16, 13], [0, 0.05, 0.2], 13).tolist() == [1, 5, 7]
    with pytest.raises(ZeroDivisionError):
        greedy_osa([5, 5], [0, 0], 6)
    m, c = 5, 8
    k = 3 * (c + 1) * (m - 1) // 2
    tight = greedy_osa([c * (m - 1)] + [1] * (m - 1), [1.0] * m, k)
    assert tight.y == [int(1.5 * c * (m - 1) - 0.5 * (m - 1)), 2, 2, 2, 2]
    assert greedy_osa([5, 9], [0.0, 0.25], 2).base == [1, 2]  # more than the budget of 2
    rng = np.random.default_rng(5)
    for _ in range(200):
        n, theta = rng.integers(1, 50, 6), rng.uniform(0.001, 0.25, 6)
        y, k = greedy_osa(n.tolist(), theta.tolist(), 40).y, 40
        assert sum(y) == k
        assert theorem_5_greedy.variance(n, theta, y) == pytest.approx(
            theorem_5_greedy.variance(n, theta, sp.allocate(n, theta, k)), rel=1e-12
        )


def test_the_least_variance_by_looking_at_all() -> None:
    n, theta = [3, 5, 2], [0.2, 0.05, 0.0]
    every = [(a, b, c) for a in range(1, 9) for b in range(1, 9) for c in range(1, 9) if a + b + c <= 9]
    least = min(theorem_5_greedy.variance(n, theta, y) for y in every)
    assert theorem_5_greedy.least_variance(n, theta, 9) == pytest.approx(least)


@pytest.mark.parametrize("kind", ["top-k", "spanning tree", "matching", "any list", "sample allocation"])
def test_listed_classes_decide_as_the_package_does(kind: str) -> None:
    rng = np.random.default_rng(3)
    made = {
        "top-k": lambda one: sp.TopK(one.m, int(one.Y[0].sum())),
        "spanning tree": lambda one: sp.SpanningTree([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)][: one.m]),
        "matching": lambda one: sp.Matching([(i, 3 + j) for i in range(3) for j in range(3)]),
        "any list": lambda one: sp.Subsets(one.m, one.Y),
        "sample allocation": lambda one: sp.SampleAllocation(np.sqrt(-one.slopes[0] * one.Y[0]), int(one.Y[0].sum())),
    }
    for _ in range(10):
        listed = KINDS[kind](rng)
        problem = made[kind](listed)
        for theta in rng.random((5, listed.m)):
            assert listed.Y[listed.best(theta)].tolist() == problem.solve(theta).tolist()


def test_two_calls_are_those_of_theorem_3() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        listed = KINDS["top-k"](rng)
        problem = sp.TopK(listed.m, int(listed.Y[0].sum()))
        low, high = theorem_3_condition.box(rng, listed.m)
        two = theorem_3_condition.by_two_calls(listed, low, high)
        assert two.tolist() == undecided_by_calls(problem, low, high).tolist()
        assert two.tolist() == theorem_3_condition.varies(listed, low, high, rng).tolist()


def test_a_broken_move_is_seen() -> None:
    """Erratum 2 as its own example: raising the first parameter raises the second entry."""
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(200):
        listed = KINDS[theorem_3_condition.FALSE](rng)
        before, after = theorem_3_condition.moved(rng, 50, listed.m)
        found += int(theorem_3_condition.breaks(listed, before, after).sum())
    assert found > 5
    listed = KINDS["top-k"](rng)
    before, after = theorem_3_condition.moved(rng, 500, listed.m)
    assert not theorem_3_condition.breaks(listed, before, after).any()
    assert theorem_3_condition.breaks(listed, after, 1 - before).any()  # not single moves upwards: some do break


def test_towns_have_the_model_s_means() -> None:
    """The forward simulation of the voter model against the exact steady state."""
    shares = opinion_variance.group_means(opinion.town(), 250, np.random.default_rng(2), Lab(), 0.0)
    error = shares.std(axis=0) / np.sqrt(len(shares))
    assert (np.abs(shares.mean(axis=0) - opinion.town().means) < 5 * error).all()


# -- tables, pages and the command ----------------------------------------------------------------------------------------------


def test_tables() -> None:
    table = Table([("a", ""), ("b", ",.1f"), ("c", ",d")], [("x", math.inf, np.int64(1234)), (True, 2.25, None)])
    assert [table.text(0, j) for j in range(3)] == ["x", "–", "1,234"]
    assert [table.text(1, j) for j in range(3)] == ["yes", "2.2", "–"]
    assert json.loads(json.dumps(table.to_dict(), allow_nan=False))["rows"] == [["x", None, 1234], [True, 2.25, None]]


class Page(HTMLParser):
    """What matters of a page: addresses, cells of every table, unclosed tags."""

    VOID = frozenset({"meta", "img", "br", "link", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.tables: dict[str, list[list[object]]] = {}
        self.images = 0
        self.where: str | None = None
        self.ids: set[str] = set()
        self.feed(text)
        self.close()
        assert self.tags == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.addresses += [given[key] or "" for key in ("src", "href", "srcset", "action", "poster", "data") if key in given]
        assert tag not in ("script", "link", "iframe", "object")
        assert not any(key.startswith("on") for key in given)
        if tag == "img":
            self.images += 1
            assert given.get("alt")
        if "id" in given:
            self.ids.add(given["id"] or "")
        if tag not in self.VOID:
            self.tags.append(tag)
        if tag == "table" and "id" in given:
            self.where = given["id"]
            self.tables[self.where or ""] = []
        if self.where and tag == "tr":
            self.tables[self.where].append([])
        if self.where and tag == "td":
            self.tables[self.where][-1].append("")
        if self.where and tag == "data":
            self.tables[self.where][-1][-1] = json.loads(given["value"] or "")

    def handle_data(self, data: str) -> None:
        if self.where and self.tags[-1] in ("td", "sub") and "td" in self.tags:
            cell = self.tables[self.where][-1][-1]
            assert isinstance(cell, str)
            self.tables[self.where][-1][-1] = cell + ("_" if self.tags[-1] == "sub" else "") + data.strip("\n")

    def handle_endtag(self, tag: str) -> None:
        assert self.tags.pop() == tag
        if tag == "table":
            self.where = None


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    """A quick report of the claims that need no compiled loop, as JSON and as a page."""
    from surepick.cli import main

    path = tmp_path_factory.mktemp("paper") / "out" / "page.html"
    arguments = ["paper", "--quick", "--processes", "1", "--out", str(path), "--json", "--seed", "4"]
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("builtins.print", lambda *texts, **_: said.extend(texts))
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *(part for name in FAST for part in ("--only", name))])
    assert ended.value.code in (0, None)
    return json.loads("".join(said)), path


def test_the_page_needs_nothing_else(quick: tuple[dict, Path]) -> None:
    text = quick[1].read_text(encoding="utf-8")
    page = Page(text)
    assert page.images == len(FAST)
    assert all(address.startswith(("data:image/png;base64,", "#")) for address in page.addresses)
    assert not re.search(r"https?://|url\(|@import", text)
    assert {address[1:] for address in page.addresses if address[0] == "#"} <= page.ids
    assert 'name="viewport"' in text
    assert "A quick look" in text
    assert "not measured, and why" not in text  # a part of the claims only


def test_the_page_and_the_json_have_the_same_numbers(quick: tuple[dict, Path]) -> None:
    said, path = quick
    page = Page(path.read_text(encoding="utf-8"))
    assert [claim["name"] for claim in said["claims"]] == [name for name in CLAIMS if name in FAST]
    compared = 0
    for claim in said["claims"]:
        for i, table in enumerate(claim["tables"], 1):
            shown = [row for row in page.tables[f"{claim['name']}-{i}"] if row]
            assert len(shown) == len(table["rows"])
            for ours, theirs in zip(shown, table["rows"], strict=True):
                for a, b in zip(ours, theirs, strict=True):
                    if isinstance(b, (int, float)) and not isinstance(b, bool):
                        assert a == b
                        compared += 1
                    else:
                        assert a == ("–" if b is None else {True: "yes", False: "no"}.get(b, b))
    assert compared > 100


def test_verdicts_of_a_quick_look(quick: tuple[dict, Path]) -> None:
    standing = {claim["name"]: claim["verdict"]["standing"] for claim in quick[0]["claims"]}
    assert standing == dict.fromkeys(FAST, "holds") | {"bi-monotone": "wrong as stated"}


@pytest.mark.slow
def test_the_whole_quick_report(tmp_path: Path, cli) -> None:
    code, out, err = cli("paper", "--quick", "--out", tmp_path)
    assert (code, err) == (0, "")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.images == len(CLAIMS)
    assert "not-measured" in page.ids
    assert out.count("wrong as stated") == 3  # Lemma 3, the variance of a poll, GreedyOSA
    assert "not confirmed" not in out
    assert all(name in out for name in CLAIMS)


def test_claims_of_a_find(tmp_path: Path, ask) -> None:
    """One claim through the simulation, in this process."""
    said = ask("paper", "--quick", "--processes", 1, "--only", "water", "--out", tmp_path / "r.html")
    assert said["report"] == str(tmp_path / "r.html")
    assert said["claims"][0]["verdict"]["standing"] == "holds"
    rows = said["claims"][0]["tables"][0]["rows"]
    assert [row[6] for row in rows] == [row[7] for row in rows] == water.best_plan().tolist()


def test_chosen_claims_keep_their_order() -> None:
    assert [claim.name for claim in chosen(["base", "error"])] == ["error", "base"]
    assert len(chosen(None)) == len(CLAIMS) == len({claim.title for claim in CLAIMS.values()})
    assert NOT_MEASURED
    with pytest.raises(SettingError, match=r"There is no claim 'theorem-1'; the claims are error, bound, "):
        chosen(["theorem-1"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--only", "nothing"], "There is no claim 'nothing'"),
        (["--seed", "-1"], "--seed"),
        (["--processes", "0"], "--processes"),
        (["--processes", "many"], "--processes"),
        (["--out", "{}/file.txt/report.html"], "is a file, not a folder"),
        (["--out", "{}/file.txt"], "is a file, not a folder"),
        (["--out", "{}/folder.html"], "is a folder"),
    ],
)
def test_bad_input(arguments: list[str], complaint: str, tmp_path: Path, cli) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / "folder.html").mkdir()
    code, out, err = cli("paper", *(part.format(tmp_path) for part in arguments))
    assert code == 2
    assert complaint in err
    assert out == ""


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    write("old", path)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write("new", path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process")
def test_ctrl_c_leaves_no_report(tmp_path: Path) -> None:
    """While worker processes are at it; they end, too."""
    code = "import sys; from surepick.cli import main; main(sys.argv[1:])"
    arguments = ["paper", "--out", str(tmp_path / "new" / "r.html"), "--only", "error", "--processes", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code, *arguments], **pipes, preexec_fn=heed_ctrl_c) as process:
        try:
            end = time.monotonic() + 60
            while not (tmp_path / "new").exists():
                assert time.monotonic() < end
                time.sleep(0.05)
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)  # the pipes close when the last process has ended
        finally:
            process.kill()
    assert process.returncode == 130, (out, err)
    assert out == b""
    assert not [line for line in err.splitlines() if not line.startswith(b"surepick: compiling")]
    assert list((tmp_path / "new").iterdir()) == []
