"""Compiled kernels on disk, by the inside of numba's own cache: the fence around ``numba.core.caching``.

numba's cache looks at one file's time stamp; ours must see that a kernel which a kernel calls has changed, must read folders that
it cannot write to, and must tell versions apart that Python cannot call. No public call of numba does that. Used are
``FunctionCache`` (``_impl_class``, ``_index_key``, ``_cache_file._load_index``), ``CompileResultCacheImpl`` (``_locator``,
``_lineno``, ``_filename_base``, ``get_filename_base``) and the six methods by which a dispatcher asks its cache.

Seen so in numba 0.61, 0.64 and 0.68. Where it is otherwise nothing is kept, and every process compiles for itself.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from .keep import HERE, folders, stamp
from .numba_dispatcher import callable_from_python, watch

try:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
except ImportError:
    CompileResultCacheImpl = FunctionCache = object


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


def files_of(types: Any) -> set[str]:
    """The files of named tuples among some types: a loop of ours that takes one from elsewhere calls kernels from there."""
    found = set()
    for kind in types:
        if (cls := getattr(kind, "instance_class", None)) is not None:
            found.add(getattr(sys.modules.get(cls.__module__), "__file__", None) or "")
            found |= files_of(kind.types)
    return {file for file in found if file and not Path(file).is_relative_to(HERE)}


class _Shelf(FunctionCache):  # type: ignore[misc]
    """The compiled versions of one kernel in one folder."""

    def __init__(self, function: Any, folder: Path) -> None:
        self._impl_class = lambda function: _Format(function, folder)
        self.within = False  # versions that Python cannot call, see ``Kernel.compile``
        super().__init__(function)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return *super()._index_key(sig, codegen), self.within, tuple(map(stamp, sorted(files_of(sig))))

    def filled(self, sig: Any, codegen: Any) -> bool:
        """A version for such arguments is there."""
        try:
            return self._index_key(sig, codegen) in self._cache_file._load_index()
        except Exception:  # a damaged file can raise anything
            return False


class Shelves:
    """The compiled versions of one kernel, as numba asks for them. What cannot be read is compiled again, and what cannot be
    written is not kept."""

    def __init__(self, function: Any) -> None:
        read, write = folders()
        try:
            self.shelves: list[Any] = [_Shelf(function, folder) for folder in read]  # numba's classes have no types
        except Exception:  # numba does it another way
            self.shelves, write = [], None
        self.last: Any = self.shelves[-1] if write is not None else None

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
        with suppress(Exception):  # the disk is full, say, or an interrupt has left nothing to write
            try:
                self.last.within = not callable_from_python(data)
                self._save(sig, data)
            finally:
                self.last.within = False

    def _save(self, sig: Any, data: Any) -> None:
        try:
            self.last.save_overload(sig, data)
        except OSError:
            raise
        except Exception:  # the list of what is there is damaged
            self.last.flush()
            self.last.save_overload(sig, data)

    def enable(self) -> None:
        """Always on."""

    def disable(self) -> None:
        """Always on."""

    def flush(self) -> None:
        """Forget what is kept, as when a kernel is compiled anew."""
        if self.last is not None:
            self.last.flush()
