"""Parameters in [0, 1]."""

from __future__ import annotations

LEAST = 1e-12  # they are kept this far from the ends, where priors degenerate
