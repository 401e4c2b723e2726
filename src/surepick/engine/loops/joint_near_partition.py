"""Joint stopping with an epsilon for the best k of every group, compiled, see joint_near.py."""

from __future__ import annotations

from ..data import Partition
from ..kernels import partitions
from ..kernels.oracles import maximiser
from .declare import Loop
from .joint_near import fits, prepare

LOOP = Loop(("joint",), maximiser(Partition, partitions), prepare, fits, near=True, parameters=("box_share",), batches=True)
