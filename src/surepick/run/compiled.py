"""Which loop runs in compiled code, and how it is prepared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..confidence import Confidence, Mixture
from ..confidence.base import Sequence
from ..engine import kernels
from ..estimators import Moments
from ..explorer import Explorer
from ..policies import CLUCB, COCI, Joint, Policy, Unified, Uniform
from ..problems.base import LinearProblem, kernel_of
from .source import Source


class Stretch(NamedTuple):
    """Runs for some rounds, up to so many samples, or until something needs the caller: (what, arm), see engine/kinds.py."""

    kernel: Any
    given: tuple[Any, ...]

    def __call__(self, limit: int, rounds: int) -> tuple[int, int]:
        found: tuple[int, int] = self.kernel(*self.given, limit, rounds)
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
    return confidence.kernel() if cls.__module__.startswith("surepick.confidence.") or "kernel" in vars(cls) else None


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
    given = everywhere, *kept, kernel.ints, *arrays_of(explorer, source)
    return Stretch(room.run, given)


def _by_unit(explorer: Explorer, source: Source) -> Stretch:
    """Stops when no arm is undecided; where units are handed out one by one, the richest first."""
    problem, kernel, room = explorer.problem, explorer.problem.kernel(), kernels("units")
    assert kernel is not None
    near = np.array([problem._solve(end) for end in explorer.box()])
    kept = room.kept(near, explorer.counts, problem.scales)
    given = *kernel, type(explorer.policy) is Uniform, *kept, *arrays_of(explorer, source)
    return Stretch(room.run, given)


def _by_fence(explorer: Explorer, source: Source) -> Stretch:
    """Stops when no arm is undecided; for trees of so many edges that notes of them would take too much memory."""
    kernel = explorer.problem.kernel()
    assert kernel is not None
    given = *kernel, type(explorer.policy) is Uniform, *arrays_of(explorer, source), np.array([1 / 64])
    return Stretch(kernels("loop").run, given)


def _by_contest(explorer: Explorer, source: Source) -> Stretch:
    """As ``_by_rival``, where decision and rival are the best few of every group."""
    problem, kernel, room = explorer.problem, explorer.problem.kernel(), kernels("contests")
    assert kernel is not None
    kept = room.kept(kernel.ints, explorer.counts, problem.scales)
    given = type(explorer.policy) is CLUCB, *kept, kernel.ints, *arrays_of(explorer, source)
    return Stretch(room.run, given)


def _by_rival(explorer: Explorer, source: Source) -> Stretch:
    """Stops when the strongest rival of the decision is no better, or no other."""
    problem, kernel = explorer.problem, explorer.problem.kernel()
    assert kernel is not None
    assert isinstance(problem, LinearProblem)
    policy = type(explorer.policy)
    how = kernel.kind, kernel.ints, problem.sign, policy is CLUCB, policy is Uniform
    given = *how, *arrays_of(explorer, source)
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
        *_moving(explorer, source), policy.decision(explorer.view), policy.pairs,
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
