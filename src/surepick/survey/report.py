"""A plan as one page of HTML, with its picture inside, to hand in or to print."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checks import file
from ..lab.plots import save
from .picture import picture
from .tables import reached_table, strata_table

if TYPE_CHECKING:
    from .result import Plan

ROOM = 30  # rows of both tables for which there is room on the page; more strata go to an annex
TARGETS = 20  # rows of one table of targets; there are two beside each other at most
DRAWN = 22  # strata in the picture
ROWS = 2000  # strata that the annex shows


def write_report(plan: Plan, path: str | Path, title: str) -> Path:
    """Write the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    path = file(path)
    environment = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html.j2").render(title=title, **_contents(plan))
    path.write_text(page, encoding="utf-8")
    return path


def _contents(plan: Plan) -> dict[str, Any]:
    frame = plan.frame
    with tempfile.TemporaryDirectory() as folder:
        image = save(picture(plan, most=DRAWN), Path(folder, "plan.png")).read_bytes()
    titles, targets = reached_table(plan)
    columns, rows = strata_table(plan, ROWS)
    fits = len(frame) + min(len(targets), TARGETS) <= ROOM
    return {
        "source": Path(frame.source).name,
        "n": f"{plan.n.sum():,}",
        "fielded": f"{plan.fielded.sum():,}" if (plan.fielded != plan.n).any() else "",
        "people": f"{frame.N.sum():,.10g}",
        "strata_count": "one stratum" if len(frame) == 1 else f"{len(frame):,} strata",
        "cost": f"{plan.cost:,.10g}" if {"cost", "psu_cost"} & frame.given else "",
        "guarantee": plan.guarantee,
        "changes": plan.changes,
        "notes": plan.notes,
        "titles": titles,
        "targets": [part for k in (0, TARGETS) if (part := targets[k : k + TARGETS])],
        "more_targets": targets[2 * TARGETS :],
        "columns": columns,
        "rows": rows if fits else [],
        "annex": [] if fits and not targets[2 * TARGETS :] else rows,
        "left_out": f"{len(frame) - ROWS:,}" if len(frame) > ROWS else "",
        "picture": base64.b64encode(image).decode("ascii"),
        "finite": plan.finite,
        "two_stage": plan.two_stage,
    }
