"""Per-instance results of HELM: ``runs/SUITE/RUN/per_instance_stats.json``, where the name of a run holds ``model=``.

The same instance comes once for every group of metrics, and once more for every perturbation, which is no item of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ...errors import StudyError
from .found import Column, Found, as_score, json_of, listing, many, tabled, unknown
from .logs import Metric, Sameness, Wanted, lacks, only

MODEL = ("model", "model_deployment")  # what a run's name says about the candidate
TEST = "test"
# What HELM counts beside scores.
COUNTED = re.compile(
    r"(num_|finish_reason_|inference_|training_|batch_size|max_prob|logprob|logit|prompt_truncated|predicted_index)"
)


@dataclass
class Run:
    """A run of one model on one scenario."""

    path: Path
    candidate: str
    task: str
    scores: dict[str, dict[tuple[str, int], dict[str, tuple[Any, int]]]] = field(default_factory=dict)  # by split, instance, name
    perturbed: int = 0


def read_helm(paths: Sequence[Path], metric: Metric, names: Sequence[str] | None = None) -> Found:
    """All runs as one table; those of other candidates than these are not opened."""
    whose = [(*_who(path), path) for path in paths]
    runs = [_run(Run(path, who, task)) for who, task, path in sorted(whose) if names is None or who in names]
    if not runs:
        raise unknown((names or [""])[0], (who for who, *_ in whose))
    for one, other in pairwise(runs):
        if (one.candidate, one.task) == (other.candidate, other.task):
            raise StudyError(f"{one.path} and {other.path} both hold {one.task!r} of {one.candidate!r}; give one of them.")
    notes: list[str] = []
    split = _split(runs, notes)
    wanted, chosen = Wanted(metric, (run.task for run in runs)), dict[str, str]()
    for group in dict.fromkeys(wanted.group(run.task) for run in runs):
        inside = [run for run in runs if wanted.group(run.task) == group]
        every = [name for run in inside for known in run.scores.get(split, {}).values() for name in known]
        # what is counted is seldom meant, but may be asked for
        chosen[group] = wanted.of(group) or only([x for x in every if not COUNTED.match(x)] or every, "The results hold")
    trials = len({trial for run in runs for _, trial in run.scores.get(split, {})}) > 1
    same = Sameness("their text (instances.json)")
    columns: dict[str, dict[str, float]] = {}
    for run in runs:
        instances, name = run.scores.get(split, {}), chosen[wanted.group(run.task)]
        if not any(name in known for known in instances.values()):
            raise lacks(run.path, name, (x for known in instances.values() for x in known if not COUNTED.match(x)))
        column = Column(run.path, "entry", run.candidate)
        texts = _texts(run.path.parent)
        for (instance, trial), known in instances.items():
            item = f"{run.task}/{instance}" + f"/trial {trial}" * trials
            raw, entry = known.get(name, (None, 0))
            column.enter(item, _score(run.path, raw, entry, name), entry)
            if (instance, split) in texts:
                same.look(item, texts[instance, split], run.candidate, str(run.path.parent))
        columns.setdefault(run.candidate, {}).update(column.scores)
    same.settle()
    tasks = {run.task for run in runs}
    if len(tasks) > 1:
        notes.append(f"There are {len(tasks):,} scenarios. All their items count alike: the mean is over items.")
    if perturbed := sum(run.perturbed for run in runs):
        notes.append(f"Left out: {many(perturbed, 'result')} of perturbed instances.")
    items = list(dict.fromkeys(item for scores in columns.values() for item in scores))
    return Found(tabled(columns, items), list(columns), items, wanted.told(chosen), [run.path for run in runs], notes)


def _run(run: Run) -> Run:
    """With the scores that are in its file."""
    path = run.path
    data = json_of(path)
    if not isinstance(data, list):
        raise StudyError(f"{path}: a list of instances is wanted, as HELM writes it, not an object.")
    for number, entry in enumerate(data, 1):
        if not (isinstance(entry, dict) and "instance_id" in entry and isinstance(entry.get("stats"), list)):
            raise StudyError(f"{path}, entry {number}: there is no instance_id, or no list of stats, as HELM writes them.")
        if entry.get("perturbation"):
            run.perturbed += 1
            continue
        key = (str(entry["instance_id"]), int(entry.get("train_trial_index") or 0))
        for stat in entry["stats"]:
            named = stat.get("name") if isinstance(stat, dict) else None
            if not isinstance(named, dict) or not isinstance(named.get("name"), str):
                raise StudyError(f"{path}, entry {number}: one of its stats has no name, as HELM writes them.")
            if named.get("perturbation"):
                continue
            known = run.scores.setdefault(str(named.get("split") or ""), {}).setdefault(key, {})
            _add(path, known, named["name"], stat, number)
    if not run.scores:
        raise StudyError(f"{path}: it has no results of instances; run the model anew, or leave the file out.")
    return run


def _add(path: Path, known: dict[str, tuple[Any, int]], name: str, stat: dict[str, Any], number: int) -> None:
    """A score of an instance; a second one must be the same."""
    count, value = stat.get("count"), stat.get("mean")
    if value is None and count and isinstance(stat.get("sum"), (int, float)):
        value = stat["sum"] / count  # results of 2022 have no mean
    if count == 0:
        value = None
    before = known.setdefault(name, (value, number))
    both_missing = all(isinstance(x, float) and math.isnan(x) for x in (before[0], value))
    if before[0] != value and not both_missing:
        raise StudyError(f"{path}, entry {number}: {name} of an instance is {value}, and {before[0]} in entry {before[1]}.")


def _who(path: Path) -> tuple[str, str]:
    """The model and the rest of the run's name."""
    run = path.resolve().parent.name
    scenario, colon, rest = run.partition(":")
    parts = [part.partition("=") for part in rest.split(",")] if colon else []
    models = {key: value for key, _, value in parts if key in MODEL}
    task = scenario + ":" + ",".join(f"{key}{sign}{value}" for key, sign, value in parts if key not in MODEL)
    if "model" in models:
        return models["model"], task.rstrip(":")
    spec = path.parent / "run_spec.json"
    model = _deep(json_of(spec), "adapter_spec", "model") if spec.exists() else None
    if not isinstance(model, str):
        raise StudyError(
            f"{path}: neither its folder, {run!r}, nor a run_spec.json beside it says which model this is; HELM calls the folder "
            "SCENARIO:...,model=NAME."
        )
    return model, task.rstrip(":")


def _deep(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _split(runs: Sequence[Run], notes: list[str]) -> str:
    """The test split, or the only one."""
    splits = {split: sum(len(run.scores.get(split, {})) for run in runs) for run in runs for split in run.scores}
    if len(splits) == 1:
        return next(iter(splits))
    if TEST not in splits:
        raise StudyError(
            f"The results are of the splits {listing(sorted(splits))}, and none of them is {TEST!r}, so which one "
            "counts cannot be told. Give results of one split."
        )
    others = [f"{count:,} of {split!r}" for split, count in sorted(splits.items()) if split != TEST]
    notes.append(f"Only the split {TEST!r} counts; left out are results of instances: {', '.join(others)}.")
    return TEST


def _score(path: Path, raw: Any, entry: int, name: str) -> float:
    try:
        return as_score(raw)
    except ValueError as error:
        raise StudyError(f"{path}, entry {entry}, {name}: {error}; choose another metric.", key="metric") from None


def _texts(folder: Path) -> dict[tuple[str, str], str]:
    """What every instance asks, if HELM has kept it."""
    path = folder / "instances.json"
    data = json_of(path) if path.exists() else []
    return {
        (str(entry.get("id")), str(entry.get("split") or "")): str(_deep(entry, "input", "text") or entry.get("input"))
        for entry in (data if isinstance(data, list) else [])
        if isinstance(entry, dict) and not entry.get("perturbation")
    }
