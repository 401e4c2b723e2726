"""Pictures of one exploration and of simulations, each a function that returns a matplotlib figure.

``house`` has paper, colours, scales, labels and files, ``rows`` one row an arm, ``simulated`` what pictures of simulations share.
Every other file is one picture.
"""

from __future__ import annotations

from .against import samples_against
from .allocation import allocation
from .closing import animate, closing
from .compare import compare
from .errors import errors
from .gap import gap
from .house import save
from .intervals import intervals
from .samples import samples

__all__ = ["allocation", "animate", "closing", "compare", "errors", "gap", "intervals", "samples", "samples_against", "save"]
