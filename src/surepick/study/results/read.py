"""Reads files of any of the formats, which their names and contents tell apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ...checks import entries, file, short
from ...errors import SettingError, StudyError
from . import helm, lm_eval, matrix
from .found import Found, bare, json_of, listing
from .whole import Results, chosen, join, settled

HELM = "per_instance_stats.json"
TABLES: dict[str, Callable[[Path, str | None], Found]] = {
    ".csv": matrix.read_csv, ".tsv": matrix.read_csv, ".txt": matrix.read_csv,
    ".parquet": matrix.read_parquet, ".pq": matrix.read_parquet,
}  # fmt: skip
ARRAYS = (".npy", ".npz")
KNOWN = "tables (.csv, .tsv, .parquet, .npy, .npz), samples_*.jsonl of lm-evaluation-harness and per_instance_stats.json of HELM"


def read_results(
    *paths: str | os.PathLike[str],
    metric: str | Mapping[str, str] | None = None,
    missing: str | float | None = None,
    candidates: Sequence[str] | None = None,
) -> Results:
    """Scores that other tools have written, as one table: a row a candidate, a column an item.

    Parameters
    ----------
    *paths : str or path
        Tables in CSV, Parquet or NumPy, sample logs of lm-evaluation-harness, per-instance results of HELM; or folders, which
        are searched for logs.
    metric : str or dict, optional
        Which score counts, where there are several: a metric of the harness, with its filter if there are several,
        ``"exact_match,strict-match"``; one of HELM; or a column. Where logs are of several tasks, a dict may say which one counts
        for which: ``{"gsm8k": "exact_match,strict-match", "boolq": "acc"}``.
    missing : "drop" or number, optional
        What becomes of scores that are missing, which otherwise are refused: ``"drop"`` leaves their items out for all
        candidates, a number is what they count as.
    candidates : sequence of str, optional
        Which candidates to keep, in this order; or how the rows are called, if a file does not say.

    Returns
    -------
    Results
        :class:`Scores` with ``candidates``, ``metric``, ``files``, ``missing``, ``dropped``, ``filled`` and ``notes``.

    Examples
    --------
    >>> import surepick as sp
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.csv")
    ...     _ = path.write_text("model,q1,q2,q3\\namber,1,0,1\\nbasalt,0,,1\\n")
    ...     scores = sp.read_results(path, missing=0.0)
    >>> scores.candidates, scores.items, scores.means.round(3)
    (['amber', 'basalt'], ['q1', 'q2', 'q3'], array([0.667, 0.333]))
    >>> scores.notes
    ["1 missing score counts as 0: 'basalt' lacks 1 (q2)."]
    """
    several = isinstance(metric, Mapping) and bool(metric)
    said = [name for pair in metric.items() for name in pair] if isinstance(metric, Mapping) and metric else [metric]
    if metric is not None and not all(isinstance(name, str) and name for name in said):
        raise SettingError(
            f"metric must be the name of a score, or a dict of tasks and names, not {short(metric)}.", key="metric"
        )
    names = _names(candidates)
    single = metric if isinstance(metric, str) else None
    logs, runs, parts = list[Path](), list[Path](), list[Found]()
    for path in _files([file(path, StudyError) for path in paths]):
        ending, name = Path(bare(path)).suffix.casefold(), bare(path)
        if ending in TABLES and path.suffix != ".gz":
            parts.append(TABLES[ending](path, single))
        elif ending in ARRAYS and path.suffix != ".gz":
            parts.append(matrix.read_numpy(path))
        elif ending in (".jsonl", ".ndjson") or (ending == ".json" and lm_eval.NAME.fullmatch(name)):
            logs.append(path)
        elif ending == ".json":
            _refuse_other_json(path, name)
            runs.append(path)
        else:
            raise StudyError(f"{path}: what this is cannot be told from its name. Known are {KNOWN}.")
    if several and not logs and not runs:
        raise SettingError("metric: a dict is for logs of several tasks; a table has none, so give one name.", key="metric")
    if logs:
        parts.append(lm_eval.read_lm_eval(logs, metric, names))
    if runs:
        parts.append(helm.read_helm(runs, metric, names))
    return settled(chosen(join(parts, names), names), missing)


def _names(candidates: Sequence[str] | None) -> list[str] | None:
    if candidates is None:
        return None
    found = None if isinstance(candidates, (str, bytes)) else entries(candidates)
    if not found or not all(isinstance(name, str) for name in found) or len(set(found)) < len(found):
        raise SettingError(f"candidates must be a list of different names, not {short(candidates)}.", key="candidates")
    return found


def _files(paths: list[Path]) -> list[Path]:
    """Every file once; of folders, the logs in them."""
    if not paths:
        raise StudyError(f"No file is given. Known are {KNOWN}.")
    found: dict[Path, Path] = {}
    for path in paths:
        inside = [path]
        if path.is_dir():
            inside = sorted(
                one for one in path.rglob("*") if (bare(one) == HELM or lm_eval.NAME.fullmatch(bare(one))) and one.is_file()
            )
            if not inside:
                raise StudyError(
                    f"{path}: there is neither a samples_*.jsonl (lm-evaluation-harness writes them with --log_samples) nor a "
                    f"{HELM} (HELM) in this folder. Give tables one by one."
                )
        elif not path.exists():
            raise StudyError(f"{path}: there is no such file; check the path.")
        for one in inside:
            found.setdefault(one.resolve(), one)
    return list(found.values())


def _refuse_other_json(path: Path, name: str) -> None:
    """Results of the harness hold means, not scores of items."""
    if name == HELM:
        return
    data = json_of(path)
    if isinstance(data, dict) and "results" in data:
        raise StudyError(
            f"{path}: these are means over items ({listing(data['results'])}), and no scores item by item. Run the harness with "
            "--log_samples, and give the samples_*.jsonl that it writes."
        )
    if not (isinstance(data, list) and data and isinstance(data[0], dict) and "instance_id" in data[0]):
        raise StudyError(f"{path}: JSON that is neither a sample log of lm-evaluation-harness nor {HELM} of HELM.")
