"""The tables of a plan as texts, for the terminal and for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .result import Plan

SHARES = 3  # variables whose shares of the variance have columns


def strata_table(plan: Plan, most: int) -> tuple[list[str], list[list[str]]]:
    """Titles, and a row a stratum: how many are asked, and how much of each variance of the overall mean is the stratum's."""
    f, stages = plan.frame, plan.two_stage
    contacts = bool((plan.fielded != plan.n).any())
    shares = list(plan.share.values()) if len(plan.share) <= SHARES else []
    titles = ["stratum", "N", *(["units", "in each"] if stages else []), "interviews", *(["contacts"] if contacts else [])]
    titles += ["fraction", "weight", *(["share"] if len(shares) == 1 else [f"share {name}" for name in plan.share if shares])]
    rows = []
    for i, name in enumerate(f.strata[:most]):
        row = [name, f"{f.N[i]:,.10g}", *([f"{plan.psus[i]:,}", f"{plan.take[i]:,}"] if stages else []), f"{plan.n[i]:,}"]
        row += [f"{plan.fielded[i]:,}"] if contacts else []
        row += [percent(plan.fraction[i]), f"{plan.weight[i]:,.4g}", *(percent(share[i]) for share in shares)]
        rows.append([*row, (plan.binding[i] or "").replace("_", " ")])
    return [*titles, "at bound"], rows


def reached_table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Titles, and a row for everybody and for every domain and variable; what looser targets would save, if there are several."""
    shown = plan.reached
    loosened = sum(one.saves is not None for one in shown) > 1
    rows = []
    for one in shown:
        asked = text(one.target) if one.target is not None else f"SE {text(one.target_se)}" if one.target_se else "–"
        saves = ["–" if one.saves is None else f"{one.saves:,.3g}"] if loosened else []
        rows.append([one.variable, one.domain, text(one.se), text(one.cv), asked, *saves])
    return ["variable", "domain", "standard error", "CV", "target", *(["1 % looser saves"] if loosened else [])], rows


def percent(x: float) -> str:
    return f"{100 * x:.3g} %"


def text(x: float | None) -> str:
    return "–" if x is None or np.isnan(x) else f"{x:.4g}"
