"""What a check raises."""

from __future__ import annotations

from typing import Any

import numpy as np


class ConformanceError(AssertionError):
    """A promise is broken.

    Attributes
    ----------
    promise : str
        What should hold.
    example : dict
        Where it does not, by name: the parameters, the box, the decision.
    """

    promise: str
    example: dict[str, Any]

    def __init__(self, who: str, promise: str, found: str, example: dict[str, Any]) -> None:
        self.promise, self.example = promise, example
        shown = "".join(f"\n    {name} = {_shown(value)}" for name, value in example.items())
        where = f"\n  The smallest example found:{shown}" if shown else ""
        super().__init__(f"{who} breaks a promise: {promise}\n  {found}{where}")


def _shown(value: Any) -> str:
    return repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
