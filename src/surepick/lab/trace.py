"""Records of an exploration: how the certified gap fell, and what every arm's interval and share of the samples were."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from typing import ClassVar

import numpy as np

from ..certificate import Certificate
from ..explorer import Explorer
from ..run.drive import REPORT, Progress, looks
from ..run.source import Sampler


class Trace:
    """How the certified gap fell: one point a look, of which those that are less than 1 % of the samples apart are left out.

    Let it follow a whole exploration, ``trace.follow(ex, world)``, look at an explorer of your own after every wave of
    observations, ``trace(ex)``, or let :func:`surepick.explore` do it some ten times a second, ``explore(..., progress=trace)``.
    :func:`gap` draws it.

    Attributes
    ----------
    samples : list of int
    gap : list of float
        The gap of :class:`surepick.Certificate` after so many samples, or its gap per arm if epsilon is for every arm; infinite
        until every arm has an estimate.
    epsilon, relative, per_arm
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

    growth: ClassVar[float] = 1.01  # points are so far apart

    epsilon: float
    relative: bool
    per_arm: bool

    def __init__(self) -> None:
        self.samples: list[int] = []
        self.gap: list[float] = []
        self.epsilon, self.relative, self.per_arm = 0.0, False, False

    def __call__(self, seen: Explorer | Progress) -> None:
        explorer = seen.explorer if isinstance(seen, Progress) else seen
        last = self.samples[-1] if self.samples else 0
        if explorer.samples == last or (explorer.samples < self.growth * last and not explorer.done):
            return
        self._note(explorer, explorer.certificate())

    def _note(self, explorer: Explorer, certificate: Certificate) -> None:
        self.epsilon, self.relative, self.per_arm = explorer.epsilon, explorer.relative, explorer.per_arm
        self.samples.append(explorer.samples)
        per_arm = certificate.gap_per_arm if explorer.per_arm else None
        self.gap.append(certificate.gap if per_arm is None else per_arm)

    def follow(
        self,
        explorer: Explorer,
        sampler: Sampler,
        *,
        batch: int = 1,
        seed: int = 0,
        run: int = 0,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        """Sample until the explorer is done, and look at it on the way.

        The samples are those of :func:`surepick.explore` with the same settings. Runs that are compiled stay so: they are
        halted where the next look is due, and go on where they stood.

        Parameters
        ----------
        explorer : Explorer
        sampler, batch, seed, progress
            As for :func:`surepick.explore`.
        run : int
            Which run of a simulation with this seed.
        """
        every = None if progress is None else REPORT
        with closing(looks(explorer, sampler, batch=batch, seed=seed, run=run, every=every, next_look=self.next_look)) as going:
            for _ in going:
                self(explorer)
                if progress is not None:
                    progress(Progress.of(explorer))

    def next_look(self, samples: int) -> int:
        """At how many samples the next point is due, for :func:`surepick.run.drive.looks`."""
        return math.ceil(self.growth * self.samples[-1]) if self.samples else samples + 1


class History(Trace):
    """All that was known while an exploration went on: a :class:`Trace` that also keeps the certificate of every look.

    Looks are 5 % of the samples apart. :func:`allocation`, :func:`closing`, :func:`animate` and :func:`gap` draw it.

    Attributes
    ----------
    certificates : list of Certificate
        Samples and intervals of every arm, the decision and the undecided arms at every look.

    Examples
    --------
    >>> import surepick as sp
    >>> from surepick.lab import History
    >>> history = History()
    >>> history.follow(sp.Explorer(sp.TopK(4, k=2)), sp.Bernoulli([0.9, 0.8, 0.3, 0.1]), seed=1)
    >>> before, after = history.certificates[10], history.certificates[-1]
    >>> before.certified, after.certified, before.samples < after.samples
    (False, True, True)
    """

    growth: ClassVar[float] = 1.05

    def __init__(self) -> None:
        super().__init__()
        self.certificates: list[Certificate] = []

    def _note(self, explorer: Explorer, certificate: Certificate) -> None:
        super()._note(explorer, certificate)
        self.certificates.append(certificate)

    @property
    def started(self) -> list[Certificate]:
        """The certificates from the first look on at which every arm had an estimate; all, if there is no such look."""
        return [c for c in self.certificates if not np.isnan(c.estimate).any()] or self.certificates
