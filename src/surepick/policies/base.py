"""A policy: which arms to sample next."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ..arms import Bools, Floats, Ints


class Policy(ABC):
    """Chooses the next arms from what is undecided and how well each arm is known."""

    name: ClassVar[str]

    @abstractmethod
    def candidates(self, undecided: Bools) -> Bools:
        """The arms among which the least known one is sampled."""

    def choose(self, undecided: Bools, counts: Ints, scales: Floats, n: int) -> list[int]:
        """The next n arms, as the policy would choose them one by one with no answers in between.

        Each time the candidate with the largest radius, ties to the lowest index; a sample that is only planned
        narrows the radius as a real one will. Radii compare as scale^2 / count does, without rounding luck.
        """
        arms = np.flatnonzero(self.candidates(undecided))
        squares = scales[arms] ** 2
        planned = counts[arms].copy()
        with np.errstate(divide="ignore"):
            weights = squares / planned
        if n == 1:
            return [int(arms[np.argmax(weights)])]
        heap = [(-w, p) for p, w in enumerate(weights.tolist())]
        heapq.heapify(heap)
        chosen = []
        for _ in range(n):
            p = heap[0][1]
            chosen.append(int(arms[p]))
            planned[p] += 1
            heapq.heapreplace(heap, (-float(squares[p] / planned[p]), p))
        return chosen
