"""What policies on shared items have in common: all that the scores say is kept from one moment to the next."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ..arms import Ints
from ..confidence import Confidence
from ..pool import Board
from ..problems.base import Problem
from .base import Policy, View


class Seen(Protocol):
    """What is known at one delta and one epsilon; it hangs on the scores alone, and not on how they came in."""

    asked: tuple[float, float]
    counts: Ints

    def advance(self, board: Board) -> None: ...


S = TypeVar("S", bound=Seen)


class OnItems(Policy, Generic[S]):
    """A policy that weighs differences on shared items. ``sign`` is -1 where small scores are looked for."""

    own: ClassVar[str | Confidence] = "auto"
    rule = "paired"

    def __init__(self, *, box_share: float = 0.1) -> None:
        self._share_out(box_share)

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.sign: float = float(problem.sign)
        self._seen: S | None = None

    def undo(self, memory: Any) -> None:
        self._seen = None

    @abstractmethod
    def _begin(self, board: Board, delta: float, epsilon: float) -> S:
        """What is known before any score."""

    def _look(self, view: View) -> S:
        """All that the scores say."""
        seen, board = self._seen, view.record
        assert isinstance(board, Board)
        if seen is None or seen.asked != (view.fixed, view.epsilon) or (seen.counts > board.counts).any():
            seen = self._seen = self._begin(board, view.fixed, view.epsilon)
        seen.advance(board)
        return seen
