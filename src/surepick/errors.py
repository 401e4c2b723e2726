"""Everything that can go wrong, as one small tree.

::

    SurepickError
    ├── ProblemError            a problem, an arm or an environment that cannot be set up (also a ValueError)
    │   └── InfeasibleError     the decision class is empty: no decision meets the constraints
    ├── ParameterError          theta, a box or a decision that does not fit the problem (also a ValueError)
    ├── ObservationError        a value that cannot be recorded; nothing was recorded (also a ValueError)
    │   ├── UnknownArmError     an arm that the problem does not have (also a LookupError)
    │   └── ConflictError       a ticket or a key that was told before, with another value; the first one stays
    ├── SettingError            delta, epsilon, budget, policy, confidence (also a ValueError)
    ├── SamplerError            a sampler of yours raised; carries what was observed until then (also a RuntimeError)
    │   └── EvaluationError     an evaluation failed every try; nothing is guessed in its place
    ├── StorageError            a database that cannot be used: not there, not one of ours, read-only, full (also a RuntimeError)
    └── StudyError              a study file, a data file or a durable study; names the file and the key (also a ValueError)
        └── RowsError           rows of a table that cannot be imported; ``rows`` has all of them

Each message is a sentence that says what was wrong, where, and what to do about it; ``key`` says where for programs.
"""

from __future__ import annotations

from typing import Any


class SurepickError(Exception):
    """Root of every error that surepick raises on purpose.

    Attributes
    ----------
    key : str or None
        The argument, setting or key of a study that the error is about, such as ``"k"``, ``"sizes[2]"`` or ``"problem.k"``; None
        if it is about no single one.
    """

    def __init__(self, message: str = "", *, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class ProblemError(SurepickError, ValueError):
    """The problem, an arm or an environment cannot be set up as described."""


class InfeasibleError(ProblemError):
    """No decision meets the constraints."""


class ParameterError(SurepickError, ValueError):
    """A parameter vector, a box or a decision does not fit the problem."""


class ObservationError(SurepickError, ValueError):
    """An observation was refused; nothing was recorded.

    Where a sampler of :func:`surepick.explore` gave it, ``explorer`` has all observations until then, and ``outcome`` what they
    say; else both are None. ``arm`` is the name of the arm, if the error is about one.
    """

    explorer: Any = None
    outcome: Any = None

    def __init__(self, message: str = "", *, key: str | None = None, arm: Any = None) -> None:
        super().__init__(message, key=key)
        self.arm = arm


class UnknownArmError(ObservationError, LookupError):
    """The problem has no such arm; nothing was recorded."""


class ConflictError(ObservationError):
    """It was told before, and with another value. The first one stays, and nothing was recorded.

    Attributes
    ----------
    value : float or None
        The value that stays; None for a key under which several were recorded.
    """

    def __init__(self, message: str = "", *, key: str | None = None, arm: Any = None, value: float | None = None) -> None:
        super().__init__(message, key=key, arm=arm)
        self.value = value


class SettingError(SurepickError, ValueError):
    """A setting of an exploration is out of its range or unknown."""


class SamplerError(SurepickError, RuntimeError):
    """A sampler raised for ``arm``. Nothing is lost: ``explorer`` has all observations until then, ``outcome`` what they say.

    Go on with ``surepick.explore(error.explorer, sampler)`` once the cause is mended; the sampler's own error is ``__cause__``.
    """

    explorer: Any
    outcome: Any
    arm: Any

    def __init__(self, message: str, explorer: Any, outcome: Any, arm: Any) -> None:
        super().__init__(message)
        self.explorer, self.outcome, self.arm = explorer, outcome, arm


class EvaluationError(SamplerError):
    """The evaluation of a candidate, ``arm``, on an ``item`` failed every try, and what a failure counts as was not said.

    Nothing is lost: ``explorer`` has all scores until then, and :func:`surepick.evaluate` goes on with it. ``failures`` has all
    pairs that failed, as what was under way was finished: each with ``candidate``, ``item``, ``tries`` and ``why``.
    """

    item: Any
    failures: list[Any]

    def __init__(self, message: str, explorer: Any, outcome: Any, failures: list[Any]) -> None:
        super().__init__(message, explorer, outcome, failures[0].candidate)
        self.item, self.failures = failures[0].item, failures


class StorageError(SurepickError, RuntimeError):
    """A database cannot be used. Nothing was recorded, and what was told before is untouched."""


class StudyError(SurepickError, ValueError):
    """A study file, a data file or a durable study cannot be used so. ``key`` is the key of the study, or the column of the
    table."""


class RowsError(StudyError):
    """Rows of a table are wrong, and nothing of it was imported.

    Attributes
    ----------
    rows : list
        All of them, each with ``line`` and ``why``.
    """

    def __init__(self, message: str = "", *, key: str | None = None, rows: Any = ()) -> None:
        super().__init__(message, key=key)
        self.rows: list[Any] = list(rows)
