"""What surepick compare says: for people, and as JSON."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .talk import ROWS, folded, say, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..problems import Ranking, TopK
    from ..study import Results
    from ..study.results.orders import Told
    from ..study.results.standing import Standing

SHOWN = 8  # names that a sentence lists
CLOSE = 4.0  # standard errors: a lead that is no larger takes many items


@dataclass(frozen=True)
class Comparison:
    """All that the pages below say something about."""

    scores: Results
    problem: TopK | Ranking
    truth: Standing
    delta: float
    epsilon: float
    orders: list[Told]
    asked: int  # orders that were asked for
    interrupted: bool

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.problem.names]

    @property
    def k(self) -> int:
        """How many are chosen: all, in their order, of a ranking."""
        return getattr(self.problem, "k", self.problem.m)

    @property
    def ranking(self) -> bool:
        return not hasattr(self.problem, "k")

    @property
    def chosen(self) -> list[str]:
        return [self.names[i] for i in self.truth.order[: self.k].tolist()]

    @property
    def equal(self) -> list[list[str]]:
        """Groups of candidates with one mean."""
        groups: dict[float, list[str]] = {}
        for i in self.truth.order.tolist():
            near = [
                mean
                for mean in groups
                if abs(mean - self.truth.means[i]) <= 1e-12 * abs(self.problem.high[0] - self.problem.low[0])
            ]
            groups.setdefault(near[0] if near else float(self.truth.means[i]), []).append(self.names[i])
        return [group for group in groups.values() if len(group) > 1]

    @property
    def total(self) -> int:
        return int(self.scores.table.size)


# -- for people --------------------------------------------------------------------------------------------------------------


def show(found: Comparison) -> None:
    scores = found.scores
    m, n = scores.table.shape
    of = f", {scores.metric}" if scores.metric else ""
    say(f"{m:,} candidates on {n:,} items: {found.total:,} scores{of}", "bold")
    for note in scores.notes:
        say(note, "yellow" if scores.missing and note is scores.notes[-1] else None)
    say(_verdict(found), "bold green")
    if (near := _near(found)) is not None:
        say(near)
    _table(found)
    if found.orders:
        say(_enough(found), "bold")
        for sentence in _reliable(found):
            say(sentence)
    if found.interrupted:
        say(f"Stopped by Ctrl-C after {len(found.orders)} of {found.asked} orders.", "yellow")


def _verdict(found: Comparison) -> str:
    """Who is best, by how much, and of whom."""
    truth, names, k, chosen = found.truth, found.names, found.k, found.chosen
    many = len(names)
    known = "With every score there, this is known and not estimated: "
    if found.ranking:
        equal = "".join(f" {_list(group)} tie exactly." for group in found.equal)
        return f"{known}the order on these items is that of the table, from {chosen[0]} to {chosen[-1]}.{equal}"
    if truth.tie:
        tied = [names[i] for i in truth.order.tolist() if truth.tied[i]]
        sure = [name for name in chosen if name not in tied]
        first = f"the best {k} are {_list(sure)} and " if sure else "on these items "
        places = k - len(sure)
        return (
            f"{known}{first}{places} of {len(tied)} that tie exactly, {_list(tied)}: any of these will do"
            f"{f' for the last {places} places' if sure and places > 1 else ' for the last place' if sure else ''}."
        )
    next_ = names[int(truth.order[k])]
    by = f"{truth.lead:.{_digits(found)}f}"
    if k == 1:
        return f"{known}on these items {chosen[0]} is the best of {many:,}, ahead of {next_} by {by}."
    return f"{known}on these items the best {k} are {_list(chosen)}. The last of them is ahead of {next_} by {by}."


def _near(found: Comparison) -> str | None:
    if not found.epsilon:
        return None
    if found.ranking:
        means = found.truth.means[found.truth.order]
        pairs = sum(int((abs(means[i + 1 :] - mean) <= found.epsilon).sum()) for i, mean in enumerate(means))
        return f"Within {found.epsilon:g} of each other: {pairs:,} of {len(means) * (len(means) - 1) // 2:,} pairs."
    near = [found.names[i] for i in found.truth.order.tolist() if found.truth.near[i]]
    of = "the best" if found.k == 1 else f"the best {found.k}"
    return f"Within {found.epsilon:g} of {of}: {_list(near) if near else 'nobody else'}."


def _table(found: Comparison) -> None:
    """A row a candidate: its mean, how far behind the best it is, and the scores that would have been enough."""
    import numpy as np

    truth, digits, k = found.truth, _digits(found), found.k
    order = truth.order.tolist()
    counts = np.median([told.counts for told in found.orders], axis=0) if found.orders else None
    n = found.scores.table.shape[1]
    rows, styles = list[list[str]](), list[str | None]()
    for (rank, i), (place, equal) in zip(enumerate(order[:ROWS]), _places(found), strict=False):
        best = rank < k and not truth.tied[i]
        behind = f"{truth.behind[i]:.{digits}f}" if truth.behind[i] else "–"
        taken = [] if counts is None else [f"{counts[i]:,.0f}", f"{100 * counts[i] / n:.0f} %"]
        figures = [f"{truth.means[i]:.{digits}f}", behind, *taken]
        if found.ranking:
            rows.append([found.names[i], f"{place}{'=' * equal}", *figures])
        else:
            chosen = "tied" if truth.tied[i] else "best" if best and k == 1 else "chosen" if best else ""
            rows.append([found.names[i], *figures, chosen or ("near" if truth.near[i] else "")])
        styles.append("bold" if best and not found.ranking else None)
    figures = ["mean", "behind", *(["enough", "of all"] if counts is not None else [])]
    columns = ["candidate", "rank", *figures] if found.ranking else ["candidate", *figures, ""]
    table(columns, folded(columns, rows), styles=styles)
    if len(order) > ROWS:
        say(f"{len(order) - ROWS:,} more candidates are not shown; --json has them all.")


def _places(found: Comparison) -> list[tuple[int, bool]]:
    """The rank of every candidate, the best first, and whether it shares it."""
    first = {name: group[0] for group in found.equal for name in group}
    ranked = [found.names[i] for i in found.truth.order.tolist()]
    return [(ranked.index(first.get(name, name)) + 1, name in first) for name in ranked]


def _enough(found: Comparison) -> str:
    """How many scores, and the share of all."""
    taken = [told.samples for told in found.orders]
    middle, many = statistics.median(taken), len(taken)
    orders = "in one random order"
    if many > 1:
        orders = f"the median of {many} random orders, which took from {min(taken):,} to {max(taken):,}"
    return (
        f"{middle:,.0f} of the {found.total:,} scores would have been enough, {100 * middle / found.total:.3g} % ({orders}; "
        f"δ = {found.delta:g})."
    )


def _reliable(found: Comparison) -> list[str]:
    """How often fewer scores misled, and what a share of nearly all means."""
    wrong = [told for told in found.orders if told.wrong]
    many = len(found.orders)
    seeds = f" ({'seeds' if len(wrong) > 1 else 'seed'} {', '.join(str(told.seed) for told in wrong[:SHOWN])})" if wrong else ""
    worse = f" that is more than {found.epsilon:g} worse" if found.epsilon else ""
    decision = f"have led to another decision{worse}" if not found.ranking else "have claimed anything that is wrong"
    who = f"{len(wrong)} of the {many} orders" if wrong else f"None of the {many} orders" if many > 1 else "It"
    would = "would not" if many == 1 and not wrong else "would"
    share = f"{100 * found.delta:g} %" if found.delta >= 1e-4 else f"a share of {found.delta:g}"
    limit = f"of all orders at most {share} may"
    if wrong:
        limit += f", so that up to {_no_surprise(many, found.delta)} of {many} are no surprise"
    said = [f"{who} {would} {decision}{seeds}; {limit}."]
    if not found.epsilon:
        differ = "--epsilon says what difference does not matter, but takes some of delta: a very small one costs more."
        if found.truth.tie:
            said.append(f"A tie is only certain at the end of the items: {differ}")
        elif statistics.median(told.samples for told in found.orders) > found.total / 2:
            close = _close_calls(found)
            items = found.scores.table.shape[1]
            if not close:
                said.append(f"It takes many because there are few items: of {items:,} a good part must be seen to tell anything.")
            elif found.ranking:
                who = "1 neighbour is a close call" if close == 1 else f"{close:,} neighbours are close calls"
                said.append(f"It takes many because {who}: {differ}")
            else:
                said.append(f"It takes many because it is a close call: {differ}")
    return said


def _no_surprise(orders: int, delta: float) -> int:
    """So many of the orders, at most, would be wrong in 39 of 40 cases if the share of wrong ones was delta."""
    mass, k = (1 - delta) ** orders, 0
    below = mass
    while below < 0.975 and k < orders:
        mass *= (orders - k) / (k + 1) * delta / (1 - delta)
        k += 1
        below += mass
    return k


def _close_calls(found: Comparison) -> int:
    """How many neighbours that are to be told apart differ by little beside what their differences vary by."""
    import numpy as np

    table, order = found.scores.table, found.truth.order.tolist()
    limits = range(1, len(order)) if found.ranking else [found.k]
    close = 0
    for i in limits:
        apart = table[order[i - 1]] - table[order[i]]
        close += abs(apart.mean()) < CLOSE * float(np.std(apart)) / math.sqrt(len(apart))
    return close


def _digits(found: Comparison) -> int:
    """Decimals that tell all means apart that are different, four at least and eight at most; fewer where scores are large."""
    span = found.problem.arms[0].high - found.problem.arms[0].low
    ordered = found.truth.means[found.truth.order].tolist()
    apart = [(x, y) for x, y in pairwise(ordered) if abs(x - y) > 1e-9 * span]
    least = max(4 - math.floor(math.log10(span)), 1)
    return next((d for d in range(least, 8) if all(f"{x:.{d}f}" != f"{y:.{d}f}" for x, y in apart)), max(least, 8))


def _list(names: Sequence[str]) -> str:
    shown, more = list(names[:SHOWN]), len(names) - SHOWN
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


# -- for programs ------------------------------------------------------------------------------------------------------------


def payload(found: Comparison, files: Sequence[Path], pictures: list[str]) -> dict[str, Any]:
    import numpy as np

    scores, truth, names = found.scores, found.truth, found.names
    arm = found.problem.arms[0]
    place = {int(i): rank for rank, i in enumerate(truth.order.tolist(), 1)}
    counts = [told.counts for told in found.orders]
    middle = np.median(counts, axis=0).tolist() if counts else [None] * len(names)
    taken = [told.samples for told in found.orders]
    return {
        "given": [str(file) for file in files],
        "files": scores.files,
        "metric": scores.metric,
        "notes": scores.notes,
        "missing": scores.missing,
        "dropped": scores.dropped,
        "filled": scores.filled,
        "items": scores.table.shape[1],
        "scores": found.total,
        "ranking": found.ranking,
        "top": None if found.ranking else found.k,
        "sense": found.problem.sense,
        "epsilon": found.epsilon,
        "delta": found.delta,
        "low": arm.low,
        "high": arm.high,
        "statement": _verdict(found),
        "decision": found.chosen,
        "lead": truth.lead,
        "equal": found.equal,
        "tied": [names[i] for i in truth.order.tolist() if truth.tied[i]],
        "near": [names[i] for i in truth.order.tolist() if truth.near[i]],
        "candidates": [
            {
                "name": name,
                "rank": place[i],
                "mean": float(truth.means[i]),
                "behind": float(truth.behind[i]),
                "enough": middle[i],
            }
            for i, name in enumerate(names)
        ],
        "orders": {
            "asked": found.asked,
            "done": len(taken),
            "seeds": [told.seed for told in found.orders],
            "samples": taken,
            "median": statistics.median(taken) if taken else None,
            "least": min(taken, default=None),
            "most": max(taken, default=None),
            "share": statistics.median(taken) / found.total if taken else None,
            "saved": found.total - statistics.median(taken) if taken else None,
            "wrong": [told.seed for told in found.orders if told.wrong],
        },
        "interrupted": found.interrupted,
        "pictures": pictures,
    }
