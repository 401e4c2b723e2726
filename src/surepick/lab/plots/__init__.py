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
from .evaluations import evaluations
from .gap import gap
from .house import save
from .intervals import intervals
from .ranks import ranks
from .samples import samples
from .standings import standings

__all__ = [
    "allocation", "animate", "closing", "compare", "errors", "evaluations", "gap", "intervals", "ranks", "samples",
    "samples_against", "save", "standings",
]  # fmt: skip
