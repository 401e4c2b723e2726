"""Joint stopping for matchings, compiled: the same samples as the Python loop. A maximiser does it all, see linear.py."""

from __future__ import annotations

from ..data import Assignment
from ..kernels import assignment
from ..kernels.oracles import maximiser
from .declare import Loop
from .linear import prepare

LOOP = Loop(("joint-linear",), maximiser(Assignment, assignment), prepare, near=True, batches=True, parameters=("box_share",))
