"""surepick compare: what scores that are there say, and how many of them would have been enough."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .talk import AsJson, Plot, emit, open_folder, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..explorer import Explorer
    from ..problems import Ranking, TopK
    from ..study import Results
    from ..study.results.orders import Told
    from ..study.results.standing import Standing


def compare(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="Tables (.csv, .tsv, .parquet, .npy, .npz), samples_*.jsonl of lm-evaluation-harness, "
            "per_instance_stats.json of HELM, or folders with such logs.",
            show_default=False,
        ),
    ],
    top: Annotated[int, typer.Option(metavar="K", min=1, help="How many of the best are wanted.")] = 1,
    ranking: Annotated[bool, typer.Option("--ranking", help="The whole order is wanted.")] = False,
    epsilon: Annotated[float, typer.Option(help="What candidates may be worse by, in units of the score.", min=0.0)] = 0.0,
    delta: Annotated[float, typer.Option(help="Probability of a wrong decision, had fewer scores been taken.")] = 0.05,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TASK=]NAME",
            help="Which score, if there are several: exact_match,strict-match. With TASK= in front it is that of a task; may be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="drop|NUMBER",
            help="Leave items with missing scores out for all, or what a missing score counts as; otherwise they are refused.",
            show_default=False,
        ),
    ] = None,
    candidate: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Compare only this one; may be repeated.", show_default=False)
    ] = None,
    low: Annotated[float, typer.Option(help="The least that a score can be.")] = 0.0,
    high: Annotated[float, typer.Option(help="The most that a score can be.")] = 1.0,
    minimise: Annotated[bool, typer.Option("--minimise", help="The smallest mean is the best.")] = False,
    seed: Annotated[int, typer.Option(help="Of the first random order; the others follow.", min=0)] = 0,
    orders: Annotated[int, typer.Option(metavar="N", help="Random orders in which the scores are told.", min=0)] = 20,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Say who is best, and how many scores were enough.

    All candidates were judged on the same items. With every score there, who is best on these items is known and not
    estimated. Then the same scores are told in random orders, as if they were taken one item after another, until the
    decision is certain: so many would have been enough.

    Ctrl-C stops and prints what is known so far (exit code 130).
    """
    from ..errors import SettingError
    from ..settings import Settings
    from ..study import read_results
    from ..study.results.standing import standing
    from .comparison import Comparison, payload, show

    Settings(delta=delta, epsilon=epsilon)  # raises what is wrong with them
    if ranking and top != 1:
        raise SettingError(
            f"--ranking asks for the whole order, and --top {top} for a part of it: give one of the two.", key="top"
        )
    scores = read_results(*files, metric=_metric(metric), missing=_worth(missing), candidates=candidate)
    problem = _problem(scores, None if ranking else top, low, high, minimise)
    if plot is not None:
        open_folder(plot)  # better now than after a long run
    truth = standing(scores, top, epsilon=epsilon, sense=problem.sense, span=high - low)
    told, interrupted = _told(scores, problem, truth, range(seed, seed + orders), delta, epsilon)
    found = Comparison(scores, problem, truth, delta, epsilon, told, orders, interrupted)
    pictures = _pictures(told[0].explorer, plot) if plot is not None and told else []
    if as_json:
        emit(payload(found, files, pictures))
    else:
        show(found)
        for picture in pictures:
            say(f"Saved {picture}")
    if interrupted:
        raise typer.Exit(130)


# -- what is compared --------------------------------------------------------------------------------------------------------


def _metric(given: list[str] | None) -> str | dict[str, str] | None:
    """One name for all, or one for every task."""
    from ..errors import SettingError

    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    found: dict[str, str] = {}
    for one in given:
        task, sign, name = one.rpartition("=")
        if not (sign and task and name) or task in found:
            raise SettingError(
                f"--metric {one}: where there are several, each is that of another task, such as --metric gsm8k=exact_match "
                "--metric boolq=acc.",
                key="metric",
            )
        found[task] = name
    return found


def _worth(missing: str | None) -> str | float | None:
    from ..errors import SettingError

    if missing is None or missing == "drop":
        return missing
    try:
        return float(missing)
    except ValueError:
        raise SettingError(
            f"--missing {missing}: say drop, which leaves items out for all candidates, or the number that a missing score "
            "counts as.",
            key="missing",
        ) from None


def _problem(scores: Results, top: int | None, low: float, high: float, minimise: bool) -> TopK | Ranking:
    import numpy as np

    from ..arms import Arm
    from ..errors import SettingError
    from ..problems import Ranking, TopK

    m, names = scores.m, scores.candidates
    assert names is not None
    if m < 2:
        why = "".join(f" {note}" for note in scores.notes if note.startswith("All ") and " of one candidate" in note)
        raise SettingError(
            f"There is only one candidate, {names[0]!r}, so there is nothing to compare; give files of others.{why}"
        )
    if top is not None and top >= m:
        raise SettingError(f"--top {top}: there are {m} candidates, so choose at most {m - 1} of them.", key="top")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SettingError(f"--low {low:g} and --high {high:g}: the least that a score can be must be below the most.", key="low")
    bad = np.argwhere((scores.table < low) | (scores.table > high))
    if len(bad):
        i, j = bad[0].tolist()
        item = j if scores.items is None else scores.items[j]
        raise SettingError(
            f"The score of {names[i]!r} on item {item!r} is {scores.table[i, j]:g}, not from {low:g} to {high:g}"
            f"{f', and {len(bad) - 1:,} more are not' if len(bad) > 1 else ''}: say the least and the most that a score can be, "
            "such as --low 0 --high 100. What it can be, and not what it was: bounds must not be chosen by the scores.",
            key="high" if scores.table[i, j] > high else "low",
        )
    arms: list[str | Arm] = [Arm(name, low=low, high=high) for name in names]
    return (
        Ranking(arms, sense="min" if minimise else "max") if top is None else TopK(arms, top, sense="min" if minimise else "max")
    )


def _told(
    scores: Results, problem: TopK | Ranking, truth: Standing, seeds: Sequence[int], delta: float, epsilon: float
) -> tuple[list[Told], bool]:
    """Every order told to its end; and whether Ctrl-C stopped it."""
    from contextlib import closing

    from ..study.results.orders import Told, tell_in_order
    from .watch import CtrlC

    found: list[Told] = []
    with CtrlC() as keys, Bar(len(seeds)) as bar:
        try:
            for seed in seeds:
                with closing(tell_in_order(scores, problem, truth, seed, delta=delta, epsilon=epsilon)) as going:
                    for look in going:
                        if isinstance(look, Told):
                            found.append(look)
                        elif keys.pressed:
                            return found, True
                        bar.look(len(found), look if isinstance(look, int) else 0)
                if keys.pressed and len(found) < len(seeds):
                    return found, True
        except KeyboardInterrupt:
            return found, True
    return found, False


class Bar:
    """Orders so far, on standard error if that is a terminal."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.bar: Any = None

    def __enter__(self) -> Bar:
        from .talk import console

        shown = console(stderr=True)
        if shown.is_terminal and self.total:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(
                BarColumn(bar_width=24), TextColumn("{task.description}", markup=False), TimeRemainingColumn(),
                console=shown, transient=True,
            )  # fmt: skip
            self.task: Any = self.bar.add_task("starting", total=self.total)
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def look(self, done: int, samples: int) -> None:
        if self.bar is not None:
            now = f", {samples:,} scores in this one" if samples else ""
            self.bar.update(self.task, completed=done, description=f"{done} of {self.total} orders{now}")


def _pictures(explorer: Explorer, folder: Path) -> list[str]:
    """Pictures of the first order. The one place where they are made."""
    from ..lab import evaluations, ranks, save, standings

    pool = explorer.problem.pool
    title = "" if pool is None else f"What would have been enough, in the order of seed {pool.seed}"
    figures = {"standings.png": standings(explorer, title=title), "evaluations.png": evaluations(explorer, title=title)}
    if explorer.certificate().above is not None:
        figures["ranks.png"] = ranks(explorer.certificate(), title=title)
    return [str(save(figure, folder / name)) for name, figure in figures.items()]
