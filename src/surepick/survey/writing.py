"""Tables of a plan, as CSV or Excel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..checks import file
from ..errors import SettingError

if TYPE_CHECKING:
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
        frame.to_excel(path, index=False, sheet_name="plan")
    elif path.suffix.casefold() in (".csv", ""):
        frame.to_csv(path, index=False, float_format="%.10g", lineterminator="\n", encoding="utf-8")
    else:
        raise SettingError(f"{path}: a plan is written as .csv or .xlsx; give the file one of these endings.", key="path")
    return path
