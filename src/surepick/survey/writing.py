"""Tables of a plan, and of estimates, as CSV or Excel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checks import file
from ..errors import SettingError

if TYPE_CHECKING:
    from pandas import DataFrame

    from .result import Plan


def write_table(plan: Plan, path: str | Path) -> Path:
    """Write the strata of a plan; what the path ends in says how."""
    path = file(path)
    frame = plan.to_frame()
    if path.suffix.casefold() == ".xlsx":
        try:
            import openpyxl  # noqa: F401
        except ImportError:
            raise SettingError(
                f"{path}: Excel files take the package openpyxl; install surepick with the extra 'excel' "
                "(pip install 'surepick[excel]'), or write a .csv.",
                key="path",
            ) from None
        with path.open("wb") as binary:
            frame.to_excel(binary, index=False, sheet_name="plan", engine="openpyxl")
    elif path.suffix.casefold() in (".csv", ""):
        write_csv(frame, path, float_format="%.10g")
    else:
        raise SettingError(f"{path}: a plan is written as .csv or .xlsx; give the file one of these endings.", key="path")
    return path


def write_csv(frame: DataFrame, path: Path, **options: Any) -> None:
    """Write a table; a path that cannot be written is named as such, and not as pandas does."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        frame.to_csv(stream, index=False, lineterminator="\n", **options)
