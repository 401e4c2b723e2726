"""surepick simulate: compare policies over many runs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Budget, CostBudget, Dependent, Epsilon, PerArm, Relative, Seed
from .talk import AsJson, File, Plot, emit, number, open_folder, plain, say, table

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..lab import Simulation, Standing

CONNECT = 5  # seconds to wait for a cluster


def simulate(
    file: File,
    runs: Annotated[int, typer.Option(metavar="N", help="Runs of every policy at every delta.")] = 100,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="coci, ts-explore:q=0.3, coci/paper, ...; may be repeated.", show_default=False),
    ] = None,
    delta: Annotated[
        list[float] | None, typer.Option(help="Probability of a wrong decision; may be repeated.", show_default=False)
    ] = None,
    epsilon: Epsilon = None,
    relative: Relative = None,
    per_arm: PerArm = None,
    dependent: Dependent = None,
    budget: Budget = None,
    cost_budget: CostBudget = None,
    seed: Seed = None,
    processes: Annotated[
        int | None, typer.Option(metavar="P", help="Processes.  [default: one on every core]", min=1, show_default=False)
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler: tcp://host:port.", show_default=False)
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep results there, and go on from there.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the table of runs: .parquet or .csv.", show_default=False)
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Run policies many times on a simulated truth, and compare them.

    The truth is FILE's [simulate] table. Options replace the study's own settings. All policies see the same samples.
    With --store, results are kept as they come: the same command goes on after Ctrl-C (exit code 130) or a crash, and more
    runs, policies or deltas are added to what is there.
    """
    from ..errors import SettingError, StudyError
    from ..lab import simulate as measure
    from ..lab.simulation import check_path
    from ..study import load

    spec = load(file).replace(
        epsilon=epsilon,
        relative=relative,
        per_arm=per_arm,
        dependent=dependent,
        budget=budget,
        cost_budget=cost_budget,
        seed=seed,
    )
    if spec.environment is None:
        raise StudyError(f"{file}, key simulate: there is no truth to draw from; add a [simulate] table.")
    if spec.spend:
        raise StudyError(f"{file}, key spend: simulated runs stop when they are certified; leave out spend.")
    if processes is not None and cluster is not None:
        raise SettingError("--processes and --cluster both say where runs are done; give only one of them.")
    if out is not None:
        check_path(out)
    if plot is not None:
        open_folder(plot)  # better now than after a long run
    last: list[Standing] = []
    with _executor(cluster) as executor, _bar(as_json) as show:

        def look(standing: Standing) -> None:
            last[:] = [standing]
            show(standing)

        try:
            found = measure(
                {spec.title or spec.problem.kind: (spec.problem, spec.environment)},
                policies=policy or [(spec.policy, spec.confidence)],
                delta=delta or spec.delta,
                runs=runs,
                seed=spec.seed,
                epsilon=spec.epsilon,
                relative=spec.relative,
                per_arm=spec.per_arm,
                dependent=spec.dependent,
                budget=spec.budget,
                cost_budget=spec.cost_budget,
                executor=processes if executor is None else executor,
                store=store,
                progress=look,
            )
        except KeyboardInterrupt:
            _stopped(last, store, as_json)
            raise typer.Exit(130) from None
    if out is not None:
        found.save(out)
    pictures = [] if plot is None else _pictures(found, plot, spec.title)
    rows = found.summary.to_dict("records")
    if as_json:
        emit(
            {
                "file": str(file),
                "title": spec.title,
                "problem": spec.problem.kind,
                **found.settings,
                "interrupted": False,
                "summary": [{k: plain(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows],
                "store": None if store is None else str(store),
                "out": None if out is None else str(out),
                "pictures": pictures,
            }
        )
        return
    if spec.title:
        say(spec.title, "bold")
    show_summary(rows)
    if store is not None:
        say(f"Results are in {store}")
    for saved in [*([] if out is None else [str(out)]), *pictures]:
        say(f"Saved {saved}")


def _pictures(found: Simulation, folder: Path, title: str) -> list[str]:
    """Policies side by side, their errors and, if there are several deltas, samples against delta."""
    from ..lab import compare, errors, samples_against, save

    figures = {"compare.png": compare(found, title=title), "errors.png": errors(found, title=title)}
    if found.table["delta"].nunique() > 1:
        figures["delta.png"] = samples_against(found, title=title)
    return [str(save(figure, folder / name)) for name, figure in figures.items()]


def show_summary(rows: list[dict[str, Any]]) -> None:
    """A line a policy and delta."""
    bounded = any(math.isfinite(row["lower_bound"]) for row in rows)
    priced, dear = "cost" in rows[0], any(math.isfinite(row.get("cost_lower_bound", math.nan)) for row in rows)
    table(
        [
            "policy",
            "δ",
            "runs",
            "wrong (95 % interval)",
            "samples ± se",
            "median",
            "5–95 %",
            *(["× bound"] * bounded),
            *(["cost ± se"] * priced),
            *(["× bound"] * dear),
        ],
        [
            (
                row["policy"],
                f"{row['delta']:g}",
                f"{row['runs']:,}",
                f"{row['errors']:,} ({_percent(row['error_low'])}–{_percent(row['error_high'])} %)",
                f"{row['mean']:,.0f}" + ("" if math.isnan(row["se"]) else f" ± {row['se']:,.0f}"),
                f"{row['median']:,.0f}",
                f"{row['q05']:,.0f}–{row['q95']:,.0f}",
                *([number(row["ratio"])] * bounded),
                *([_with_error(row["cost"], row["cost_se"])] if priced else []),
                *([number(row["cost_ratio"])] if dear else []),
            )
            for row in rows
        ],
    )
    for row in rows:
        if row["certified"] < row["runs"]:
            say(
                f"{row['policy']}, δ = {row['delta']:g}: {row['runs'] - row['certified']:,} runs spent their budget uncertified; "
                "they are not among the wrong ones.",
                "yellow",
            )
        if row["error_low"] > row["delta"]:
            say(f"{row['policy']} is wrong more often than δ = {row['delta']:g} allows.", "bold red")
    if bounded:
        least = sorted({row["delta"]: row["lower_bound"] for row in rows}.items(), reverse=True)
        say("No policy takes fewer samples on average than " + ", ".join(f"{b:,.0f} at δ = {d:g}" for d, b in least) + ".")
    if dear:
        least = sorted({row["delta"]: row["cost_lower_bound"] for row in rows}.items(), reverse=True)
        say("No policy spends less on average than " + ", ".join(f"{b:,.6g} at δ = {d:g}" for d, b in least) + ".")


def _with_error(mean: float, error: float) -> str:
    """A mean and its standard error, to whole numbers if it is large."""
    form = ",.0f" if mean >= 100 else ",.4g"
    return f"{mean:{form}}" + ("" if math.isnan(error) else f" ± {error:{form}}")


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share else "0"


def _stopped(last: list[Standing], store: Path | None, as_json: bool) -> None:
    done, total = (last[0].done, last[0].total) if last else (0, 0)
    kept = "nothing is kept without --store"
    if store is not None:
        kept = f"they are in {store}, and the same command goes on from there"
    if as_json:
        emit({"interrupted": True, "done": done, "total": total, "store": None if store is None else str(store)})
    else:
        say(f"Stopped by Ctrl-C after {done:,} of {total:,} runs: {kept}.", "yellow")


@contextmanager
def _bar(as_json: bool) -> Iterator[Any]:
    from ..lab.bar import shown

    with shown(not as_json) as show:
        yield show


@contextmanager
def _executor(cluster: str | None) -> Iterator[Executor | None]:
    """The workers of a cluster, if one is named."""
    from ..errors import SettingError

    if cluster is None:
        yield None
        return
    try:
        dask = import_module("distributed")
    except ImportError:
        raise SettingError('--cluster needs Dask, which is not installed: pip install "surepick[cluster]".') from None
    if not re.fullmatch(r"[a-z]+://.+:[0-9]+", cluster):
        raise SettingError(f"--cluster {cluster}: give the address of a Dask scheduler, tcp://host:port.")
    try:
        client = dask.Client(cluster, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SettingError(
            f"--cluster {cluster}: no Dask scheduler answers there ({str(error).splitlines()[0]}); start one with "
            "`dask scheduler` and give its address, tcp://host:port."
        ) from None
    try:
        if not client.scheduler_info()["workers"]:
            raise SettingError(f"--cluster {cluster}: the scheduler has no workers; start some with `dask worker {cluster}`.")
        yield client.get_executor()
    finally:
        client.close()
