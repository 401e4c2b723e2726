"""What a result depends on, as a short text: the same in every process, and different if anything differs.

Objects are told apart by their class and their declared content: what they would be saved with (``__getstate__``), without the
values of cached properties. Functions and classes of the user's own count with their code and with what it refers to; those of
installed packages count by name.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import struct
import sys
import sysconfig
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..environments.base import Environment
from ..errors import SettingError
from ..problems.base import Problem
from ..settings import Settings

PACKAGE = __name__.partition(".")[0]
INSTALLED = tuple(Path(sysconfig.get_paths()[key]) for key in ("stdlib", "platstdlib", "purelib", "platlib"))
NAMED = (types.FunctionType, type)
NO_CODE = ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__", "__annotations__",
           "__annotate__", "__annotate_func__", "__annotations_cache__", "__abstractmethods__", "_abc_impl", "__parameters__",
           "__orig_bases__", "__qualname__")  # fmt: skip


def fingerprint(problem: Problem, environment: Environment, settings: Settings, seed: int) -> str:
    """The fingerprint of everything that the result of a run depends on, but its number."""
    content = _Content()
    content.add((__version__, problem, environment, settings, seed))
    return content.hash.hexdigest()


class _Content:
    """Feeds a hash. Every value is written with its kind and its length, so that no two different ones read the same."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.seen: dict[int, str] = {}  # what is being written, which may refer to itself, and functions and classes

    def write(self, kind: str, data: bytes | str = b"") -> None:
        raw = data.encode() if isinstance(data, str) else data
        self.hash.update(f"{kind}:{len(raw)}:".encode())
        self.hash.update(raw)

    def add(self, x: object) -> None:
        match x:
            case None | bool() | int() | str() if type(x) in (type(None), bool, int, str):
                self.write(type(x).__name__, str(x))
            case float() if type(x) is float:
                self.write("float", struct.pack("<d", x))
            case complex() | bytes() | bytearray() | range() | slice() if type(x).__module__ == "builtins":
                self.write(type(x).__name__, repr(x))
            case np.ma.MaskedArray():
                self.write("masked")
                self.many((x.data, np.ma.getmaskarray(x)))
            case np.generic() | np.ndarray() if x.dtype != object:
                array = np.ascontiguousarray(x)
                self.write("array", f"{array.dtype.descr}{np.shape(x)}")
                self.write("data", array.tobytes())
            case types.ModuleType():
                self.write("module", x.__name__)
                if not _installed(x.__name__) and getattr(x, "__file__", None):
                    self.write("source", Path(str(x.__file__)).read_bytes())
            case enum.Enum():
                self.write("enum", f"{_name(type(x))}.{x.name}")
            case _:
                self._compound(x)

    def _compound(self, x: Any) -> None:
        if id(x) in self.seen:
            self.write("again", self.seen[id(x)])
            return
        # Functions and classes are written once. Data are written wherever they are: equal copies must read the same.
        self.seen[id(x)] = _name(x) if isinstance(x, NAMED) else str(len(self.seen))
        try:
            self._parts(x)
        finally:
            if not isinstance(x, NAMED):
                del self.seen[id(x)]

    def _parts(self, x: Any) -> None:
        match x:
            case np.ndarray():
                self.write("objects", str(x.shape))
                self.many(x.ravel().tolist())
            case types.FunctionType():
                self.function(x)
            case types.BuiltinFunctionType() if isinstance(x.__self__, (types.ModuleType, type(None))):
                self.write("builtin", _name(x))
            case types.MethodType() | types.BuiltinFunctionType():
                self.write("method", x.__name__)
                self.many((x.__func__ if isinstance(x, types.MethodType) else None, x.__self__))
            case types.CodeType():
                self.code(x)
            case type():
                self.kind(x)
            case functools.partial():
                self.write("partial")
                self.many((x.func, x.args, x.keywords))
            case np.ufunc():
                self.write("ufunc", x.__name__)
            case property() | classmethod() | staticmethod() | functools.cached_property():
                self.write(type(x).__name__)
                self.many(getattr(x, part, None) for part in ("fget", "fset", "fdel", "func", "__func__"))
            case Mapping() if type(x).__module__ in ("builtins", "collections"):
                self.write("mapping", _name(type(x)))
                self.many(x.items())
            case set() | frozenset():
                self.write("set")
                self.many(sorted(_alone(item) for item in x))
            case tuple() | list() if type(x) in (tuple, list) or hasattr(x, "_fields"):
                self.write("sequence", _name(type(x)))
                self.many(x)
            case _:
                self.instance(x)

    def many(self, items: Iterable[object]) -> None:
        listed = list(items)
        self.write("many", str(len(listed)))
        for item in listed:
            self.add(item)

    def function(self, x: types.FunctionType) -> None:
        self.write("function", _name(x))
        if _installed(x.__module__):
            return
        self.many((x.__code__, x.__defaults__, x.__kwdefaults__, [_cell(cell) for cell in x.__closure__ or ()]))
        self.globals(x.__code__, x.__globals__)

    def code(self, x: types.CodeType) -> None:
        self.write("code", x.co_code)
        self.many((x.co_consts, x.co_names, x.co_varnames, x.co_freevars, x.co_cellvars))
        self.many((x.co_argcount, x.co_kwonlyargcount, x.co_flags))

    def globals(self, code: types.CodeType, names: dict[str, Any]) -> None:
        """What the code refers to in its module."""
        for name in sorted(_globals(code)):
            if name in names:
                self.write("global", name)
                self.add(names[name])
        for name in sorted(_imports(code)):
            self.add(sys.modules.get(name, name))

    def kind(self, x: type) -> None:
        self.write("type", _name(x))
        if _installed(x.__module__):
            return
        self.many(x.__bases__)
        self.many((name, value) for name, value in sorted(vars(x).items()) if name not in NO_CODE)

    def instance(self, x: Any) -> None:
        """By what it would be saved with."""
        cls = type(x)
        try:
            made = x.__reduce_ex__(4)
        except TypeError as error:
            raise SettingError(
                f"{cls.__name__} objects cannot be told apart from one process to the next ({error}), so their results cannot be "
                "kept: leave out the store, or give the class that has one a __getstate__ that returns what it was made from."
            ) from error
        self.add(cls)
        if isinstance(made, str):
            self.write("global", made)
            return
        make, args, state, *items = (*made, None)[:5]
        self.many((make, args, *(list(part) if part is not None else None for part in items[:2])))
        self.state(cls, state)

    def state(self, cls: Any, state: Any) -> None:
        parts: tuple[Any, ...] = (
            state if isinstance(state, tuple) and len(state) == 2 and not hasattr(state, "_fields") else (state,)
        )
        for part in parts:
            if isinstance(part, dict):
                self.many(pair for pair in sorted(part.items(), key=_key) if not _cached(cls, pair[0]))
            else:
                self.add(part)


def _key(pair: tuple[Any, Any]) -> str:
    return str(pair[0])


def _cached(cls: Any, name: Any) -> bool:
    return isinstance(getattr(cls, str(name), None), functools.cached_property)


def _alone(x: object) -> bytes:
    content = _Content()
    content.add(x)
    return content.hash.digest()


def _cell(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _imports(code: types.CodeType) -> set[str]:
    """Modules that the code imports itself."""
    names = {str(i.argval) for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"}
    return names.union(*(_imports(const) for const in code.co_consts if isinstance(const, types.CodeType)))


def _globals(code: types.CodeType) -> set[str]:
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names |= _globals(const)
    return names


def _name(x: Any) -> str:
    return f"{getattr(x, '__module__', None)}.{getattr(x, '__qualname__', x.__name__)}"


@functools.cache
def _installed(module: str | None) -> bool:
    """The module belongs to surepick, to Python or to an installed package, whose code is known by name and version."""
    if module is None:
        return False
    if module.partition(".")[0] in (PACKAGE, "builtins"):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module.partition(".")[0] in sys.stdlib_module_names and module != "__main__"
    return any(Path(file).is_relative_to(folder) for folder in INSTALLED)
