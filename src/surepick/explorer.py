"""One experiment in memory, by asking and telling."""

from __future__ import annotations

import copy
import functools
import logging
import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum, auto
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from . import frames, saving
from .arms import Bools, Floats, Ints, Values
from .certificate import Certificate
from .checks import MANY, entries, short, whole
from .confidence import Confidence
from .errors import ObservationError, SettingError, UnknownArmError
from .estimators import Moments, Record
from .policies import Paired, Policy, View
from .policies.base import spread
from .problems.base import Problem
from .settings import Settings

log: logging.Logger = logging.getLogger("surepick")

P = ParamSpec("P")
T = TypeVar("T")


def alone(method: Callable[Concatenate[Explorer, P], T]) -> Callable[Concatenate[Explorer, P], T]:
    """One thread at a time in an explorer."""

    @functools.wraps(method)
    def call(self: Explorer, /, *given: P.args, **named: P.kwargs) -> T:
        with self.lock:
            return method(self, *given, **named)

    return call


class Guarantee(Enum):
    """What the observations of one moment certify."""

    NONE = auto()
    NEAR = auto()  # the decision is within epsilon of the best, which may be another one
    EXACT = auto()  # the decision is the best


class Explorer:
    """Says what to sample next, takes in the observations, and stops with a certificate.

    Parameters
    ----------
    problem : Problem
    delta : float
        The decision may be wrong with at most this probability.
    policy : str or Policy
        How arms are chosen and when to stop: ``"auto"``, ``"joint"``, ``"joint-linear"``, ``"paired"``, ``"pac"``, ``"coci"``,
        ``"uniform"``, ``"unified"``, ``"clucb"``, ``"lucb"``, ``"kl-lucb"``, ``"ugape"``, ``"ts-explore"``, ``"gap"``,
        ``"elimination"``, a text with parameters such as ``"ts-explore:q=0.3"``, or an object of :mod:`surepick.policies` or of a
        class of your own, ``TSExplore(q=0.3)``. ``"auto"``: ``joint`` for best arm, top-k, best of each and spanning trees (up to
        20,000 exchanges), and for sample allocations if epsilon is 0; ``joint-linear`` for other 0/1 decisions with a linear
        reward; else ``pac`` with an epsilon and ``coci`` without. docs/research.md says what it was measured against, and where
        it is not the best.
    confidence : str or Confidence
        The confidence sequence: ``"auto"``, ``"own"``, ``"paper"``, ``"normal"``, ``"beta"``, ``"kt-kl"``, ``"bernstein"``,
        ``"pairs"``, ``"u-statistic"``, ``"bernoulli-variance"``, ``"clucb"``, ``"lucb"``, ``"kl-lucb"``, ``"elimination"``, a
        text with parameters such as ``"normal:tuned=500"``, or an object of :mod:`surepick.confidence` or of a class of your own,
        ``Normal(tuned=500)``. ``"auto"`` is the tightest one that is valid for the arms as declared, ``"own"`` the one of the
        policy's own paper.
    epsilon : float
        Stop as soon as the decision is within epsilon of the best, in units of the reward.
    relative : bool
        Epsilon is a share of the best reward's size: 0.05 for within 5 %.
    per_arm : bool
        Epsilon is for every arm: each arm of the decision is within epsilon of the k-th best (of its group), and not the sum of
        them within epsilon of the best sum. For best-arm, top-k and best-of-each; for one best arm the two are the same.
    budget : int, optional
        Stop after this many observations, certified or not.
    spend : bool
        Spend the whole budget, also after the decision is certified: the certificate is that of all observations.
    dependent : bool
        Values of *different* arms may depend on each other: several variants shown to one person, candidates judged on the same
        day. Only what holds under any such dependence is used, which costs samples: ``"auto"`` is then ``paired`` if the first
        observation is a row (``tell_row``) of a class with single exchanges, else ``coci``, or ``pac`` with an epsilon.

    Notes
    -----
    The guarantee assumes that

    * values of one arm are independent draws from one distribution that does not drift;
    * values of different arms are independent of each other, *unless* ``dependent=True`` or the policy weighs every arm by
      itself: ``joint``, ``joint-linear`` (what ``auto`` takes for most classes) and ``ts-explore`` multiply the evidence of
      different arms and need it, all other policies do not;
    * every value lies within the bounds that were declared;
    * whether and when a value is told does not depend on the value: successes that are told at once and failures after a week
      break it. With ``dependent=True`` nor on a value of another arm from the same person or day;
    * values are told in the order in which they came, or as one moment;
    * delta, epsilon, the bounds and the problem were fixed before the data were seen.

    Observations may then come in any batches, late, or not at all. Every call of ``tell``, ``tell_many``, ``tell_frame``,
    ``tell_row`` and ``tell_rows`` is a moment, and every moment is judged once: an explorer that was certified at one of them
    stays so, with the certificate of that moment, and so does another one that is told the same in the same order (but for
    ``ts-explore``, which draws numbers of its own).

    All methods may be called from several threads.

    If two decisions are exactly equally good, no number of samples tells them apart: set ``epsilon`` or a ``budget``.

    Examples
    --------
    >>> import surepick as sp
    >>> ex = sp.Explorer(sp.BestArm(["red", "blue"]), delta=0.1)
    >>> ex.ask(4)
    [0, 1, 0, 1]
    >>> ex.tell("red", [0.9] * 400)
    >>> ex.tell("blue", [0.1] * 400)
    >>> ex.done
    True
    >>> ex.decision
    array([1, 0])
    """

    policy: Policy
    confidence: Confidence

    def __init__(
        self,
        problem: Problem,
        delta: float = 0.05,
        *,
        policy: str | Policy = "auto",
        confidence: str | Confidence = "auto",
        epsilon: float = 0.0,
        relative: bool = False,
        budget: int | None = None,
        spend: bool = False,
        dependent: bool = False,
        per_arm: bool = False,
    ) -> None:
        if not isinstance(problem, Problem):
            raise SettingError(f"The first argument must be a problem such as TopK(10, 3), not {short(problem)}.")
        self.problem = problem
        self.settings: Settings = Settings(
            delta=delta, policy=policy, confidence=confidence, epsilon=epsilon, relative=relative, budget=budget, spend=spend,
            dependent=dependent, per_arm=per_arm,
        )  # fmt: skip
        self.policy, self.confidence = self.settings.bound(problem)
        self.lock: threading.RLock = threading.RLock()  # held by every method; who changes the record holds it too
        self.record: Record = problem.record()
        self._paused: Bools = np.zeros(problem.m, dtype=np.bool_)
        self._ended: Bools = np.zeros(problem.m, dtype=np.bool_)
        # What a moment certified is kept, whatever comes in later. The certificate itself, which costs more than many a run, is
        # made when it is asked for, or before the record of that moment changes.
        self._kept = Guarantee.NONE
        self._stopped: Certificate | None = None
        self._renew()
        self._started = False
        self._driven = False  # by explore, one at a time
        self.failures = 0  # samplers of explore that raised: who tries again gets other random numbers

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

    @classmethod
    def of(cls, problem: Problem, settings: Settings) -> Self:
        """An explorer with these settings."""
        return cls(problem, **settings.asked())

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
        self.settings = replace(self.settings, budget=budget)

    @property
    def spend(self) -> bool:
        """The whole budget is to be spent."""
        return self.settings.spend

    @property
    def dependent(self) -> bool:
        """Values of different arms may depend on each other."""
        return self.settings.dependent

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

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

    # -- tell -----------------------------------------------------------------------------------------------------

    @alone
    def tell(self, arm: Hashable, values: Values) -> None:
        """Record one observation of an arm, or many. Raises before anything is recorded if one of them is bad."""
        i = self._arm(arm)
        self._take([(i, self.problem.arms[i].check(values))])

    @alone
    def tell_many(self, observations: Iterable[tuple[Hashable, Values]]) -> None:
        """Record (arm, values) pairs that came in together, as one moment: all of them, or none if one is bad."""
        given, checked = entries(observations), []
        for entry in [None] if given is None or isinstance(observations, Mapping) else given:
            pair = entries(entry) if isinstance(entry, (tuple, list)) else None
            if pair is None or len(pair) != 2:
                hint = ": give a dict by its items()" if isinstance(observations, Mapping) else ""
                raise ObservationError(
                    f"tell_many takes a list of (arm, values) pairs, not {short(observations)}{hint}. Nothing was recorded."
                )
            i = self._arm(pair[0])
            checked.append((i, self.problem.arms[i].check(pair[1])))
        self._take(checked)

    @alone
    def tell_frame(self, frame: Any) -> None:
        """Record the rows of a data frame with the columns ``arm`` and ``value``, as one moment: all of them, or none if one is
        bad. Every row is one observation; other columns are left alone. The frame is of pandas or polars, or like one.
        """
        self._take(frames.observations(frame, self.problem))

    def tell_row(self, values: Mapping[Any, float]) -> None:
        """Record one value each of several arms that were observed together: on one person, on one day, in one draw.

        Values of one row may depend on each other in any way; rows must be independent. Which arms a row has must be settled
        before any of its values is seen. Needs ``dependent=True`` (or a policy that weighs every arm by itself). If the first
        observation of an exploration is a row, arms are also compared by their differences within rows (policy ``paired``),
        where the class has such a comparison.
        """
        self.tell_rows([values])

    @alone
    def tell_rows(self, rows: Iterable[Mapping[Any, float]]) -> None:
        """Record rows that came in together, as one moment: all of them, or none if one is bad. See ``tell_row``."""
        if self.policy.independent:
            raise ObservationError(
                f"The values of a row may depend on each other, and policy={self.policy.name!r} multiplies the evidence of "
                "different arms, which needs independent ones: make the explorer with dependent=True. Nothing was recorded."
            )
        listed = None if hasattr(rows, "to_dict") or isinstance(rows, Mapping) else entries(rows)
        if listed is None:
            way = ": of a table with a column an arm, [row.dropna().to_dict() for _, row in table.iterrows()]"
            hint = way if hasattr(rows, "iterrows") else ""
            raise ObservationError(
                f"tell_rows takes a list of rows, each a dict of arms and their values, not {short(rows)}{hint}. "
                "Nothing was recorded."
            )
        checked = [self._row(row) for row in listed]
        self._take([pair for row in checked for pair in row.items()], checked)

    def _take(self, checked: list[tuple[int, Floats]], rows: Sequence[dict[int, Floats]] = ()) -> None:
        """Record values, and judge the moment; if a function of the user's fails at that, as if nothing had been told."""
        if self._driven:
            raise ObservationError(
                "explore is under way with this explorer, and its sampler gives the values: tell them when it has ended. "
                "Nothing was recorded."
            )
        self._keep()
        self._refuse_second_halves(checked)
        record, undo = self.record, self._undo(checked, rows)
        try:
            auto = self.dependent and self.settings.policy == "auto"
            if rows and auto and self.samples == 0 and Paired.needs(self.problem) is None:
                self.pair()  # before any value is looked at, so that delta may be shared out anew
            if isinstance(self.policy, Paired) and isinstance(record, Moments):
                for row in rows:
                    self.policy.rows(record).add(np.array(list(row)), np.concatenate(list(row.values())))
            for i, data in checked:
                record.update(i, data)
            self.forget()
            self.judge()
        except BaseException:
            undo()
            raise

    def pair(self) -> None:
        """Compare arms within rows from now on."""
        self.policy, self.confidence = replace(self.settings, policy=Paired()).bound(self.problem)

    def _undo(self, checked: list[tuple[int, Floats]], rows: Sequence[dict[int, Floats]]) -> Callable[[], None]:
        """What makes all as it is now."""
        record, kept, used, memory = self.record, self._kept, (self.policy, self.confidence), copy.copy(self.policy.memory())
        arms = sorted({i for i, _ in checked})
        if isinstance(record, Moments):
            counts, table, paired = record.counts[arms], record.table[arms], copy.deepcopy(record.rows) if rows else record.rows
        else:  # an estimator of the user's, which keeps what it likes
            whole_record = copy.deepcopy(record)

        def undo() -> None:
            if isinstance(record, Moments):
                record.counts[arms], record.table[arms], record.rows = counts, table, paired
            else:
                self.record = whole_record
            self._kept, self._started = kept, False
            self._renew()
            self.policy, self.confidence = used
            self.policy.undo(memory)

        return undo

    def _arm(self, arm: Hashable) -> int:
        """The position of an arm of which something is told."""
        try:
            return self.problem.index[arm]
        except UnknownArmError as error:
            raise UnknownArmError(f"{error} Nothing was recorded.", arm=error.arm) from None

    def _refuse_second_halves(self, checked: list[tuple[int, Floats]]) -> None:
        """Half a pair of an arm that has ended counts for nothing from then on, so it must not be completed any more."""
        halves = self.policy.halves(self.confidence, self.record.counts) if self._ended.any() else None
        for i, data in checked:
            if halves is not None and halves[i] and self._ended[i] and len(data):
                raise ObservationError(
                    f"Arm {self.problem.names[i]!r} has ended after an odd number of values, and variances come from pairs: "
                    "what was left out then cannot be taken in now. Tell what is on its way before an arm ends, or pause it. "
                    "Nothing was recorded."
                )

    def _row(self, values: Mapping[Any, float]) -> dict[int, Floats]:
        """One value of each arm of a row, checked."""
        if not isinstance(values, Mapping) or not values:
            hint = ": give a series by its to_dict()" if hasattr(values, "to_dict") else ""
            raise ObservationError(f"A row is a dict of arms and their values, not {short(values)}{hint}. Nothing was recorded.")
        row: dict[int, Floats] = {}
        for arm, value in values.items():
            i = self._arm(arm)
            data = self.problem.arms[i].check(value)
            if len(data) != 1 or i in row:
                raise ObservationError(
                    f"A row has one value of an arm, and arm {self.problem.names[i]!r} has {'two' if i in row else len(data)}. "
                    "Nothing was recorded."
                )
            row[i] = data
        return row

    def forget(self) -> None:
        """Drop what was derived from the record, after the record has changed."""
        self._renew()
        if self.policy.remembers and self.started:
            self.policy.told(self.view)

    def _renew(self) -> None:
        """A new moment: nothing has been derived from it yet."""
        self._view: View | None = None
        self._tested: Guarantee | None = None
        self._current: Certificate | None = None

    # -- ask ------------------------------------------------------------------------------------------------------

    @alone
    def ask(self, n: int = 1, pending: Mapping[Any, int] | None = None) -> list[int]:
        """At most n arms (n up to 10,000,000) to sample now, in this order; [] when done, and while no arm can be sampled.

        Asking changes nothing: until observations are told, the same question has the same answer. So say what is on its way:
        ``pending={"red": 3}`` counts three observations of that arm as if they were planned, and the next ones go elsewhere.
        """
        n = whole(n, "n", 1, MANY)
        waiting = self._waiting(pending)
        if self.done or not self.able.any():
            return []
        if self.budget is not None:
            n = min(n, self.budget - self.samples - int(waiting.sum()))
            if n < 1:
                return []
        planned, minimum = self.record.counts + waiting, self.problem.parameter.minimum
        able = self.able
        if self.started:
            if self.spend and self.policy.certified(self.view):  # nothing is in question; make all arms better known
                return self.policy.further(self.view, planned, n)
            return self.policy.choose(self.view, planned, n)
        missing = np.where(able, np.maximum(minimum - planned, 0), 0)
        first: list[int] = np.repeat(np.arange(self.problem.m), missing)[:n].tolist()
        if len(first) == n:
            return first
        # Every arm is wanted; nothing tells them apart yet.
        return first + spread(able, np.maximum(planned, minimum), self.problem.scales, n - len(first))

    def _waiting(self, pending: Mapping[Any, int] | None) -> Ints:
        waiting = np.zeros(self.problem.m, dtype=np.int64)
        if pending is None:
            return waiting
        if not isinstance(pending, Mapping):
            raise SettingError(
                f"pending must be a dict of arms and how many of their values are on their way, not {short(pending)}.",
                key="pending",
            )
        for arm, k in pending.items():
            waiting[self.problem.index[arm]] += whole(k, f"pending[{short(arm)}]", 0, MANY)
        return waiting

    @alone
    def pause(self, arm: Hashable) -> None:
        """Do not ask for this arm until it is resumed."""
        self._close(arm, self._paused, True)

    @alone
    def resume(self, arm: Hashable) -> None:
        """Ask for this arm again."""
        i = self.problem.index[arm]
        if self._ended[i]:
            raise SettingError(f"Arm {self.problem.names[i]!r} has ended, so it cannot be resumed.")
        self._close(arm, self._paused, False)

    @alone
    def end(self, arm: Hashable) -> None:
        """Never ask for this arm again: it has no more values to give. What it gave counts on.

        Whether an arm ends must not hang on its values.
        """
        self._close(arm, self._ended, True)

    def _close(self, arm: Hashable, which: Bools, closed: bool) -> None:
        i = self.problem.index[arm]
        self._keep()
        which[i] = closed
        self._renew()

    @property
    def paused(self) -> list[Hashable]:
        """The arms that are paused."""
        return [self.problem.names[i] for i in np.flatnonzero(self._paused & ~self._ended)]

    @property
    def ended(self) -> list[Hashable]:
        """The arms that have ended."""
        return [self.problem.names[i] for i in np.flatnonzero(self._ended)]

    @property
    def able(self) -> Bools:
        """The arms that may be asked for."""
        return ~(self._paused | self._ended)

    # -- what is known --------------------------------------------------------------------------------------------

    @property
    def counts(self) -> Ints:
        """Observations of every arm so far."""
        return self.record.counts.copy()

    @property
    def samples(self) -> int:
        """Observations of all arms so far."""
        return int(self.record.counts.sum())

    @property
    def started(self) -> bool:
        """Every arm has enough observations for a first estimate."""
        if not self._started:  # counts never fall
            self._started = bool((self.record.counts >= self.problem.parameter.minimum).all())
        return self._started

    @property
    def view(self) -> View:
        """What the policy sees; only once every arm has an estimate."""
        if self._view is None:
            view = View(self.problem, self.confidence, self.record, self.delta, self.epsilon, self.relative, per_arm=self.per_arm)
            if self._paused.any() or self._ended.any():
                view.open, view.ended = self.able, self._ended
            self._view = view
        return self._view

    @alone
    def box(self) -> tuple[Floats, Floats]:
        """The confidence box; the whole range of the parameter for arms without an estimate."""
        if self.started:
            return self.view.box
        problem, known = self.problem, self.record.counts >= self.problem.parameter.minimum
        if not known.any():
            return problem.low.copy(), problem.high.copy()
        lower, upper = self.confidence.box(self.record)
        return np.where(known, lower, problem.low), np.where(known, upper, problem.high)

    @property
    def undecided(self) -> Bools:
        """C_t: the arms whose entry of the optimal decision varies over the box; all, until every arm has an estimate."""
        with self.lock:
            if self._stopped is not None:
                return self._stopped.undecided
            if not self.started:
                return np.ones(self.problem.m, dtype=np.bool_)
            return (
                np.zeros(self.problem.m, dtype=np.bool_) if self._holds() is Guarantee.EXACT else self.policy.undecided(self.view)
            )

    @property
    def certified(self) -> bool:
        """The guarantee that was asked for holds: now, or at an earlier moment that was judged."""
        with self.lock:
            return self._holds() is not Guarantee.NONE

    def _holds(self) -> Guarantee:
        if self._kept is not Guarantee.NONE:
            return self._kept
        if not self.started or (self.spend and not self._spent):
            return Guarantee.NONE
        if self._tested is None:
            if self.policy.certified(self.view):
                self._tested = Guarantee.EXACT
            else:
                self._tested = Guarantee.NEAR if self.epsilon > 0 and self.policy.near(self.view) else Guarantee.NONE
        return self._tested

    @alone
    def judge(self) -> None:
        """A moment is complete: if the guarantee holds now, it is kept from here on. Nothing else keeps it.

        Telling ends with it, and so does driving.
        """
        if self._kept is not Guarantee.NONE:
            return
        self._kept = self._holds()
        if self._kept is Guarantee.NONE:
            log.debug("%d samples, not certified", self.samples)
        elif log.isEnabledFor(logging.INFO):
            log.info("%s", self.certificate())

    def _keep(self) -> None:
        """The record of this moment is about to change: write down what it certified."""
        if not self._driven and self.certified:  # a driver may be in the middle of a batch, which is no moment
            self.judge()
        if self._kept is not Guarantee.NONE:
            self._stopped = self.certificate()

    def _restore(self, certificate: Certificate) -> None:
        """This was certified before."""
        self._stopped = certificate
        self._kept = Guarantee.NEAR if certificate.undecided.any() else Guarantee.EXACT

    @property
    def done(self) -> bool:
        """Certified, out of budget, or every arm that could still tell something has ended."""
        with self.lock:
            return self._spent or self.certified or self._stuck

    @property
    def _spent(self) -> bool:
        return self.budget is not None and self.samples >= self.budget

    @property
    def _stuck(self) -> bool:
        if not self._ended.any():
            return False
        missing = self.record.counts < self.problem.parameter.minimum
        if (missing & self._ended).any():  # an arm that ended without an estimate: nothing will ever be certified
            return True
        return self.started and not (self.undecided & ~self._ended).any()

    @alone
    def attained(self) -> float:
        """The smallest delta at which the observations certify the decision now; 1 if none does.

        For every p fixed in advance, a wrong decision attains p or less with probability at most p: it is a p-value that
        may be looked at at any time. Once certified, it is that of the certificate, as the decision is.
        """
        if self._stopped is not None and self._stopped.attained is not None:
            return self._stopped.attained
        return self.policy.attained(self.view) if self.started else 1.0

    @alone
    def plan(self, n: int, pending: Mapping[Any, int] | None = None) -> dict[Hashable, int]:
        """How many of the next n samples to take of each arm, by name; {} when done. As ``ask(n)``, counted."""
        counted = Counter(self.ask(n, pending))
        return {self.problem.names[i]: counted[i] for i in sorted(counted)}

    @property
    def decision(self) -> np.ndarray[Any, Any]:
        """The decision as it stands: certified if ``done`` is so, else the best guess."""
        with self.lock:
            return self._decision() if self._stopped is None else self._stopped.decision

    @alone
    def certificate(self) -> Certificate:
        """What the observations certify now; once certified, what they certified then."""
        if self._stopped is not None:
            return self._stopped
        if self._current is None:
            self._current = self._certificate()
        return self._current

    def __repr__(self) -> str:
        return f"<Explorer of {self.problem!r}: {str(self.certificate())[:-1]}>"

    # -- files ----------------------------------------------------------------------------------------------------

    @alone
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is known to a JSON file: what was observed, which arms are paused or have ended, and the certificate
        if one was reached. The file is replaced as a whole, so that a crash leaves the old one or the new one.

        The problem is written too, unless it has functions of yours (:class:`Separable`, an estimator of your own). Of a policy
        or a confidence sequence of your own the file has the name and the parameters.
        """
        saving.write(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        problem: Problem | None = None,
        *,
        policy: Policy | None = None,
        confidence: Confidence | None = None,
    ) -> Self:
        """An explorer as it was saved. A problem with functions of yours is not in the file, nor is a policy or a confidence
        sequence of your own: give the same ones again."""
        return saving.read(cls, path, problem, policy=policy, confidence=confidence)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _decision(self) -> np.ndarray[Any, Any]:
        """phi at the estimates; arms without one count with the middle of their range, or 0 if that is unbounded."""
        if self.started:
            return self.policy.decision(self.view)
        lower, upper = self.box()
        with np.errstate(invalid="ignore"):
            middle = np.nan_to_num((lower + upper) / 2, nan=0.0, posinf=0.0, neginf=0.0)
        theta = np.where(np.isnan(self.record.estimates), middle, self.record.estimates)
        return self.problem.solve_at(theta.clip(lower, upper))

    def _gap(self, decision: np.ndarray[Any, Any]) -> float:
        """G, or, if relative, its share of the best reward's size; unknown until every arm has an estimate."""
        if not self.started:
            return math.inf
        return self.policy.gap(self.view, decision)

    def _gap_per_arm(self, decision: np.ndarray[Any, Any]) -> float | None:
        """How far any arm of the decision is from the k-th best of its group; None where arms do not fall short one by one."""
        if not self.problem.ranked:
            return None
        return self.policy.shortfall(self.view, decision) if self.started else math.inf

    def _certificate(self) -> Certificate:
        certified, undecided, decision = self.certified, self.undecided, self._decision()
        lower, upper = self.box()
        return Certificate(
            decision=decision,
            certified=certified,
            delta=self.delta,
            epsilon=self.epsilon,
            relative=self.relative,
            gap=self._gap(decision) if undecided.any() else 0.0,
            per_arm=self.per_arm,
            gap_per_arm=self._gap_per_arm(decision) if undecided.any() else 0.0,
            yardstick=self.problem.yardstick,
            lower=lower.copy(),
            upper=upper.copy(),
            estimate=self.record.estimates.copy(),
            counts=self.record.counts.copy(),
            undecided=undecided.copy(),
            rival=self.policy.rival(self.view) if self.started and undecided.any() else None,
            attained=self.attained() if certified or self._spent else None,
            samples=self.samples,
            policy=str(self.policy),
            rule=self.policy.rule,
            confidence=str(self.confidence),
            names=self.problem.names,
            independent=self.policy.independent,
            ended=self.ended,
        )
