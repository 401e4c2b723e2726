"""Worlds to simulate, one file each. A new one is one file and one line in ``ENVIRONMENTS``."""

from __future__ import annotations

from .base import Environment, stream
from .bernoulli import Bernoulli
from .beta import Beta
from .gaussian import Gaussian
from .replay import Replay
from .scores import Scores
from .voter_model import VoterModel

ENVIRONMENTS: dict[str, type[Environment]] = {
    "bernoulli": Bernoulli,
    "beta": Beta,
    "gaussian": Gaussian,
    "replay": Replay,
    "scores": Scores,
    "voter-model": VoterModel,
}

__all__ = ["ENVIRONMENTS", "Bernoulli", "Beta", "Environment", "Gaussian", "Replay", "Scores", "VoterModel", "stream"]
