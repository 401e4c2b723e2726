"""From what was measured to Markdown."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from instances import Method, Rule, Survey, Task
from scipy.stats import beta


@dataclass
class Measured:
    """What one process printed: a version, one record of runs or one a survey, or what went wrong."""

    version: str = ""
    problem: str = ""
    runs: dict[str, list[float]] = field(default_factory=dict)
    surveys: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, line: dict[str, Any]) -> None:
        if "version" in line:
            self.version = f"{line['package']} {line['version']}"
        elif "missing" in line:
            self.problem = "not installed"
        elif "survey" in line:
            self.surveys[line["survey"]] = line
        else:
            self.runs = line


def clopper_pearson(wrong: int, runs: int) -> tuple[float, float]:
    """The exact 95 % interval of a share."""
    low = 0.0 if wrong == 0 else float(beta.ppf(0.025, wrong, runs - wrong + 1))
    high = 1.0 if wrong == runs else float(beta.ppf(0.975, wrong + 1, runs - wrong))
    return low, high


def significant(x: float, digits: int = 2) -> str:
    """A number with few digits and no exponent: 1,200,000 and 0.000012."""
    rounded = float(f"{x:.{digits}g}")
    return f"{rounded:,.0f}" if rounded >= 10 ** (digits - 1) else np.format_float_positional(rounded, trim="-")


def duration(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= unit:
            return f"{significant(seconds / unit)} {name}"
    return f"{significant(seconds * 1e6)} µs"


def rate(measured: Measured) -> float:
    """Samples a second: the median over the runs, which one disturbance does not move."""
    return statistics.median(n / s for n, s in zip(measured.runs["samples"], measured.runs["seconds"], strict=True))


def exploration(task: Task, rows: list[tuple[Rule, Measured]]) -> str:
    """One row a rule. Ratios are to surepick with the same epsilon, on the runs that both took."""
    lines = [
        "| rule | promises | runs | samples | ÷ surepick's | wrong (95 % interval) | samples a second | surepick's ÷ this |",
        "|---|---|---|---|---|---|---|---|",
    ]
    references = {rule.epsilon: measured for rule, measured in rows if rule.reference and measured.runs}
    for rule, measured in rows:
        if not measured.runs:
            lines.append(f"| {rule.name} | {rule.promises} | *{measured.problem or 'stopped'}* |  |  |  |  |  |")
            continue
        samples = np.array(measured.runs["samples"])
        runs, wrong = len(samples), int(sum(measured.runs["wrong"]))
        error = f" ± {significant(samples.std() / runs**0.5)}" if samples.std() > 0 else ""
        low, high = clopper_pearson(wrong, runs)
        more = speed = ""
        if rule.epsilon in references and not rule.reference:
            same = references[rule.epsilon]
            shared = min(runs, len(same.runs["samples"]))
            more = significant(samples[:shared].mean() / np.mean(same.runs["samples"][:shared]))
            speed = significant(rate(same) / rate(measured))
        lines.append(
            f"| {rule.name} | {rule.promises} | {runs} | {samples.mean():,.0f}{error} | {more} | "
            f"{wrong} ({significant(100 * low)} to {significant(100 * high)} %) | {significant(rate(measured))} | {speed} |"
        )
    return f"**{task.name}**, δ = 0.05, means {described(task)}\n\n" + "\n".join(lines) + "\n"


def described(task: Task) -> str:
    head = ", ".join(f"{mean:.2f}" for mean in task.means[:10])
    return head if len(task.means) <= 10 else f"{head}, … down to {task.means[-1]:.2f}"


def verdict(survey: Survey, report: dict[str, Any], least: float) -> str:
    """How good a split is, in a word."""
    if "refused" in report:
        return "refused"
    outside = "" if report["bounds"] else "outside bounds"
    if report["sum"] != survey.k:
        return f"{report['sum']:,} interviews" + (outside and f", {outside}")
    if outside:
        return outside
    return "exact" if report["best"] else f"+{significant(100 * (report['variance'] / least - 1))} %"


def allocation(surveys: list[Survey], rows: list[tuple[Method, Measured]], limit: int) -> str:
    """Two tables, one row a method and one column a survey: how good, and how fast."""
    least = rows[0][1].surveys  # surepick's own come first
    names = " | ".join(survey.name for survey in surveys)
    tables = []
    for what in ("split", "time"):
        lines = [f"| {what} | {names} |", "|---" * (len(surveys) + 1) + "|"]
        for method, measured in rows:
            cells = []
            for survey in surveys:
                report = measured.surveys.get(survey.name)
                if report is None:
                    cells.append(f"*{measured.problem}*" if measured.problem else f"> {limit} s")
                elif what == "split":
                    cells.append(verdict(survey, report, least[survey.name]["variance"]))
                else:
                    cells.append("" if "refused" in report else compared(report["seconds"], least[survey.name]["seconds"]))
            lines.append(f"| {method.name} | {' | '.join(cells)} |")
        tables.append("\n".join(lines) + "\n")
    return "\n".join(tables)


def compared(seconds: float, ours: float) -> str:
    """A time, and how many times surepick's it is."""
    return duration(seconds) + ("" if seconds == ours else f" ({significant(seconds / ours)} ×)")
