"""The order of a matroid's elements."""

from __future__ import annotations

from ..compile import inline


@inline
def ahead(x, i, y, j):
    """The order of a matroid's elements: larger value, then lower index."""
    return x > y or (x == y and i < j)
