"""Policies, one file an algorithm. A new one is one file and one line in ``POLICIES``."""

from __future__ import annotations

from ..errors import SettingError
from ..problems.base import Problem
from .base import Policy, View
from .clucb import CLUCB
from .coci import COCI
from .elimination import Elimination
from .gap import Gap
from .kl_lucb import KLLUCB
from .lucb import LUCB
from .ts_explore import TSExplore
from .ugape import UGapE
from .unified import Unified
from .uniform import Uniform

POLICIES: dict[str, type[Policy]] = {
    cls.name: cls for cls in (COCI, Uniform, Unified, CLUCB, LUCB, KLLUCB, UGapE, TSExplore, Gap, Elimination)
}


def make_policy(policy: str, problem: Problem) -> Policy:
    if not isinstance(policy, str) or policy not in POLICIES:
        raise SettingError(f"policy={policy!r} is unknown; use one of {', '.join(POLICIES)}.")
    if need := POLICIES[policy].needs(problem):
        able = [name for name, cls in POLICIES.items() if cls.needs(problem) is None]
        raise SettingError(f"policy={policy!r} needs {need}; for {problem.kind} use one of {', '.join(able)}.")
    return POLICIES[policy](problem)


__all__ = [
    "CLUCB",
    "COCI",
    "KLLUCB",
    "LUCB",
    "POLICIES",
    "Elimination",
    "Gap",
    "Policy",
    "TSExplore",
    "UGapE",
    "Unified",
    "Uniform",
    "View",
    "make_policy",
]
