"""Processes that tests start."""

from __future__ import annotations

import signal


def heed_ctrl_c() -> None:
    """For a process that is to be sent Ctrl-C: shells have what runs in the background ignore it, and processes inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
