"""Where compiled kernels are kept on disk, and when they are out of date."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def key() -> str:
    """Of all kernels together: what a kernel does depends on those that it calls, of which numba's own cache takes no notice."""
    return _digest(sorted(HERE.rglob("*.py")))


def _digest(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sources:
        source = path.read_bytes()
        digest.update(f"{path.name} {len(source)} ".encode() + source)
    return digest.hexdigest()[:16] if sources else ""


@cache
def stamp(file: str) -> str:
    """Of a file with kernels: a kernel from elsewhere is out of date when a file beside it has changed, or a kernel of ours."""
    path = Path(file)
    return key() if path.is_relative_to(HERE) else key() + _digest(sorted(path.parent.glob("*.py")))


def places() -> Iterator[Path]:
    """Where kernels may be kept, in the order in which these are tried."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen)
    yield HERE / "__pycache__"
    if (own := _user_cache()) is not None:
        yield own / "surepick"
    if (shared := _temporary()) is not None:
        yield shared


def _user_cache() -> Path | None:
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local)
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:  # there is none
        return None
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def _temporary() -> Path | None:
    """A temporary folder of ours alone."""
    if not hasattr(os, "getuid"):
        return None
    try:
        place = Path(tempfile.gettempdir()) / f"surepick-{os.getuid()}"
    except FileNotFoundError:  # no folder will do
        return None
    return place if _own(place) else None


def _own(place: Path) -> bool:
    """Ours alone, where others can make folders too: what is kept there is run, so nobody else may put it there."""
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        status = place.lstat()
    except OSError:
        return False
    return place.is_dir() and not place.is_symlink() and status.st_uid == os.getuid() and not status.st_mode & 0o077


@cache
def folders() -> tuple[tuple[Path, ...], Path | None]:
    """The folders to read kernels from, and the one to write new ones to: the first that can be written to.

    Those before it may have been filled by somebody who could, as when the image of a container was built.
    """
    read: list[Path] = []
    for place in places() if key() else ():  # without sources, as in an archive, nobody could tell what is out of date
        folder = place / f"surepick-{key()}"
        if _writable(folder):
            if place == HERE / "__pycache__":
                _sweep(place, folder)
            return (*read, folder), folder
        if _readable(folder):
            read.append(folder)
    return tuple(read), None


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _readable(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:
        return False


def _sweep(place: Path, current: Path) -> None:
    """Remove what was compiled from other sources than those that lie beside it now."""
    for old in place.glob("surepick-*"):
        if old != current:
            shutil.rmtree(old, ignore_errors=True)
