"""Policies, one file an algorithm. A new one is one file and one line in ``POLICIES``."""

from __future__ import annotations

from ..checks import among, short
from ..errors import SettingError
from ..problems.base import Problem
from .base import Policy, View
from .clucb import CLUCB
from .coci import COCI
from .elimination import Elimination
from .gap import Gap
from .joint import LISTED, Joint
from .joint_linear import JointLinear
from .kl_lucb import KLLUCB
from .lucb import LUCB
from .pac import PAC
from .paired import Paired
from .ts_explore import TSExplore
from .ugape import UGapE
from .unified import Unified
from .uniform import Uniform

POLICIES: dict[str, type[Policy]] = {
    cls.name: cls
    for cls in (Joint, JointLinear, Paired, PAC, COCI, Uniform, Unified, CLUCB, LUCB, KLLUCB, UGapE, TSExplore, Gap, Elimination)
}


def make_policy(policy: str, problem: Problem, confidence: str = "auto", epsilon: float = 0.0, dependent: bool = False) -> Policy:
    """The policy of that name; ``"auto"`` is the one that needs the fewest samples here, chosen before any data."""
    if among(policy, ("auto",)):
        return automatic(problem, confidence, epsilon, dependent)
    if not among(policy, POLICIES):
        raise SettingError(f"policy={short(policy)} is unknown; use 'auto' or one of {', '.join(POLICIES)}.")
    if need := POLICIES[policy].needs(problem):
        able = [name for name, cls in POLICIES.items() if cls.needs(problem) is None]
        raise SettingError(f"policy={policy!r} needs {need}; for {problem.kind} use one of {', '.join(able)}.")
    if dependent and POLICIES[policy].independent:
        able = [name for name, cls in POLICIES.items() if cls.needs(problem) is None and not cls.independent]
        raise SettingError(
            f"policy={policy!r} multiplies the evidence of different arms, which needs arms that are independent of each other; "
            f"with dependent=True use 'auto' or one of {', '.join(able)}."
        )
    return POLICIES[policy](problem)


def automatic(problem: Problem, confidence: str, epsilon: float, dependent: bool = False) -> Policy:
    """Joint stopping where it is known; with an epsilon, for linear rewards only: its gaps are smaller than the box's there.

    For arms that may depend on each other, what rests on their intervals alone.
    """
    if not dependent and among(confidence, ("auto", "own")) and (epsilon == 0 or problem.linear):
        if Joint.needs(problem) is None:
            joint = Joint(problem)
            if joint.pairs <= LISTED:
                return joint
        elif JointLinear.needs(problem) is None:
            return JointLinear(problem)
    return PAC(problem) if epsilon > 0 and PAC.needs(problem) is None else COCI(problem)


__all__ = [
    "CLUCB",
    "COCI",
    "KLLUCB",
    "LUCB",
    "PAC",
    "POLICIES",
    "Elimination",
    "Gap",
    "Joint",
    "JointLinear",
    "Paired",
    "Policy",
    "TSExplore",
    "UGapE",
    "Unified",
    "Uniform",
    "View",
    "make_policy",
]
