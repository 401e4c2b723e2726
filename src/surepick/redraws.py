"""Draws with replacement, made from values that are drawn without.

An arm has N values, n of which have been seen, in random order. To draw one of all N: with probability n / N repeat one of those
seen, each as likely as the others, else take the next one that has not been seen. Whatever was drawn before, that is any of the
N with probability 1 / N. So what holds for independent draws holds for these, for any parameter; and the repeats cost nothing.

The repeats that come before a new value are made when it arrives, so that between two values nothing is open. Where draws are
weighed in pairs, a pair that is open then is closed if the next draw is a repeat. Which draws are repeats, and of which values,
is in a table of random numbers of the arm's own (``places``), which was there before any value: none of them tells when they end.
The last value of all needs no draw, as the parameter is known then.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .arms import Arm, Floats, Ints

if TYPE_CHECKING:
    from .estimators import Moments

Keys = np.ndarray[Any, np.dtype[np.uint64]]

FEWEST = 64  # values that an arm has room for at first
AHEAD, MOST_AHEAD = 8, 4096  # draws that are looked at together
STEP = 0x9E3779B97F4A7C15  # the golden ratio in 64 bits
MIX_1, MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def key_of(position: int, arm: Arm) -> int:
    """Where an arm's table of random numbers begins: its own, and the same whenever the arm is explored."""
    name = arm.name if isinstance(arm.name, str) else ""
    text = f"{position} {arm.population} {name}"
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def places(key: int, first: int, many: int, population: float) -> Ints:
    """Draws first, first + 1, ... of an arm as numbers from 0 to N - 1, each as likely as the others (SplitMix64)."""
    with np.errstate(over="ignore"):
        z = np.uint64(key) + np.uint64(STEP) * np.arange(first + 1, first + many + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(MIX_1)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(MIX_2)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype(np.float64) * 2.0**-53 * population).astype(np.int64)


class Redraws:
    """The draws with replacement of every arm that has them, and the values that they repeat.

    Attributes
    ----------
    tally : Moments
        What was drawn; its counts say how much of an arm's table of random numbers is used.
    keys : array
        Where the tables begin.
    values, starts : array
        The values seen of arm i are values[starts[i] :] in their order; there is room up to starts[i + 1].
    """

    def __init__(self, tally: Moments, arms: Sequence[Arm]) -> None:
        self.tally = tally
        self.has: np.ndarray[Any, np.dtype[np.bool_]] = np.array([_needed(arm) for arm in arms])
        self.populations: Floats = np.array([arm.size for arm in arms])
        keys = [key_of(i, arm) if _needed(arm) else 0 for i, arm in enumerate(arms)]
        self.keys: Keys = np.array(keys, dtype=np.uint64)
        self.starts: Ints = np.zeros(len(arms) + 1, dtype=np.int64)
        self.values: Floats = np.zeros(0)

    @classmethod
    def of(cls, tally: Moments, arms: Sequence[Arm]) -> Redraws | None:
        """None if no arm needs them."""
        return cls(tally, arms) if any(map(_needed, arms)) else None

    def reserve(self, arm: int, counts: Ints, many: int) -> bool:
        """Make room for so many values of an arm; says whether ``values`` is another array now."""
        if not self.has[arm] or counts[arm] + many <= self.starts[arm + 1] - self.starts[arm]:
            return False
        wanted = np.maximum(counts, FEWEST)
        wanted[arm] = counts[arm] + many
        rooms = np.where(self.has, np.minimum(2 * wanted, self.populations), 0).astype(np.int64)
        rooms = np.maximum(rooms, np.diff(self.starts))
        starts = np.concatenate(([0], np.cumsum(rooms)))
        values = np.empty(int(starts[-1]))
        for i in np.flatnonzero(self.has & (counts > 0)).tolist():
            values[starts[i] : starts[i] + counts[i]] = self.seen(i, int(counts[i]))
        self.starts, self.values = starts, values
        return True

    def seen(self, arm: int, count: int) -> Floats:
        """The first values of an arm, so many."""
        return self.values[self.starts[arm] : self.starts[arm] + count]

    def take(self, arm: int, counts: Ints, values: Floats) -> None:
        """New values of an arm, which had ``counts`` before."""
        if not self.has[arm]:
            return
        self.reserve(arm, counts, len(values))
        n = int(counts[arm])
        self.values[self.starts[arm] + n : self.starts[arm] + n + len(values)] = values
        for seen in range(n, min(n + len(values), int(self.populations[arm]) - 1)):
            self._draw(arm, seen)

    def _draw(self, arm: int, seen: int) -> None:
        """The draws up to the next new value, after so many; then a repeat, if that closes a pair."""
        tally, key, population = self.tally, int(self.keys[arm]), float(self.populations[arm])
        known = self.seen(arm, seen + 1)
        many = AHEAD
        while True:
            drawn = places(key, int(tally.counts[arm]), many, population)
            new = np.flatnonzero(drawn >= seen)
            drawn = drawn[: new[0] + 1] if len(new) else drawn
            tally.update(arm, known[np.minimum(drawn, seen)])
            if len(new):
                break
            many = min(2 * many, MOST_AHEAD)
        if tally.variance and not math.isnan(tally.waiting[arm]):
            after = int(places(key, int(tally.counts[arm]), 1, population)[0])
            if after <= seen:
                tally.update(arm, known[after : after + 1])

    def opened(self, arm: int, counts: Ints, more: int) -> bool:
        """A pair of draws is open after so many more new values, whatever these are."""
        seen, drawn = int(counts[arm]), int(self.tally.counts[arm])
        key, population = int(self.keys[arm]), float(self.populations[arm])
        for _ in range(more):
            if seen + 1 >= population:
                return False
            while places(key, drawn, 1, population)[0] < seen:
                drawn += 1
            drawn, seen = drawn + 1, seen + 1
            if drawn % 2 == 1 and places(key, drawn, 1, population)[0] < seen:
                drawn += 1
        return drawn % 2 == 1 and seen < population


def _needed(arm: Arm) -> bool:
    """Of 0/1 values without replacement the law is known; other values are drawn anew."""
    return arm.population is not None and arm.kind == "bounded"
