"""What an exploration is asked for: the one list of settings, their defaults and their checks."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from .checks import LARGEST, flag, number, whole
from .confidence import OWN, Confidence, asked_confidence, make_confidence
from .errors import SettingError
from .policies import Policy, asked_policy, make_policy
from .problems.base import Problem

SMALLEST = 1e-300  # delta
POOLED = "beta"  # the intervals of candidates that share a pool: without replacement, and no draws anew


def _says(must_be: str) -> dict[str, str]:
    """For study files: what a value must be."""
    return {"must be": must_be}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of an exploration, as :class:`surepick.Explorer` describes them, checked.

    Policies and confidence sequences are objects here, however they were given; only ``"auto"`` and ``"own"``, which depend on
    the problem, stay as they are.

    Examples
    --------
    >>> Settings(policy="ts-explore:q=0.3").policy
    TSExplore(q=0.3)
    """

    delta: float = field(default=0.05, metadata=_says("a probability between 0 and 1, both excluded"))
    epsilon: float = field(default=0.0, metadata=_says("a finite number of at least 0"))
    relative: bool = field(default=False, metadata=_says("true or false"))
    per_arm: bool = field(default=False, metadata=_says("true or false"))
    budget: int | None = field(default=None, metadata=_says("a whole number of samples"))
    cost_budget: float | None = field(default=None, metadata=_says("a number of at least 0, what all samples may cost"))
    spend: bool = field(default=False, metadata=_says("true or false"))
    dependent: bool = field(default=False, metadata=_says("true or false"))
    policy: str | Policy = field(default="auto", metadata=_says("the name of a policy, such as 'auto' or 'coci'"))
    confidence: str | Confidence = field(default="auto", metadata=_says("the name of a confidence sequence, such as 'auto'"))

    def __post_init__(self) -> None:
        delta = number(self.delta, "delta", "a probability between 0 and 1, both excluded", lambda x: 0 < x < 1)
        if delta < SMALLEST:
            raise SettingError(f"delta = {delta:g} is below {SMALLEST:g}, the smallest that is supported.", key="delta")
        checked = {
            "delta": delta,
            "epsilon": number(self.epsilon, "epsilon", "a number of at least 0", lambda x: x >= 0),
            "relative": flag(self.relative, "relative"),
            "per_arm": flag(self.per_arm, "per_arm"),
            "budget": None if self.budget is None else whole(self.budget, "budget", 0, LARGEST),
            "cost_budget": None
            if self.cost_budget is None
            else number(self.cost_budget, "cost_budget", "a number of at least 0", lambda x: x >= 0),
            "spend": flag(self.spend, "spend"),
            "dependent": flag(self.dependent, "dependent"),
            "policy": asked_policy(self.policy),
            "confidence": asked_confidence(self.confidence),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.per_arm and self.relative:
            raise SettingError(
                "per_arm=True takes epsilon in units of the parameter; leave out relative=True, a share of the best sum.",
                key="per_arm",
            )
        if self.spend and self.budget is None and self.cost_budget is None:
            raise SettingError("spend=True needs a budget: say how many observations to spend.", key="spend")

    def asked(self) -> dict[str, Any]:
        """All settings by name, as keywords."""
        return {one.name: getattr(self, one.name) for one in fields(Settings)}

    def changed(self) -> list[str]:
        """The names of the settings that are not at their defaults."""
        return [one.name for one in fields(Settings) if getattr(self, one.name) != one.default]

    def bound(self, problem: Problem) -> tuple[Policy, Confidence]:
        """The policy and the confidence sequence at work on a problem; raises what does not fit it."""
        if self.per_arm and not problem.ranked:
            raise SettingError(
                f"per_arm=True needs best-arm, top-k or best-of-each, whose arms fall short one by one; for {problem.kind} leave "
                "it out: epsilon is then for the decision as a whole.",
                key="per_arm",
            )
        policy = make_policy(self.policy, problem, self.confidence, self.epsilon, self.dependent)
        named = policy.own if self.confidence == OWN else self.confidence
        if problem.pool is not None and named == "auto":
            named = POOLED
        confidence = make_confidence(named, problem, self.delta * policy.box_share)
        if need := policy.lacks(confidence):
            raise SettingError(
                f"policy={str(policy)!r} needs {need}; leave out confidence={str(self.confidence)!r}.", key="confidence"
            )
        return policy, confidence


NAMES = tuple(one.name for one in fields(Settings))
