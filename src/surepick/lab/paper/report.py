"""The report: all results on one page that needs nothing else, pictures and style included."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ..plots.house import DPI
from . import CLAIMS, NOT_MEASURED
from .base import HOLDS, WRONG, Claim, Lab, Result, Verdict

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

TITLE = "The paper, measured"
INDEX = re.compile(r"(?<![A-Za-z_])([HTEyθφ])_([A-Za-zΛΔ]+)")  # H_Λ has an index that no letter of Unicode shows


def page(results: Sequence[tuple[Claim, Result]], lab: Lab, seconds: float) -> str:
    """The HTML of a report."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    jinja = Environment(
        loader=PackageLoader(__package__, ""), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters |= {"mathematics": _mathematics, "colour": _colour, "mark": _mark, "picture": _picture, "exactly": json.dumps}
    return jinja.get_template("report.html.j2").render(
        title=TITLE, results=results, quick=lab.quick, seed=lab.seed, version=__version__, seconds=round(seconds),
        not_measured=NOT_MEASURED if len(results) == len(CLAIMS) else {},
    )  # fmt: skip


def write(html: str, path: Path) -> None:
    """All or nothing: a report that is there is whole."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(html)
            file.flush()
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def to_dict(claim: Claim, result: Result) -> dict[str, Any]:
    """Ready for JSON."""
    return {
        "name": claim.name,
        "where": claim.where,
        "title": claim.title,
        "says": claim.says,
        "verdict": {"standing": result.verdict.standing, "remark": result.verdict.remark},
        "ran": result.ran,
        "text": result.text,
        "tables": [table.to_dict() for table in result.tables],
    }


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _mathematics(text: object) -> Markup:
    from markupsafe import Markup, escape

    return Markup(INDEX.sub(r"\1<sub>\2</sub>", str(escape(text))))


def _colour(verdict: Verdict) -> str:
    return "holds" if verdict.standing == HOLDS else "wrong" if verdict.standing == WRONG else "open"


def _mark(verdict: Verdict) -> str:
    """So that the verdicts differ without their colours."""
    return "✓" if verdict.standing == HOLDS else "✗" if verdict.standing == WRONG else "?"


def _picture(figure: Figure) -> str:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(buffer, format="png", dpi=DPI)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
