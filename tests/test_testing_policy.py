"""check_policy sees planted bugs, each with the promise that it breaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.policies import COCI, PAC, Policy, Uniform
from surepick.testing import ConformanceError, check_policy


class Rash(COCI):
    """Certifies as soon as an arm is ahead."""

    name = "rash"

    def certified(self, view: Any) -> bool:
        return view.samples > 4 * self.problem.m


class Never(COCI):
    name = "never"

    def candidates(self, view: Any) -> np.ndarray:
        return np.ones(self.problem.m, dtype=bool)

    def certified(self, view: Any) -> bool:
        return False


class Stubborn(COCI):
    """Asks for the first arm, paused or not."""

    name = "stubborn"

    def choose(self, view: Any, planned: Any, n: int) -> list[int]:
        return [0] * n


class Greedily(COCI):
    name = "greedily"

    def choose(self, view: Any, planned: Any, n: int) -> list[int]:
        return super().choose(view, planned, n + 1)


class Drifting(COCI):
    """Counts how often it was asked."""

    name = "drifting"
    asked = 0

    def choose(self, view: Any, planned: Any, n: int) -> list[int]:
        self.asked += 1
        return [(arm + self.asked) % self.problem.m for arm in super().choose(view, planned, n)]


class Amnesiac(COCI):
    """Goes by what it was told, and forgets it on disk."""

    name = "amnesiac"
    remembers = True
    moments = 0

    def told(self, view: Any) -> None:
        self.moments += 1

    def memory(self) -> Any:
        return self.moments

    def choose(self, view: Any, planned: Any, n: int) -> list[int]:
        arms = np.flatnonzero(view.open) if view.open is not None else np.arange(self.problem.m)
        return [int(arms[(self.moments + j) % len(arms)]) for j in range(n)]


class Dicing(COCI):
    """Draws numbers that no seed fixes."""

    name = "dicing"

    def candidates(self, view: Any) -> np.ndarray:
        wanted = np.zeros(self.problem.m, dtype=bool)
        wanted[DICE.integers(self.problem.m)] = True
        return wanted


DICE = np.random.default_rng(1)


class Late(Uniform):
    """Certifies anything, but not at once."""

    name = "late"

    def certified(self, view: Any) -> bool:
        return view.samples >= 200


class Nearly(COCI):
    """Takes every decision for one within epsilon."""

    name = "nearly"

    def near(self, view: Any) -> bool:
        return True


class Sharing(PAC):
    """Takes every decision for one within a share epsilon of the best."""

    name = "sharing"

    def near(self, view: Any) -> bool:
        return True if view.relative else super().near(view)


class OneByOne(PAC):
    """Takes every arm for one within epsilon of the best."""

    name = "one-by-one"

    def near(self, view: Any) -> bool:
        return True if view.per_arm else super().near(view)


class Flattering(COCI):
    """Says of every decision that none is better."""

    name = "flattering"

    def gap(self, view: Any, decision: np.ndarray) -> float:
        return 0.0


class Confident(COCI):
    """Says of every decision that it is nearly certain."""

    name = "confident"

    def attained(self, view: Any) -> float:
        return 1e-9


class Lavish(COCI):
    """Asks for more than it may when a budget is to be spent."""

    name = "lavish"

    def spend(self, view: Any, planned: Any, n: int) -> list[int]:
        return super().spend(view, planned, n + 3)


class Hasty(COCI):
    """Asks for more than it may when a budget is to be spent, until the decision is certain."""

    name = "hasty"

    def spend(self, view: Any, planned: Any, n: int) -> list[int]:
        return super().spend(view, planned, n if self.certified(view) else n + 2)


class Heedless(COCI):
    """Spends a budget on arms that are paused."""

    name = "heedless"

    def spend(self, view: Any, planned: Any, n: int) -> list[int]:
        return [self.problem.m - 1] * n


class Spendthrift(COCI):
    """Certifies anything once it was asked how to spend a budget."""

    name = "spendthrift"
    spending = False

    def spend(self, view: Any, planned: Any, n: int) -> list[int]:
        self.spending = True
        return super().spend(view, planned, n)

    def certified(self, view: Any) -> bool:
        return super().certified(view) or (self.spending and view.samples >= 290)


class Sevens(COCI):
    """Certifies anything after 67, 77, 87 ... samples."""

    name = "sevens"

    def certified(self, view: Any) -> bool:
        return super().certified(view) or (view.samples > 60 and view.samples % 10 == 7)


class Partial(COCI):
    """Is right for one best arm, and certifies anything else."""

    name = "partial"

    def certified(self, view: Any) -> bool:
        return super().certified(view) if self.problem.kind == "best-arm" else view.samples >= 40


@pytest.mark.parametrize(
    ("policy", "promise"),
    [
        (Rash, "Certificates are wrong in at most a share delta"),
        (Never, "In an easy world the best decision is certified"),
        (Stubborn, "An arm that is paused is not asked for"),
        (Greedily, "ask returns at most as many arms as it is asked for"),
        (Drifting, "The same question has the same answer"),
        (Amnesiac, "An explorer that is saved and loaded asks for the same as before"),
        (Dicing, "The same question has the same answer"),
        (Late, "Certificates are wrong in at most a share delta"),
        (Nearly, "With an epsilon, decisions that are certified are further from the best in at most a share delta"),
        (Flattering, "no decision is better by more than gap"),
        (Confident, "a decision that is not the best attains p or less with probability at most p"),
        (Lavish, "ask returns at least one arm, at most as many as it is asked for and as are left"),
        (Hasty, "ask returns at least one arm, at most as many as it is asked for and as are left"),
        (Heedless, "as are left, open ones, before the decision is certain and once it is"),
        (Spendthrift, "With spend=True, certificates are wrong in at most a share delta"),
        (Sevens, "Certificates are wrong in at most a share delta"),
    ],
)
def test_a_bug_in_a_policy_is_seen(policy: type[Policy], promise: str) -> None:
    with pytest.raises(ConformanceError) as seen:
        check_policy(policy(), sp.BestArm(3))
    assert promise in seen.value.promise


def test_a_policy_is_checked_on_all_kinds_that_it_can_do() -> None:
    with pytest.raises(ConformanceError, match="Certificates are wrong in at most a share delta") as seen:
        check_policy(Partial())
    assert seen.value.example["problem"].kind == "top-k"


@pytest.mark.parametrize(("policy", "kind"), [(Sharing, "relative=True"), (OneByOne, "per_arm=True")])
def test_a_bug_with_one_kind_of_epsilon_is_seen(policy: type[Policy], kind: str) -> None:
    with pytest.raises(ConformanceError, match="also with an epsilon that is a share of the best reward") as seen:
        check_policy(policy(), sp.TopK(4, 2))
    assert kind in str(seen.value)


@pytest.mark.parametrize(
    "kind", [{"epsilon": 0.4}, {"epsilon": 0.3, "relative": True}, {"epsilon": 0.2, "per_arm": True}], ids=str
)
def test_a_decision_within_epsilon_is_not_wrong(kind: dict[str, Any]) -> None:
    check_policy("joint", sp.TopK(4, 2), runs=40, **kind)
