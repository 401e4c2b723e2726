"""CLUCB, the unified rule, COCI and uniform sampling for paths, compiled. A maximiser does it all, see rivals.py."""

from __future__ import annotations

from ..data import Ways
from ..kernels import paths
from ..kernels.oracles import maximiser
from .declare import Loop
from .rivals import prepare

LOOP = Loop(("clucb", "unified", "coci", "uniform"), maximiser(Ways, paths), prepare, batches=True)
