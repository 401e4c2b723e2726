"""CLUCB, the unified rule, COCI and uniform sampling for matchings, compiled. A maximiser does it all, see rivals.py."""

from __future__ import annotations

from ..data import Assignment
from ..kernels import assignment
from ..kernels.oracles import maximiser
from .declare import Loop
from .rivals import prepare

LOOP = Loop(("clucb", "unified", "coci", "uniform"), maximiser(Assignment, assignment), prepare, batches=True)
