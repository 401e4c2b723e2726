"""Records of whole runs, and the pictures of them: shares of the samples, and the box as it closes."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import surepick as sp
from surepick.errors import SettingError, SurepickError
from surepick.lab import History, Trace, allocation, animate, closing, gap, save
from surepick.lab.plots.allocation import FAINT, LINES
from surepick.lab.plots.house import apart
from surepick.lab.plots.rows import IN, OPEN, OUT
from surepick.run.drive import drive
from tests.test_plots import png

P = [0.9, 0.8, 0.6, 0.3, 0.2]
TOP = sp.TopK(5, 2)
WORLD = sp.Bernoulli(P)


def followed(problem=TOP, world=WORLD, *, batch=1, seed=1, **settings) -> History:
    history = History()
    history.follow(sp.Explorer(problem, **settings), world, batch=batch, seed=seed)
    return history


@pytest.fixture(scope="module")
def history():
    return followed(policy="coci", confidence="paper")


def texts_inside(figure) -> None:
    """No text is cut off at an edge of the picture."""
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    not_drawn = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()) if not low <= tick.get_loc() <= high]
        not_drawn |= {id(label) for tick in ticks for label in (tick.label1, tick.label2)}
    for text in figure.findobj(lambda x: hasattr(x, "get_window_extent") and hasattr(x, "get_text")):
        if text.get_visible() and text.get_text() and id(text) not in not_drawn:
            box = text.get_window_extent()
            fits = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
            assert fits, f"{text.get_text()!r} is cut off: {box} in {width} x {height}"


# -- what is recorded --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("batch", "settings"),
    [
        (1, {}),  # compiled
        (1, {"policy": "coci", "confidence": "paper"}),  # compiled
        (1, {"policy": "clucb", "confidence": "own"}),  # compiled
        (1, {"policy": "uniform", "confidence": "paper", "budget": 777}),  # compiled
        (1, {"policy": "lucb", "confidence": "own"}),  # two samples a round
        (7, {}),
        (1, {"epsilon": 0.2}),
        (1, {"budget": 900, "spend": True}),
    ],
    ids=str,
)
@pytest.mark.parametrize("recorder", [Trace, History])
def test_the_run_is_the_same_when_it_is_followed(recorder, batch, settings):
    plain, seen, record = sp.Explorer(TOP, **settings), sp.Explorer(TOP, **settings), recorder()
    drive(plain, WORLD, batch=batch, seed=5, run=2)
    record.follow(seen, WORLD, batch=batch, seed=5, run=2)
    assert seen.counts.tolist() == plain.counts.tolist()
    assert seen.certificate().to_dict() == plain.certificate().to_dict()
    assert seen.budget == plain.budget
    assert record.samples[-1] == seen.samples
    assert record.gap[-1] == seen.certificate().gap


@pytest.mark.parametrize("kind", ["tree", "allocation"])
def test_other_classes_are_followed_alike(kind):
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    problem = sp.SpanningTree(edges) if kind == "tree" else sp.SampleAllocation([10, 20, 30, 40], 12)
    world = sp.Bernoulli([0.5, 0.9, 0.2, 0.05])
    plain, seen = (sp.Explorer(problem, policy="coci", confidence="paper", budget=20_000) for _ in range(2))
    drive(plain, world, seed=3)
    History().follow(seen, world, seed=3)
    assert seen.counts.tolist() == plain.counts.tolist()


def test_a_function_is_asked_for_what_is_needed_and_no_more():
    drawn = []

    def ask(arm, n, rng):
        drawn.append((arm, n))
        return WORLD.sample(arm, n, rng)

    history = followed(world=ask)
    assert history.certificates[-1].counts.tolist() == followed().certificates[-1].counts.tolist()
    assert sum(n for _, n in drawn) == history.samples[-1]


def test_looks_are_close_together(history):
    samples = np.array(history.samples)
    assert samples[0] == 1
    assert samples[-1] > 1000
    steps = np.diff(samples)
    assert (steps <= np.maximum(1, np.ceil(0.05 * samples[:-1]))).all()
    assert len(samples) < 200
    assert [c.samples for c in history.certificates] == history.samples
    assert [c.gap for c in history.certificates] == history.gap


def test_progress_sees_the_budget_of_the_explorer():
    seen = []
    ex = sp.Explorer(TOP, policy="coci", confidence="paper", budget=10**6)
    History().follow(ex, WORLD, seed=1, progress=lambda p: seen.append(p.explorer.budget))
    assert set(seen) == {10**6}


def test_an_interrupted_run_keeps_its_budget_and_its_looks():
    def stop(progress):
        if progress.samples > 100:
            raise KeyboardInterrupt

    ex, record = sp.Explorer(TOP, policy="coci", confidence="paper"), History()
    with pytest.raises(KeyboardInterrupt):
        record.follow(ex, WORLD, seed=1, progress=stop)
    assert ex.budget is None
    assert 90 < record.samples[-1] <= ex.samples < 120
    assert not ex.done


@pytest.mark.parametrize(
    ("world", "settings", "says"),
    [
        (sp.Bernoulli([0.5, 0.2]), {}, "2 arms but the problem has 5"),
        ("no world", {}, "must be an environment or a function"),
        (WORLD, {"batch": 0}, "batch must be"),
        (WORLD, {"seed": -1}, "seed must be"),
        (lambda arm, n, rng: [0.5, 0.5, 0.5], {}, "gave 3 values"),
    ],
)
def test_bad_settings_are_refused(world, settings, says):
    ex = sp.Explorer(TOP)
    with pytest.raises(SurepickError, match=says):
        History().follow(ex, world, **settings)
    assert ex.samples == 0


def test_what_was_seen_before_every_arm_has_an_estimate():
    ex, record = sp.Explorer(TOP), History()
    for arm in range(5):
        ex.tell(arm, 0.5)
        record(ex)
    assert [c.samples for c in record.certificates] == [1, 2, 3, 4, 5]
    assert [c.samples for c in record.started] == [5]
    record.certificates = record.certificates[:3]
    assert len(record.started) == 3


# -- shares of the samples ---------------------------------------------------------------------------------------------


def test_allocation_shows_every_share(history):
    axes = allocation(history, title="T").axes[0]
    drawn = {tuple(np.round(line.get_ydata(), 9)) for line in axes.lines}
    looks = [c for c in history.certificates if c.counts.min() > 0]
    for arm in range(5):
        assert tuple(round(100 * c.counts[arm] / c.samples, 9) for c in looks) in drawn
    assert len(drawn) == 5
    assert axes.lines[0].get_xdata().tolist() == [c.samples for c in looks]
    assert axes.get_xscale() == "log"
    last = looks[-1]
    most = int(last.counts.argmax())
    assert axes.texts[0].get_text() == f"{TOP.names[most]}  {100 * last.counts[most] / last.samples:.1f} %"
    assert [t.get_color() for t in axes.texts] == list(LINES[:5])
    assert str(last)[:20] in axes.get_title(loc="left")
    assert "grey" not in axes.get_title(loc="left")


def test_allocation_marks_the_proportions(history):
    w = sp.hardness(TOP, P).proportions
    figure = allocation(history, proportions=w)
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "<" and len(line.get_xdata())]
    by_colour = {line.get_color(): line.get_ydata()[0] for line in marks}
    for text in figure.axes[0].texts:
        arm = TOP.names.index(text.get_text().split("  ")[0])
        assert by_colour[text.get_color()] == pytest.approx(100 * w[arm])
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["the shares that the lower bound gives to the arms"]
    texts_inside(figure)


@pytest.mark.parametrize("w", [[0.5, 0.5], [0.2, 0.2, 0.2, 0.2, np.nan], [-1, 1, 1, 0, 0]])
def test_bad_proportions(history, w):
    with pytest.raises(SettingError, match="5 numbers of at least 0"):
        allocation(history, proportions=w)


def many_arms(m: int) -> History:
    """The last three arms are sampled most."""
    names = [f"{i} a name that is $ too long for any picture $ number {i}" for i in range(m)]
    ex, record = sp.Explorer(sp.TopK(names, 3)), History()
    for arm in range(m):
        ex.tell(arm, 0.5)
    record(ex)
    for arm in range(m - 3, m):
        ex.tell(arm, [1.0] * (300 + arm))
        record(ex)
    return record


def test_allocation_of_a_thousand_arms(tmp_path):
    figure = allocation(many_arms(1000))
    axes = figure.axes[0]
    grey = [line for line in axes.lines if line.get_color() == FAINT]
    assert len(grey) == 1000 - len(LINES)
    assert [t.get_text()[:3] for t in axes.texts[:3]] == ["999", "998", "997"]
    assert "993 arms with smaller shares are in grey" in axes.get_title(loc="left").replace("\n", " ")
    texts_inside(figure)
    png(save(figure, tmp_path / "x.png"))


def test_places_are_moved_apart_as_little_as_possible():
    assert apart(np.array([0.5, 0.2, 0.9]), 0.1, 0, 1).tolist() == pytest.approx([0.5, 0.2, 0.9])
    assert apart(np.array([0.5, 0.5]), 0.1, 0, 1).tolist() == pytest.approx([0.45, 0.55])
    assert apart(np.array([0.0, 0.0, 0.0]), 0.1, 0, 1).tolist() == pytest.approx([0.0, 0.1, 0.2])
    assert apart(np.array([1.0, 1.0]), 0.1, 0, 1).tolist() == pytest.approx([0.9, 1.0])
    assert apart(np.full(5, 0.3), 0.5, 0, 1).tolist() == pytest.approx([0, 0.25, 0.5, 0.75, 1])  # as far as there is room


# -- the box as it closes ----------------------------------------------------------------------------------------------


def dots(axes) -> dict[str, list[float]]:
    return {line.get_label(): sorted(line.get_xdata().tolist()) for line in axes.lines}


def test_closing_shows_the_same_arms_at_several_moments(history):
    figure = closing(history, moments=4, title="T", parameter="rate")
    assert len(figure.axes) == 4
    first, last = history.started[0], history.certificates[-1]
    heads = [axes.get_title() for axes in figure.axes]
    assert heads[0] == f"{first.samples:,} samples\n5 undecided"
    assert heads[-1] == f"{last.samples:,} samples\ncertified"
    counts = [int(head.split()[0].replace(",", "")) for head in heads]
    growth = np.diff(np.log(counts))
    assert growth.max() < 1.3 * growth.min()  # by about the same factor
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert dots(figure.axes[0]) == {OPEN.label: pytest.approx(sorted(first.estimate))}
    assert dots(figure.axes[-1]) == {
        IN.label: pytest.approx(sorted(last.estimate[last.decision == 1])),
        OUT.label: pytest.approx(sorted(last.estimate[last.decision == 0])),
    }
    by_estimate = [TOP.names[i] for i in np.argsort(-last.estimate)]
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == by_estimate
    assert [t.get_text() for t in figure.legends[0].get_texts()] == [IN.label, OUT.label, OPEN.label]
    assert figure.legends[0].get_title().get_text() == "rate, with intervals that hold together with probability 95 %"
    texts_inside(figure)


def test_one_moment_is_the_last(history):
    figure = closing(history, moments=1)
    assert figure.axes[0].get_title().endswith("certified")


def test_a_wide_beginning_is_cut_and_an_arm_without_interval_reaches_past_the_edges():
    arms = [sp.Arm(name, kind="subgaussian", scale=1) for name in "abc"]
    ex, record = sp.Explorer(sp.TopK(arms, 1)), History()
    ex.tell(0, 5.0)
    record(ex)
    axes = closing(record).axes[0]
    left, right = axes.get_xlim()
    assert np.isfinite([left, right]).all()
    ends = np.array([segment[:, 0] for group in axes.collections for segment in group.get_segments()])
    assert ((ends[:, 0] < left) & (ends[:, 1] > right)).sum() == 2
    ex.tell(1, [0.0] * 4000)
    ex.tell(2, [-1.0] * 4000)
    ex.tell(0, [5.0] * 4000)
    record(ex)
    low, high = closing(record).axes[0].get_xlim()
    last = record.certificates[-1]
    assert high - low < 4.5 * (last.upper.max() - last.lower.min())


def test_whole_numbers_and_near_enough(tmp_path):
    record = followed(sp.SampleAllocation([10, 20, 30], 12), sp.Bernoulli([0.5, 0.3, 0.1]), epsilon=0.3, relative=True)
    figure = closing(record, parameter="variance")
    labels = {t.get_text() for t in figure.legends[0].get_texts()}
    assert "near the best" in labels
    assert labels <= {"near the best", OPEN.label, "decided"}
    texts_inside(figure)
    texts_inside(allocation(record))
    png(save(figure, tmp_path / "c.png"))


def test_closing_of_many_arms():
    figure = closing(many_arms(300), title="A title that is so long that it has to be broken into several lines to fit the page")
    assert len(figure.axes[0].get_yticks()) == 30
    assert "(270 arms are not shown)" in figure.legends[0].get_title().get_text()
    assert figure.get_figheight() < 12
    texts_inside(figure)


def test_a_moving_picture(tmp_path, history):
    path = animate(history, tmp_path / "box.gif", frames=12, seconds=3, title="T")
    with Image.open(path) as moving:
        assert moving.format == "GIF"
        assert moving.n_frames == 12
        pauses = []
        for i in range(12):
            moving.seek(i)
            pauses.append(moving.info["duration"])
        assert pauses[:-1] == [250] * 11
        assert pauses[-1] > 1000
        assert moving.info["loop"] == 0
        assert moving.convert("RGB").getpixel((moving.width - 2, 2)) == (255, 255, 255)


def test_a_moving_picture_is_small(tmp_path):
    record = followed(sp.TopK(10, 3), sp.Bernoulli(np.linspace(0.75, 0.25, 10)), policy="coci", confidence="paper")
    path = animate(record, tmp_path / "box.gif", frames=40, title="The three best of ten")
    with Image.open(path) as moving:
        assert moving.n_frames == 40
    assert path.stat().st_size < 200_000


def test_no_more_frames_than_looks(tmp_path):
    record = many_arms(4)
    path = animate(record, tmp_path / "few.gif", frames=40)
    with Image.open(path) as moving:
        assert moving.n_frames == len(record.certificates) == 4


@pytest.mark.parametrize("draw", [allocation, closing, lambda h: animate(h, "never.gif")])
def test_an_empty_history_is_refused(draw):
    with pytest.raises(SettingError, match="history is empty"):
        draw(History())


@pytest.mark.parametrize(("name", "value"), [("moments", 0), ("moments", 7), ("moments", True), ("frames", 0), ("seconds", 0)])
def test_bad_numbers_of_moments(tmp_path, history, name, value):
    with pytest.raises(SettingError, match=name):
        (closing(history, moments=value) if name == "moments" else animate(history, tmp_path / "x.gif", **{name: value}))
    assert not list(tmp_path.iterdir())


def test_a_single_look(tmp_path):
    record = many_arms(4)
    record.certificates = record.certificates[:1]
    axes = allocation(record).axes[0]
    assert {line.get_marker() for line in axes.lines} == {"o"}  # a line of one point would not be seen
    assert len(closing(record).axes) == 1
    texts_inside(allocation(record))


def test_the_gap_of_a_history(history):
    curve = gap(history).axes[0].lines[0]
    known = [(s, g) for s, g in zip(history.samples, history.gap, strict=True) if 0 < g < np.inf]
    assert list(zip(curve.get_xdata(), curve.get_ydata(), strict=True)) == known
