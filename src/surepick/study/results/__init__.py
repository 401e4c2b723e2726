"""Scores that other tools have written, item by item: tables, logs of lm-evaluation-harness, results of HELM.

``found`` is what every reader hands over, ``matrix``, ``lm_eval`` and ``helm`` are the formats, ``read`` tells them apart,
``whole`` makes one table of them and says what is missing. ``standing`` is what a whole table says, ``orders`` how much of it
would have been enough.
"""

from __future__ import annotations

from .read import read_results
from .whole import Results

__all__ = ["Results", "read_results"]
