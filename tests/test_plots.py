"""Pictures: what they show, and that they can be saved whatever the arms are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from matplotlib.figure import Figure

import surepick as sp
from surepick.lab import Trace, gap, intervals, samples, save
from surepick.lab.plots.rows import IN, LOOKS, MOST, NEAR_IN, NEAR_OUT, OPEN, OUT


def certificate(problem, values, **settings):
    ex = sp.Explorer(problem, 0.1, **settings)
    for arm, x in enumerate(values):
        ex.tell(arm, x)
    return ex.certificate()


@pytest.fixture
def partly():
    """Four arms: one sure to be in, one sure to be out, two open."""
    problem, values = sp.TopK(["in", "open", "open too", "out"], 2), [[1.0] * 400, [0.6] * 400, [0.5] * 400, [0.0] * 400]
    return certificate(problem, values, policy="joint", confidence="beta")


def png(path):
    assert path.read_bytes().startswith(b"\x89PNG")
    return path.stat().st_size


def test_intervals_show_every_arm(partly):
    axes = intervals(partly, title="T").axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["in", "open", "open too", "out"]  # by estimate
    dots = {line.get_label(): line.get_xdata().tolist() for line in axes.lines}
    assert dots == {IN.label: [1.0], OPEN.label: pytest.approx([0.6, 0.5]), OUT.label: [0.0]}
    ends = {tuple(np.round(s[:, 0], 6)) for c in axes.collections for s in c.get_segments()}
    assert ends == {tuple(np.round(pair, 6)) for pair in zip(partly.lower, partly.upper, strict=True)}
    decision = [t.get_text() for t in axes.texts]
    assert decision == ["decision", "1", "1 ?", "0 ?", "0"]


def test_looks_differ_without_colour():
    assert len({(look.marker, look.filled, look.line) for look in LOOKS}) == len(LOOKS)
    assert len({(look.hatch, look.filled) for look in LOOKS}) == len(LOOKS)


def test_near_enough_is_not_undecided():
    problem = sp.TopK(["a", "b"], 1)
    c = sp.explore(problem, sp.Bernoulli([0.5, 0.5]), epsilon=0.4, batch=20).certificate
    assert c.undecided.all()
    axes = intervals(c).axes[0]
    assert {line.get_label() for line in axes.lines} == {NEAR_IN.label, NEAR_OUT.label}
    assert sorted(t.get_text() for t in axes.texts) == ["0", "1", "decision"]


def test_samples_show_every_count(partly):
    axes = samples(partly).axes[0]
    widths = sorted(bar.get_width() for group in axes.containers for bar in group)
    assert widths == sorted(partly.counts.tolist())
    assert {group.get_label() for group in axes.containers} == {IN.label, OUT.label, OPEN.label}


def test_whole_numbers_are_plans_not_choices():
    plan = certificate(sp.ResourcePlan(lambda y: 0.5 * y, caps=[3, 3], require=0), [[1.0] * 400, [0.0] * 400])
    assert plan.decision.tolist() == [3, 0]
    assert {line.get_label() for line in intervals(plan).axes[0].lines} == {"decided", "decided: nothing"}


@pytest.mark.parametrize("m", [1, 3, 60, 300])
def test_any_number_of_arms(tmp_path, m):
    names = [f"a rather long name that would not fit beside a picture, number {i}" for i in range(m)]
    c = certificate(sp.TopK(names, 1), [[0.5] * (i + 1) for i in range(m)])
    for draw in (intervals, samples):
        figure = draw(c, title="A title that is so long that it has to be broken into several lines to fit the picture")
        assert len(figure.axes[0].get_yticks()) == min(m, MOST)
        assert figure.get_figheight() < 20
        assert png(save(figure, tmp_path / "x.png")) > 5000
    if m > MOST:
        assert "not shown" in intervals(c).axes[0].get_title(loc="left")


def test_nothing_known_yet(tmp_path):
    for problem in (
        sp.TopK([sp.Arm("a", kind="subgaussian", scale=1), sp.Arm("b", kind="subgaussian", scale=1)], 1),
        sp.SampleAllocation([4, 5], 5),
    ):
        c = sp.Explorer(problem).certificate()
        png(save(intervals(c), tmp_path / "i.png"))
        png(save(samples(c), tmp_path / "s.png"))


def test_names_are_taken_as_they_stand(tmp_path):
    c = certificate(sp.TopK(["5 $ or 6 $", "a_b^2\nc", "東京"], 1), [[0.5], [0.4], [0.1]])
    figure = intervals(c, title="$ and $")
    assert figure.axes[0].get_yticklabels()[1].get_text() == "a_b^2 c"
    png(save(figure, tmp_path / "x.png"))


def test_notebooks_show_a_figure_by_itself(partly):
    """By the method that IPython asks for; all else is matplotlib's own."""
    figure = intervals(partly)
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")
    again = pickle.loads(pickle.dumps(figure))
    assert type(again) is type(figure)
    assert again._repr_png_().startswith(b"\x89PNG")


def test_pyplot_is_left_alone(partly):
    import sys

    before = "matplotlib.pyplot" in sys.modules
    intervals(partly)
    assert ("matplotlib.pyplot" in sys.modules) == before


# -- the gap -----------------------------------------------------------------------------------------------------------


def fallen(*points: tuple[int, float], epsilon: float = 0.05, relative: bool = True) -> Trace:
    trace = Trace()
    trace.samples, trace.gap = [t for t, _ in points], [g for _, g in points]
    trace.epsilon, trace.relative = epsilon, relative
    return trace


def test_a_trace_of_your_own_loop():
    ex = sp.Explorer(sp.TopK(["a", "b"], 1), epsilon=0.1)
    trace, world, rng = Trace(), sp.Bernoulli([0.7, 0.4]), np.random.default_rng(0)
    trace(ex)
    assert trace.samples == []
    seen = []
    while arms := ex.ask(10):
        for arm in arms:
            ex.tell(arm, world.sample(arm, 1, rng))
        trace(ex)
        seen.append((ex.samples, ex.certificate().gap))
    assert list(zip(trace.samples, trace.gap, strict=True)) == seen
    assert (trace.epsilon, trace.relative) == (0.1, False)
    assert trace.gap[0] > trace.gap[-1]
    assert trace.gap[-1] <= 0.1


def test_a_trace_is_short_and_keeps_the_end():
    ex = sp.Explorer(sp.TopK(["a", "b"], 1), budget=1001)
    trace = Trace()
    while arms := ex.ask(1):
        ex.tell(arms[0], 0.5)
        trace(ex)
    assert len(trace.samples) < 400
    assert trace.samples[-1] == 1001
    assert np.isinf(trace.gap[0])  # one arm has no estimate yet
    assert np.isfinite(trace.gap[1:]).all()


def test_a_trace_from_explore():
    trace = Trace()
    outcome = sp.explore(sp.TopK(3, 1), sp.Bernoulli([0.7, 0.4, 0.2]), epsilon=0.1, progress=trace)
    assert (trace.samples[-1], trace.gap[-1]) == (outcome.samples, outcome.certificate.gap)


def test_gap_shows_the_trace_the_aim_and_marks(tmp_path):
    figure = gap(fallen((1, np.inf), (10, 2.0), (100, 0.3), (1000, 0.04)), marks={"5 $ or 6 $": 2e6, "never": np.inf}, title="T")
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    curve, end = axes.lines[:2]
    assert curve.get_xdata().tolist() == [10, 100, 1000]
    assert curve.get_ydata().tolist() == [2.0, 0.3, 0.04]
    assert end.get_xdata().tolist() == [1000]
    texts = [t.get_text() for t in axes.texts]
    assert texts == ["1,000", r"5 \$ or 6 \$", "asked for: 5 %"]
    assert axes.get_xlim()[1] > 2e6
    png(save(figure, tmp_path / "g.png"))
    figure.canvas.draw()
    assert "1 million" in [t.get_text() for t in axes.get_xticklabels()]
    assert "100 %" in [t.get_text() for t in axes.get_yticklabels()]


def test_gaps_by_name():
    axes = gap({"one": fallen((10, 2.0), (20, 1.0), epsilon=0, relative=False), "two": fallen((10, 3.0), (30, 0.0))}).axes[0]
    assert [line.get_label() for line in axes.lines[:4:2]] == ["one", "two"]
    assert axes.lines[0].get_color() != axes.lines[2].get_color()
    assert axes.lines[0].get_linestyle() != axes.lines[2].get_linestyle()
    assert [t.get_text() for t in axes.texts] == ["20", "0 from 30 on: the very best"]  # and no line where nothing was asked for
    drop, end = axes.lines[4:]
    bottom = axes.get_ylim()[0]
    assert list(drop.get_xdata()) == [10, 30, 30]
    assert list(drop.get_ydata()) == [3.0, 3.0, bottom]
    assert (*end.get_xdata(), *end.get_ydata()) == (30, bottom)


def test_a_gap_that_became_0_drops_to_the_axis():
    exact = gap(fallen((10, 2.0), (20, 1.0), (30, 0.0), epsilon=0)).axes[0]
    near = gap(fallen((10, 2.0), (20, 1.0), (30, 0.0), epsilon=0.1)).axes[0]
    assert [t.get_text() for t in exact.texts] == ["0 from 30 on"]
    assert "0 from 30 on: the very best" in [t.get_text() for t in near.texts]
    assert near.get_ylim()[0] < 0.1  # below what was asked for


def test_a_gap_that_is_0_for_a_while_breaks_the_line():
    trace = fallen((10, 2.0), (20, 1.0), (30, 0.0), (40, 0.0), (50, 0.5), (60, 0.0), epsilon=0)
    line, _, *drops = gap(trace).axes[0].lines
    assert np.isnan(line.get_ydata()[2:4]).all()
    assert list(line.get_ydata()[[0, 1, 4]]) == [2.0, 1.0, 0.5]
    assert [list(drop.get_xdata()) for drop in drops[::2]] == [[20, 30, 30], [50, 60, 60]]
    assert [t.get_text() for t in gap(trace).axes[0].texts] == ["0 from 60 on"]
    single = gap(fallen((10, 2.0), (20, 0.0), (30, 1.0), (40, 0.0), (50, 0.5), (60, 0.4), epsilon=0)).axes[0]
    assert [list(dots.get_xdata()) for dots in single.lines if dots.get_marker() == "o"] == [[60], [10, 30]]
    again = gap(fallen((10, 2.0), (20, 0.0), (30, 1.0), epsilon=0)).axes[0]
    assert not [t for t in again.texts if "0 from" in t.get_text()]


@pytest.mark.parametrize(
    ("trace", "says"),
    [
        (Trace(), "no gap is certified yet"),
        (fallen((1, np.inf)), "no gap is certified yet"),
        (fallen((9, 0.0)), "a gap of 0 from the first look on"),
    ],
)
def test_no_gap_to_show(tmp_path, trace, says):
    figure = gap(trace)
    assert says in [t.get_text() for t in figure.axes[0].texts]
    png(save(figure, tmp_path / "g.png"))
    png(save(gap({}), tmp_path / "g.png"))
