"""Evaluations by a function: threads and coroutines, retries, time-outs, failures, and the file of results."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import surepick as sp
from surepick.errors import EvaluationError, ObservationError, SettingError, StudyError
from surepick.run import evaluate as running
from surepick.run import evaluations, results_file
from surepick.run.marks import mark
from surepick.run.results_file import ResultsFile

NAMES = ["ant", "bee", "cat"]
SKILL = {"ant": 9, "bee": 5, "cat": 3}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluations, "PAUSE", 0.001)


def truth(candidate: str, item: str) -> float:
    return float(int(item[1:]) * 7 % 10 < SKILL[candidate])


def explorer(items: int = 60, seed: int = 0, **settings: object) -> sp.Explorer:
    return sp.Explorer(sp.BestArm(NAMES), pool=sp.Pool([f"q{i}" for i in range(items)], seed=seed), **settings)  # type: ignore[arg-type]


class Watched:
    """A scorer that notes who was asked for, and how many were at work at a time."""

    def __init__(self, nap: float = 0.002) -> None:
        self.nap, self.lock = nap, threading.Lock()
        self.asked: Counter[tuple[str, str]] = Counter()
        self.now = self.most = 0

    def _in(self, pair: tuple[str, str]) -> None:
        with self.lock:
            self.asked[pair] += 1
            self.now += 1
            self.most = max(self.most, self.now)

    def _out(self) -> None:
        with self.lock:
            self.now -= 1

    def __call__(self, candidate: str, item: str) -> float:
        self._in((candidate, item))
        time.sleep(self.nap)
        self._out()
        return truth(candidate, item)

    async def later(self, candidate: str, item: str) -> float:
        self._in((candidate, item))
        await asyncio.sleep(self.nap)
        self._out()
        return truth(candidate, item)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_several_at_a_time_and_each_pair_once(asynchronous: bool, tmp_path: Path) -> None:
    scorer, ex = Watched(nap=0.01), explorer()
    outcome = sp.evaluate(ex, scorer.later if asynchronous else scorer, workers=5, results=tmp_path / "r.csv")
    assert outcome.certified
    assert outcome.certificate.chosen == {"ant": 1}
    assert 1 < scorer.most <= 5
    assert set(scorer.asked.values()) == {1}
    assert ex.samples == len(scorer.asked)  # also those that were under way when it was certified
    assert len((tmp_path / "r.csv").read_text().splitlines()) == ex.samples + 1


def test_one_at_a_time_is_explore() -> None:
    world = sp.Scores([[truth(name, f"q{i}") for i in range(60)] for name in NAMES], [f"q{i}" for i in range(60)])
    ours, theirs = explorer(), explorer()
    assert sp.evaluate(ours, truth, workers=1).certificate.to_dict() == sp.explore(theirs, world).certificate.to_dict()


def test_within_a_running_loop() -> None:
    async def notebook() -> sp.Outcome:
        return sp.evaluate(explorer(), Watched().later)

    assert asyncio.run(notebook()).certified


def test_callable_objects_with_an_async_call() -> None:
    class Scorer:
        async def __call__(self, candidate: str, item: str) -> float:
            return truth(candidate, item)

    assert sp.evaluate(explorer(), Scorer()).certified


def test_items_and_candidates_without_names() -> None:
    asked = []

    def score(candidate: str, item: int) -> bool:
        asked.append((candidate, item))
        return np.bool_(candidate == "arm 1")  # type: ignore[return-value]

    outcome = sp.evaluate(sp.Explorer(sp.BestArm(2), pool=sp.Pool(40)), score)
    assert outcome.certificate.chosen == {"arm 1": 1}
    assert all(isinstance(item, int) for _, item in asked)


def test_budgets_hold_with_many_under_way() -> None:
    scorer = Watched()
    assert sp.evaluate(explorer(budget=20), scorer, workers=16).samples == 20
    assert sum(scorer.asked.values()) == 20
    models = [sp.Arm("ant", cost=1), sp.Arm("bee", cost=3), sp.Arm("cat", cost=2)]
    ex = sp.Explorer(sp.BestArm(models), pool=sp.Pool([f"q{i}" for i in range(60)]), cost_budget=31)
    sp.evaluate(ex, truth, workers=16)
    assert 28 < ex.cost <= 31


# -- failures ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_failed_is_tried_again(asynchronous: bool, tmp_path: Path) -> None:
    tries: Counter[tuple[str, str]] = Counter()

    def flaky(candidate: str, item: str) -> float:
        tries[candidate, item] += 1
        if tries[candidate, item] < 3:
            raise ConnectionError("no\nanswer")
        return truth(candidate, item)

    async def later(candidate: str, item: str) -> float:
        return flaky(candidate, item)

    ex = explorer()
    assert sp.evaluate(ex, later if asynchronous else flaky, workers=1, results=tmp_path / "r.csv").certified
    assert set(tries.values()) == {3}
    assert {line.split(",")[4] for line in (tmp_path / "r.csv").read_text().splitlines()[1:]} == {"3"}
    plain = explorer()
    sp.evaluate(plain, truth, workers=1)
    assert plain.certificate().to_dict() == ex.certificate().to_dict()


def test_pauses_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluations, "PAUSE", 0.02)
    begun: list[float] = []

    def never(candidate: str, item: str) -> float:
        begun.append(time.monotonic())
        raise OSError

    with pytest.raises(EvaluationError, match=r"failed 4 times, the last time: OSError\."):
        sp.evaluate(explorer(), never, workers=1, retries=3)
    assert [later - before >= 0.02 * 2**k for k, (before, later) in enumerate(pairwise(begun))] == [True] * 3


def test_a_pair_that_fails_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    ex, path = explorer(), tmp_path / "r.csv"
    broken = ("bee", ex.pool.names[ex.pool.order[4]])  # type: ignore[union-attr]
    called: Counter[tuple[str, str]] = Counter()

    def score(candidate: str, item: str) -> float:
        called[candidate, item] += 1
        if (candidate, item) == broken:
            raise ValueError("no such question")
        time.sleep(0.003)
        return truth(candidate, item)

    with pytest.raises(EvaluationError) as caught:
        sp.evaluate(ex, score, workers=4, retries=1, results=path)
    error = caught.value
    assert (error.arm, error.item, str(error.__cause__)) == (*broken, "no such question")
    assert f"candidate 'bee' on item {broken[1]!r} failed 2 times, the last time: ValueError: no such question." in str(error)
    assert str(path) in str(error)
    assert called.pop(broken) == 2
    assert ex.samples == len(called) == error.outcome.samples == len(path.read_text().splitlines()) - 1  # what was under way too
    assert not ex.done
    outcome = sp.evaluate(error.explorer, truth, results=path)  # the cause is mended
    assert outcome.certified
    again = sp.evaluate(explorer(), lambda *_: 1 / 0, results=path)
    assert again.certificate.to_dict() == outcome.certificate.to_dict()


def test_what_a_failure_counts_as(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"

    def score(candidate: str, item: str) -> float:
        if candidate == "cat":
            raise OSError('a "quoted", text')
        return truth(candidate, item)

    ex = explorer()
    outcome = sp.evaluate(ex, score, workers=3, retries=0, results=path, failed=0)
    assert outcome.certified
    rows = [line for line in path.read_text().splitlines() if line.startswith("cat")]
    assert len(rows) == ex.counts[2]
    assert all('"failed: OSError: a ""quoted"", text"' in row for row in rows)
    assert ex.record.estimates[2] == 0
    assert sp.evaluate(explorer(), score, results=path, failed=0).samples == outcome.samples
    with pytest.raises(StudyError, match=r"a failure counted as 0 there \('cat' on .*\), and now as 0\.5"):
        sp.evaluate(explorer(), score, results=path, failed=0.5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "it gave None, which is no number"),
        ("1", "it gave '1', which is no number"),
        (1.5, r"it gave 1\.5, which lies outside \[0, 1\]"),
        (float("nan"), "it gave nan, which is no finite number"),
        ([1, 0], "it gave 2 numbers"),
        (1 + 0j, "no number"),
    ],
)
def test_what_is_no_score_is_a_failure(given: object, words: str) -> None:
    called = []

    def score(candidate: str, item: str) -> object:
        called.append(item)
        return given

    with pytest.raises(EvaluationError, match=words):
        sp.evaluate(explorer(), score, workers=1, retries=1)  # type: ignore[arg-type]
    assert len(called) == 2
    assert sp.evaluate(explorer(budget=3), score, retries=0, failed=1).samples == 3  # type: ignore[arg-type]


def test_a_function_that_gives_coroutines() -> None:
    with pytest.raises(EvaluationError, match="define it by async def"):
        sp.evaluate(explorer(), lambda c, i: Watched().later(c, i), workers=1, retries=0)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_time_outs(asynchronous: bool) -> None:
    tries: Counter[tuple[str, str]] = Counter()
    over, cancelled = threading.Event(), []

    def first(candidate: str, item: str) -> bool:
        tries[candidate, item] += 1
        return candidate == "bee" and tries[candidate, item] == 1

    def slow(candidate: str, item: str) -> float:
        if first(candidate, item):
            over.wait(20)
        return truth(candidate, item)

    async def later(candidate: str, item: str) -> float:
        try:
            if first(candidate, item):
                await asyncio.sleep(20)
        except asyncio.CancelledError:
            cancelled.append(item)
            raise
        return truth(candidate, item)

    ex = explorer(budget=6)
    try:
        sp.evaluate(ex, later if asynchronous else slow, workers=6, timeout=0.5)
        assert ex.samples == 6
        assert min(count for (name, _), count in tries.items() if name == "bee") == 2
        assert (len(cancelled) >= ex.counts[1]) == asynchronous
        tries.clear()
        with pytest.raises(EvaluationError, match=r"candidate 'bee' on item .* failed: no answer within 0\.05 s"):
            sp.evaluate(explorer(), later if asynchronous else slow, timeout=0.05, retries=0)
    finally:
        over.set()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"workers": 0}, "workers must be a whole number"),
        ({"retries": -1}, "retries must be a whole number"),
        ({"timeout": 0}, "timeout must be a positive number"),
        ({"failed": 2}, "failed, what a failure counts as, must be a score that could be, from 0 to 1, not 2"),
        ({"failed": float("nan")}, "failed must be a number"),
        ({"results": 5}, "A file is given by its path"),
        ({"progress": 5}, "progress must be a function"),
    ],
)
def test_bad_settings(settings: dict[str, object], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        sp.evaluate(explorer(), truth, **settings)  # type: ignore[arg-type]


def test_only_on_a_pool() -> None:
    with pytest.raises(SettingError, match="needs an explorer with a pool"):
        sp.evaluate(sp.Explorer(sp.BestArm(2)), truth)
    with pytest.raises(SettingError, match=r"must be one \(candidate, item\) -> score, not 5"):
        sp.evaluate(explorer(), 5)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="on a pool only"):
        sp.Explorer(sp.BestArm(2)).expect([(0, 0)])


# -- stopping ---------------------------------------------------------------------------------------------------------------


def test_ctrl_c_waits_for_what_is_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        scorer, ex = Watched(nap=0.05), explorer(600)

        def press(candidate: str, item: str) -> float:
            if sum(scorer.asked.values()) == 9:
                os.kill(os.getpid(), signal.SIGINT)
            return scorer(candidate, item)

        with pytest.raises(KeyboardInterrupt):
            sp.evaluate(ex, press, workers=4, results=tmp_path / "r.csv")
        assert 9 < ex.samples == len(scorer.asked) < 20
        monkeypatch.setattr(running, "PATIENCE", 0.1)
        end = threading.Event()

        def hangs(candidate: str, item: str) -> float:
            os.kill(os.getpid(), signal.SIGINT)
            end.wait(30)
            return 1.0

        so_far = ex.samples
        with pytest.raises(KeyboardInterrupt):
            sp.evaluate(ex, hangs, workers=1, results=tmp_path / "r.csv")
        assert ex.samples == so_far  # it was not waited for
        end.set()
        assert len((tmp_path / "r.csv").read_text().splitlines()) == ex.samples + 1
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_progress_is_seen_and_may_stop_it() -> None:
    seen: list[int] = []
    ex = explorer()
    sp.evaluate(ex, truth, progress=lambda now: seen.append(now.samples))
    assert seen[-1] == ex.samples
    scorer, ex = Watched(nap=0.01), explorer()

    def enough(now: object) -> None:
        if ex.samples:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        sp.evaluate(ex, scorer, progress=enough)
    assert 0 < ex.samples == len(scorer.asked) < 60


# -- the file of results ----------------------------------------------------------------------------------------------------

ODD = [
    "plain", "a, b", 'say "no"', "two\nlines", "with\rreturn", "-rf", "; rm", "$(x)", " blanks ", "ü ∑ \u2028 \x85", "=1+1", "'",
    "{item}", "", "#", "a\\", "\t",
]  # fmt: skip


def test_odd_names_survive(tmp_path: Path) -> None:
    path, candidates = tmp_path / "r.csv", ['x,"y"\n', ("tuple", 1), "-z"]

    def fresh() -> sp.Explorer:
        return sp.Explorer(sp.BestArm(candidates), pool=sp.Pool([*ODD, ("q", 1), ("q", 2)], seed=2))

    asked: set[tuple[object, object]] = set()

    def score(candidate: object, item: object) -> float:
        asked.add((candidate, item))
        return 0.5

    first = sp.evaluate(fresh(), score, results=path)
    assert len(asked) == 3 * (len(ODD) + 2)  # they tie, so all are judged
    ex = fresh()
    again = sp.evaluate(ex, lambda *_: 1 / 0, results=path)
    assert ex.samples == len(asked)
    assert again.certificate.to_dict() == first.certificate.to_dict()


def test_names_that_are_the_same_as_texts(tmp_path: Path) -> None:
    ex = sp.Explorer(sp.BestArm(2), pool=sp.Pool([("q", 1), "('q', 1)"]))
    with pytest.raises(SettingError, match="names that differ as texts"):
        sp.evaluate(ex, lambda *_: 1, results=tmp_path / "r.csv")
    ex = sp.Explorer(sp.BestArm(2), pool=sp.Pool(["\ud800", "b"]))
    with pytest.raises(SettingError, match="its name is no text"):
        sp.evaluate(ex, lambda *_: 1, results=tmp_path / "r.csv")
    assert sp.evaluate(ex, lambda *_: 1).certified


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A file of results of a run that its budget ended."""
    sp.evaluate(explorer(budget=9), truth, workers=1, results=tmp_path / "r.csv")
    return tmp_path / "r.csv"


def test_a_torn_last_line_is_evaluated_again(written: Path) -> None:
    whole = written.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in [0, 5, len(results_file.HEADER) - 1, *range(last + 1, len(whole))]:
        written.write_bytes(whole[:cut])
        scorer, ex = Watched(nap=0), explorer(budget=9)
        sp.evaluate(ex, scorer, workers=1, results=written)
        assert ex.samples == 9
        known = 9 if cut == len(whole) - 1 else 8 if cut > last else 0  # only the end of the line was missing
        assert len(scorer.asked) == 9 - known
        assert [line.split(b",")[:3] for line in written.read_bytes().splitlines()] == [
            line.split(b",")[:3] for line in whole.splitlines()
        ]


def test_a_line_that_is_torn_within_a_name(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    pool = sp.Pool([f"two\nlines\n{i}" for i in range(5)])
    sp.evaluate(sp.Explorer(sp.BestArm(2), pool=pool, budget=4), lambda *_: 1, workers=1, results=path)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b"lines\n") + len(b"lines\n")])
    ex = sp.Explorer(sp.BestArm(2), pool=pool, budget=4)
    sp.evaluate(ex, lambda *_: 1, results=path, workers=1)
    assert ex.samples == 4
    assert path.read_bytes().count(b"two\nlines") == 4


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("candidate,item", "model,item", r"line 1: this is no file of results"),
        (",1,", ",1,1,", r"line \d: it should have 7 cells"),
        (",1,", ",7,", r"line \d: Observation 7\.0 of arm .* lies outside"),
        (",1,", ",nan,", r"line \d: Observation nan"),
        (",1,", ",x,", r"line \d: score, seconds and tries should be numbers"),
        ("bee,q", "bug,q", r"line \d: there is no candidate 'bug'"),
        ("bee,q", "bee,r", r"line \d: there is no item 'r"),
        ("bee,q", 'bee,"q', r"line \d: a quote is opened, and not closed"),
        ("bee,q", 'b"e"e,q', r"line \d: it should have 7 cells"),
        ("bee,q", "\udcff,q", r"line \d: it is not UTF-8"),
    ],
)
def test_any_other_bad_line_is_named_and_nothing_is_run(written: Path, old: str, new: str, words: str) -> None:
    text = written.read_text()
    bad = text.replace(old, new, 1).encode("utf-8", "surrogateescape")
    written.write_bytes(bad)
    ex = explorer()
    with pytest.raises(StudyError, match=words) as error:
        sp.evaluate(ex, lambda *_: pytest.fail("it was run"), results=written)
    assert str(written) in str(error.value)
    assert "nothing was run" in str(error.value)
    assert ex.samples == 0
    assert written.read_bytes() == bad


def test_two_scores_of_one_pair_are_refused(written: Path) -> None:
    lines = written.read_text().splitlines(keepends=True)
    name, item, score, *rest = lines[-1].split(",")
    written.write_text("".join([*lines, lines[-1]]))
    assert sp.evaluate(explorer(budget=9), truth, results=written).samples == 9  # the same one twice is one
    written.write_text("".join([*lines, ",".join([name, item, str(1 - float(score)), *rest])]))
    with pytest.raises(StudyError, match="line 11: the same candidate and item had the score"):
        sp.evaluate(explorer(), truth, results=written)
    told = explorer()
    told.tell_many([((name, item), 1 - truth(name, item)) for name, item in [told_first(told)]])
    written.write_text("".join(lines))
    with pytest.raises(StudyError, match="the explorer was told"):
        sp.evaluate(told, truth, results=written)


def told_first(ex: sp.Explorer) -> tuple[str, str]:
    (candidate, item), *_ = ex.ask(1)
    assert ex.pool is not None
    return NAMES[candidate], ex.pool.names[item]


def test_another_study_is_refused(written: Path) -> None:
    for other, words in (
        (explorer(seed=1), "a pool of seed 0, and this one has seed 1"),
        (explorer(61), "other items"),
        (sp.Explorer(sp.BestArm([*NAMES, "dog"]), pool=explorer().pool), "other candidates"),
    ):
        before = written.read_bytes()
        with pytest.raises(StudyError, match=words):
            sp.evaluate(other, lambda *_: pytest.fail("it was run"), results=written)
        assert written.read_bytes() == before


def test_gaps_of_a_crash_are_filled(tmp_path: Path) -> None:
    """What was under way at a crash is asked for again; nothing behind it counts before."""
    path = tmp_path / "r.csv"
    sp.evaluate(explorer(budget=24), truth, workers=1, results=path)
    lines = path.read_text().splitlines(keepends=True)
    left = [line for k, line in enumerate(lines) if k not in (4, 5, 12)]
    path.write_text("".join(left))
    half = sp.study.read_table(path)
    with pytest.raises(ObservationError, match="out of order"):
        explorer().tell_many([((a, b), float(x)) for a, b, x, *_ in half.rows])
    scorer, ex = Watched(), explorer()
    outcome = sp.evaluate(ex, scorer, workers=1, results=path)
    gone = {tuple(lines[k].split(",")[:2]) for k in (4, 5, 12)}
    assert set(list(scorer.asked)[:3]) == gone
    plain = explorer()
    sp.evaluate(plain, truth, workers=1)
    assert outcome.certified
    assert ex.record.scores[0, : ex.counts[0]].tolist() == plain.record.scores[0, : ex.counts[0]].tolist()  # type: ignore[attr-defined]


def test_a_gap_counts_for_nothing() -> None:
    """Whatever is told behind a gap: what is certain hangs on what comes before it."""
    ex = explorer()
    pairs = [(i, int(item)) for item in ex.pool.order for i in range(3)]  # type: ignore[union-attr]
    ex.expect(pairs)
    ex.tell_many([(pair, 1.0 if pair[0] == 0 else 0.0) for pair in pairs if pair[1] != ex.pool.order[1]])  # type: ignore[union-attr]
    assert ex.record.counts.tolist() == [1, 1, 1]
    assert not ex.certified
    assert {item for _, item in ex.ask(9)} == {int(ex.pool.order[1])}  # type: ignore[union-attr]


def test_one_run_at_a_time(written: Path) -> None:
    pytest.importorskip("fcntl")
    first = ResultsFile(written, explorer().problem)
    with pytest.raises(StudyError, match="another run is writing to this file"):
        sp.evaluate(explorer(), truth, results=written)
    first.close()
    assert sp.evaluate(explorer(), truth, results=written).certified


def test_scores_that_were_told_before_are_put_on_file(tmp_path: Path) -> None:
    ex = explorer()
    pairs = ex.ask(6)
    ex.tell_many([(pair, truth(NAMES[pair[0]], f"q{pair[1]}")) for pair in pairs])
    sp.evaluate(ex, truth, results=tmp_path / "r.csv")
    again = explorer()
    assert sp.evaluate(again, lambda *_: 1 / 0, results=tmp_path / "r.csv").certified
    assert again.samples == ex.samples


def test_a_full_disk_ends_the_run_between_two_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, ex, write = tmp_path / "r.csv", explorer(), os.write

    def full(descriptor: int, data: bytes) -> int:
        if ex.samples < 5:
            return write(descriptor, data)
        if len(data) > 10:
            return write(descriptor, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda d, data: full(d, data))
        with pytest.raises(StudyError, match=r"cannot be written \(No space left on device\)"):
            sp.evaluate(ex, truth, workers=1, results=path)
    assert ex.samples == 5
    assert len(path.read_bytes().splitlines()) == 6
    assert sp.evaluate(explorer(), truth, results=path).certified


def test_a_score_is_on_file_before_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ex, path, tell = explorer(), tmp_path / "r.csv", sp.Explorer.tell_many

    def look(self: sp.Explorer, observations: list[tuple[tuple[int, int], float]]) -> None:
        ((candidate, item), _), *_ = observations
        assert f"\n{NAMES[candidate]},q{item}," in path.read_text()
        tell(self, observations)

    monkeypatch.setattr(sp.Explorer, "tell_many", look)
    assert sp.evaluate(ex, truth, results=path).certified


def test_marks_tell_pools_apart() -> None:
    assert len({mark(explorer(n, seed).problem) for n in (5, 6) for seed in (0, 1)}) == 4
    numbered = sp.Explorer(sp.BestArm(NAMES), pool=sp.Pool(6)).problem
    assert mark(numbered) != mark(explorer(6).problem)


def test_another_question_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    sp.evaluate(explorer(budget=9), truth, results=path)
    sp.evaluate(explorer(budget=12, cost_budget=30), truth, results=path)
    with pytest.warns(UserWarning, match=r"r.csv: Earlier scores .* another question: delta was 0.05, and is 0.2\."):
        assert sp.evaluate(explorer(delta=0.2), truth, results=path).certified


def test_more_candidates_begin_with_the_scores_that_are_there(tmp_path: Path) -> None:
    """The order is that of the items: what the others were judged on is its beginning, gaps and all."""
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    sp.evaluate(explorer(), truth, workers=5, results=old)
    known = {tuple(line.split(",")[:2]) for line in old.read_text().splitlines()[1:]}
    more = sp.BestArm(["dog", "bee", "ant"])  # one is new, one is not wanted any more

    def score(candidate: str, item: str) -> float:
        assert (candidate, item) not in known
        return float(int(item[1:]) % 2) if candidate == "dog" else truth(candidate, item)

    pool = sp.Pool([f"q{i}" for i in range(60)])
    ex = sp.Explorer(more, pool=pool)
    outcome = sp.evaluate(ex, score, results=new, earlier=old)
    assert outcome.certificate.chosen == {"ant": 1}
    kept = {tuple(line.split(",")[:2]) for line in new.read_text().splitlines()[1:]}
    assert {pair for pair in known if pair[0] != "cat"} <= kept
    again = sp.Explorer(more, pool=pool)
    assert sp.evaluate(again, lambda *_: 1 / 0, results=new, earlier=old).certificate.to_dict() == outcome.certificate.to_dict()
    without = sp.Explorer(more, pool=pool)
    assert sp.evaluate(without, score, earlier=old, workers=1).certified
    for other in (sp.Pool([f"q{i}" for i in range(60)], seed=1), sp.Pool([f"q{i}" for i in range(61)])):
        with pytest.raises(StudyError, match=r"old.csv, line 2: the results are those of (a pool of seed 0|other items)"):
            sp.evaluate(sp.Explorer(more, pool=other), score, earlier=old)
    with pytest.raises(StudyError, match="cannot be read"):
        sp.evaluate(sp.Explorer(more, pool=pool), score, earlier=tmp_path / "none.csv")
