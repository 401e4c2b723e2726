"""Policies, one file an algorithm. A new one is one file and one line in ``POLICIES``."""

from __future__ import annotations

from ..confidence import Auto, Betting, Confidence
from ..errors import SettingError
from ..parameters import chosen
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
from .race import Race
from .sorting import Sorting
from .ts_explore import TSExplore
from .ugape import UGapE
from .unified import Unified
from .uniform import Uniform

POLICIES: dict[str, type[Policy]] = {
    cls.name: cls
    for cls in (
        Joint,
        JointLinear,
        Paired,
        Race,
        Sorting,
        PAC,
        COCI,
        Uniform,
        Unified,
        CLUCB,
        LUCB,
        KLLUCB,
        UGapE,
        TSExplore,
        Gap,
        Elimination,
    )
}


def asked_policy(policy: str | Policy) -> str | Policy:
    """``"auto"``, or the policy that is meant by an object or by a text such as ``"ts-explore:q=0.3"``."""
    return chosen(policy, "policy", Policy, POLICIES, ("auto",))  # type: ignore[type-abstract]


def make_policy(
    policy: str | Policy,
    problem: Problem,
    confidence: str | Confidence = "auto",
    epsilon: float = 0.0,
    dependent: bool = False,
) -> Policy:
    """The policy at work on the problem; ``"auto"`` is the one that needs the fewest samples here, chosen before any data."""
    asked, dependent = asked_policy(policy), dependent or problem.pool is not None
    if isinstance(asked, str):
        return automatic(problem, confidence, epsilon, dependent)
    if need := asked.needs(problem):
        able = [
            name
            for name, cls in POLICIES.items()
            if cls.needs(problem) is None and not (cls.independent and problem.pool is not None)
        ]
        raise SettingError(f"policy={str(asked)!r} needs {need}; for {problem.kind} use one of {', '.join(able)}.", key="policy")
    if dependent and asked.independent:
        able = [name for name, cls in POLICIES.items() if cls.needs(problem) is None and not cls.independent]
        here = "on a pool" if problem.pool is not None else "with dependent=True"
        raise SettingError(
            f"policy={str(asked)!r} multiplies the evidence of different arms, which needs arms that are independent of each "
            f"other; {here} use 'auto' or one of {', '.join(able)}.",
            key="policy",
        )
    return asked.bound(problem)


def automatic(problem: Problem, confidence: str | Confidence, epsilon: float, dependent: bool = False) -> Policy:
    """Joint stopping where it is known; with an epsilon, for linear rewards only: its gaps are smaller than the box's there.

    For arms that may depend on each other, what rests on their intervals alone.
    """
    for on_pool in (Race, Sorting):
        if on_pool.needs(problem) is None:
            return on_pool().bound(problem)
    free = confidence in ("auto", "own") or isinstance(confidence, Auto)
    bets = isinstance(confidence, Betting) or str(confidence).partition(":")[0] == Betting.name
    if not dependent and (free or bets) and (epsilon == 0 or problem.linear):
        if Joint.needs(problem) is None:
            joint = Joint().bound(problem)
            if joint.pairs <= LISTED:
                return joint
        elif JointLinear.needs(problem) is None:
            return JointLinear().bound(problem)
    return (PAC() if epsilon > 0 and PAC.needs(problem) is None else COCI()).bound(problem)


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
    "Race",
    "Sorting",
    "TSExplore",
    "UGapE",
    "Unified",
    "Uniform",
    "View",
    "asked_policy",
    "make_policy",
]
