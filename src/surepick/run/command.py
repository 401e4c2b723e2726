"""An evaluation as a program of the user's: it is given a candidate and an item, and prints a score."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from typing import Any, BinaryIO

from ..checks import short
from ..errors import SettingError
from .hands import Done, DroppedError, NoScoreError

GRACE = 2.0  # seconds that a program has to end after it was asked to
TAIL = 65_536  # bytes of what a program prints that are looked at, from the end
PLACES = re.compile(r"\{(candidate|item)\}")


class Command:
    """Runs a command for every evaluation, each in a process group of its own, which ends as a whole.

    The command is split as a shell would split it, and run without one: ``{candidate}`` and ``{item}`` are replaced within each
    argument, so that whatever a name contains stays in that argument. The same names are in the environment, as
    ``SUREPICK_CANDIDATE`` and ``SUREPICK_ITEM``. The score is the last line of standard output that is not empty: a number, or a
    JSON object with the key ``score``.
    """

    def __init__(self, command: str) -> None:
        try:
            self.words: list[str] = shlex.split(command)
        except ValueError as error:
            raise SettingError(f"The command {short(command)} cannot be split ({error}).", key="command") from None
        missing = [name for name in ("candidate", "item") if not any(f"{{{name}}}" in word for word in self.words)]
        if missing:
            raise SettingError(
                f"The command has to say where the names go, and {short(command)} lacks {{{missing[0]}}}: write for example "
                '--command "./score {candidate} {item}".',
                key="command",
            )
        program = self.words[0]
        if not PLACES.search(program) and shutil.which(program) is None:
            there = os.path.isfile(program)
            raise SettingError(
                f"The command's program {short(program)} {'cannot be executed: chmod +x it' if there else 'is not there'}"
                f"{'' if there else ': check its path, which is relative to the current folder, or to PATH without a slash'}.",
                key="command",
            )
        self.running: dict[int, Child] = {}
        self.lock: threading.Lock = threading.Lock()

    def begin(self, key: int, candidate: Any, item: Any, done: Done) -> None:
        names = {"candidate": str(candidate), "item": str(item)}
        words = [PLACES.sub(lambda found: names[found[1]], word) for word in self.words]  # at once: a name may have braces
        child = Child(words, {f"SUREPICK_{name.upper()}": text for name, text in names.items()})
        with self.lock:
            self.running[key] = child

        def run() -> None:
            score, error = None, None
            try:
                score = child.run()
            except BaseException as raised:
                error = raised
            with self.lock:
                del self.running[key]
            done(key, score, error)

        child.thread = threading.Thread(target=run, name=f"surepick-{key}", daemon=True)
        child.thread.start()

    def drop(self, key: int) -> None:
        with self.lock:
            child = self.running.get(key)
        if child is not None:
            child.end()

    def close(self) -> None:
        with self.lock:
            left = list(self.running.values())
        for child in left:
            child.end()
        for child in left:
            child.thread.join()


class Child:
    """One process, with all that it starts in its group."""

    thread: threading.Thread

    def __init__(self, words: list[str], names: dict[str, str]) -> None:
        self.words: list[str] = words
        self.names: dict[str, str] = names
        self.lock: threading.Lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.dropped: bool = False

    def run(self) -> float | str:
        """Its score; raises if there is none."""
        # Files and no pipes: nobody has to read them while it runs, and what it leaves behind cannot hold them open.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with self.lock:
                if self.dropped:
                    raise DroppedError
                try:
                    self.process = subprocess.Popen(
                        self.words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={**os.environ, **self.names},
                        start_new_session=True,
                    )  # fmt: skip
                except (OSError, ValueError) as error:  # a name with a zero in it is a ValueError
                    raise NoScoreError(f"it could not be started ({getattr(error, 'strerror', None) or error})") from None
            code = self._wait()
            if self.dropped:
                raise DroppedError
            if code != 0:
                raise NoScoreError(f"{_ended(code)}{_said(err)}")
            return score_in(_last(out))

    def _wait(self) -> int:
        """Its exit code, once it and all of its group have ended."""
        process = self.process
        assert process is not None
        if hasattr(os, "waitid"):
            # As long as nobody has asked for its exit code its number is its own, and so is that of its group: nobody else's
            # process can be meant.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        with self.lock:
            self._send("SIGKILL")
            self.process = None
        return process.wait()

    def end(self) -> None:
        """Ask it to end, and its whole group; kill what has not done so after some seconds."""
        with self.lock:
            self.dropped = True
            if self.process is None:
                return
            self._send("SIGTERM")
        timer = threading.Timer(GRACE, self._kill)
        timer.daemon = True
        timer.start()

    def _kill(self) -> None:
        with self.lock:
            self._send("SIGKILL")

    def _send(self, name: str) -> None:
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, getattr(signal, name))
            else:
                self.process.kill()


def score_in(line: str) -> float | str:
    """The score that a line says, or the line if it says none: it is then refused as a value that is no number."""
    if not line:
        raise NoScoreError("it printed nothing, and its last line should be the score")
    if line.startswith("{"):
        try:
            found = json.loads(line)
        except ValueError:
            raise NoScoreError(f"its last line should be the score, and it is no JSON: {short(line)}") from None
        if "score" not in found:
            raise NoScoreError(f'its last line has no key "score": {short(line)}')
        score: float = found["score"]
        return score
    try:
        if "_" not in line:  # float() takes 1_000
            return float(line)
    except ValueError:
        pass
    raise NoScoreError(f"its last line should be the score, and it is {short(line)}")


def _last(file: BinaryIO) -> str:
    """The last line that is not empty."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TAIL))
    lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
    return next((line for line in reversed(lines) if line), "")


def _ended(code: int) -> str:
    if code >= 0:
        return f"it ended with code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"


def _said(err: BinaryIO) -> str:
    line = _last(err)
    return f": {line}" if line else ", and said nothing on standard error"
