"""How kernels are compiled, where compiled ones are kept, and how Python runs some of them until then."""

from __future__ import annotations

import gc
import hashlib
import math
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numba import njit
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import OmittedArg
from numba.core.options import DefaultOptions
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.types.misc import Omitted

from . import start

HERE = Path(__file__).parent

# Rooms whose kernels Python may run as they stand: what asking, telling and certificates need, which for few arms is little work.
PATIENT = {
    f"{__package__}.kernels.{room}"
    for room in ("divergence", "exchanges", "glr", "intervals", "least", "mixtures", "order", "partitions", "trees")
}
LARGEST = 1000  # numbers in all arrays of a call up to which it is little work


# -- where compiled kernels are kept ----------------------------------------------------------------------------------


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


class _Place:
    """What numba calls a locator."""

    def __init__(self, folder: Path, function: Any) -> None:
        self.folder, self._py_file, self.line = folder, function.__code__.co_filename, function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return stamp(self._py_file)

    def get_disambiguator(self) -> str:
        return str(self.line)

    def ensure_cache_path(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)


class _Format(CompileResultCacheImpl):  # type: ignore[misc]
    def __init__(self, function: Any, folder: Path) -> None:
        self._locator = _Place(folder, function)
        self._lineno = self._locator.line
        path = Path(self._locator._py_file)
        name = f"{path.parent.name}.{path.stem}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _Shelf(FunctionCache):  # type: ignore[misc]
    """The compiled versions of one kernel in one folder."""

    def __init__(self, function: Any, folder: Path) -> None:
        self._impl_class = lambda function: _Format(function, folder)
        self.within = False  # versions that Python cannot call, see ``Kernel.compile``
        super().__init__(function)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return *super()._index_key(sig, codegen), self.within

    def filled(self, sig: Any, codegen: Any) -> bool:
        """A version for such arguments is there."""
        try:
            return self._index_key(sig, codegen) in self._cache_file._load_index()
        except Exception:  # a damaged file can raise anything
            return False


def callable_from_python(made: Any) -> bool:
    """Else its entry for Python is a null pointer."""
    return bool(made.library.get_pointer_to_function(made.fndesc.llvm_cpython_wrapper_name))


class Shelves(NullCache):  # type: ignore[misc]
    """The compiled versions of one kernel. What cannot be read is compiled again, and what cannot be written is not kept."""

    def __init__(self, function: Any) -> None:
        read, write = folders()
        self.shelves = [_Shelf(function, folder) for folder in read]
        self.last = self.shelves[-1] if write is not None else None

    @property
    def cache_path(self) -> str | None:
        return None if self.last is None else str(self.last.cache_path)

    def filled(self, sig: Any, codegen: Any) -> bool:
        """A version that Python can call for such arguments is there."""
        return any(shelf.filled(sig, codegen) for shelf in self.shelves)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        for shelf in self.shelves:
            for shelf.within in (True, False) if watch.depth > 0 else (False,):
                try:
                    found = shelf.load_overload(sig, target_context)
                except Exception:  # a damaged file can raise anything
                    continue
                finally:
                    shelf.within = False
                if found is not None:
                    return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if self.last is None:
            return
        self.last.within = not callable_from_python(data)
        with suppress(OSError):  # the disk is full, say
            try:
                self.last.save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # the list of what is there is damaged
                self.last.flush()
                self.last.save_overload(sig, data)
        self.last.within = False


# -- kernels ----------------------------------------------------------------------------------------------------------


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A function that numba compiles. If it is patient, Python runs it as it stands until compiling is worth while."""

    patient = False
    small = False
    spent = 0.0  # seconds that Python has taken for its work
    _seen: dict[tuple[type, ...], bool]
    _plain: Any = None

    def ready(self, *args: Any) -> bool:
        """It is compiled for such arguments, here or on disk, or Python has taken long enough for its work."""
        if self.spent >= start.patience:
            return True
        sig = tuple(Omitted(a.value) if isinstance(a, OmittedArg) else self.typeof_pyval(a) for a in args)
        made = self.overloads.get(sig)
        return (made is not None and callable_from_python(made)) or self._cache.filled(sig, self.targetctx.codegen())

    def compile(self, sig: Any) -> Any:
        """For Python, or while another kernel is compiled that calls it: then it need not take its arguments from Python, which
        is a good part of the work."""
        with global_compiler_lock:
            within = self.targetoptions["no_cpython_wrapper"] = watch.depth > 0
            args = normalize_signature(sig)[0]
            if not within and args in self.overloads and not callable_from_python(self.overloads[args]):
                del self.overloads[args]
            return super().compile(sig)

    def add_overload(self, made: Any) -> None:
        if callable_from_python(made):
            super().add_overload(made)
        else:  # where calls from Python do not find it
            self.overloads[tuple(made.signature.args)] = made

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """numba asks this where nothing is compiled in this process for such arguments, and calls what it returns."""
        if self.patient and self.spent < start.patience and self._quick(args):
            return self._plainly
        depth, watch.depth = watch.depth, 0  # not 0 if a signal came while something was compiled, and its handler calls this
        began = time.thread_time()
        try:
            return super()._compile_for_args(*args, **kws)
        finally:
            watch.depth = depth
            watch.total += time.thread_time() - began

    def _quick(self, args: tuple[Any, ...]) -> bool:
        """Python is quicker to begin with: there is little work, and nothing on disk."""
        left = LARGEST
        for a in args:
            for b in a if isinstance(a, tuple) else (a,):
                if isinstance(b, np.ndarray):
                    left -= b.size
        sort = tuple(map(type, args))
        if sort not in self._seen:  # types are found out and files looked at once, not at every call
            self._seen[sort] = not self.ready(*args)
        return left >= 0 and self._seen[sort]

    def _plainly(self, *args: Any) -> Any:
        if self._plain is None:
            self._plain = plain(self)
        with np.errstate(all="ignore"), self.charged():
            return self._plain(*[a.value if isinstance(a, OmittedArg) else a for a in args])

    @contextmanager
    def charged(self) -> Iterator[None]:
        """What Python takes for the work of the kernel counts, but not what is compiled or loaded meanwhile."""
        began, before = time.thread_time(), watch.total
        try:
            yield
        finally:
            self.spent += time.thread_time() - began - (watch.total - before)


def _make(function: Any, *, small: bool = False, **options: Any) -> Any:
    made = njit(no_cfunc_wrapper=True, **options)(function)  # nobody calls it from C
    if isinstance(made, CPUDispatcher):  # which NUMBA_DISABLE_JIT prevents
        made.__class__ = Kernel
        made.patient, made.small, made._cache = function.__module__ in PATIENT and not small, small, Shelves(function)
        made._seen = {}
    return made


# Kernels that only read and write arrays that others own. numba counts references to arrays wherever they are handed on, which
# in small kernels takes longer than the work itself; without them a kernel cannot make arrays, and that is all.
_lean: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def kernel(function: Any) -> Any:
    return _make(function)


def small(function: Any) -> Any:
    """Compiled when first called, which takes a moment, also by a kernel that Python runs: where that is called very often, and
    where Python's results differ in the last bit, as those of the gamma function do."""
    return _make(function, small=True)


def inline(function: Any) -> Any:
    """Becomes part of its callers before types are known."""
    return _make(function, inline="always")


def tight(function: Any) -> Any:
    """Makes no arrays, and becomes part of its callers."""
    return _make(function, forceinline=True, **_lean)


def lean(function: Any) -> Any:
    """Makes no arrays.

    numba hands ``forceinline`` on to the kernels that a kernel calls, but only to those that it has not compiled before: without
    a word here, what is part of what, and how fast it all is, would depend on what was used first.
    """
    return _make(function, forceinline=False, **_lean)


# -- kernels as Python runs them ----------------------------------------------------------------------------------------


@cache
def plain(made: Kernel) -> Any:
    """A patient kernel as a plain function, which calls patient kernels as plain functions, too."""
    function = made.py_func
    return FunctionType(function.__code__, _scope(function.__globals__), function.__name__, function.__defaults__)


_scopes: dict[str, dict[str, Any]] = {}


def _scope(module: dict[str, Any]) -> dict[str, Any]:
    """The names of a module, for plain functions."""
    name = module["__name__"]
    if name not in _scopes:
        scope = _scopes[name] = {**module, "math": _math}
        for word, value in module.items():
            if isinstance(value, Kernel) and value.patient:
                scope[word] = plain(value)
    return _scopes[name]


def _lenient(function: Callable[[float], float], pole: float = math.nan) -> Callable[[float], float]:
    """As in compiled code: infinite or not a number where Python raises an error."""

    def lenient(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return -math.inf if x == pole else math.nan

    return lenient


_math = SimpleNamespace(**vars(math))
_math.log, _math.log1p = _lenient(math.log, 0.0), _lenient(math.log1p, -1.0)
_math.exp, _math.sqrt = _lenient(math.exp), _lenient(math.sqrt)


# -- what is said while numba compiles ------------------------------------------------------------------------------------


class _Watch(threading.local, event.Listener):  # type: ignore[misc]
    """Tells of kernels that are compiled for their own sake, not of those that they call.

    Compiling makes very many objects and hardly any garbage, so looking for it meanwhile takes an eighth of the time in vain.
    """

    def __init__(self) -> None:
        self.depth, self.collecting, self.began = 0, False, 0.0
        self.total = 0.0  # seconds of work for compiling and loading so far

    def on_start(self, ev: Any) -> None:
        self.depth += 1
        if self.depth > 1:
            return
        self.began, self.collecting = time.perf_counter(), gc.isenabled()
        gc.disable()
        made = ev.data["dispatcher"]
        if isinstance(made, Kernel) and not made.small:
            start.notice()

    def on_end(self, ev: Any) -> None:
        self.depth -= 1
        if self.depth > 0:
            return
        if self.collecting:
            gc.enable()
        made = ev.data["dispatcher"]
        if isinstance(made, Kernel):
            took = time.perf_counter() - self.began
            start.log.info("Compiled %s.%s in %.1f s.", made.__module__.rpartition(".")[2], made.__name__, took)


watch = _Watch()
event.register("numba:compile", watch)
