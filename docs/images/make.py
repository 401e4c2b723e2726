"""Draws the pictures of the documentation from real runs: ``.venv/bin/python docs/images/make.py``, about seven minutes."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from PIL import Image

import surepick as sp
from surepick.cli import main
from surepick.run.drive import drive

HERE = Path(__file__).parent
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"  # Okabe and Ito's, as in surepick.lab.plots
PAPER = {"policy": "coci", "confidence": "paper"}

TOP = sp.TopK(10, 3)
COINS = sp.Bernoulli([0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25])
SURVEY = sp.SampleAllocation([100, 200, 300, 150, 250], budget=30)
YES = sp.Bernoulli([0.50, 0.30, 0.15, 0.05, 0.02])


def mean_samples(problem: sp.Problem, world: sp.Environment, runs: int, batch: int = 1, **settings: object) -> float:
    samples = []
    for run in range(runs):
        explorer = sp.Explorer(problem, **settings)
        drive(explorer, world, batch=batch, seed=0, run=run)
        samples.append(explorer.samples)
    return float(np.mean(samples))


def deltas() -> None:
    """Samples against delta."""
    grid = np.array([0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
    figure, axes = canvas(2)
    for place, title, settings, look in (
        (axes[0], "default settings", {}, {"color": BLUE, "marker": "o"}),
        (axes[1], "the paper's COCI", PAPER, {"color": ORANGE, "marker": "s"}),
    ):
        mean = [mean_samples(TOP, COINS, 100, delta=d, **settings) for d in grid]
        place.plot(grid, mean, markersize=4, linewidth=1.6, **look)
        place.set_xscale("log")
        place.set_xlim(1.0, 4e-10)
        place.set_xticks([1e-1, 1e-3, 1e-5, 1e-7, 1e-9], ["0.1", "0.001", "10⁻⁵", "10⁻⁷", "10⁻⁹"])
        place.set_ylim(0, 1.15 * max(mean))
        at = mean[list(grid).index(0.05)]
        place.annotate(
            f"{at:,.0f} at δ = 0.05", (0.05, at), (0.02, 0.62 * at), color=GREY, fontsize=9,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.8, "shrinkB": 4},
        )  # fmt: skip
        tidy(place, title, "δ (smaller to the right)", "mean samples")
    save(figure, "delta.png")


def epsilons() -> None:
    """Samples against epsilon."""
    figure, axes = canvas(2)
    grid = np.array([0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01])
    curve(axes[0], grid, [mean_samples(TOP, COINS, 40, 10, epsilon=e) for e in grid], mean_samples(TOP, COINS, 100))
    tidy(axes[0], "top 3 of 10", "ε, in units of the reward", "mean samples")
    grid = np.array([0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01])
    curve(
        axes[1], grid, [mean_samples(SURVEY, YES, 40, 20, epsilon=e, relative=True) for e in grid],
        mean_samples(SURVEY, YES, 10),
    )  # fmt: skip
    tidy(axes[1], "30 interviews over 5 groups", "ε, relative", "")
    axes[1].set_xticks([0.5, 0.2, 0.1, 0.05, 0.02, 0.01], ["50 %", "20 %", "10 %", "5 %", "2 %", "1 %"])
    save(figure, "epsilon.png")


def curve(place: Axes, grid: np.ndarray, mean: list[float], exact: float) -> None:
    place.axhline(exact, color=ORANGE, linestyle="dashed", linewidth=1.4)
    place.text(0.55, exact, f"exactly the best: {exact:,.0f}", color=ORANGE, fontsize=9, va="bottom", ha="left")
    place.plot(grid, mean, "o-", color=BLUE, markersize=4, linewidth=1.6)
    place.set_xscale("log")
    place.set_xlim(0.65, 0.008)
    place.set_xticks([0.5, 0.2, 0.1, 0.05, 0.02, 0.01], ["0.5", "0.2", "0.1", "0.05", "0.02", "0.01"])
    place.set_ylim(0, 1.2 * max(*mean, exact))


def gaps() -> None:
    """The certified gap while samples come in."""
    figure, axes = canvas(2)
    for settings, look, label in (
        ({}, {"color": BLUE}, "default"),
        (PAPER, {"color": ORANGE, "linestyle": "dashed"}, "the paper's COCI"),
    ):
        t, gap = zip(*falling(sp.Explorer(TOP, **settings), COINS, 1.03), strict=True)
        axes[0].plot(t, gap, linewidth=1.6, label=label, **look)
    tidy(axes[0], "top 3 of 10", "samples", "certified gap")
    axes[0].set_ylim(0, 3.1)
    for settings, look, label in (
        ({"epsilon": 0.01}, {"color": BLUE}, "default"),
        ({"epsilon": 0.01, **PAPER, "budget": 2_000_000}, {"color": ORANGE, "linestyle": "dashed"}, "the paper's COCI"),
    ):
        t, gap = zip(*falling(sp.Explorer(SURVEY, relative=True, **settings), YES, 1.03), strict=True)
        axes[1].plot(t, 100 * np.array(gap), linewidth=1.6, label=label, **look)
    tidy(axes[1], "30 interviews over 5 groups", "samples", "certified gap")
    axes[1].set_yscale("log")
    axes[1].set_ylim(0.8, 400)
    axes[1].set_yticks([1, 5, 20, 100], ["1 %", "5 %", "20 %", "100 %"])
    axes[1].yaxis.set_minor_formatter(NullFormatter())
    for place in axes:
        place.set_xscale("log")
        place.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x < 1e6 else f"{x / 1e6:g} M"))
        place.legend(frameon=False, fontsize=9, loc="upper right")
    save(figure, "gap.png")


def falling(explorer: sp.Explorer, world: sp.Environment, factor: float) -> Iterator[tuple[int, float]]:
    """Samples and gap, looked at whenever there are that many times more samples, until it is done."""
    rngs = [np.random.default_rng([7, i]) for i in range(explorer.problem.m)]
    while arms := explorer.ask(max(1, int((factor - 1) * explorer.samples))):
        for arm, n in zip(*np.unique(arms, return_counts=True), strict=True):
            explorer.tell(int(arm), world.sample(int(arm), int(n), rngs[arm]))
        gap = explorer.certificate().gap
        if explorer.samples >= 100 and np.isfinite(gap):
            yield explorer.samples, gap


def commands() -> None:
    """The pictures that commands save."""
    posters = str(HERE.parents[1] / "examples" / "top-k.toml")
    for arguments, saved, picture in (
        (["demo", "--folder", "{}"], "gap.png", "pilot.png"),
        (["run", posters, "--budget", "3000", "--plot", "{}"], "intervals.png", "undecided.png"),
    ):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            with contextlib.suppress(SystemExit):
                main([part.format(folder) for part in arguments])
            small(Path(folder) / saved, HERE / picture)


def page() -> None:
    """The pictures of docs/pictures.md, by its own code."""
    text = (HERE.parent / "pictures.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for code in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            exec(code, names)
        for saved in Path(folder).iterdir():
            if saved.suffix == ".gif":
                shutil.copy(saved, HERE / saved.name)
            else:
                small(saved, HERE / saved.name)


def yields() -> None:
    """Intervals of six varieties after 60 plots each, by the bounds alone and by default."""
    plots = pd.read_csv(HERE.parent.parent / "examples" / "yields.csv")
    names = list(plots["arm"].unique())
    problem = sp.BestArm([sp.Arm(name, low=0, high=12) for name in names])
    figure, (place,) = canvas(1)
    for off, confidence, colour, label in ((0.17, "beta", GREY, "bounds alone"), (-0.17, "auto", BLUE, "default")):
        explorer = sp.Explorer(problem, policy="joint", confidence=confidence)
        explorer.tell_frame(plots[plots["order"] <= 60][["arm", "value"]])
        certificate = explorer.certificate()
        y = np.arange(len(names))[::-1] + off
        place.hlines(y, certificate.lower, certificate.upper, color=colour, linewidth=3, label=label)
        place.plot(certificate.estimate, y, "o", color="white", markeredgecolor=colour, markersize=5)
    tidy(place, "60 plots of each variety", "yield, tonnes a hectare", "")
    place.set_xlim(0, 12)
    place.set_yticks(np.arange(len(names))[::-1], names)
    place.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(0.0, 1.0))
    save(figure, "real-data.png")


def canvas(columns: int) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(7.5, 2.9), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, columns)))


def tidy(place: Axes, title: str, x: str, y: str) -> None:
    place.set_title(title, fontsize=10, loc="left")
    place.set_xlabel(x, fontsize=9)
    place.set_ylabel(y, fontsize=9)
    place.tick_params(labelsize=8.5)
    place.xaxis.set_minor_formatter(NullFormatter())
    place.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 10 or v == int(v) else f"{v:g}"))
    place.grid(color="#E5E5E5", linewidth=0.8)
    place.set_axisbelow(True)
    for side in ("top", "right"):
        place.spines[side].set_visible(False)


def save(figure: Figure, name: str) -> None:
    figure.savefig(HERE / name, dpi=120)
    small(HERE / name, HERE / name)


def small(source: Path, target: Path) -> None:
    """The picture in 64 colours, which takes a third of the bytes."""
    Image.open(source).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    deltas()
    epsilons()
    gaps()
    commands()
    page()
    yields()
