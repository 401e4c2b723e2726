"""The box closing on the answer: side by side, or moving."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...arms import Ints
from ...certificate import Certificate
from ...errors import SettingError
from ..trace import History
from .allocation import looks_of
from .house import TEXT, grid, legend, paper
from .intervals import axis_label, limits
from .rows import LOOKS, draw, label_of, look_of, name_rows, order_of, row_height

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 30  # arms in one strip
PANELS = 6
FRAMES = 400
COLOURS = 48  # of a moving picture
HOLD = 2500  # milliseconds of the last frame
MOVING_DPI = 90
BYTES = np.array([65536, 256, 1])  # red, green, blue


def closing(history: History, *, moments: int = 5, title: str = "", parameter: str = "mean") -> Figure:
    """The intervals of all arms at some moments, as they close on the answer: the look of :func:`intervals`, on one scale.

    Parameters
    ----------
    history : History
    moments : int
        Up to six, from the first look to the last; the samples grow by about the same factor from each to the next.

    Examples
    --------
    >>> import surepick as sp
    >>> from surepick.lab import History, closing, save
    >>> history = History()
    >>> history.follow(sp.Explorer(sp.TopK(4, k=2)), sp.Bernoulli([0.9, 0.8, 0.3, 0.1]))
    >>> figure = closing(history, moments=4, title="The two best of four")
    """
    looks = looks_of(history)
    if isinstance(moments, bool) or not isinstance(moments, (int, np.integer)) or not 1 <= moments <= PANELS:
        raise SettingError(f"moments must be a whole number from 1 to {PANELS}, not {moments!r}.")
    chosen, last = _moments(looks, int(moments)), looks[-1]
    order = order_of(last, MOST)
    figure = paper(1.9 + 0.8 * row_height(len(order)) * max(len(order), 3), title)
    panels = figure.subplots(1, len(chosen), sharex=True, squeeze=False)[0]
    left, right = _window(chosen[0], last, order)
    for axes, certificate in zip(panels, chosen, strict=True):
        axes.set_xlim(left, right)
        name_rows(axes, last, order, 22)
        axes.tick_params(axis="y", labelleft=axes is panels[0])
        axes.tick_params(axis="x", labelsize=8)
        axes.xaxis.set_major_locator(_ticks())
        grid(axes, "x")
        draw(axes, certificate, order, marker=4.0)
        axes.set_title(_standing(certificate), fontsize=8.5, color=TEXT)
    hidden = last.counts.size - len(order)
    _legend(figure, chosen, axis_label(last, parameter) + (f" ({hidden:,} arms are not shown)" if hidden else ""))
    return figure


def animate(
    history: History, path: str | Path, *, frames: int = 40, seconds: float = 8.0, title: str = "", parameter: str = "mean"
) -> Path:
    """Write the intervals closing on the answer as a moving picture (GIF, whatever the name ends in).

    Parameters
    ----------
    history : History
    path : str or Path
    frames : int
        How many, at most: of a history with fewer looks, each is one.
    seconds : float
        How long it lasts. The last frame is then held for a while, and all begins anew.

    Examples
    --------
    >>> import surepick as sp, tempfile
    >>> from pathlib import Path
    >>> from surepick.lab import History, animate
    >>> history = History()
    >>> history.follow(sp.Explorer(sp.TopK(4, k=2)), sp.Bernoulli([0.9, 0.8, 0.3, 0.1]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animate(history, Path(folder) / "closing.gif", frames=3).name
    'closing.gif'
    """
    looks = looks_of(history)
    if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or not 1 <= frames <= FRAMES:
        raise SettingError(f"frames must be a whole number from 1 to {FRAMES}, not {frames!r}.")
    if not 0 < seconds <= 3600:
        raise SettingError(f"seconds must be a number above 0 and at most 3,600, not {seconds!r}.")
    chosen, last = _moments(looks, int(frames)), looks[-1]
    order = order_of(last, MOST)
    figure = paper(1.75 + row_height(len(order)) * max(len(order), 3), title)
    axes = figure.add_subplot()
    name_rows(axes, last, order)
    axes.set_xlim(*_window(chosen[0], last, order))
    hidden = last.counts.size - len(order)
    axes.set_xlabel(axis_label(last, parameter) + (f"\n({hidden:,} arms are not shown)" if hidden else ""), fontsize=9)
    grid(axes, "x")
    _legend(figure, chosen)
    pictures = []
    for certificate in chosen:
        axes.set_title(_standing(certificate).replace("\n", ", "), fontsize=10, loc="left", x=0, color=TEXT)
        drawn = draw(axes, certificate, order)
        pictures.append(_pixels(figure))
        for artist in drawn:
            artist.remove()
        figure.set_layout_engine("none")  # the first frame's layout stays
    return _write(pictures, Path(path), round(1000 * seconds / len(chosen)))


def _moments(looks: list[Certificate], n: int) -> list[Certificate]:
    """Looks at which the samples grow by about the same factor from each to the next; the first and the last among them."""
    samples = np.array([c.samples for c in looks], dtype=np.float64)
    wanted = np.geomspace(samples[0], samples[-1], n)
    nearest = np.abs(np.log(samples[None, :] / wanted[:, None])).argmin(axis=1)
    nearest[-1] = len(samples) - 1  # and if there is to be one only, it is the last
    return [looks[i] for i in sorted(set(nearest.tolist()))]


def _window(first: Certificate, last: Certificate, order: Ints) -> tuple[float, float]:
    """What the first box covers, but not so much of it that the last one is too small to see."""
    left, right = limits(last, order)
    begin, end = limits(first, order)
    return max(min(begin, left), left - 1.5 * (right - left)), min(max(end, right), right + 1.5 * (right - left))


def _standing(certificate: Certificate) -> str:
    samples = f"{certificate.samples:,} sample{'' if certificate.samples == 1 else 's'}"
    if certificate.certified:
        return f"{samples}\ncertified"
    return f"{samples}\n{int(certificate.undecided.sum()):,} undecided"


def _legend(figure: Figure, chosen: list[Certificate], below: str = "") -> None:
    """All looks that occur at one of the moments."""
    from matplotlib.lines import Line2D

    handles = {}
    for look in LOOKS:
        for certificate in chosen:
            if any(look_of(certificate, i) is look for i in range(len(certificate.counts))):
                filled = look.colour if look.filled else "white"
                handles[label_of(certificate, look)] = Line2D(
                    [], [], marker=look.marker, color=look.colour, linestyle=look.line, linewidth=look.thick, markersize=5.5,
                    markerfacecolor=filled, markeredgewidth=1.4,
                )  # fmt: skip
    legend(figure, list(handles.values()), list(handles), below=below)


def _ticks() -> object:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=3, steps=[1, 2, 5, 10])


def _pixels(figure: Figure) -> Ints:
    """The picture, each pixel one number: red, green and blue are its bytes."""
    from PIL import Image

    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(buffer, format="png", dpi=MOVING_DPI)
    with Image.open(buffer) as picture:
        pixels: Ints = np.asarray(picture.convert("RGB"), dtype=np.int64) @ BYTES
    return pixels


def _write(pictures: list[Ints], path: Path, pause: int) -> Path:
    """All frames in the same few colours: those that are most frequent in the first and the last one."""
    from PIL import Image

    colours, frequency = np.unique(np.concatenate((pictures[0], pictures[-1])), return_counts=True)
    few = _bytes(colours[np.argsort(-frequency, kind="stable")[:COLOURS]])
    frames = []
    for picture in pictures:
        colours, which = np.unique(picture, return_inverse=True)
        nearest = ((_bytes(colours)[:, None] - few) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
        frame = Image.frombytes("P", picture.shape[::-1], nearest[which].tobytes())
        frame.putpalette(few.astype(np.uint8).tobytes())
        frames.append(frame)
    pauses = [pause] * (len(frames) - 1) + [HOLD]
    frames[0].save(path, format="GIF", save_all=True, append_images=frames[1:], duration=pauses, loop=0)
    return path


def _bytes(colours: Ints) -> Ints:
    separate: Ints = colours[:, None] // BYTES % 256
    return separate
