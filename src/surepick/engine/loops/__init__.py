"""Compiled exploration loops, one a file, each ending in its own declaration (``LOOP``).

They are found by the policy and by the type that the problem is lowered to. A loop from elsewhere is added with :func:`register`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ...checks import short, vouched
from ...errors import SettingError
from ...estimators import Moments
from .declare import Loop, Stretch, lowered

__all__ = ["Loop", "Stretch", "find", "loops", "lowered", "register"]

_registered: list[Loop | str] = []


def register(loop: Loop | str) -> None:
    """Add a loop from elsewhere, which counts before those of this package: a :class:`Loop`, or the name of the module that
    declares it as ``LOOP``. A module, which imports numba, is imported when a loop is first looked for."""
    if not isinstance(loop, Loop | str):
        raise SettingError(f"loops.register takes a Loop or the name of a module with one, not {short(loop)}.", key="loop")
    if loop not in _registered:
        _registered.insert(0, loop)


def _declared(module: str) -> Loop:
    """The loop of a module that was registered by its name."""
    try:
        found = import_module(module).LOOP
    except (ModuleNotFoundError, AttributeError) as error:
        raise SettingError(
            f"loops.register was given {module!r}, which is no module that can be imported and declares a LOOP: {error}.",
            key="loop",
        ) from error
    if not isinstance(found, Loop):
        raise SettingError(f"LOOP of {module!r}, which loops.register was given, must be a Loop, not {short(found)}.", key="loop")
    return found


@cache
def _own() -> tuple[Loop, ...]:
    """The loops of this package."""
    found = []
    for module in iter_modules(__path__):
        loop = getattr(import_module(f".{module.name}", __name__), "LOOP", None)
        if loop is not None:
            found.append(loop)
    return tuple(found)


def loops() -> tuple[Loop, ...]:
    """All loops, in the order in which they are looked through."""
    elsewhere = [_declared(loop) if isinstance(loop, str) else loop for loop in _registered]
    return *elsewhere, *_own()


def find(explorer: Any, batch: int = 1) -> Loop | None:
    """The compiled loop that takes the same samples as the Python loop for this explorer, if there is one."""
    if explorer.closed.any():
        return None
    if type(explorer.record) is not Moments:  # a subclass may estimate something else
        return None
    if not (vouched(explorer.problem, "lower") and vouched(explorer.confidence, "lower")):
        return None
    data = explorer.problem.lower()
    if data is None or explorer.confidence.lower(explorer.record) is None:
        return None
    redrawn = explorer.record.redraws is not None and explorer.record.variance  # no loop knows the pairs of draws anew
    for loop in loops():
        if explorer.problem.finite and (batch > 1 or explorer.spend or redrawn or not loop.finite):
            continue
        if (explorer.epsilon > 0 and not loop.near) or ((batch > 1 or explorer.spend) and not loop.batches):
            continue
        if type(data) is loop.data and _runs(loop, explorer.policy) and loop.fits(explorer):
            return loop
    return None


def _runs(loop: Loop, policy: Any) -> bool:
    known = type(policy) in loop.policies or (policy.name in loop.policies and vouched(policy, ""))
    return known and set(policy.changed) <= set(loop.parameters)
