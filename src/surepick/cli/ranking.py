"""Prints a ranking: a row an arm in its order, the ranks that it may have, and the groups that are certain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .talk import ROWS, folded, number, say, table, width

if TYPE_CHECKING:
    from ..certificate import Certificate

LINES = 30  # groups that are printed


def show_order(certificate: Certificate) -> None:
    assert certificate.ranks is not None
    assert certificate.groups is not None
    (best, worst), names = certificate.ranks, [str(name) for name in certificate.names]
    order = np.argsort(certificate.decision, kind="stable")[:ROWS].tolist()
    columns = ["arm", "rank", "certainly", "estimate", "lower", "upper", "samples"]
    table(
        columns,
        folded(
            columns,
            [
                (
                    names[i],
                    f"{certificate.decision[i]:g}",
                    f"{best[i]}" if best[i] == worst[i] else f"{best[i]} to {worst[i]}",
                    number(float(certificate.estimate[i])),
                    number(float(certificate.lower[i])),
                    number(float(certificate.upper[i])),
                    f"{certificate.counts[i]:,}",
                )
                for i in order
            ],
        ),
        styles=["yellow" if certificate.undecided[i] else None for i in order],
    )
    if len(order) < len(names):
        say(f"{len(names) - len(order):,} more arms are not shown; --json has them all.")
    groups = certificate.groups
    if certificate.undecided.any() and 1 < len(groups):
        say("Certain groups, every arm of one at least as good as every arm of the next:")
        for k, group in enumerate(groups[:LINES], 1):
            say(_named(k, group))
        if len(groups) > LINES:
            say(f"  and {len(groups) - LINES} more; --json has them all.")


def _named(k: int, group: Sequence[object]) -> str:
    """A group with all of its names, in lines that are no longer than the terminal."""
    lines, indent = [f"  {k}."], "     "
    for i, name in enumerate(group, 1):
        text = f" {name}{',' if i < len(group) else ''}"
        if len(lines[-1]) + len(text) > width() - 1 and lines[-1].strip():
            lines.append(indent[:-1])
        lines[-1] += text
    return "\n".join(lines)
