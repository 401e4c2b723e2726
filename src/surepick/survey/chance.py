"""The precision that a plan will have reached in the end, by simulation from what is believed now."""

from __future__ import annotations

import numpy as np

from ..arms import Floats, Ints
from .next_wave import Field
from .spread import Seen, Spread

SEED = 0


def at_the_end(belief: Spread, known: Seen, field: Field, goal: Ints, draws: int, *, relative: bool) -> Floats:
    """Standard errors, or coefficients of variation, of the mean at the planned design: one a draw."""
    rng = np.random.default_rng(SEED)
    S2 = belief.draw(rng, draws)
    unseen = (field.N - goal) / (field.N * np.maximum(goal, 1))
    se: Floats = np.sqrt(S2 @ (field.weight * unseen))
    if not relative:
        return se * known.scale
    W = field.N / field.N.sum()
    told = known.n > 0
    middle = np.nan_to_num(known.mean)
    centre = float((W * middle).sum() / W[told].sum())
    now = np.where(told, (1.0 / np.maximum(known.n, 1) - 1.0 / field.N), 0.0)
    error = np.sqrt(np.maximum(belief.mean @ (W**2 * now), 0.0))
    mean = centre + error * rng.standard_normal(draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        cv: Floats = np.where(se > 0, se / np.abs(mean), 0.0)
    return cv
