"""A kernel as numba's dispatcher sees it: the fence around the inside of ``numba.core``.

A :class:`Kernel` is a dispatcher of numba that Python may run as it stands for a while, that is compiled without its entry for
Python where only other kernels call it, and that tells when it is compiled. No public call of numba does that. Used are
``CPUDispatcher`` (``compile``, ``add_overload``, ``_compile_for_args``, ``targetoptions``, ``overloads``, ``typeof_pyval``,
``targetctx``, ``_cache``), ``OmittedArg`` and ``Omitted``, ``normalize_signature``, ``global_compiler_lock``, the event
``numba:compile``, and the pointer to a version's entry for Python.

Seen so in numba 0.61, 0.64 and 0.68. Where it is otherwise nothing can be compiled, and the import says which numba to install.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import start
from .plain import plain

try:
    from numba.core import event
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import OmittedArg
    from numba.core.registry import CPUDispatcher
    from numba.core.sigutils import normalize_signature
    from numba.core.types.misc import Omitted
except ImportError as _moved:
    raise ImportError(
        f"This numba has moved what surepick uses ({_moved}): install numba 0.61 to 0.68, or a newer surepick."
    ) from _moved

LITTLE = 1000  # numbers in all arrays of a call up to which it is little work


def callable_from_python(made: Any) -> bool:
    """Else its entry for Python is a null pointer."""
    return bool(made.library.get_pointer_to_function(made.fndesc.llvm_cpython_wrapper_name))


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A function that numba compiles. If it is patient, Python runs it as it stands until compiling is worth while."""

    patient = False
    small = False
    spent: float = 0.0  # seconds that Python has taken for its work
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
        left = LITTLE
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


class _Watch(threading.local, event.Listener):  # type: ignore[misc]
    """Tells of kernels that are compiled for their own sake, not of those that they call.

    Compiling makes very many objects and hardly any garbage, so looking for it meanwhile takes an eighth of the time in vain.
    """

    depth: int
    collecting: bool
    began: float

    def __init__(self) -> None:
        self.depth, self.collecting, self.began = 0, False, 0.0
        self.total: float = 0.0  # seconds of work for compiling and loading so far

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


watch: _Watch = _Watch()
event.register("numba:compile", watch)
