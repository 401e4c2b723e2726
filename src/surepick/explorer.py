"""One experiment in memory, by asking and telling."""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from . import frames, saving
from .arms import Bools, Floats, Ints, Values
from .checks import MANY, entries, is_whole, number, short, vouched, whole
from .confidence import Confidence
from .errors import ObservationError, SettingError
from .estimators import Moments, Record
from .exploration import Exploration, alone
from .moment import told
from .policies import Paired, Policy
from .policies.base import spread
from .pool import Board, Pool
from .problems.base import Problem
from .settings import Settings
from .told import candidate_and_place, pairs_of, rows_of, scores_of, values_of
from .undo import Undo


class Explorer(Exploration):
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
    cost_budget : float, optional
        Stop when what is left of this pays for no arm that could still tell something. It is never exceeded: an arm that costs
        more than is left is not asked for.
    spend : bool
        Spend the whole budget, also after the decision is certified: the certificate is that of all observations.
    dependent : bool
        Values of *different* arms may depend on each other: several variants shown to one person, candidates judged on the same
        day. Only what holds under any such dependence is used, which costs samples: ``"auto"`` is then ``paired`` if the first
        observation is a row (``tell_row``) of a class with single exchanges, else ``coci``, or ``pac`` with an epsilon.
    pool : Pool, optional
        The items that all arms, the candidates, are judged on: ``ask`` gives (candidate, item) pairs, ``tell`` takes one with its
        score. ``"auto"`` is then ``race`` for classes with single exchanges, and epsilon is for every candidate.

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

    If two decisions are exactly equally good, no number of samples tells them apart: set ``epsilon`` or a ``budget``. Where every
    arm has a ``population`` a run ends all the same: once all values are drawn, both are certainly best.

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

    record: Record
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
        cost_budget: float | None = None,
        spend: bool = False,
        dependent: bool = False,
        per_arm: bool = False,
        pool: Pool | None = None,
    ) -> None:
        super().__init__(
            problem.pooled(pool) if pool is not None and isinstance(problem, Problem) else problem,
            Settings(
                delta=delta, policy=policy, confidence=confidence, epsilon=epsilon, relative=relative, budget=budget,
                cost_budget=cost_budget, spend=spend, dependent=dependent, per_arm=per_arm,
            ),
        )  # fmt: skip

    @classmethod
    def of(cls, problem: Problem, settings: Settings) -> Self:
        """An explorer with these settings, which are checked already."""
        made = cls.__new__(cls)
        Exploration.__init__(made, problem, settings)
        return made

    def __repr__(self) -> str:
        return f"<Explorer of {self.problem!r}: {str(self.certificate())[:-1]}>"

    def _repr_html_(self) -> str:
        return self.certificate()._repr_html_()

    # -- tell -----------------------------------------------------------------------------------------------------

    @alone
    def tell(self, arm: Hashable, values: Values) -> None:
        """Record one observation of an arm, or many. Raises before anything is recorded if one of them is bad.

        On a pool ``arm`` is a pair of a candidate and an item, and there is one score.
        """
        if self.pool is not None:
            self._score([(arm, values)])
        else:
            self._take([values_of(self.problem, arm, values)])

    @alone
    def tell_many(self, observations: Iterable[tuple[Hashable, Values]]) -> None:
        """Record (arm, values) pairs that came in together, as one moment: all of them, or none if one is bad.

        On a pool these are ((candidate, item), score) pairs.
        """
        if self.pool is not None:
            self._score(observations)
        else:
            self._take(pairs_of(self.problem, observations))

    @alone
    def tell_frame(self, frame: Any) -> None:
        """Record the rows of a data frame with the columns ``arm`` and ``value``, as one moment: all of them, or none if one is
        bad. Every row is one observation; other columns are left alone, and ``Arm`` and ``VALUE`` will do. The frame is of pandas
        or polars, or like one. On a pool there is a column ``item``, too.
        """
        if self.pool is not None:
            self._score(frames.scores(frame))
        else:
            self._take(frames.observations(frame, self.problem))

    def _score(self, observations: object) -> None:
        """Record scores on items of the pool, and judge the moment."""
        board = self.record
        assert isinstance(board, Board)
        new = scores_of(self.problem, board, observations)
        self._refuse_driven()
        self._keep()
        undo = Undo(board, self.policy, (i for i, _ in new), rows=False)
        kept, ahead = self._kept, dict(board.ahead)
        try:
            board.take_in(new)
            self.forget()
            self.judge()
        except BaseException:
            undo()
            board.ahead, self._kept = ahead, kept
            self._started, self._moment = False, None
            raise

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
        if self.pool is not None:
            raise ObservationError(
                "On a pool every score is told with its item, tell((candidate, item), score): scores on the same item are "
                "compared by themselves. Nothing was recorded."
            )
        if self.policy.independent:
            raise ObservationError(
                f"The values of a row may depend on each other, and policy={self.policy.name!r} multiplies the evidence of "
                "different arms, which needs independent ones: make the explorer with dependent=True. Nothing was recorded."
            )
        checked = rows_of(self.problem, rows)
        self._take([pair for row in checked for pair in row.items()], checked)

    def _take(self, checked: list[tuple[int, Floats]], rows: Sequence[dict[int, Floats]] = ()) -> None:
        """Record values, and judge the moment; if a function of the user's fails at that, as if nothing had been told."""
        self._refuse_driven()
        self._keep()
        self._refuse_too_many(checked)
        self._refuse_second_halves(checked)
        record, kept, used = self.record, self._kept, (self.policy, self.confidence)
        undo = Undo(record, self.policy, (i for i, _ in checked), rows=len(rows) > 0)
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
            self.record, self._kept, (self.policy, self.confidence) = undo(), kept, used
            self._started, self._moment = False, None
            raise

    def _refuse_driven(self) -> None:
        if self._driven:
            raise ObservationError(
                "explore is under way with this explorer, and its sampler gives the values: tell them when it has ended. "
                "Nothing was recorded."
            )

    def _refuse_too_many(self, checked: list[tuple[int, Floats]]) -> None:
        """An arm with a population has no more values than that."""
        if not self.problem.finite:
            return
        counts = self.record.counts.copy()
        for i, data in checked:
            counts[i] += len(data)
            if counts[i] > self.problem.populations[i]:
                arm, before = self.problem.arms[i], int(self.record.counts[i])
                raise ObservationError(
                    f"Arm {arm.name!r} has a population of {arm.population:,} values, and with these it would have given "
                    f"{int(counts[i]):,}, {before:,} of them before: every value is told once; declare the population that it "
                    "really has. Nothing was recorded.",
                    arm=arm.name,
                )

    def pair(self) -> None:
        """Compare arms within rows from now on."""
        self.policy, self.confidence = replace(self.settings, policy=Paired()).bound(self.problem)
        self._moment = None

    def _refuse_second_halves(self, checked: list[tuple[int, Floats]]) -> None:
        """Half a pair of an arm that has ended counts for nothing from then on, so it must not be completed any more."""
        halves = self.policy.halves(self.confidence, self.record) if self._ended.any() else None
        for i, data in checked:
            if halves is not None and halves[i] and self._ended[i] and len(data):
                raise ObservationError(
                    f"Arm {self.problem.names[i]!r} has ended after an odd number of values, and variances come from pairs: "
                    "what was left out then cannot be taken in now. Tell what is on its way before an arm ends, or pause it. "
                    "Nothing was recorded."
                )

    # -- ask ------------------------------------------------------------------------------------------------------

    @alone
    def ask(self, n: int = 1, pending: Any = None) -> list[Any]:
        """At most n arms (n up to 10,000,000) to sample now, in this order; [] when done, and while no arm can be sampled.

        Asking changes nothing: until observations are told, the same question has the same answer. So say what is on its way:
        ``pending={"red": 3}`` counts three observations of that arm as if they were planned, and the next ones go elsewhere.

        On a pool it gives (candidate, item) pairs, in numbers; ``pending`` is a list of such pairs, in names or numbers.
        """
        if self.pool is None:
            return self.arms_to_sample(n, pending)
        board, waiting = self.record, self._on_their_way(pending)
        assert isinstance(board, Board)
        arms = self.arms_to_sample(n, Counter(i for i, _ in waiting))
        next_, asked = {i: iter(board.free(i, waiting)) for i in set(arms)}, list[tuple[int, int]]()
        for i in arms:
            place = next(next_[i])
            board.offered[i] = max(board.offered[i], place + 1)
            asked.append((i, int(self.pool.order[place])))
        return asked

    @alone
    def expect(self, pairs: Iterable[tuple[Hashable, Hashable]]) -> None:
        """Take the scores of these (candidate, item) pairs in any order, as if ``ask`` had given the pairs: an explorer of the
        same pool did so before, and what came in after it was lost, but for these scores.

        For pairs that :func:`surepick.evaluate` or a loop of yours was asked for, and not for items that were picked otherwise.
        """
        # Why this is safe: no test sees a score before all earlier ones of its candidate, in the pool's order, are there; until
        # then it waits in Board.ahead. So whatever was lost, and why, items are taken in in the one random order, and what was
        # lost is asked for again before anything behind it counts. Scores that were not asked for are refused as a rule because
        # their gaps would wait for evaluations that nobody thought of making.
        if self.pool is None:
            raise SettingError("Pairs of a candidate and an item are expected on a pool only: make the explorer with pool=...")
        board, given = self.record, entries(pairs)
        assert isinstance(board, Board)
        if given is None:
            raise ObservationError(f"expect takes a list of (candidate, item) pairs, not {short(pairs)}. Nothing was recorded.")
        for i, place in [candidate_and_place(self.problem, self.pool, pair) for pair in given]:
            board.offered[i] = max(board.offered[i], place + 1)

    @alone
    def arms_to_sample(self, n: int = 1, pending: Mapping[Any, int] | None = None) -> list[int]:
        """As ``ask``, in arms alone: on a pool each stands for its next item."""
        n = whole(n, "n", 1, MANY)
        waiting = self._waiting(pending)
        if self.done or not self.able.any():
            return []
        if self.budget is not None:
            n = min(n, self.budget - self.samples - int(waiting.sum()))
            if n < 1:
                return []
        planned = told(self.record) + waiting
        if self.cost_budget is None:
            return self._next(planned, n, self.able) if not self.problem.finite else self._while_they_last(planned, n)
        prices = self.problem.prices
        return self._paid(planned, n, prices.of(self.cost_budget) - prices.total(planned))

    def _paid(self, planned: Ints, n: int, left: int) -> list[int]:
        """The next n arms, as far as what is left pays for them (in units of ``prices``): from where it does not pay for the
        next one, those that it pays for."""
        prices, planned, chosen = self.problem.prices, planned.copy(), list[int]()
        sizes = self.problem.populations
        while len(chosen) < n and (open_ := self.able & (planned < sizes) & prices.within(left)).any():
            many = min(n - len(chosen), left // min(prices.each[i] for i in np.flatnonzero(open_)))
            asked = self._next(planned, many, open_)
            paid = _up_to(prices.paid(asked, left), planned, sizes)
            chosen += paid
            for arm in paid:
                planned[arm] += 1
                left -= prices.each[arm]
            if len(paid) == len(asked) < many or not paid:
                break
        return chosen

    def _while_they_last(self, planned: Ints, n: int) -> list[int]:
        """The next n arms, none more often than it has values left."""
        planned, chosen, sizes = planned.copy(), list[int](), self.problem.populations
        while len(chosen) < n and (open_ := self.able & (planned < sizes)).any():
            asked = _up_to(self._next(planned, n - len(chosen), open_), planned, sizes)
            if not asked:
                break
            chosen += asked
            for arm in asked:
                planned[arm] += 1
        return chosen

    def _next(self, planned: Ints, n: int, able: Bools) -> list[int]:
        """The next n arms among these, after those that are planned."""
        if self.started:
            view = self.view
            if (able != self.able).any():
                view = copy.copy(view)
                view.open = able
            return self._checked((self.policy.spend if self.spend else self.policy.choose)(view, planned, n), n)
        missing = np.where(able, np.maximum(self.confidence.missing(self.record) - (planned - self.record.counts), 0), 0)
        first: list[int] = np.repeat(np.arange(self.problem.m), missing)[:n].tolist()
        if len(first) == n:
            return first
        # Every arm is wanted; nothing tells them apart yet.
        return first + spread(able, planned + missing, self.problem.priority, n - len(first))

    def _checked(self, arms: list[int], n: int) -> list[int]:
        """What a policy chose: one from elsewhere may choose what it must not."""
        if vouched(self.policy, ""):
            return arms
        if isinstance(arms, list) and 0 < len(arms) <= n and all(is_whole(arm) and 0 <= arm < self.problem.m for arm in arms):
            return arms
        method = "spend" if self.spend else "choose"
        raise SettingError(
            f"policy={self.policy.name!r} was asked for at most {n:,} arms, and its {method} returned {short(arms)}: it must be "
            f"a list of at least 1 and at most n whole numbers from 0 to {self.problem.m - 1}, the arms' positions.",
            key="policy",
        )

    @alone
    def plan(
        self, n: int | None = None, pending: Mapping[Any, int] | None = None, *, cost: float | None = None
    ) -> dict[Any, int]:
        """How many of the next n samples to take of each arm, by name; {} when done. As ``ask(n)``, counted.

        Instead of n, ``cost``: as many as this pays for, up to 10,000,000.
        """
        if (n is None) == (cost is None):
            raise SettingError("plan takes either n, how many samples to plan, or cost, what they may cost: give one of the two.")
        if self.pool is not None:
            pending = Counter(i for i, _ in self._on_their_way(pending))
        asked = self.arms_to_sample(n, pending) if n is not None else self._for(cost, pending)
        counted = Counter(asked)
        return {self.problem.names[i]: counted[i] for i in sorted(counted)}

    def _for(self, cost: object, pending: Mapping[Any, int] | None) -> list[int]:
        """The next arms that may be asked for, as far as this cost pays for them."""
        planned, prices = told(self.record) + self._waiting(pending), self.problem.prices
        left = prices.of(number(cost, "cost", "a number of at least 0", lambda x: x >= 0))
        if self.cost_budget is not None:
            left = min(left, prices.of(self.cost_budget) - prices.total(planned))
        n = MANY if self.budget is None else min(MANY, self.budget - int(planned.sum()))
        return [] if self.done or n < 1 else self._paid(planned, n, left)

    def _on_their_way(self, pending: object) -> set[tuple[int, int]]:
        """Candidates and places of scores that are on their way."""
        if pending is None:
            return set()
        given = None if isinstance(pending, Mapping) else entries(pending)
        if given is None or self.pool is None:
            raise SettingError(
                f"On a pool pending is a list of (candidate, item) pairs, such as ask gives, not {short(pending)}.", key="pending"
            )
        assert isinstance(self.record, Board)
        found = {candidate_and_place(self.problem, self.pool, pair) for pair in given}
        return {(i, place) for i, place in found if self.record.known(i, place) is None}

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
        self._moment = None

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


def _up_to(asked: list[int], planned: Ints, sizes: Floats) -> list[int]:
    """The first of these arms, up to where one has no value left."""
    left = Counter[int]()
    for k, arm in enumerate(asked):
        left[arm] += 1
        if planned[arm] + left[arm] > sizes[arm]:
            return asked[:k]
    return asked
