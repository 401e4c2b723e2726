"""check_confidence sees planted bugs, each with the promise that it breaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.confidence import Confidence, Paper
from surepick.testing import ConformanceError, check_confidence
from surepick.testing.paths import Cumulated, drawn


class Peeking(Confidence):
    """Hoeffding's interval for one arm and one look, looked at again and again."""

    name = "peeking"

    def radius(self, counts: np.ndarray) -> np.ndarray:
        return self.problem.scales * np.sqrt(np.log(2 / self.delta) / (2 * counts))


class Once(Confidence):
    """Hoeffding's interval for all arms, but for one look."""

    name = "once"

    def radius(self, counts: np.ndarray) -> np.ndarray:
        return self.problem.scales * np.sqrt(np.log(2 * self.problem.m / self.delta) / (2 * counts))


class Single(Confidence):
    """Holds at all times, but only for one arm."""

    name = "single"

    def radius(self, counts: np.ndarray) -> np.ndarray:
        return self.problem.scales * np.sqrt(np.log(4.0 * counts**2 / self.delta) / (2 * counts))


class Lopsided(Paper):
    """Around another point than the estimate."""

    name = "lopsided"

    def box(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = super().box(record)
        return np.minimum(lower + 0.6 * (upper - lower), 1.0), upper


class Outside(Paper):
    name = "outside"

    def box(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = super().box(record)
        return lower - 1.0, upper


class Wide(Paper):
    """Learns nothing."""

    name = "wide"

    def box(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.low.copy(), self.problem.high.copy()


class Backwards(Paper):
    """Takes delta for 1 - delta."""

    name = "backwards"

    def log_term(self, t: int) -> float:
        return 3.0 * np.log(t) + np.log(4.0) - np.log(1 - self.delta) + 1 - np.log(2 / (1 + self.delta))


class Deaf(Paper):
    """Is the same at every delta once it is made."""

    name = "deaf"

    def at(self, delta: float) -> Any:
        return self


class Mistaken(Paper):
    """Is lowered with other constants than it has."""

    name = "mistaken"

    def lower(self, record: Any) -> Any:
        return super().lower(record)._replace(power=2.0)


@pytest.mark.parametrize(
    ("sequence", "promise"),
    [
        (Peeking, "All intervals contain the truth at all times together"),
        (Once, "All intervals contain the truth at all times together"),
        (Single, "All intervals of many arms contain the truth together"),
        (Lopsided, "The interval of a mean contains the estimate"),
        (Outside, "Bounds are numbers within the range"),
        (Wide, "and they shrink"),
        (Backwards, "A smaller delta has wider intervals"),
        (Deaf, "A smaller delta has wider intervals"),
        (Mistaken, "Compiled loops see the same bounds"),
    ],
)
def test_a_bug_in_a_sequence_is_seen(sequence: type[Confidence], promise: str) -> None:
    with pytest.raises(ConformanceError) as seen:
        check_confidence(sequence())
    assert promise in seen.value.promise
    assert "counts = [" in str(seen.value) or sequence is Single  # which takes too many arms to be shown


@pytest.mark.parametrize("parameter", ["mean", "variance"])
def test_records_of_long_paths_are_those_of_their_values(parameter: str) -> None:
    problem = sp.BestArm([sp.Arm("a", low=2, high=5), sp.Arm("b")], parameter=parameter)
    values = drawn(problem, np.array([0.5, 0.25]), 21, run=3)
    for counts in ([2, 21], [5, 8]):
        record = problem.record()
        for arm, n in enumerate(counts):
            record.update(arm, values[arm, :n])
        made = Cumulated(problem, values).record(np.array(counts))
        assert made.counts.tolist() == counts
        np.testing.assert_allclose(made.table, record.table, atol=1e-12)
