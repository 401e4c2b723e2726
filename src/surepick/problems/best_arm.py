"""The best arm."""

from __future__ import annotations

from typing import Any

from ..arms import Names, Sense
from ..estimators import Estimator
from .keys import PARAMETER, SENSE, Keys
from .top_k import TopK


class BestArm(TopK):
    """The one arm with the largest parameter (``sense="min"``: the smallest): :class:`TopK` with k = 1.

    Examples
    --------
    >>> BestArm(["a", "b", "c"]).solve([0.2, 0.9, 0.5])
    array([0, 1, 0])
    >>> BestArm(["a", "b", "c"], sense="min").solve([0.2, 0.9, 0.5])
    array([1, 0, 0])
    """

    kind = "best-arm"

    def __init__(self, arms: int | Names, *, sense: Sense = "max", parameter: str | Estimator = "mean") -> None:
        super().__init__(arms, 1, sense=sense, parameter=parameter)

    @classmethod
    def study_keys(cls) -> Keys:
        return {"sense": SENSE, "parameter": PARAMETER}

    def keys(self) -> dict[str, Any]:
        return {"sense": self.sense}
