"""Pictures: what they show, and that they can be saved whatever the arms are."""

from __future__ import annotations

import numpy as np
import pytest

import surepick as sp
from surepick.lab import intervals, samples, save
from surepick.lab.plots import IN, MOST, OPEN, OUT


def certificate(problem, values):
    ex = sp.Explorer(problem, 0.1)
    for arm, x in enumerate(values):
        ex.tell(arm, x)
    return ex.certificate()


@pytest.fixture
def partly():
    """Four arms: one sure to be in, one sure to be out, two open."""
    return certificate(sp.TopK(["in", "open", "open too", "out"], 2), [[1.0] * 400, [0.6] * 400, [0.5] * 400, [0.0] * 400])


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
    assert len({(look.marker, look.filled) for look in (IN, OUT, OPEN)}) == 3
    assert len({(look.hatch, look.filled) for look in (IN, OUT, OPEN)}) == 3


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


def test_pyplot_is_left_alone(partly):
    import sys

    before = "matplotlib.pyplot" in sys.modules
    intervals(partly)
    assert ("matplotlib.pyplot" in sys.modules) == before
