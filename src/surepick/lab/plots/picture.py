"""A figure that notebooks show by themselves."""

from __future__ import annotations

import io
import warnings

from matplotlib.figure import Figure


class Picture(Figure):
    """A matplotlib figure in every respect. As the last value of a notebook's cell it shows, without ``%matplotlib inline``."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from")  # a name in a script that the font lacks shows as boxes
            self.savefig(buffer, format="png")
        return buffer.getvalue()
