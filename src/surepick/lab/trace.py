"""A record of how the certified gap fell during an exploration."""

from __future__ import annotations

from ..explorer import Explorer
from ..loop import Progress

GROWTH = 1.01  # points are so far apart


class Trace:
    """How the certified gap fell: one point a look, of which those that are less than 1 % of the samples apart are left out.

    Look at an explorer of your own after every wave of observations, ``trace(ex)``, or let :func:`surepick.explore` do it some
    ten times a second, ``explore(..., progress=trace)``. :func:`gap` draws it.

    Attributes
    ----------
    samples : list of int
    gap : list of float
        The gap of :class:`surepick.Certificate` after so many samples; infinite until every arm has an estimate.
    epsilon, relative
        What the exploration was asked for.

    Examples
    --------
    >>> import surepick as sp
    >>> from surepick.lab import Trace
    >>> trace = Trace()
    >>> outcome = sp.explore(sp.TopK(4, k=2), sp.Bernoulli([0.9, 0.8, 0.3, 0.1]), epsilon=0.2, progress=trace)
    >>> trace.samples[-1] == outcome.samples, trace.gap[-1] <= trace.epsilon
    (True, True)
    """

    def __init__(self) -> None:
        self.samples: list[int] = []
        self.gap: list[float] = []
        self.epsilon, self.relative = 0.0, False

    def __call__(self, seen: Explorer | Progress) -> None:
        explorer = seen.explorer if isinstance(seen, Progress) else seen
        last = self.samples[-1] if self.samples else 0
        if explorer.samples == last or (explorer.samples < GROWTH * last and not explorer.done):
            return
        self.epsilon, self.relative = explorer.epsilon, explorer.relative
        self.samples.append(explorer.samples)
        self.gap.append(explorer.certificate().gap)
