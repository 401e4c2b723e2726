"""Parameters in [0, 1]."""

from __future__ import annotations

LEAST = 1e-12  # they are kept this far from the ends, where priors degenerate
NONE = 1e-9  # values of an arm of which none is weighed: sampling guides divide by counts
