"""Checks for decision classes, policies and confidence sequences of your own: the ones that those of this package pass.

Three lines in a test of yours, with any test runner or none::

    from surepick.testing import check_problem

    def test_my_class():
        check_problem(MyClass(6, k=2))

A broken promise raises :class:`ConformanceError`, an ``AssertionError`` that says which one, with the smallest example found. All
random numbers have fixed seeds, so a check that passes today passes tomorrow.
"""

from __future__ import annotations

from .confidence import check_confidence
from .error import ConformanceError
from .policy import check_policy
from .problem import check_problem

__all__ = ["ConformanceError", "check_confidence", "check_policy", "check_problem"]
