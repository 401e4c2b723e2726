"""Numbers as people write them: with a decimal point or comma, and with or without signs between thousands.

One file has one decimal sign. Which one it is, its cells tell: 0.25 and 12.5 can only have a decimal point, 0,25 and 1.234,5
only a decimal comma. Where a comma might be either, as in 1,500, and no other cell tells, the number is refused; between
semicolons so is 1.500, since such files are those of countries with decimal commas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
EITHER = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}")  # 1,500 or 1.500
GROUPED = {  # with the other sign between thousands
    ".": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?([eE][+-]?\d+)?"),
    ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?([eE][+-]?\d+)?"),
}
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
PERCENT = re.compile(r"[+-]?\d+([.,]\d+)?\s*%")
THOUSANDS = re.compile(r"(?<=\d)['’\u00a0\u202f\u2009 ](?=\d{3}(\D|$))")  # 1'000 and 1 000 can only be a thousand


@dataclass(frozen=True)
class Figures:
    """How the numbers of a file are written."""

    decimal: str | None = None  # the sign that some cell shows for certain
    grouping: bool = False  # some cell shows for certain that the other sign stands between thousands
    shown: str = ""  # that cell
    semicolons: bool = False  # cells are separated by semicolons

    @classmethod
    def of(cls, cells: Iterable[str], semicolons: bool = False) -> Figures:
        """What the cells of a file tell."""
        sign: dict[str, str] = {}
        grouping = False
        for raw in cells:
            text = _bare(raw)
            if "," not in text and "." not in text:
                continue
            found = _decided(text)
            if found:
                sign.setdefault(found, raw)
                grouping = grouping or (("," in text and "." in text) or text.count(",") > 1 or text.count(".") > 1)
        if len(sign) > 1:
            return cls("both", grouping, f"{sign['.']} and {sign[',']}")
        for decimal, shown in sign.items():
            return cls(decimal, grouping, shown)
        return cls(semicolons=semicolons)

    def read(self, raw: str) -> tuple[float, str]:
        """The number that a cell holds, or why it is none."""
        text = _bare(raw)
        comma = "," in text
        if self.decimal == "both" and (comma or "." in text):
            return 0.0, f"{raw!r} is not clear: the table has both decimal points and decimal commas ({self.shown}); use one"
        if comma and EITHER.fullmatch(text) and self.decimal is None:
            return 0.0, (
                f"{raw!r} may mean {text.replace(',', '')} or {text.replace(',', '.')}, and no other number in the table tells "
                "which; leave out the signs between thousands, or write decimals with a point"
            )
        if self.semicolons and "." in text and EITHER.fullmatch(text):
            return 0.0, (
                f"{raw!r} may mean {text.replace('.', '')} or {text}, and no other number in the table tells which; leave out "
                "the signs between thousands, or write decimals with a comma"
            )
        if self.decimal == "," and EITHER.fullmatch(text) and not comma and not self.grouping:
            return 0.0, (
                f"{raw!r} may mean {text.replace('.', '')} or {text}: other numbers have decimal commas ({self.shown}); leave "
                "out the signs between thousands"
            )
        value = _value(text, "." if self.decimal is None else self.decimal)
        if value is None:
            hint = "; write 1 or 0" if text.casefold() in ("true", "false", "yes", "no") else ""
            if PERCENT.fullmatch(text):
                hint = f"; write {text[:-1].strip()} % as {float(text[:-1].replace(',', '.')) / 100:.10g}"
            return 0.0, f"{raw!r} is not a number{hint}"
        if not math.isfinite(value):
            return 0.0, f"{raw!r} is not a finite number"
        return value, ""


def _bare(raw: str) -> str:
    return THOUSANDS.sub("", raw.strip())


def _decided(text: str) -> str | None:
    """The decimal sign if this number leaves no choice."""
    if EITHER.fullmatch(text):
        return None
    if "," not in text:
        # 1.234.567 has points between thousands; any other number with a point has decimals
        return "." if PLAIN.fullmatch(text) else "," if GROUPED[","].fullmatch(text) else None
    if "." not in text and DECIMAL_COMMA.fullmatch(text):
        return ","
    for decimal, pattern in GROUPED.items():
        if pattern.fullmatch(text):
            return decimal
    return None


def _value(text: str, decimal: str) -> float | None:
    if decimal == ",":
        if DECIMAL_COMMA.fullmatch(text) or GROUPED[","].fullmatch(text):
            return float(text.replace(".", "").replace(",", "."))
        return float(text) if PLAIN.fullmatch(text) else None
    if PLAIN.fullmatch(text):
        return float(text)
    return float(text.replace(",", "")) if GROUPED["."].fullmatch(text) else None
