"""COCI, the paper's algorithm."""

from __future__ import annotations

from ..arms import Bools
from .base import Policy


class COCI(Policy):
    """Consistently Optimal Confidence Interval (Algorithm 1): sample the undecided arm with the largest radius.

    C_t holds the arms whose entry of phi is not constant on the confidence box; when it is empty every point of the box,
    hence with probability 1 - delta the truth, has the same optimal decision.
    """

    name = "coci"

    def candidates(self, undecided: Bools) -> Bools:
        return undecided
