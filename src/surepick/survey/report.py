"""A plan as one page of HTML, with its picture inside, to hand in or to print."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import file
from ..lab.plots import save

if TYPE_CHECKING:
    from .result import Plan, Reached

ROWS = 300  # strata that the page shows


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
        image = save(plan.picture(), Path(folder, "plan.png")).read_bytes()
    rows = [
        (
            frame.strata[i], f"{frame.N[i]:,.10g}", f"{plan.n[i]:,}", f"{plan.fielded[i]:,}", f"{100 * plan.fraction[i]:.3g} %",
            f"{plan.weight[i]:,.4g}", (plan.binding[i] or "").replace("_", " "),
        )
        for i in range(min(len(frame), ROWS))
    ]  # fmt: skip
    return {
        "source": Path(frame.source).name,
        "n": f"{plan.n.sum():,}",
        "fielded": f"{plan.fielded.sum():,}" if (plan.fielded != plan.n).any() else "",
        "people": f"{frame.N.sum():,.10g}",
        "strata": f"{len(frame):,}",
        "cost": f"{plan.cost:,.10g}" if {"cost", "psu_cost"} & frame.given else "",
        "guarantee": plan.guarantee,
        "changes": plan.changes,
        "notes": plan.notes,
        "targets": [_target(one) for one in plan.targets],
        "rows": rows,
        "left_out": max(len(frame) - ROWS, 0),
        "picture": base64.b64encode(image).decode("ascii"),
    }


def _target(one: Reached) -> tuple[str, ...]:
    def percent(x: float | None) -> str:
        return "–" if x is None or np.isnan(x) else f"{100 * x:.3g} %"

    asked = percent(one.target) if one.target is not None else "–" if one.target_se is None else f"SE {one.target_se:.4g}"
    return one.variable, one.domain, f"{one.se:.4g}", percent(one.cv), asked
