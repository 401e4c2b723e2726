"""What an exploration knows: what was asked for, what was observed, and what is certain of it."""

from __future__ import annotations

import copy
import functools
import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from .arms import Bools, Floats, Ints
from .certificate import Certificate
from .checks import MANY, flag, short
from .confidence import Confidence
from .errors import SettingError
from .estimators import Record
from .moment import Guarantee, Moment, told
from .policies import Policy, Race, Sorting, View
from .policies.race import LARGE
from .pool import Board, Pool
from .problems.base import Problem
from .settings import Settings
from .standings import Standings, standings, why_not

log: logging.Logger = logging.getLogger("surepick")

E = TypeVar("E", bound="Exploration")
P = ParamSpec("P")
T = TypeVar("T")


def alone(method: Callable[Concatenate[E, P], T]) -> Callable[Concatenate[E, P], T]:
    """One thread at a time in an exploration."""

    @functools.wraps(method)
    def call(self: E, /, *given: P.args, **named: P.kwargs) -> T:
        with self.lock:
            return method(self, *given, **named)

    return call


class Exploration:
    """The state of one experiment, and all questions about it. Asking changes nothing."""

    problem: Problem
    settings: Settings
    policy: Policy
    confidence: Confidence

    def __init__(self, problem: Problem, settings: Settings) -> None:
        if not isinstance(problem, Problem):
            raise SettingError(f"The first argument must be a problem such as TopK(10, 3), not {short(problem)}.")
        if problem.pool is not None and problem.ranked and settings.epsilon > 0:  # how much better a candidate left out may be
            settings = replace(settings, per_arm=True)
        self.problem, self.settings = problem, settings
        self.policy, self.confidence = settings.bound(problem)
        if isinstance(self.policy, Race) and settings.epsilon > 0 and problem.m > LARGE:
            raise SettingError(f"With an epsilon a pool takes at most {LARGE:,} candidates.", key="epsilon")
        if isinstance(self.policy, (Race, Sorting)) and settings.relative:
            raise SettingError(
                "On a pool epsilon is in units of the scores, for every candidate: leave out relative=True.", key="relative"
            )
        self.lock: threading.RLock = threading.RLock()  # held by every method; who changes the record holds it too
        self.record: Record = problem.record()
        self._paused: Bools = np.zeros(problem.m, dtype=np.bool_)
        self._ended: Bools = np.zeros(problem.m, dtype=np.bool_)
        self._moment: Moment | None = None  # what the observations say now
        # What a moment certified is kept, whatever comes in later. The certificate itself, which costs more than many a run, is
        # made when it is asked for, or before the record of that moment changes.
        self._kept = False
        self._stopped: Certificate | None = None
        self._started = False
        self._driven = False  # by explore, one at a time
        self.failures: int = 0  # samplers of explore that raised: who tries again gets other random numbers

    @contextmanager
    def driven(self) -> Iterator[None]:
        """A sampler gives the values for a while, and nobody else: :func:`surepick.explore` is under way."""
        with self.lock:
            if self._driven:
                raise SettingError(
                    "explore is under way with this explorer already. Call it once; several workers share an explorer by ask and "
                    "tell, with pending."
                )
            self._driven = True
        try:
            yield
        finally:
            self._driven = False

    @property
    def delta(self) -> float:
        """The decision may be wrong with at most this probability."""
        return self.settings.delta

    @property
    def epsilon(self) -> float:
        """How far from the best the decision may be."""
        return self.settings.epsilon

    @property
    def relative(self) -> bool:
        """Epsilon is a share of the best reward's size."""
        return self.settings.relative

    @property
    def per_arm(self) -> bool:
        """Epsilon is for every arm of the decision."""
        return self.settings.per_arm

    @property
    def budget(self) -> int | None:
        """Observations at most; the one setting that may be changed on the way, since it has no part in the guarantee."""
        return self.settings.budget

    @budget.setter
    def budget(self, budget: int | None) -> None:
        settings = replace(self.settings, budget=budget)
        with self.lock:
            self._keep()
            self.settings, self._moment = settings, None

    @property
    def cost_budget(self) -> float | None:
        """What all observations may cost at most; it may be changed on the way, as ``budget``."""
        return self.settings.cost_budget

    @cost_budget.setter
    def cost_budget(self, cost_budget: float | None) -> None:
        settings = replace(self.settings, cost_budget=cost_budget)
        with self.lock:
            self._keep()
            self.settings, self._moment = settings, None

    @property
    def spend(self) -> bool:
        """The whole budget is to be spent."""
        return self.settings.spend

    @property
    def dependent(self) -> bool:
        """Values of different arms may depend on each other."""
        return self.settings.dependent

    @property
    def pool(self) -> Pool | None:
        """The items that all arms are judged on."""
        return self.problem.pool

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, and what can be worked out again."""
        return {name: value for name, value in self.__dict__.items() if name != "lock"} | {"_moment": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock(), _driven=False)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """An explorer that goes its own way from here. The two share the problem and its arms' names, which never change."""
        with self.lock:
            memo.update((id(shared), shared) for shared in (self.problem, *self.problem.names))
            twin = memo[id(self)] = type(self).__new__(type(self))
            twin.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return twin

    # -- what is known --------------------------------------------------------------------------------------------

    @property
    def counts(self) -> Ints:
        """Observations of every arm so far."""
        return told(self.record).copy()

    @property
    def samples(self) -> int:
        """Observations of all arms so far."""
        return int(told(self.record).sum())

    @property
    def cost(self) -> float:
        """What all observations so far cost; their number if no arm has a cost of its own."""
        return self.problem.cost_of(told(self.record))

    def samples_paid(self) -> int:
        """How many observations the rest of the budget in cost pays for, whatever arms they are of; if there is none, as many as
        may be asked for."""
        if self.cost_budget is None:
            return MANY
        prices = self.problem.prices
        return max(0, (prices.of(self.cost_budget) - prices.total(told(self.record))) // prices.dearest)

    @property
    def paused(self) -> list[Any]:
        """The arms that are paused."""
        return [self.problem.names[i] for i in np.flatnonzero(self._paused & ~self._ended)]

    @property
    def ended(self) -> list[Any]:
        """The arms that have ended."""
        return [self.problem.names[i] for i in np.flatnonzero(self._ended)]

    @property
    def closed(self) -> Bools:
        """The arms that are paused or have ended."""
        return self._paused | self._ended

    @property
    def exhausted(self) -> Bools:
        """The arms all of whose values are drawn, so that their parameters are known; see ``population`` of :class:`Arm`."""
        return np.asarray(self.record.counts >= self.problem.populations)

    @property
    def able(self) -> Bools:
        """The arms that may be asked for."""
        return ~(self.closed | self.exhausted) if self.problem.finite else ~self.closed

    @property
    def started(self) -> bool:
        """Every arm has enough observations for a first estimate."""
        if not self._started:  # counts never fall
            self._started = not self.confidence.missing(self.record).any()
        return self._started

    @property
    def _now(self) -> Moment:
        if self._moment is None:
            self._moment = Moment(
                self.problem, self.settings, self.policy, self.confidence, self.record, self.started, self._paused, self._ended,
                self.exhausted,
            )  # fmt: skip
        return self._moment

    @property
    def view(self) -> View:
        """What the policy sees; only once every arm has an estimate."""
        return self._now.view

    @alone
    def box(self) -> tuple[Floats, Floats]:
        """The confidence box; the whole range of the parameter for arms without an estimate."""
        return self._now.box

    @property
    def undecided(self) -> Bools:
        """C_t: the arms whose entry of the optimal decision varies over the box; all, until every arm has an estimate."""
        with self.lock:
            return self._now.undecided if self._stopped is None else self._stopped.undecided

    @property
    def certified(self) -> bool:
        """The guarantee that was asked for holds: now, or at an earlier moment that was judged."""
        with self.lock:
            return self._kept or self._now.guarantee is not Guarantee.NONE

    @property
    def done(self) -> bool:
        """Certified, out of budget, or every arm that could still tell something has ended or costs more than is left."""
        with self.lock:
            return self._now.spent or self.certified or self._stuck

    @property
    def _stuck(self) -> bool:
        over = self._ended | ~self._now.payable | self.exhausted
        if not over.any():
            return False
        missing = self.confidence.missing(self.record) > 0
        if (missing & self._ended).any():  # an arm that ended without an estimate: nothing will ever be certified
            return True
        if self.spend:  # all that is left is spent on what can still be sampled
            return bool(over.all())
        if not self.started:
            return False
        halves = self.policy.halves(self.confidence, self.record)  # those of arms that can be sampled are completed
        open_ = self.undecided if halves is None else self.undecided | halves
        return not (open_ & ~over).any() or self.policy.stuck(self.view, over)

    @alone
    def attained(self) -> float:
        """The smallest delta at which the observations certify the decision now; 1 if none does.

        For every p fixed in advance, a wrong decision attains p or less with probability at most p: it is a p-value that
        may be looked at at any time. Once certified, it is that of the certificate, as the decision is.
        """
        if self._stopped is not None and self._stopped.attained is not None:
            return self._stopped.attained
        return self._now.attained

    @property
    def decision(self) -> np.ndarray[Any, Any]:
        """The decision as it stands: certified if ``done`` is so, else the best guess."""
        with self.lock:
            return self._now.decision if self._stopped is None else self._stopped.decision

    @alone
    def certificate(self) -> Certificate:
        """What the observations certify now; once certified, what they certified then."""
        return self._now.certificate if self._stopped is None else self._stopped

    @alone
    def standings(self, to: Hashable | None = None) -> Standings:
        """How far every candidate on a pool is from the one that is chosen (in its group; of several the last one), or from the
        candidate ``to``: the differences of their means over all items, with intervals. They are worked out from all scores so
        far when asked for.

        All of them hold together with probability at least 1 - delta, whoever is compared with whom, however often one looks.
        This is a statement of its own: the certificate does without it, and pays nothing for it. That both are right has
        probability at least 1 - 2 delta. The tests of the certificate are sharper, so it may be certain who is best while these
        intervals still have 0 in them.

        Examples
        --------
        >>> import surepick as sp
        >>> world = sp.Scores([[1.0] * 60, [0.0, 0.0, 1.0] * 20])
        >>> ex = sp.Explorer(sp.BestArm(["new", "old"]), pool=world.pool(0), spend=True, budget=60)
        >>> certificate = sp.explore(ex, world).certificate
        >>> ex.standings().to_frame().round(2)
          candidate reference  difference  lower  upper  items
        0       new       new        0.00   0.00   0.00     30
        1       old       new       -0.73  -0.87  -0.52     30
        """
        if self.problem.pool is None or not isinstance(self.record, Board):
            raise SettingError(why_not(self.problem) or "", key="pool")
        other = None if to is None else self.problem.index[to]
        return standings(self.problem, self.record, self.decision, self.delta, other)

    # -- what is kept ---------------------------------------------------------------------------------------------

    def forget(self, complete: bool = True) -> None:
        """Drop what was derived from the record, after the record has changed. The middle of a batch is no moment: it is not
        ``complete``, and the policy is not told."""
        told = flag(complete, "complete") and self.policy.remembers and self.started
        self._moment = None
        if told:
            self.policy.told(self.view)

    @alone
    def judge(self) -> None:
        """A moment is complete: if it is certified, it stays so, whatever comes in later. Nothing else keeps anything.

        Telling ends with it, and so does driving.
        """
        if self._kept:
            return
        self._kept = self.certified
        if self._kept and log.isEnabledFor(logging.INFO):
            log.info("%s", self.certificate())
        elif not self._kept and log.isEnabledFor(logging.DEBUG):
            log.debug("%d samples, not certified", self.samples)

    def _keep(self) -> None:
        """This moment is about to pass: write down what it certified."""
        if not self._driven and self.certified:  # a driver may be in the middle of a batch, which is no moment
            self.judge()
        if self._kept:
            self._stopped = self.certificate()

    def _restore(self, certificate: Certificate) -> None:
        """This was certified before."""
        self._kept, self._stopped = True, certificate
