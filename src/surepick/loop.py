"""The loop: one experiment against a sampler, until it is certified or out of budget."""

from __future__ import annotations

import ctypes
import inspect
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Several
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .arms import Floats
from .certificate import Certificate, Outcome
from .checks import MANY, SEEDS, short, whole
from .confidence import Confidence, Mixture
from .confidence.base import Sequence
from .engine import kernels, start
from .engine.kinds import BITS, DECIDED, EMPTY, FEWEST, FILLED, FIRST, FOREIGN, LAST, LAW, SPENT, UNSURE, USED
from .environments.base import Environment, Law, law_of, stream
from .errors import ObservationError, SamplerError, SettingError
from .estimators import Moments
from .explorer import Explorer
from .policies import CLUCB, COCI, Joint, Policy, Unified, Uniform
from .problems.base import LinearProblem, Problem, kernel_of

log = logging.getLogger(__name__)

Sampler: TypeAlias = Environment | Callable[[int, int, np.random.Generator], "Several[float] | Floats"]

MOST = 512  # values that NumPy draws ahead for one arm at most, about twice as many as it has had; the same however many
ROUNDS = 1024  # rounds in compiled code before the first look at progress and Ctrl-C
LOOK = 0.05  # seconds between two looks, about
REPORT = 0.1  # seconds between two calls of a progress function


@dataclass(frozen=True)
class Progress:
    """What a progress bar shows."""

    samples: int
    undecided: int
    explorer: Explorer


def explore(
    problem: Problem | Explorer,
    sampler: Sampler,
    delta: float = 0.05,
    *,
    policy: str = "auto",
    confidence: str = "auto",
    epsilon: float = 0.0,
    relative: bool = False,
    budget: int | None = None,
    spend: bool = False,
    dependent: bool = False,
    per_arm: bool = False,
    batch: int = 1,
    seed: int = 0,
    progress: Callable[[Progress], object] | None = None,
) -> Outcome:
    """Sample until the decision is certified or the budget is spent.

    Parameters
    ----------
    problem, delta, policy, confidence, epsilon, relative, budget, spend, dependent, per_arm
        As for :class:`Explorer`. Instead of a problem, an explorer to go on with: it has all settings already.
    sampler : environment or callable
        An environment such as ``Bernoulli([...])``, or any function ``(arm, n, rng) -> n values``. ``rng`` belongs to the
        arm: the s-th sample of arm i depends on (seed, i, s) alone when the function draws n values as it would draw
        them one by one. An explorer that has values of the arm already gets other random numbers than those that gave them,
        and so does one that goes on after the function raised.
        A function that raises ``StopIteration`` says that the arm has no more values to give.
    batch : int
        Samples between two looks at the data.
    seed : int
        Of the random numbers; the same seed, 0 by default, gives the same ones.
    progress : callable, optional
        Called with a :class:`Progress` some ten times a second, and once at the end.

    Returns
    -------
    Outcome

    Raises
    ------
    SamplerError
        The function raised. The error carries the outcome so far, and the explorer to go on with.

    Examples
    --------
    >>> import surepick as sp
    >>> outcome = sp.explore(sp.TopK(4, k=2), sp.Bernoulli([0.9, 0.8, 0.3, 0.1]), delta=0.05)
    >>> outcome.certified, outcome.decision
    (True, array([1, 1, 0, 0]))
    """
    settings: dict[str, Any] = {
        "delta": delta, "policy": policy, "confidence": confidence, "epsilon": epsilon, "relative": relative, "budget": budget,
        "spend": spend, "dependent": dependent, "per_arm": per_arm,
    }  # fmt: skip
    if isinstance(problem, Explorer):
        explorer, plain = problem, inspect.signature(explore).parameters
        changed = [name for name, value in settings.items() if value is not plain[name].default and value != plain[name].default]
        if changed:
            raise SettingError(f"The explorer has its settings already: leave out {', '.join(changed)}.")
    else:
        explorer = Explorer(problem, **settings)
    drive(explorer, sampler, batch=batch, seed=seed, progress=progress)
    return outcome_of(explorer)


def outcome_of(explorer: Explorer) -> Outcome:
    certificate: Certificate = explorer.certificate()
    return Outcome(certificate.decision, certificate.certified, certificate.samples, certificate.counts, certificate)


def drive(
    explorer: Explorer,
    sampler: Sampler,
    *,
    batch: int = 1,
    seed: int = 0,
    run: int = 0,
    progress: Callable[[Progress], object] | None = None,
    compiled: bool = True,
) -> None:
    """Sample for an explorer until it is done. ``compiled=False`` keeps to the Python loop; the samples are the same."""
    batch, seed = whole(batch, "batch", 1, MANY), whole(seed, "seed", 0, SEEDS)
    if progress is not None and not callable(progress):
        raise SettingError(f"progress must be a function, or None, not {short(progress)}.")
    if isinstance(sampler, Environment) and sampler.m != explorer.problem.m:
        raise SettingError(
            f"The environment has {sampler.m} arms but the problem has {explorer.problem.m}: give one truth an arm."
        )
    if not isinstance(sampler, Environment) and not callable(sampler):
        raise SettingError(f"The sampler must be an environment or a function (arm, n, rng) -> n values, not {short(sampler)}.")
    with explorer.driven():
        _drive(explorer, Source(explorer, sampler, seed, run), Report(explorer, progress), batch, compiled)


def _drive(explorer: Explorer, source: Source, report: Report, batch: int, compiled: bool) -> None:
    fast = compiled_loop(explorer) if compiled and batch == 1 else None
    patience = Patience()
    batch = max(batch, explorer.policy.pace)
    missing = int(np.maximum(explorer.problem.parameter.minimum - explorer.record.counts, 0).sum())
    for arm in explorer.ask(min(missing, MANY)) if missing and batch == 1 else ():
        source.take(arm, 1)
    while arms := patience.ask(explorer, batch):
        if fast is not None and explorer.started and patience.over(fast, explorer, source):
            if run_compiled(fast, explorer, source, report):
                break
            fast = None  # the policy is not content, which it should be; the plain loop goes on
            continue
        for arm, n in Counter(arms).items() if len(arms) > 1 else ((arms[0], 1),):
            source.take(arm, n)
        report()
    report(last=True)
    if log.isEnabledFor(logging.INFO) and not explorer.certified:  # a certificate logs itself
        log.info("Stopped after %s samples.", f"{explorer.samples:,}")


class Report:
    """Calls the user's progress function, but not so often that it costs time."""

    def __init__(self, explorer: Explorer, progress: Callable[[Progress], object] | None) -> None:
        self.explorer, self.progress, self.last = explorer, progress, time.monotonic()
        self.logs = log.isEnabledFor(logging.DEBUG)

    def __call__(self, last: bool = False) -> None:
        if (self.progress is None and not self.logs) or not (last or time.monotonic() - self.last >= REPORT):
            return
        self.last = time.monotonic()
        if self.logs:
            log.debug("%s samples, %d arms undecided.", f"{self.explorer.samples:,}", int(self.explorer.undecided.sum()))
        if self.progress is not None:
            self.progress(Progress(self.explorer.samples, int(self.explorer.undecided.sum()), self.explorer))


# Where a generator of NumPy keeps its functions for compiled code (bitgen_t), from the capsule that NumPy hands out.
_address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class Source:
    """Hands over every arm's values in their order. Environments are drawn from ahead; a user's function, which may be
    a real experiment, is asked for what is needed and no more."""

    def __init__(self, explorer: Explorer, sampler: Sampler, seed: int, run: int) -> None:
        m = explorer.problem.m
        self.explorer = explorer
        if explorer.samples == 0:  # else its numbers were drawn before, and a moment is judged once
            explorer.policy.seed(seed, run)
        self.draw = sampler.sample if isinstance(sampler, Environment) else sampler
        self.chunk = MOST if isinstance(sampler, Environment) else 1
        self.rngs = [stream(seed, run, i, int(n), explorer.failures) for i, n in enumerate(explorer.record.counts)]
        self.stock = np.zeros((m, 8), dtype=np.int64)  # one line of a processor's cache an arm; see engine/kinds.py
        self.laws = np.zeros(0)
        law = law_of(sampler) if isinstance(sampler, Environment) else None
        if law is not None and self._fits(law):
            self.laws = np.ascontiguousarray(law.numbers)
            self.stock[:, LAW], self.stock[:, FIRST], self.stock[:, LAST] = law.kinds, law.starts[:-1], law.starts[1:]
            self.stock[:, BITS] = [_address(rng.bit_generator.capsule, b"BitGenerator") for rng in self.rngs]
            if (self.stock[:, LAW] != FOREIGN).all():  # compiled code draws few at a time as quickly, and they stay in the cache
                self.chunk = FEWEST
        self.buffer = np.empty((m, self.chunk))

    def _fits(self, law: Law) -> bool:
        """Every value that the law can give is one that its arm takes, so that none need be checked."""
        arms = self.explorer.problem.arms
        low, high = np.array([arm.low for arm in arms]), np.array([arm.high for arm in arms])
        far = np.array([arm.farthest for arm in arms])
        within = (law.least >= np.maximum(low, -far)).all() and (law.most <= np.minimum(high, far)).all()
        return bool(within) and (law.binary or all(arm.kind != "bernoulli" for arm in arms))

    def drawn(self, arm: int, n: int) -> Floats:
        """The arm's next n values, checked; fewer if it has no more."""
        try:
            given = self.draw(arm, n, self.rngs[arm])
            if isinstance(given, Iterator):  # which may raise as well
                given = list(islice(given, n + 1))
        except StopIteration:
            if n == 1:
                self.explorer.end(arm)
                return np.empty(0)
            parts: list[Floats] = []
            while not parts or len(parts[-1]):
                parts.append(self.drawn(arm, 1))
            return np.concatenate(parts)
        except Exception as error:
            name, outcome = self.explorer.problem.names[arm], outcome_of(self.explorer)
            self.explorer.failures += 1
            raise SamplerError(
                f"The sampler raised {type(error).__name__} for arm {name!r} after {self.explorer.samples:,} samples ({error}). "
                "Nothing is lost: error.outcome is what they say, and surepick.explore(error.explorer, sampler) goes on.",
                self.explorer,
                outcome,
                name,
            ) from error
        try:
            values = self.explorer.problem.arms[arm].check(given)
            if len(values) != n:
                name = self.explorer.problem.arms[arm].name
                raise ObservationError(f"The sampler gave {len(values)} values of arm {name!r} when asked for {n}.")
        except ObservationError as error:
            error.explorer, error.outcome = self.explorer, outcome_of(self.explorer)
            raise
        return values

    def refill(self, arm: int) -> None:
        n = min(self.chunk, max(FEWEST, 2 * int(self.explorer.record.counts[arm])))
        values = self.drawn(arm, n)
        self.buffer[arm, : len(values)] = values
        self.stock[arm, USED], self.stock[arm, FILLED] = 0, len(values)

    def take(self, arm: int, n: int) -> None:
        """Tell the explorer the next n values of an arm."""
        used, filled = int(self.stock[arm, USED]), int(self.stock[arm, FILLED])
        if n == 1 and used >= filled:
            self.refill(arm)
            used, filled = 0, int(self.stock[arm, FILLED])
        ready = self.buffer[arm, used : min(used + n, filled)]
        self.stock[arm, USED] += len(ready)
        if len(ready) < n and self.explorer.able[arm]:
            ready = np.concatenate((ready, self.drawn(arm, n - len(ready))))
        with self.explorer.lock:  # others may look meanwhile
            self.explorer.record.update(arm, ready)
            self.explorer.forget()


# -- compiled loops ---------------------------------------------------------------------------------------------------------


class Stretch(NamedTuple):
    """Runs for some rounds, or until something needs the caller: (what, arm), see engine/kinds.py."""

    kernel: Any
    given: tuple[Any, ...]

    def __call__(self, rounds: int) -> tuple[int, int]:
        found: tuple[int, int] = self.kernel(*self.given, rounds)
        return found


class Compiled(NamedTuple):
    """A compiled loop: what it can run, and how to get it ready for an explorer."""

    policies: tuple[type[Policy], ...]
    kinds: tuple[str, ...]
    prepare: Callable[[Explorer, Source], Stretch]


def compiled_loop(explorer: Explorer) -> Compiled | None:
    """The compiled loop that takes the same samples as the Python loop, if there is one."""
    # A subclass of Moments may estimate something else; a problem of the kind may still lack a kernel.
    if type(explorer.record) is not Moments or explorer.epsilon > 0 or explorer.spend or kernel_of(explorer.problem) is None:
        return None
    if not explorer.able.all():
        return None
    if _sequence(explorer.confidence) is None:
        return None
    for loop in LOOPS:
        if type(explorer.policy) in loop.policies and explorer.problem.kind in loop.kinds:
            return loop
    return None


def _sequence(confidence: Confidence) -> Sequence | None:
    """How compiled loops see the intervals. A class from elsewhere may have other intervals than the one it derives from."""
    cls = type(confidence)
    return confidence.kernel() if cls.__module__.startswith(f"{__package__}.confidence.") or "kernel" in vars(cls) else None


class Patience:
    """Python runs what a loop could that is not compiled yet; if that takes long, the loop is compiled."""

    def __init__(self) -> None:
        self.kernel: Any = None
        self.ready = False

    def ask(self, explorer: Explorer, n: int) -> list[int]:
        if self.kernel is None or self.ready:
            return explorer.ask(n)
        with self.kernel.charged():
            return explorer.ask(n)

    def over(self, loop: Compiled, explorer: Explorer, source: Source) -> bool:
        if self.kernel is None:
            self.kernel, given = loop.prepare(explorer, source)
            self.ready = self.kernel.ready(*given, ROUNDS)
        return self.ready or self.kernel.spent >= start.patience


def run_compiled(loop: Compiled, explorer: Explorer, source: Source, report: Report) -> bool:
    """Explore in compiled code; True if it ended as the policy would have it."""
    stretch, rounds = loop.prepare(explorer, source), ROUNDS
    while True:
        began = time.perf_counter()
        with explorer.lock:
            try:
                what, arm = stretch(rounds)
            finally:  # also after Ctrl-C
                explorer.forget()
        took = time.perf_counter() - began
        if what in (DECIDED, SPENT):
            return what == SPENT or explorer.policy.certified(explorer.view)
        if what == EMPTY:
            source.refill(arm)
            if not explorer.able[arm]:  # it has ended
                return False
        elif what == UNSURE:  # rounding cannot tell: one round in Python
            arms = explorer.ask(1)
            if not arms:
                return True
            source.take(arms[0], 1)
            stretch = loop.prepare(explorer, source)
        elif took < LOOK or rounds > 1:
            rounds = 2 * rounds if took < LOOK else rounds // 2
        report()


def _budget(explorer: Explorer) -> int:
    return int(np.iinfo(np.int64).max) if explorer.budget is None else explorer.budget


def arrays_of(explorer: Explorer, source: Source) -> tuple[Any, ...]:
    """What a loop needs of the sequence, the arms, the record and the values."""
    sequence, problem, record = _sequence(explorer.confidence), explorer.problem, explorer.record
    assert sequence is not None
    assert isinstance(record, Moments)
    if isinstance(explorer.confidence, Mixture):
        sequence = sequence._replace(units=explorer.confidence.table(record))
    signs = np.full(problem.m, getattr(problem, "sign", 1.0))
    span = np.array([problem.low, problem.high, problem.scales, record.rounding, signs])
    return *sequence, span, *_moving(explorer, source)


def _moving(explorer: Explorer, source: Source) -> tuple[Any, ...]:
    """The arrays that a loop works on in place."""
    record = explorer.record
    assert isinstance(record, Moments)
    return record.counts, record.table, record.variance, source.buffer, source.stock, source.laws


def _by_note(explorer: Explorer, source: Source) -> Stretch:
    """Stops when no arm is undecided; what is known of an arm is noted together with what it rests on."""
    kernel = explorer.problem.kernel()
    assert kernel is not None
    room = kernels("trees" if explorer.problem.kind == "spanning-tree" else "partitions")
    if explorer.problem.kind == "spanning-tree" and explorer.problem.m > room.LARGEST:
        return _by_fence(explorer, source)
    everywhere, kept = type(explorer.policy) is Uniform, room.kept(kernel.ints, explorer.counts, explorer.problem.scales)
    given = everywhere, *kept, kernel.ints, *arrays_of(explorer, source), _budget(explorer)
    return Stretch(room.run, given)


def _by_unit(explorer: Explorer, source: Source) -> Stretch:
    """Stops when no arm is undecided; where units are handed out one by one, the richest first."""
    problem, kernel, room = explorer.problem, explorer.problem.kernel(), kernels("units")
    assert kernel is not None
    near = np.array([problem._solve(end) for end in explorer.box()])
    kept = room.kept(near, explorer.counts, problem.scales)
    given = *kernel, type(explorer.policy) is Uniform, *kept, *arrays_of(explorer, source), _budget(explorer)
    return Stretch(room.run, given)


def _by_fence(explorer: Explorer, source: Source) -> Stretch:
    """Stops when no arm is undecided; for trees of so many edges that notes of them would take too much memory."""
    kernel = explorer.problem.kernel()
    assert kernel is not None
    given = *kernel, type(explorer.policy) is Uniform, *arrays_of(explorer, source), np.array([1 / 64]), _budget(explorer)
    return Stretch(kernels("loop").run, given)


def _by_contest(explorer: Explorer, source: Source) -> Stretch:
    """As ``_by_rival``, where decision and rival are the best few of every group."""
    problem, kernel, room = explorer.problem, explorer.problem.kernel(), kernels("contests")
    assert kernel is not None
    kept = room.kept(kernel.ints, explorer.counts, problem.scales)
    given = type(explorer.policy) is CLUCB, *kept, kernel.ints, *arrays_of(explorer, source), _budget(explorer)
    return Stretch(room.run, given)


def _by_rival(explorer: Explorer, source: Source) -> Stretch:
    """Stops when the strongest rival of the decision is no better, or no other."""
    problem, kernel = explorer.problem, explorer.problem.kernel()
    assert kernel is not None
    assert isinstance(problem, LinearProblem)
    policy = type(explorer.policy)
    how = kernel.kind, kernel.ints, problem.sign, policy is CLUCB, policy is Uniform
    given = *how, *arrays_of(explorer, source), _budget(explorer)
    return Stretch(kernels("rivals").run, given)


def _by_exchange(explorer: Explorer, source: Source) -> Stretch:
    """Stops when every single exchange of the decision is certain."""
    policy, confidence, record = explorer.policy, explorer.confidence, explorer.record
    assert isinstance(policy, Joint)
    assert isinstance(confidence, Mixture)
    kernel = policy.kernel
    kinds, _, _, low, high, shift, scale, rho = policy.weigh(explorer.view)
    given: tuple[Any, ...] = (
        kernel.kind, *(True if kernel.kind == kind else None for kind in (0, 1, 2)), kernel.ints, kernel.floats, policy.sign,
        policy.reference(explorer.view),
        kinds, shift, scale, confidence.paired, confidence.table(record), rho, policy.threshold(explorer.delta), low, high,
        *_moving(explorer, source), policy.decision(explorer.view), policy.pairs, _budget(explorer),
    )  # fmt: skip
    return Stretch(kernels("joint").run, given)


# What runs in compiled code (with batch=1 and epsilon=0, and a sequence that has a kernel); the first line that fits counts.
PARTITIONS = ("best-arm", "top-k", "best-of-each")
LOOPS = (
    Compiled((Joint,), (*PARTITIONS, "spanning-tree", "sample-allocation"), _by_exchange),
    Compiled((COCI, Uniform), (*PARTITIONS, "spanning-tree"), _by_note),
    Compiled((COCI, Uniform), ("sample-allocation", "resource-plan"), _by_unit),
    Compiled((CLUCB, Unified), PARTITIONS, _by_contest),
    Compiled((CLUCB, Unified), ("spanning-tree", "matching"), _by_rival),
    Compiled((COCI, Uniform), ("matching",), _by_rival),  # they stop as Unified does here
)
