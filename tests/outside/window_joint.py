"""Joint stopping for windows, compiled: a maximiser and its losses do it all."""

from __future__ import annotations

import window_kernel
from window import Row

from surepick.engine.kernels.oracles import maximiser
from surepick.engine.loops import Loop
from surepick.engine.loops.linear import prepare

LOOP = Loop(("joint-linear",), maximiser(Row, window_kernel), prepare, near=True, batches=True, parameters=("box_share",))
