"""What logs of the harness and of HELM share: which score is meant, and whether an item is the same for all candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ...errors import StudyError
from .found import LISTED, listing, many


class Sameness:
    """That what stands behind an item is the same for all candidates: the first to have it sets what the others must have."""

    def __init__(self, what: str) -> None:
        self.what = what  # e.g. "doc_hash"
        self.first: dict[str, tuple[str, str, str]] = {}  # of an item: the mark, whose it is, and where
        self.others: list[tuple[str, str, str, str, str]] = []  # item, and the two who differ

    def look(self, item: str, mark: str, candidate: str, where: str) -> None:
        known = self.first.setdefault(item, (mark, candidate, where))
        if known[0] != mark:
            self.others.append((item, known[1], known[2], candidate, where))

    def settle(self) -> None:
        if not self.others:
            return
        item, one, here, other, there = self.others[0]
        more = len({entry[0] for entry in self.others}) - 1
        also = f", as on {many(more, 'other item')}" if more else ""
        raise StudyError(
            f"Item {item!r} is not the same for {one!r} ({here}) and {other!r} ({there}): they differ in {self.what}"
            f"{also}. Only answers to the same questions can be compared: run both on the "
            "same version of the data, or leave one out."
        )


Metric = str | Mapping[str, str] | None  # the name of a score, or one for every task


class Wanted:
    """Which score counts: one for all, or of every task its own.

    Tasks are called as in the logs; of what HELM calls them the scenario is enough.
    """

    def __init__(self, metric: Metric, tasks: Iterable[str]) -> None:
        self.metric: Metric = metric
        self.tasks: list[str] = list(dict.fromkeys(tasks))
        if not isinstance(metric, Mapping):
            return
        for task in metric:
            if not any(self._names(task, one) for one in self.tasks):
                raise StudyError(
                    f"metric names the task {task!r}, and there is none; the tasks are "
                    f"{listing(map(repr, self.tasks), LISTED) or 'none, for these are tables'}.",
                    key="metric",
                )

    @staticmethod
    def _names(said: str, task: str) -> bool:
        return said == task or task.partition(":")[0] == said

    def group(self, task: str) -> str:
        """Tasks of one group have the same score."""
        if not isinstance(self.metric, Mapping):
            return ""
        return task if task in self.metric else next((said for said in self.metric if self._names(said, task)), "")

    def of(self, group: str) -> str | None:
        """The score of such a group; None if it was not said."""
        return self.metric.get(group) if isinstance(self.metric, Mapping) else self.metric

    def told(self, chosen: Mapping[str, str]) -> str:
        """All scores that count, as one name."""
        if set(chosen) == {""}:
            return chosen[""]
        return "; ".join(f"{name} ({group or 'other tasks'})" for group, name in sorted(chosen.items(), key=lambda x: x[0] == ""))


def only(names: Iterable[str], what: str) -> str:
    """The one score that is there; a choice is the user's."""
    found = list(dict.fromkeys(names))
    if len(found) == 1:
        return found[0]
    raise StudyError(f"{what} several scores of an item: choose one with metric (--metric): {listing(map(repr, found), LISTED)}.",
                     key="metric")  # fmt: skip


def lacks(path: Path, metric: str, names: Iterable[str]) -> StudyError:
    """A file without the score that is meant."""
    there = listing(map(repr, dict.fromkeys(names)), LISTED)
    return StudyError(
        f"{path}: it has no score {metric!r}{f', only {there}' if there else ''}. Give files that have it, or choose another one "
        'with metric (--metric); tasks may have different ones, metric={"TASK": "NAME"} (--metric TASK=NAME).',
        key="metric",
    )
