"""Pictures of simulations: the figures in them are those of the table, whatever was simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import surepick as sp
from surepick.errors import SettingError
from surepick.lab import Simulation, compare, errors, samples_against, save
from tests.test_history import texts_inside
from tests.test_plots import png

SETTINGS = {"runs": 0, "seed": 0, "epsilon": 0.0, "relative": False, "budget": None}
LONG = "a $5 or $6 policy with a label that is far too long for a legend"


def simulated(problems, policies, deltas=(0.1, 0.01), runs=20, *, known=True, budget=None, wrong=0.0) -> Simulation:
    """A hand-made table: a policy takes its factor times the problem's, times ln(1/delta), and some chance."""
    rng = np.random.default_rng(0)
    rows = []
    for problem, size in problems.items():
        for policy, factor in policies.items():
            for delta in deltas:
                for run in range(runs):
                    samples = round(1000 * size * factor * np.log(1 / delta) * rng.uniform(0.8, 1.2)) + 1
                    certified = budget is None or samples <= budget
                    correct = run >= wrong * runs
                    samples = samples if certified else budget
                    rows.append((problem, policy, "auto", delta, run, samples, certified, correct, "{0}"))
    columns = ["problem", "policy", "confidence", "delta", "run", "samples", "certified", "correct", "decision"]
    arms = {name: 2 + i for i, name in enumerate(problems)}
    truths = {name: (sp.BestArm(m), np.linspace(0.9, 0.5, m)) for name, m in arms.items()}
    settings = SETTINGS | {"epsilon": 0.0 if known else 0.1}
    return Simulation(pd.DataFrame(rows, columns=columns), truths, settings)


def rows_of(simulation, **where):
    summary = simulation.summary
    for column, value in where.items():
        summary = summary[summary[column] == value]
    return summary


def curves(axes, colour):
    return [line for line in axes.lines if line.get_color() == colour]


@pytest.fixture(scope="module")
def two():
    return simulated({"one": 1.0}, {"auto": 1.0, "coci/paper": 2.0}, deltas=(0.1, 0.01, 1e-10))


# -- samples against something -----------------------------------------------------------------------------------------


def test_samples_against_delta(two):
    figure = samples_against(two, title="T")
    [axes] = figure.axes
    assert axes.get_xscale() == "log"
    left, right = axes.get_xlim()
    assert left > 0.1 > 1e-10 > right  # smaller to the right
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert labels == ["auto", "coci/paper", "lower bound of any algorithm"]
    colours = [handle.get_color() for handle in figure.legends[0].legend_handles]
    for policy, colour in zip(("auto", "coci/paper"), colours, strict=False):
        rows = rows_of(two, policy=policy).sort_values("delta")
        line, marks = curves(axes, colour)[:2]
        assert line.get_xdata().tolist() == rows["delta"].tolist()
        assert line.get_ydata().tolist() == marks.get_ydata().tolist() == rows["mean"].tolist()
        bars = next(c for c in axes.collections if hasattr(c, "get_segments") and colour_of(c) == colour)
        ends = [(s[0, 1], s[1, 1]) for s in bars.get_segments()]
        assert ends == list(zip(rows["q05"], rows["q95"], strict=True))
    [bound] = curves(axes, colours[2])
    rows = rows_of(two, policy="auto").sort_values("delta")
    assert bound.get_ydata().tolist() == rows["lower_bound"].tolist()
    assert {t.get_text() for t in axes.get_xticklabels()} >= {"0.1", "10⁻¹⁰"}
    texts_inside(figure)


def colour_of(collection) -> str:
    from matplotlib.colors import to_hex

    return to_hex(collection.get_color()[0]).upper()


def test_a_panel_for_every_problem_and_one_scale():
    simulation = simulated({"one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0}, {"auto": 1.0})
    figure = samples_against(simulation)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two", "three", "four"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    for axes, name in zip(figure.axes, ("one", "two", "three", "four"), strict=True):
        assert sorted(axes.lines[0].get_ydata()) == sorted(rows_of(simulation, problem=name)["mean"])
    assert figure.legends[0].get_title().get_text() == "δ (smaller to the right)"
    texts_inside(figure)


@pytest.mark.parametrize("how", ["mapping", "function"])
def test_samples_against_the_gap_with_its_power(how):
    gaps = {"a": 0.4, "b": 0.2, "c": 0.1, "d": 0.05}
    simulation = simulated({name: 1 / g**2 for name, g in gaps.items()}, {"auto": 1.0, "slow": 30.0}, deltas=(0.05,))
    figure = samples_against(simulation, gaps if how == "mapping" else gaps.get, label="gap in $", fit=True)
    [axes] = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlabel() == r"gap in \$"
    assert axes.get_title(loc="left") == "δ = 0.05"
    assert axes.lines[0].get_xdata().tolist() == [0.05, 0.1, 0.2, 0.4]
    means = rows_of(simulation, policy="auto").set_index("problem")["mean"]
    assert axes.lines[0].get_ydata().tolist() == [means[name] for name in "dcba"]
    slopes = {t.get_text().split(": slope ")[0]: float(t.get_text().split()[-1].replace("−", "-")) for t in axes.texts}
    assert slopes == {"auto": pytest.approx(-2, abs=0.05), "slow": pytest.approx(-2, abs=0.05)}
    expected = np.polyfit(np.log([gaps[name] for name in means.index]), np.log(means), 1)[0]
    assert slopes["auto"] == round(expected, 2)
    texts_inside(figure)


def test_samples_against_the_number_of_arms():
    simulation = simulated({"p": 2.0, "q": 3.0, "r": 4.0}, {"auto": 1.0})
    figure = samples_against(simulation, "m")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["δ = 0.1", "δ = 0.01"]
    assert figure.axes[0].lines[0].get_xdata().tolist() == [2, 3, 4]
    assert not figure.axes[0].texts  # no slope unless asked for


def test_the_scale_is_logarithmic_if_policies_are_far_apart(two):
    assert samples_against(two).axes[0].get_yscale() == "log"
    near = simulated({"one": 1.0}, {"auto": 1.0})
    axes = samples_against(near).axes[0]
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > near.summary["q95"].max()


@pytest.mark.parametrize(
    ("x", "says"),
    [
        ("gap", "not 'gap'"),
        (3, "not 3"),
        ({"one": 1.0}, "no number for the problem 'two'"),
        ({"one": 1.0, "two": 0.0}, "for 'two' it is 0.0"),
        (lambda name: "much", "for 'one' it is 'much'"),
    ],
)
def test_a_bad_x(x, says):
    with pytest.raises(SettingError, match=says):
        samples_against(simulated({"one": 1.0, "two": 2.0}, {"auto": 1.0}), x)


def test_no_power_of_delta(two):
    with pytest.raises(SettingError, match="logarithm of delta"):
        samples_against(two, fit=True)


def test_marks_are_hollow_where_runs_were_not_certified():
    simulation = simulated({"one": 1.0}, {"auto": 1.0}, deltas=(0.1, 0.001), budget=4000)
    figure = samples_against(simulation)
    marks = {x: line.get_markerfacecolor() for line in figure.axes[0].lines for x in line.get_xdata() if line.get_marker() == "o"}
    assert marks[0.001] == "white"
    assert marks[0.1] != "white"
    assert "hollow: not all runs certified" in [t.get_text() for t in figure.legends[0].get_texts()]
    said = [t.get_text() for t in compare(simulation).axes[0].texts]
    assert "4,000\n0 of 20 runs certified" in said


# -- errors ------------------------------------------------------------------------------------------------------------


def test_errors_beside_the_guarantee():
    simulation = simulated({"one": 1.0}, {"right": 1.0, "wrong": 1.0}, wrong=0.0)
    table = simulation.table
    table["correct"] = (table["policy"] == "right") | (table["run"] >= 6)
    figure = errors(simulation)
    [axes] = figure.axes
    right, wrong = (line for line in axes.lines if line.get_label() in ("right", "wrong"))
    zero = right.get_ydata()[0]
    assert (right.get_ydata() == zero).all()
    assert wrong.get_ydata().tolist() == [0.3, 0.3]
    figure.canvas.draw()
    numbers = dict(zip(axes.get_yticks(), [t.get_text() for t in axes.get_yticklabels()], strict=True))
    assert numbers[zero] == "0"
    assert all(value > 2 * zero for value in numbers if value != zero)
    spans = [sorted(s[:, 1].tolist()) for c in axes.collections for s in c.get_segments()]
    rows = rows_of(simulation, policy="wrong")
    assert spans[2:] == [[low, high] for low, high in zip(rows["error_low"], rows["error_high"], strict=True)]
    assert spans[0] == [zero, rows_of(simulation, policy="right")["error_high"].iloc[0]]
    [line] = (line for line in axes.lines if line.get_label() == "the guarantee: errors ≤ δ")
    assert line.get_xdata().tolist() == line.get_ydata().tolist()
    assert set(right.get_xdata()).isdisjoint(wrong.get_xdata())  # side by side
    assert np.abs(np.log10(right.get_xdata() / [0.1, 0.01])).max() < 0.1
    texts_inside(figure)


@pytest.mark.parametrize(("deltas", "numbers"), [((0.05,), ["0", "0.05", "0.1"]), ((0.3, 0.11), ["0", "0.11", "0.2", "0.3"])])
def test_errors_near_the_guarantee_have_a_linear_scale(deltas, numbers):
    figure = errors(simulated({"one": 1.0}, {"auto": 1.0, "coci": 1.0}, deltas=deltas, runs=30))
    [axes] = figure.axes
    assert axes.get_yscale() == "linear"
    assert axes.get_ylabel() == "wrong certificates, 95 % interval"
    assert axes.lines[0].get_ydata().tolist() == [0.0] * len(deltas)
    figure.canvas.draw()
    assert [t.get_text() for t in axes.get_yticklabels()] == numbers
    one = len(deltas) == 1
    [line] = (line for line in axes.lines if line.get_label() == "the guarantee: errors ≤ δ" + " = 0.05" * one)
    x, y = np.array(line.get_xdata()), np.array(line.get_ydata())
    assert (y == (deltas[0] if one else x)).all()
    assert len(x) > 100  # bent, where the scale of delta is logarithmic
    texts_inside(figure)


def test_a_logarithmic_scale_says_so_and_numbers_every_delta():
    figure = errors(simulated({"one": 1.0}, {"auto": 1.0}, deltas=(0.05, 2e-4)))
    [axes] = figure.axes
    assert axes.get_ylabel().endswith("(logarithmic, 0 below the dots)")
    figure.canvas.draw()
    assert {"0", "0.05", "2·10⁻⁴"} < {t.get_text() for t in axes.get_yticklabels()}


def test_all_runs_wrong():
    axes = errors(simulated({"one": 1.0}, {"auto": 1.0}, wrong=1.0)).axes[0]
    assert axes.lines[0].get_ydata().tolist() == [1.0, 1.0]
    assert axes.get_ylim()[1] > 1


# -- policies side by side ---------------------------------------------------------------------------------------------


def test_policies_side_by_side():
    simulation = simulated({"one": 1.0, "two": 40.0}, {"auto": 1.0, "coci": 3.0}, deltas=(0.05,))
    figure = compare(simulation, title="T")
    [axes] = figure.axes
    assert axes.get_xscale() == "log"
    assert [t.get_text() for t in axes.get_yticklabels()] == ["auto", "coci"] * 2
    summary = simulation.summary
    means = [line.get_xdata()[0] for line in axes.lines]
    assert means == summary["mean"].tolist()
    spans = [tuple(s[:, 0]) for c in axes.collections for s in c.get_segments() if s[0, 1] == s[1, 1]]
    assert spans == list(zip(summary["q05"], summary["q95"], strict=True))
    boxes = [(p.get_x(), p.get_x() + p.get_width()) for p in axes.patches[::2]]
    assert boxes == [pytest.approx(pair) for pair in zip(summary["q25"], summary["q75"], strict=True)]
    texts = [t.get_text() for t in axes.texts]
    bounds = summary["lower_bound"].tolist()
    assert f"one, δ = 0.05; lower bound {bounds[0]:,.0f}" in texts
    assert f"two, δ = 0.05; lower bound {bounds[2]:,.0f}" in texts
    assert sum("× the bound" in text for text in texts) == 4
    assert f"{summary['mean'][0]:,.0f}" in texts[1]
    upright = [s[0, 0] for c in axes.collections for s in c.get_segments() if s[0, 0] == s[1, 0]]
    assert bounds[0] in upright
    assert set(summary["median"]) <= set(upright)
    texts_inside(figure)


def test_a_lone_policy_without_a_bound():
    figure = compare(simulated({"one": 1.0}, {"auto": 1.0}, deltas=(0.05,), known=False))
    axes = figure.axes[0]
    assert axes.get_xlim()[0] == 0
    assert len(axes.texts) == 1
    assert "bound" not in axes.texts[0].get_text()


# -- whatever was simulated --------------------------------------------------------------------------------------------

EDGES = {
    "one of each": ({"one": 1.0}, {"auto": 1.0}, {"deltas": (0.05,), "runs": 1}),
    "a tiny delta": ({"one": 1.0}, {"auto": 1.0}, {"deltas": (1e-10,), "runs": 3}),
    "from half to tiny": ({"one": 1.0}, {"auto": 1.0}, {"deltas": (0.5, 0.2, 0.1, 0.05, 1e-10)}),
    "nothing certified": ({"one": 1.0}, {"auto": 1.0, "coci": 2.0}, {"budget": 1}),
    "no bound": ({"one": 1.0, "two": 2.0}, {"auto": 1.0}, {"known": False}),
    "long names": ({LONG: 1.0, LONG + "!": 9.0, "c": 1.0, "d": 1.0}, {LONG: 1.0, "auto": 2.0, LONG + "?": 3.0}, {}),
    "many policies": ({"one": 1.0}, {f"policy {i}": 1.0 + i for i in range(9)}, {}),
    "many deltas": ({"one": 1.0}, {"auto": 1.0}, {"deltas": tuple(10.0**-k for k in range(1, 9))}),
}


@pytest.mark.parametrize("draw", [samples_against, lambda s: samples_against(s, "m", fit=True), errors, compare],
                         ids=["delta", "m", "errors", "compare"])  # fmt: skip
@pytest.mark.parametrize("edge", EDGES)
def test_edges(tmp_path, edge, draw):
    problems, policies, options = EDGES[edge]
    figure = draw(simulated(problems, policies, **options))
    texts_inside(figure)
    assert png(save(figure, tmp_path / "x.png")) > 5000


def test_many_policies_differ_in_colour_or_mark():
    problems, policies, _ = EDGES["many policies"]
    handles = samples_against(simulated(problems, policies)).legends[0].legend_handles
    assert len({(h.get_color(), h.get_marker()) for h in handles}) == len(policies) + 1


def test_few_values_are_the_numbers_of_the_axis():
    figure = samples_against(simulated({"p": 2.0, "q": 3.0, "r": 4.0}, {"auto": 1.0}), "m")
    figure.canvas.draw()
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["2", "3", "4"]


def test_a_real_simulation():
    found = sp.simulate(sp.BestArm(3), sp.Bernoulli([0.9, 0.5, 0.2]), ["auto", "uniform"], delta=[0.1, 0.01], runs=5, executor=1)
    axes = samples_against(found).axes[0]
    assert sorted(axes.lines[0].get_ydata()) == sorted(rows_of(found, policy="auto")["mean"])
    texts_inside(errors(found))
    texts_inside(compare(found))


# -- from the command line ---------------------------------------------------------------------------------------------

STUDY = """
delta = 0.1
arms = ["red", "blue", "green"]
problem = { kind = "top-k", k = 1 }
simulate = { kind = "bernoulli", p = [0.9, 0.5, 0.2] }
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.mark.parametrize(("deltas", "names"), [((0.1,), ["compare", "errors"]), ((0.1, 0.01), ["compare", "errors", "delta"])])
def test_simulate_saves_pictures(ask, study, tmp_path, deltas, names):
    given = [part for delta in deltas for part in ("--delta", delta)]
    answer = ask("simulate", study, "--runs", 3, "--processes", 1, *given, "--plot", tmp_path / "new" / "p")
    assert answer["pictures"] == [str(tmp_path / "new" / "p" / f"{name}.png") for name in names]
    for path in answer["pictures"]:
        png(Path(path))


def test_of_very_many_arms_a_run_is_not_recorded(ask, study, tmp_path, monkeypatch):
    monkeypatch.setattr("surepick.cli.run.RECORDED", 2)
    always = ["intervals.png", "samples.png"]
    for options, names in (([], always), (["--epsilon", 0.3], [*always, "gap.png"])):
        answer = ask("run", study, *options, "--plot", tmp_path)
        assert [Path(p).name for p in answer["pictures"]] == names
