"""Sample logs of lm-evaluation-harness: ``OUTPUT/MODEL/samples_TASK_DATE.jsonl``, one line an item and filter.

They are written with ``--log_samples``. Lines of 2024 and before may have neither ``filter`` nor ``metrics`` nor hashes. A file
with another name is one candidate, called as the file is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import StudyError
from .found import Column, Found, as_score, bare, json_lines, listing, many, tabled, unknown
from .logs import Metric, Sameness, Wanted, lacks, only

NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[-:.\d]+))?\.jsonl?")
NOT_SCORES = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash",
}  # fmt: skip
UNSCORED = "bypass"  # what the harness writes with --predict_only
NO_FILTER = (None, "none")


@dataclass(frozen=True)
class Log:
    """A file, and what its place says about it."""

    path: Path
    candidate: str
    task: str
    date: str

    def item(self, doc: Any) -> str:
        return f"{self.task}/{doc}" if self.task else str(doc)


@dataclass(frozen=True)
class Line:
    """What is kept of a line."""

    number: int
    doc: Any
    filter: str | None
    scores: dict[str, Any]
    hashes: dict[str, str]


def read_lm_eval(paths: Sequence[Path], metric: Metric, names: Sequence[str] | None = None) -> Found:
    """All logs as one table; those of other candidates than these are not opened."""
    every = _told_apart([_log(path) for path in paths])
    logs, notes = _newest([log for log in every if names is None or log.candidate in names])
    if not logs:
        raise unknown((names or [""])[0], (log.candidate for log in every))
    lines = {log: list(_lines(log.path)) for log in logs}
    wanted, chosen = Wanted(metric, (log.task for log in logs)), dict[str, tuple[str, str | None]]()
    for group in dict.fromkeys(wanted.group(log.task) for log in logs):
        inside = {log: found for log, found in lines.items() if wanted.group(log.task) == group}
        chosen[group] = _choice(inside, wanted.of(group))
    same = {key: Sameness(key) for key in ("doc_hash", "target_hash")}
    prompts, columns, again = Sameness("prompt_hash"), dict[str, dict[str, float]](), 0
    keys: dict[str, tuple[str, bool, int, str]] = {}
    for log in logs:
        column = Column(log.path, "line", log.candidate)
        name, filter_ = chosen[wanted.group(log.task)]
        meant = [line for line in lines[log] if line.filter == filter_ or (filter_ in NO_FILTER and line.filter in NO_FILTER)]
        if not any(name in line.scores for line in meant):
            raise lacks(log.path, _told(name, filter_), _offered(lines[log]))
        for line in meant:
            item = log.item(line.doc)
            keys[item] = (log.task, not str(line.doc).isdigit(), int(line.doc) if str(line.doc).isdigit() else 0, str(line.doc))
            column.enter(item, _score(log.path, line, name), line.number, _filters_unsaid(line))
            for key, marks in (*same.items(), ("prompt_hash", prompts)):
                if key in line.hashes:
                    marks.look(item, line.hashes[key], log.candidate, f"{log.path}, line {line.number}")
        again += column.again
        columns.setdefault(log.candidate, {}).update(column.scores)
    for marks in same.values():
        marks.settle()
    tasks = {log.task for log in logs}
    if len(tasks) > 1:
        notes.append(f"There are {len(tasks):,} tasks. All their items count alike: the mean is over items.")
    if prompts.others:
        differ = many(len({entry[0] for entry in prompts.others}), "item")
        notes.append(f"The prompts differ between candidates on {differ}, as they do with other templates or examples.")
    if again:
        notes.append(f"What {many(again, 'line')} said before counts once.")
    items = sorted(keys, key=keys.__getitem__)
    notes += _flat(logs)
    name = wanted.told({group: _told(*one) for group, one in chosen.items()})
    return Found(tabled(columns, items), list(columns), items, name, [log.path for log in logs], notes)


# -- files -------------------------------------------------------------------------------------------------------------------


def _log(path: Path) -> Log:
    match = NAME.fullmatch(bare(path))
    if match is None:
        return Log(path, bare(path).rpartition(".")[0], "", "")
    return Log(path, path.resolve().parent.name, match["task"], (match["date"] or "").replace(":", "-"))


def _newest(logs: list[Log]) -> tuple[list[Log], list[str]]:
    """Of a model and a task the file with the last date, if all are in the model's folder."""
    found: dict[tuple[str, str], list[Log]] = {}
    for log in logs:
        found.setdefault((log.candidate, log.task), []).append(log)
    kept, notes = [], []
    for (candidate, task), several in found.items():
        several.sort(key=lambda log: log.date)
        one, last = several[0], several[-1]
        if len(several) > 1:
            if any(log.path.resolve().parent != last.path.resolve().parent or not log.date for log in several):
                raise StudyError(
                    f"{one.path} and {last.path} both hold {f'task {task!r} of ' if task else ''}{candidate!r}: give one "
                    "of them, or rename the folder of one if they are two candidates."
                )
            notes.append(
                f"{candidate!r} has {len(several)} files of task {task!r}: the newest counts, {last.path.name}, and not "
                f"{listing(log.path.name for log in several[:-1])}."
            )
        kept.append(last)
    return sorted(kept, key=lambda log: (log.candidate, log.task)), notes


def _flat(logs: list[Log]) -> list[str]:
    """That a folder is a candidate, where all logs are in one and say nothing of models."""
    folders = {log.path.resolve().parent for log in logs}
    if len(logs) < 2 or len(folders) > 1 or len({log.candidate for log in logs}) > 1 or not all(log.task for log in logs):
        return []
    tasks = listing(log.task for log in logs)
    return [
        f"All {len(logs):,} logs are of one candidate, {logs[0].candidate!r}: the folder that a log is in names its model, and "
        f"what is between samples_ and the date names its task ({tasks}). If they are of several models, put those of each into "
        "a folder that is called as the model is: MODEL/samples_TASK.jsonl."
    ]


def _told_apart(logs: list[Log]) -> list[Log]:
    """With --output_path FILE.json the logs of all models are in one folder; the results beside them, of the same date, say
    whose they are."""
    folders: dict[Path, list[Log]] = {}
    for log in logs:
        folders.setdefault(log.path.resolve().parent, []).append(log)
    found = []
    for folder, inside in folders.items():
        names = {}
        if len({log.date for log in inside if log.date}) > 1:
            names = {log.date: name for log in inside if log.date and (name := _model(folder, log.date))}
        several = len(set(names.values())) > 1
        found += [replace(log, candidate=names.get(log.date, log.candidate)) if several else log for log in inside]
    return found


def _model(folder: Path, date: str) -> str | None:
    for path in sorted(folder.glob(f"*_{date}.json")):
        try:
            name = json.loads(path.read_text(encoding="utf-8")).get("model_name")
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(name, str) and name:
            return name
    return None


# -- lines -------------------------------------------------------------------------------------------------------------------


def _lines(path: Path) -> Iterable[Line]:
    number = 0
    for number, data in json_lines(path):
        if not isinstance(data, dict) or "doc_id" not in data:
            raise StudyError(
                f"{path}, line {number}: there is no doc_id, so this is no sample log of lm-evaluation-harness, which writes "
                "them with --log_samples."
            )
        listed = data.get("metrics")
        names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else data.keys() - NOT_SCORES
        scores = {name: data.get(name) for name in names if name != UNSCORED}
        if not isinstance(listed, list):  # what else such lines hold is no score
            scores = {name: x for name, x in sorted(scores.items()) if isinstance(x, (bool, int, float))}
        hashes = {key: data[key] for key in ("doc_hash", "target_hash", "prompt_hash") if isinstance(data.get(key), str)}
        filter_ = data.get("filter")
        yield Line(number, data["doc_id"], None if filter_ is None else str(filter_), scores, hashes)
    if not number:
        raise StudyError(f"{path}: the file is empty; run the model anew, or leave the file out.")


def _score(path: Path, line: Line, name: str) -> float:
    try:
        return as_score(line.scores.get(name))
    except ValueError as error:
        raise StudyError(f"{path}, line {line.number}, {name}: {error}; choose another metric.", key="metric") from None


def _filters_unsaid(line: Line) -> str:
    if line.filter is not None:
        return ""
    return (
        ". A harness of 2024 or before writes one line for every filter and does not say which: keep the lines of one filter, or "
        "run a newer one"
    )


# -- which score -------------------------------------------------------------------------------------------------------------


def _told(name: str, filter_: str | None) -> str:
    return name if filter_ in NO_FILTER else f"{name},{filter_}"


def _offered(lines: Iterable[Line]) -> list[str]:
    """All scores of a file, as the harness writes them."""
    return list(dict.fromkeys(_told(name, line.filter) for line in lines for name in line.scores))


def _choice(lines: dict[Log, list[Line]], metric: str | None) -> tuple[str, str | None]:
    """The name and the filter of the score that is meant."""
    offered = {log: _offered(inside) for log, inside in lines.items()}
    for log, names in offered.items():
        if not names:
            raise StudyError(
                f"{log.path}: its lines have no score; the harness writes none with --predict_only. Leave the file out, or have "
                "the answers judged."
            )
    every = list(dict.fromkeys(name for names in offered.values() for name in names))
    if metric is None:
        told = only(every, "The logs hold")
    else:
        plain = metric.removesuffix(",none")
        # without its filter a name stands for the one filter that there is
        fits = [name for name in every if (name if "," in metric else name.partition(",")[0]) == plain]
        if not fits:
            raise lacks(next(iter(lines)).path, metric, every)
        told = only(fits, f"{metric} has several filters, and so there are")
    name, _, filter_ = told.partition(",")
    return name, filter_ or None
