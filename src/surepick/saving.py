"""Explorers as JSON files: everything that was observed, and the certificate if one was reached."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .arms import Arm
from .certificate import Certificate
from .checks import file, short
from .confidence import CONFIDENCES, Confidence
from .confidence.differences import Differences
from .engine.enums import Column, Family
from .errors import ProblemError, StudyError, SurepickError
from .estimators import ESTIMATORS, Moments
from .policies import POLICIES, Policy
from .pool import Board, Pool
from .problems import PROBLEMS, Problem
from .problems.registry import find
from .settings import Settings

Made = TypeVar("Made")  # an Explorer, which is made from what stands here and so cannot be named here

VERSION = 1
EARLIER = (Column.RANGE, Column.HELD, Column.FIRST)  # how many columns the tables of earlier files may have
CHOSEN = ("policy", "confidence")  # settings that are written as texts
ORDER = ("above", "close")  # of a ranking
ARRAYS = ("decision", "lower", "upper", "estimate", "counts", "undecided", "rival")


def write(explorer: Any, path: str | os.PathLike[str]) -> None:
    """Replace the file as a whole."""
    target, content = file(path, StudyError), text(explorer)
    try:
        _replace(target, content)
    except OSError as error:
        raise StudyError(
            f"{target}: cannot be written ({error.strerror or error}); what was there before is untouched."
        ) from None


def text(explorer: Any, *, fixed: bool = False) -> str:
    """The content of a file. ``fixed``: what "auto" stands for is settled although nothing is observed yet."""
    data = json.loads(json.dumps(as_dict(explorer, fixed=fixed), allow_nan=False))  # as it will be read
    return json.dumps({**data, "checksum": checksum(data)}, allow_nan=False)


def _replace(target: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as new:
            new.write(text)
            new.flush()
            os.fsync(new.fileno())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def checksum(data: dict[str, Any]) -> str:
    """Of everything in the file but itself: settings and counts that were changed since would break the guarantee."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, allow_nan=False).encode()).hexdigest()


def as_dict(explorer: Any, *, fixed: bool = False) -> dict[str, Any]:
    record = explorer.record
    if not isinstance(record, Moments) or type(explorer.problem.parameter) not in ESTIMATORS.values():
        raise StudyError("An estimator of your own keeps its own record, which cannot be saved: keep the observations instead.")
    rows = record.rows
    return {
        "surepick": VERSION,
        "problem": _problem(explorer.problem),
        "names": [_plain(name) for name in explorer.problem.names],
        "settings": {name: value for name, value in explorer.settings.asked().items() if name not in CHOSEN},
        # With observations, what weighs them, with all parameters: what "auto" and defaults are may change with the version.
        **{name: _text(getattr(explorer if explorer.samples or fixed else explorer.settings, name)) for name in CHOSEN},
        "rows": None if not isinstance(rows, Differences) else {"logs": rows.logs.tolist(), "count": rows.count.tolist()},
        "counts": record.counts.tolist(),
        "table": _plain(record.table[:, : Column.POPULATION].tolist()),
        **({} if record.redraws is None else {"redraws": _of_redraws(record)}),
        **({} if explorer.pool is None else {"pool": _of_pool(explorer.pool, record)}),
        "paused": np.flatnonzero(explorer._paused).tolist(),
        "ended": np.flatnonzero(explorer._ended).tolist(),
        "memory": explorer.policy.memory(),
        "certificate": _of_certificate(explorer.certificate()) if explorer.certified else None,
    }


def read(cls: type[Made], path: str | os.PathLike[str], problem: Problem | None, **own: Any) -> Made:
    source = file(path, StudyError)
    try:
        content = source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StudyError(f"{source}: there is no such file; check the path.") from None
    except OSError as error:
        raise StudyError(f"{source}: cannot be read ({error.strerror or error}).") from None
    except ValueError:  # no text
        content = ""
    return of_text(cls, content, source, problem, **own)


def of_text(cls: type[Made], content: str, source: str | Path, problem: Problem | None = None, **own: Any) -> Made:
    """An explorer from the content of a file, which messages call ``source``."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):  # no JSON, or cut off
        data = None
    if not isinstance(data, dict) or "surepick" not in data:
        hint = "surepick.load reads study files" if str(source).endswith(".toml") else "use another copy of it"
        raise StudyError(f"{source}: this is not a whole file that Explorer.save wrote; {hint}.")
    if data["surepick"] != VERSION:
        raise StudyError(f"{source}: written as version {data['surepick']}, and this surepick reads {VERSION}: use a newer one.")
    try:
        if data.pop("checksum", None) != checksum(data):
            raise ValueError
        made: Made = _made(cls, data, problem, {**dict.fromkeys(CHOSEN), **own}, source)
        return made
    except StudyError:
        raise
    except SurepickError as error:  # what this version does not know, or a problem that does not fit
        raise StudyError(f"{source}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError):
        raise StudyError(
            f"{source}: its content has changed since it was saved, so nothing would be certain; use another copy of it."
        ) from None


def _made(cls: Any, data: dict[str, Any], problem: Problem | None, own: dict[str, Any], source: str | Path) -> Any:
    if problem is None:
        if data["problem"] is None:
            raise StudyError(
                f"{source}: its problem has functions of yours, which no file can hold: load it with problem=... as it was."
            )
        problem = _problem_of(data["problem"])
    elif data["problem"] is not None and json.loads(json.dumps(_problem(problem))) != data["problem"]:
        raise StudyError(f"{source}: it was saved with another problem; leave problem out, the file has its own.")
    if [_plain(name) for name in problem.names] != data["names"]:
        raise StudyError(f"{source}: it was saved with other arms: {short(data['names'])}.")
    pool = None if "pool" not in data else _pool_of(data["pool"])
    asked = {**data["settings"], **{name: _again(data[name], name, own[name], source) for name in CHOSEN}}
    explorer = cls(problem, **asked, pool=pool)
    record = explorer.record
    assert isinstance(record, Moments)
    _fill(record.counts, data["counts"])
    table = _back(data["table"])  # earlier files lack the last columns, which no sequence of theirs needs
    width = len(table[0]) if table else int(Column.POPULATION)
    families = getattr(explorer.confidence, "families", np.zeros(0))
    if (width <= Column.FIRST and (families == Family.BETS).any()) or (
        width <= Column.HELD and (families == Family.STUDENT).any()
    ):
        raise StudyError(
            f"{source}: an earlier surepick wrote it, without the sums that confidence={data['confidence']!r} needs by now: tell "
            "the observations to a new explorer, in their order."
        )
    _fill(record.table[:, : width if width in EARLIER else Column.POPULATION], table)
    if (record.counts < 0).any():
        raise ValueError("a count below 0")
    if (record.counts > problem.populations).any():
        raise ValueError("more values than there are")
    if record.redraws is not None:
        _fill_redraws(record, data["redraws"])
    if isinstance(record, Board):
        _fill_board(record, data["pool"])
    if data["rows"] is not None:
        rows = Differences(problem.low, problem.high)
        _fill(rows.logs, data["rows"]["logs"])
        _fill(rows.count, data["rows"]["count"])
        record.rows = rows
    for i in data["paused"]:
        explorer._paused[i] = True
    for i in data["ended"]:
        explorer._ended[i] = True
    explorer.policy.remember(data["memory"])
    if data["certificate"] is not None:
        explorer._restore(_certificate_of(data["certificate"]))
    return explorer


def _of_redraws(record: Moments) -> dict[str, Any]:
    """Draws with replacement, and the values that they repeat."""
    redraws = record.redraws
    assert redraws is not None
    values = [redraws.seen(i, int(n)).tolist() if redraws.has[i] else [] for i, n in enumerate(record.counts)]
    table = redraws.tally.table[:, : Column.POPULATION]
    return {"counts": redraws.tally.counts.tolist(), "table": _plain(table.tolist()), "values": values}


def _fill_redraws(record: Moments, data: dict[str, Any]) -> None:
    redraws = record.redraws
    assert redraws is not None
    _fill(redraws.tally.counts, data["counts"])
    _fill(redraws.tally.table[:, : Column.POPULATION], _back(data["table"]))
    none = np.zeros_like(record.counts)
    for i, values in enumerate(data["values"]):
        if len(values) != (record.counts[i] if redraws.has[i] else 0):
            raise ValueError("values that are not there")
        redraws.reserve(i, none, len(values))
    for i, values in enumerate(data["values"]):
        redraws.values[redraws.starts[i] : redraws.starts[i] + len(values)] = values


def _of_pool(pool: Pool, board: Moments) -> dict[str, Any]:
    """The items, their order, and the scores in that order."""
    assert isinstance(board, Board)
    return {
        "items": _plain(pool.names) if pool.named else pool.size,
        "seed": _plain(pool.seed),
        "order": pool.order.tolist(),
        "scores": [board.scores[i, :n].tolist() for i, n in enumerate(board.counts.tolist())],
        "ahead": [[i, place, score] for (i, place), score in board.ahead.items()],
    }


def _pool_of(data: dict[str, Any]) -> Pool:
    pool = Pool(_back(data["items"]), _back(data["seed"]))
    if pool.order.tolist() != data["order"]:
        raise ProblemError(
            "the order of its items is not the one that its seed gives here, so another NumPy made it: use that one."
        )
    return pool


def _fill_board(board: Board, data: dict[str, Any]) -> None:
    for i, scores in enumerate(data["scores"]):
        _fill(board.scores[i, : board.counts[i]], scores)
    for i, place, score in data["ahead"]:
        if not (0 <= i < len(board.counts) and board.counts[i] <= place < board.scores.shape[1]):
            raise ValueError("a score that is nowhere")
        board.ahead[i, place] = float(score)
    board.offered[:] = board.scores.shape[1]  # what was asked for after it was saved may come in late


def _fill(array: np.ndarray[Any, Any], numbers: Any) -> None:
    """Put in numbers of exactly this shape; NumPy alone would stretch one to fit."""
    given = np.array(numbers, dtype=array.dtype)
    if given.shape != array.shape:
        raise ValueError(f"numbers of shape {given.shape} where {array.shape} is right")
    array[...] = given


# -- the parts --------------------------------------------------------------------------------------------------------------


def _text(asked: str | Policy | Confidence) -> str:
    """A policy or a sequence as a text with all parameters; "auto" and "own" as they are."""
    return asked if isinstance(asked, str) else asked.text(whole=True)


def _again(text: str, what: str, given: Any, source: str | Path) -> Any:
    """The policy or the sequence of a saved text; one of the user's own is given again."""
    if given is None:
        known: Any = POLICIES if what == "policy" else CONFIDENCES
        if text.partition(":")[0] not in (*known, "auto", "own"):
            raise StudyError(
                f"{source}: its {what} {text!r} is unknown; if it is a class of yours, load the file with {what}=... as it was."
            )
        return text
    if _text(getattr(Settings(**{what: given}), what)) != text:
        raise StudyError(f"{source}: it was saved with {what}={text!r}, not with {short(given)}.")
    return given


def _problem(problem: Problem) -> dict[str, Any] | None:
    """The class, its keys and its arms; None for what has functions of the user's."""
    keys = problem.keys() if PROBLEMS.get(problem.kind) is type(problem) else None
    if keys is None:
        return None
    arms = [{**dataclasses.asdict(arm), "name": arm.name} for arm in problem.arms]
    for entry in arms:
        if entry["cost"] == 1.0:  # as before there were costs
            del entry["cost"]
        if entry["population"] is None or problem.pool is not None:  # the pool says how many there are
            del entry["population"]
    return {"kind": problem.kind, "parameter": problem.parameter.name, "keys": _plain(keys), "arms": _plain(arms)}


def _problem_of(data: dict[str, Any]) -> Problem:
    arms = []
    for entry in _back(data["arms"]):
        if entry["kind"] in ("subgaussian", "normal"):
            del entry["low"], entry["high"]
        arms.append(Arm(**entry))
    cls = find(data["kind"])
    if cls is None:
        raise ProblemError(
            f"the decision class {data['kind']!r} is not known here: import the module that registers it, or load the file with "
            "problem=... as it was.",
            key="kind",
        )
    return cls.from_keys(arms, data["parameter"], _back(data["keys"]))


def _of_certificate(certificate: Certificate) -> dict[str, Any]:
    fields = {field.name: getattr(certificate, field.name) for field in dataclasses.fields(certificate)}
    if not certificate.finite:  # as before there were populations
        del fields["finite"]
    if certificate.kinds == ["bounded"]:  # as before they were named
        del fields["kinds"]
    for name in ("pool", *ORDER):
        if fields[name] is None:
            del fields[name]
    if not certificate.corrected:
        del fields["corrected"]
    return {name: _plain(value.tolist() if isinstance(value, np.ndarray) else value) for name, value in fields.items()}


def _certificate_of(data: dict[str, Any]) -> Certificate:
    fields = {name: _back(value) for name, value in data.items()}
    for name in (*ARRAYS, *(part for part in ORDER if part in fields)):
        fields[name] = None if fields[name] is None else np.array(fields[name])
    return Certificate(**fields)


def _plain(value: Any) -> Any:
    """A value for JSON, such that ``_back`` gives the same again."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [_plain(entry) for entry in value]}
    if isinstance(value, (np.generic,)):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise StudyError(f"{short(value)} cannot be written to a file: use texts, numbers or tuples of them as names.")


def _back(value: Any) -> Any:
    if isinstance(value, list):
        return [_back(entry) for entry in value]
    if isinstance(value, dict):
        if set(value) == {"tuple"}:
            return tuple(_back(entry) for entry in value["tuple"])
        if set(value) == {"number"}:
            return float(value["number"])
        return {key: _back(entry) for key, entry in value.items()}
    return value
