"""Joint stopping with an epsilon for spanning trees, compiled, see joint_near.py."""

from __future__ import annotations

from ..data import Tree
from ..kernels import trees
from ..kernels.oracles import maximiser
from .declare import Loop
from .joint_near import fits, prepare

LOOP = Loop(("joint",), maximiser(Tree, trees), prepare, fits, near=True, parameters=("box_share",), batches=True)
