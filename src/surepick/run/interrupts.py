"""Ctrl-C that waits for a moment at which nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


class Interrupts:
    """Has signals call a function instead of what they do by themselves.

    Only in the main thread, where Python takes signals, and only those that nobody else has plans for: one that is ignored, as
    Ctrl-C is in the background of a shell, stays so.
    """

    def __init__(self, press: Callable[[int], object], *names: str) -> None:
        self.press: Callable[[int], object] = press
        self.names: tuple[str, ...] = names or ("SIGINT",)
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in self.names if hasattr(signal, name)):
                if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                    self.before[number] = signal.signal(number, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self.before.items():
            signal.signal(number, before)

    def _press(self, number: int, _frame: FrameType | None) -> None:
        self.press(number)
