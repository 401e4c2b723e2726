"""KL-LUCB, for the k best arms."""

from __future__ import annotations

from typing import ClassVar

from ..confidence.base import Confidence
from .lucb import LUCB


class KLLUCB(LUCB):
    """LUCB with intervals by the Kullback-Leibler divergence (Kaufmann and Kalyanakrishnan 2013): far tighter near 0 and 1."""

    name = "kl-lucb"
    own: ClassVar[str | Confidence] = "kl-lucb"
    rule = "lucb"
