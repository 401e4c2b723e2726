"""What an exploration hands over: the decision, and what is certain about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import display
from . import order as orders
from .arms import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


LAWS = {
    "bounded": "Every value lies within the bounds that were declared for its arm.",
    "subgaussian": "Values of sub-Gaussian arms stray from their mean no more than normal ones of the declared scale.",
    "normal": "Values of normal arms are normally distributed.",
}


@dataclass(frozen=True, eq=False)
class Certificate:
    """What the observations say about the decision, at the moment it was asked for.

    Attributes
    ----------
    decision : array
        The decision, one entry an arm.
    certified : bool
        True: with probability at least 1 - delta the decision is optimal (within ``epsilon`` if that is positive).
    delta, epsilon, relative, per_arm
        As asked for.
    gap : float
        With probability at least 1 - delta the decision is worse than the best one by at most this much: in units of the
        reward, or, if ``relative``, as a share of the best reward's size. 0 if every arm is decided. Of a ranking on a pool: no
        two in wrong order are further apart than this.
    gap_per_arm : float or None
        With probability at least 1 - delta every arm of the decision is within this of the k-th best (of its group). None for
        classes other than best-arm, top-k and best-of-each. 0 if every arm is decided.
    yardstick : str
        That k-th best in words, such as "the 2nd best of its group".
    lower, upper : array
        The confidence box, in the user's units.
    estimate : array
        NaN for arms with too few observations.
    counts : array
        Observations of every arm; ``samples`` is their sum.
    undecided : array of bool
        Arms whose entry of the optimal decision still varies over the box.
    rival : array or None
        The decision that stands most in the way: the one after the exchange that is known least, or the one that could be better
        by most. None once no arm is undecided, and before every arm has an estimate.
    attained : float or None
        The smallest delta at which the same observations certify the decision (1 if none does), once the exploration has ended.
    policy, confidence : str
        What chose the arms and made the intervals.
    rule : str
        How it stops: ``"per-arm"`` when no arm is undecided, ``"unified"`` when no rival is left.
    names : list
        The arms' names; ``to_dict`` has them as texts.
    independent : bool
        The guarantee needs arms that are independent of each other; see ``conditions``.
    ended : list
        The arms that can never be sampled again.
    cost : float or None
        What all observations cost; None if no arm has a cost of its own.
    finite : bool
        Some arm has a population, of which values are drawn without replacement.
    pool : tuple or None
        How many items all arms share, and the seed of their order.
    kinds : list of str
        What is assumed of values: they are ``"bounded"`` (0/1 values are), ``"subgaussian"`` or ``"normal"``, by the arms.
    above, close : array of bool or None
        Of a ranking: [i, j] is True if arm i is certainly at least as good as arm j, and if the two are certainly within epsilon
        of each other. All of this holds together with probability at least 1 - delta. ``groups`` and ``ranks`` say it in names.
    guess : array or None
        What would be best if the estimates were right, where the decision is another one: that of the smallest certified gap. The
        policy ``pac`` decides so. None if the two agree, or the decision is certified.
    remark : str
        How the reward is meant, where that is in question; the last one of ``conditions``.
    waiting : list
        The arms with half a pair, where variances come from pairs of values: until the other half is there, nothing is certified.
    corrected : int
        How many entries of a durable study were corrected afterwards; the certificate is that of the corrected data.
    """

    decision: np.ndarray[Any, Any]
    certified: bool
    delta: float
    epsilon: float
    relative: bool
    per_arm: bool
    gap: float
    gap_per_arm: float | None
    yardstick: str
    lower: Floats
    upper: Floats
    estimate: Floats
    counts: Ints
    undecided: Bools
    rival: np.ndarray[Any, Any] | None
    attained: float | None
    samples: int
    policy: str
    rule: str
    confidence: str
    names: list[Any]
    independent: bool = False
    ended: list[Any] = field(default_factory=list)
    waiting: list[Any] = field(default_factory=list)
    cost: float | None = None
    finite: bool = False
    kinds: list[str] = field(default_factory=lambda: ["bounded"])
    pool: tuple[int, Any] | None = None
    above: Bools | None = None
    close: Bools | None = None
    guess: np.ndarray[Any, Any] | None = None
    remark: str = ""
    corrected: int = 0

    @property
    def conditions(self) -> list[str]:
        """What the guarantee assumes, in sentences."""
        if self.pool is not None:
            return self._of_pool(*self.pool)
        if self.independent:
            between = "Values of different arms are independent of each other."
        else:
            between = (
                "Values of different arms may depend on each other in any way if they are of one source, such as one person (a "
                "row); sources are independent of each other, and whether an arm was looked at did not hang on another arm's "
                "value from the same source."
            )
        draws = "Values of one arm are independent draws from one distribution that does not drift"
        if self.finite:
            draws += "; those of an arm with a population come in random order, each of them once"
        return [
            f"{draws}.",
            between,
            " ".join(LAWS[kind] for kind in self.kinds),
            "Whether and when a value was told did not depend on the value.",
            "Values were told in the order in which they came, or as one moment.",
            "Delta, epsilon, the bounds and the problem were fixed before the data were seen.",
            *([self.remark] if self.remark else []),
            *self._of_corrections(),
        ]

    def _of_pool(self, size: int, seed: Any) -> list[str]:
        return [
            f"The {size:,} items were judged in one random order, that of seed {seed}, which had nothing to do with the scores.",
            "A candidate's score on an item is one number, settled before it was looked at.",
            LAWS["bounded"],
            "Whether a score was told did not depend on it: failures and missing answers have scores, too.",
            "Delta, epsilon, the bounds, the items and the candidates were fixed before the scores were seen.",
            *self._of_corrections(),
        ]

    def _of_corrections(self) -> list[str]:
        """What is assumed of data that were corrected."""
        if not self.corrected:
            return []
        return [
            "Entries were corrected because they were wrong, whichever way they spoke, and not because of what they certified."
        ]

    @property
    def chosen(self) -> dict[Any, Any]:
        """The decision by name: the arms whose entry is not 0, each with its entry."""
        return {name: y for name, y in zip(self.names, self.decision.tolist(), strict=True) if y}

    @property
    def groups(self) -> list[list[Any]] | None:
        """Of a ranking: the arms in groups, the best first. Every arm of a group is certainly at least as good as every arm of
        those behind it. None for other decisions."""
        if self.above is None:
            return None
        return [[self.names[i] for i in group] for group in orders.groups(self.above, self.decision)]

    @property
    def ranks(self) -> tuple[Ints, Ints] | None:
        """Of a ranking: the best and the worst rank that every arm may have. None for other decisions."""
        return None if self.above is None else orders.ranks(self.above)

    @property
    def _several(self) -> bool:
        """The decision takes several arms, each of which may fall short of the k-th best: a sum is not one of them."""
        return self.gap_per_arm is not None and int(self.decision.sum()) > 1

    @property
    def blocking(self) -> str | None:
        """What stands most in the way of a certificate, in words."""
        if self.rival is None:
            return None
        if self.above is not None:
            swapped = np.flatnonzero(self.rival != self.decision)
            if len(swapped) == 0:
                return None
            names = [self.names[i] for i in swapped[np.argsort(self.decision[swapped])]]
            return f"the order of {display.listed(names)}"
        steps = self.rival - self.decision
        less = [name for name, step in zip(self.names, steps, strict=True) if step < 0]
        more = [name for name, step in zip(self.names, steps, strict=True) if step > 0]
        if not less and not more:
            return None
        return f"{display.listed(more) or 'nothing'} instead of {display.listed(less) or 'nothing'}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, ready for JSON: what is unknown or unbounded is None."""
        return {
            "decision": self.decision.tolist(),
            "certified": self.certified,
            "statement": str(self),
            "delta": self.delta,
            "epsilon": self.epsilon,
            "relative": self.relative,
            "per_arm": self.per_arm,
            "gap": _plain(self.gap),
            "gap_per_arm": None if self.gap_per_arm is None else _plain(self.gap_per_arm),
            "rival": None if self.rival is None else self.rival.tolist(),
            "blocking": self.blocking,
            **({} if self.guess is None else {"guess": self.guess.tolist()}),
            "attained": self.attained,
            "samples": self.samples,
            **({} if self.cost is None else {"cost": self.cost}),
            "counts": self.counts.tolist(),
            "estimate": [_plain(x) for x in self.estimate.tolist()],
            "lower": [_plain(x) for x in self.lower.tolist()],
            "upper": [_plain(x) for x in self.upper.tolist()],
            "undecided": [str(name) for name, open_ in zip(self.names, self.undecided, strict=True) if open_],
            "policy": self.policy,
            "rule": self.rule,
            "confidence": self.confidence,
            "arms": list(map(str, self.names)),
            **self._of_order(),
            **({} if self.pool is None else {"items": self.pool[0], "seed": self.pool[1]}),
            **({} if not self.corrected else {"corrected": self.corrected}),
            "ended": list(map(str, self.ended)),
            "waiting": list(map(str, self.waiting)),
            "conditions": self.conditions,
        }

    def _of_order(self) -> dict[str, Any]:
        """What a ranking has besides."""
        if self.above is None or self.close is None or self.groups is None or self.ranks is None:
            return {}
        best, worst = self.ranks
        names = list(map(str, self.names))
        pairs = np.argwhere(np.triu(self.close, 1)).tolist() if self.epsilon > 0 else []
        return {
            "groups": [list(map(str, group)) for group in self.groups],
            "best_rank": best.tolist(),
            "worst_rank": worst.tolist(),
            "within_epsilon": [[names[i], names[j]] for i, j in pairs],
        }

    def __str__(self) -> str:
        said = self._sentence()
        if not self.corrected:
            return said
        return f"{said} {'1 entry was' if self.corrected == 1 else f'{self.corrected:,} entries were'} corrected."

    def _sentence(self) -> str:
        """What is certain."""
        least = f"{1 - self.delta:.10g}" if self.delta > 1e-9 else f"1 - {self.delta:g}"
        sure, given = f"with probability at least {least}", ", if arms are independent" if self.independent else ""
        if self.pool is not None:
            given = f" on {'this item' if self.pool[0] == 1 else f'these {self.pool[0]:,} items'}"
        paid = "" if self.cost is None else f" at a cost of {self.cost:,.12g}"
        after = f"after {self.samples:,} sample{'' if self.samples == 1 else 's'}{paid}"
        if self.groups is not None:
            return self._ranked(after, sure, given)
        if self.certified and self.undecided.any():
            if self.per_arm and self._several:
                return f"Certified {after}: {sure} each of these arms is within {self.epsilon:g} of {self.yardstick}{given}."
            share = f"{100 * self.epsilon:g} %" if self.relative else f"{self.epsilon:g}"
            if self._several:
                return f"Certified {after}: {sure} the sum of these arms is within {share} of the best sum{given}."
            return f"Certified {after}: {sure} this decision is within {share} of the best{given}."
        if self.certified:
            return f"Certified {after}: {sure} this decision is the best{given}."
        left = int(self.undecided.sum())
        if left == 0:
            return f"So far, {after}: {sure} this decision is the best{given}. {self._why_not()}"
        arms = "1 arm" if left == 1 else f"{left} arms"
        if math.isfinite(self.gap):
            worst = f"{100 * self.gap:.3g} %" if self.relative else f"{self.gap:.3g}"
            so_far = f" So far, {sure} it is within {worst} of the best{given}."
            if self._several:
                each = f"each of them within {self.gap_per_arm:.3g} of {self.yardstick}"
                so_far = f" So far, {sure} their sum is within {worst} of the best sum, {each}{given}."
        else:
            so_far = ""
        no_more = f" {display.listed(self.ended)} can be sampled no more." if self.ended else ""
        return f"Not certified {after}: {arms} undecided.{no_more}{so_far}"

    def _ranked(self, after: str, sure: str, given: str) -> str:
        """What is certain of a ranking."""
        left = int(self.undecided.sum())
        if self.certified and left == 0:
            return f"Certified {after}: {sure} this ranking is right{given}."
        if self.certified and (self.pool is None or self.policy.partition(":")[0] != "sorting"):
            apart = f"{100 * self.epsilon:g} % of the best reward" if self.relative else f"{self.epsilon:g}"
            return f"Certified {after}: {sure} pairs in wrong order are {apart} apart in all, at most{given}."
        if self.certified:
            return f"Certified {after}: {sure} any two are in the right order, or within {self.epsilon:g} of each other{given}."
        if left == 0:
            return f"So far, {after}: {sure} this ranking is right{given}. {self._why_not()}"
        arms = "1 arm" if left == 1 else f"{left} arms"
        no_more = f" {display.listed(self.ended)} can be sampled no more." if self.ended else ""
        return f"Not certified {after}: the rank of {arms} is open.{no_more}{self._order_so_far(sure, given)}"

    def _order_so_far(self, sure: str, given: str) -> str:
        """What is certain of an order that is not."""
        groups, (best, worst) = self.groups or [], self.ranks or (self.counts, self.counts)
        width, first = float((worst - best + 1).mean()), int((best == 1).sum())
        known = [f"there are {len(groups)} groups, each above the next"] if len(groups) > 1 else []
        known += [f"the first is one of {first}"] if 1 < first < len(best) else []
        known += [f"an arm may have {width:.1f} ranks on average"] if width < len(best) else []
        return f" So far, {sure}{given} {', and '.join(known[:2])}." if known else ""

    def _why_not(self) -> str:
        """Why there is no certificate although no arm is undecided."""
        if not self.waiting:
            return "The budget is not spent yet."
        missing = "lacks a value" if len(self.waiting) == 1 else "lack a value each"
        return f"It is not certified because variances come from pairs, and {display.listed(self.waiting)} {missing}."

    def to_frame(self) -> pd.DataFrame:
        """A row an arm: ``arm`` (its name), ``decision``, ``estimate``, ``lower``, ``upper``, ``counts`` and ``undecided``.

        Of a ranking also ``best_rank``, ``worst_rank`` and ``group``, in the order of the ranking.
        """
        import pandas as pd

        names = pd.Series(self.names, dtype=object)
        parts = ("decision", "estimate", "lower", "upper", "counts", "undecided")
        frame = pd.DataFrame({"arm": names, **{part: getattr(self, part) for part in parts}})
        if self.ranks is None or self.groups is None:
            return frame
        group = {name: number for number, members in enumerate(self.groups, 1) for name in members}
        frame["best_rank"], frame["worst_rank"] = self.ranks
        frame["group"] = [group[name] for name in self.names]
        return frame.sort_values("decision", ignore_index=True)

    def __repr__(self) -> str:
        return f"<Certificate of {self._spelled()}: {str(self)[:-1]}>"

    def _spelled(self) -> str:
        """The decision in a few words."""
        if self.above is not None:
            return display.listed([self.names[i] for i in np.argsort(self.decision, kind="stable")])
        return display.listed([arm if y == 1 else f"{display.name(arm)} = {y:g}" for arm, y in self.chosen.items()]) or "nothing"

    def _repr_html_(self) -> str:
        order = np.arange(len(self.names))
        if self.above is not None:
            order = np.argsort(self.decision, kind="stable")[: display.ROWS]
        elif len(order) > display.ROWS:  # the arms of the decision first, then those that are undecided
            order = np.lexsort((~self.undecided, self.decision == 0))[: display.ROWS]
        header = ["arm", "decision" if self.above is None else "rank", "estimate", "lower", "upper", "samples", ""]
        columns = (self.decision, self.estimate, self.lower, self.upper, self.counts)
        rows = [
            [
                display.name(self.names[i]),
                *(display.figure(column[i]) for column in columns),
                "undecided" if self.undecided[i] else "",
            ]
            for i in order
        ]
        table = display.table(header, rows, len(self.names), "arm")
        return display.page(str(self), table, self.conditions, "What the guarantee assumes")


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of :func:`surepick.explore`."""

    decision: np.ndarray[Any, Any]
    certified: bool
    samples: int
    counts: Ints
    certificate: Certificate

    @classmethod
    def of(cls, certificate: Certificate) -> Outcome:
        return cls(certificate.decision, certificate.certified, certificate.samples, certificate.counts, certificate)

    def __str__(self) -> str:
        return str(self.certificate)

    def to_frame(self) -> pd.DataFrame:
        """A row an arm; see :meth:`Certificate.to_frame`."""
        return self.certificate.to_frame()

    def __repr__(self) -> str:
        return repr(self.certificate).replace("Certificate", "Outcome", 1)

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()


def _plain(x: float) -> float | None:
    return x if math.isfinite(x) else None
