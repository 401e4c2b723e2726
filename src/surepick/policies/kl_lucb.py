"""KL-LUCB, for the k best arms."""

from __future__ import annotations

from .lucb import LUCB


class KLLUCB(LUCB):
    """LUCB with intervals by the Kullback-Leibler divergence (Kaufmann and Kalyanakrishnan 2013): far tighter near 0 and 1."""

    name = "kl-lucb"
    own = "kl-lucb"
    rule = "lucb"
