"""A survey in waves: what to ask next, given a budget and the answers so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arms import Floats, Ints
from ..checks import number, short, whole
from ..display import listed
from ..errors import SettingError, StudyError
from ..study.tables import EMPTY
from .answers import Answers, read_answers
from .cells import read_cells
from .chance import at_the_end
from .estimate import estimate
from .estimates import Estimates
from .evidence import Evidence, within_of_best
from .field import Ground, first_notes
from .frame import Frame, read_frame
from .next_wave import FIRST, RULES, believed, part, planned, shares_of
from .question import counts, joined, variable_of
from .spread import Seen, seen, spread
from .wave import Wave

if TYPE_CHECKING:
    from pandas import DataFrame

FIRST_SHARE, SHARE = 0.2, 0.1  # of the budget, that the first and the later waves have unless told


class Waves:
    """A survey whose interviews are split over the strata wave by wave, by what the answers so far say.

    The rest of the budget is planned by the exact whole-number optimum of the mean of all, without replacement, with what was
    collected as lower bounds; the next wave is the part of that plan that gains most. All answers count in the estimate.

    Parameters
    ----------
    frame : path, data frame, dictionary or Frame
        The strata, as :func:`read_frame` takes them; also ``cost``, ``resp_rate``, ``deff``, ``lower``, ``upper`` and
        ``take_all`` are heeded. ``S`` (or ``variance``, ``p``) is last year's, if there is one.
    budget : int
        Interviews in all: people who answer.
    cost : float
        Or what all interviews may cost (column ``cost``).
    variable : str, optional
        The question whose mean is to be precise, a column of the answers; may be left out if there is only one.
    first : str
        The first wave: ``"proportional"`` to N, its ``"root"``, ``"equal"``, or ``"known"``, by the frame's S; ``"auto"`` is
        known if the frame has S, else proportional. Every stratum gets three interviews if that is at most half of the wave.
    rule : str
        What is taken for S^2 (see Notes): ``"shrunk"``, ``"optimistic"`` or ``"plug-in"``.
    lower, upper : int
        Interviews of every stratum in the end, beside the columns of these names. Two are needed to estimate a variance.
    resp_rate : float
        For strata where the frame gives none.
    bounds : pair of numbers, optional
        Between what all values of the population lie, for what holds at every moment; yes and no need none.
    delta : float
        Intervals and the certificate hold with probability 1 - delta each.

    Notes
    -----
    ``"shrunk"`` is the expectation of S^2 given the s^2 of all strata, which are drawn towards those of their neighbours in size
    of mean (or in last year's S), the more the fewer answers there are and the longer their tails: a stratum whose first answers
    are alike is not starved. ``"optimistic"`` is a standard deviation more. ``"plug-in"`` is s^2, to compare with.

    A survey is its frame and its answers: the same frame, answers and settings give the same wave.

    Examples
    --------
    >>> from surepick import survey
    >>> waves = survey.Waves({"stratum": ["town", "country"], "N": [400, 600]}, budget=60)
    >>> waves.next(12).n
    array([5, 7])
    >>> rent = [900, 700, 1500, 400, 800, 500, 480, 520, 510, 490, 530, 450]
    >>> waves.tell({"stratum": ["town"] * 5 + ["country"] * 7, "rent": rent})
    >>> waves.next(12)["town"]
    12
    """

    def __init__(
        self,
        frame: object,
        budget: int | None = None,
        *,
        cost: float | None = None,
        variable: str | None = None,
        first: str = "auto",
        rule: str = "shrunk",
        lower: int | None = None,
        upper: int | None = None,
        resp_rate: float | None = None,
        bounds: tuple[float, float] | None = None,
        delta: float = 0.05,
    ) -> None:
        self.frame: Frame = read_frame(frame)
        if (budget is None) == (cost is None):
            raise SettingError("Give either a budget (of interviews) or a cost.", key="budget" if cost is None else "cost")
        limit = whole(budget, "budget", 1) if cost is None else number(cost, "cost", "a positive number", lambda x: x > 0)
        if variable is not None and not isinstance(variable, str):
            raise SettingError(
                f"variable must be the title of one column, not {short(variable)}; waves follow one question, and estimate() has "
                "figures for all.",
                key="variable",
            )
        self.variable: str | None = variable
        self.bounds: tuple[float, float] | None = bounds
        self.first: str = _one_of(first, FIRST, "first")
        self.rule: str = _one_of(rule, RULES, "rule")
        self.ground: Ground = Ground(
            self.frame,
            float(limit),
            cost is not None,
            None if lower is None else whole(lower, "lower", 1),
            None if upper is None else whole(upper, "upper", 1),
            None if resp_rate is None else number(resp_rate, "resp_rate", "above 0 and at most 1", lambda x: 0 < x <= 1),
        )
        self.delta: float = number(delta, "delta", "between 0 and 1", lambda x: 0 < x < 1)
        if self.first == "known" and not self.frame.variables:
            raise SettingError(f"{self.frame.source}: there is no column S, so that first cannot be 'known'.", key="first")
        self.answers: Answers | None = None
        self.ground.field()

    def tell(self, answers: object) -> None:
        """Add answers, one row a person who was asked: ``stratum``, and a column for every question.

        Whatever :func:`estimate` reads: a path, a data frame or a dictionary of columns. An empty cell is somebody who was asked
        and did not answer, whom the budget does not pay for, and who is not asked again. A table without rows adds nothing.
        """
        try:
            read_cells(answers)
        except StudyError as error:
            if error.key == EMPTY:
                return
            raise
        told = read_answers(answers, self.frame)
        if self.answers is not None:
            told = read_answers(joined(self.answers, told), self.frame)
        self.ground.field(*counts(told, variable_of(told, self.variable), self.frame))  # refuses what does not fit the budget
        self.answers = told

    def next(self, n: int | None = None) -> Wave:
        """The next wave of n interviews, and never more than the rest; unless told, a tenth of the budget, at first a fifth."""
        told, missing = self._asked()
        field, notes = self.ground.field(told, missing)
        known = self._known() if told.any() else None
        share = FIRST_SHARE if known is None else SHARE
        all_of = min(self.ground.limit, float((field.price * field.high).sum()))
        usual = max(round(share * all_of / float(field.price.mean())), 1)
        many = usual if n is None else whole(n, "next", 1)
        if known is None:
            guess = self._guess()
            S2 = np.ones(len(self.frame)) if guess is None else guess
            S = np.sqrt(S2) if guess is not None else np.full(len(self.frame), np.nan)
            first = self.first if self.first != "auto" else "proportional" if guess is None else "known"
            wave = self.ground.opened(field, shares_of(first, field, S2), many if n else max(many, field.pairs))
            goal = planned(field, S2, wave)
            notes += first_notes(field, wave, goal)
        else:
            S2 = believed(known, self.rule)
            S = np.sqrt(S2) * known.scale
            goal = planned(field, S2, told)
            wave = part(field, S2, told, goal, many)
        if n is not None and wave.sum() < many:
            why = f"that is all that the {self.ground.unit} pays for, or who can be had"
            notes.append(f"{f'Only {wave.sum():,} of {many:,} interviews' if wave.any() else 'No interview is left'}: {why}.")
        if (goal >= field.high).all():
            notes.append("Everybody who can be had is asked in the end.")
        rate = self.ground.rates(told, missing)
        contacts = np.where(rate < 1, np.ceil(wave / rate * (1 - 1e-12)), wave).astype(np.int64)
        contacts = np.minimum(contacts, (self.frame.N - told - missing).astype(np.int64))
        spent = float((field.price * told).sum())
        return Wave(self.frame, wave, contacts, told, missing, goal, S, spent, self.ground.limit, notes)

    def estimate(self, variables: Sequence[str] | None = None, **settings: Any) -> Estimates:
        """What the answers so far say, by :func:`surepick.survey.estimate` with all that it takes; by default of this question.

        The interval that holds at every moment is planned for what the first wave's rule makes of the whole budget.
        """
        told = self._told("estimate")
        settings = {"delta": self.delta, "planned": self.expected().tolist(), "bounds": self.bounds, **settings}
        mine = [variable_of(told, self.variable)] if variables is None else variables
        return estimate(self.frame, told.cells, mine, **settings)

    def expected(self) -> Ints:
        """The design that was expected before the first answer: the whole budget at last year's S, or in proportion to N."""
        none, guess = np.zeros(len(self.frame), dtype=np.int64), self._guess()
        return planned(self.ground.field()[0], np.ones(len(self.frame)) if guess is None else guess, none)

    def certificate(self) -> Evidence:
        """How far the variance that is planned may be above that of the best split of the same budget, for certain.

        From the answers alone, at every moment, with probability 1 - delta: by bets on how much the answers of each stratum vary.
        """
        told = self._told("certificate")
        variable = variable_of(told, self.variable)
        goal = self.next().planned
        field, _ = self.ground.field(*self._asked())
        least = np.minimum(self.ground.field()[0].low, goal)
        return within_of_best(self.frame, told, variable, self.bounds, least, field, goal, self.delta)

    def chance(self, *, cv: float | None = None, se: float | None = None, draws: int = 4000) -> float:
        """The chance that the mean has this coefficient of variation, or standard error, when the budget is spent as planned now.

        By simulation: S_h^2 of all strata and the mean are drawn from what is believed of them after these answers (``spread``, a
        normal distribution about the estimate), and the standard error is that of the plan at such S_h^2. Later waves plan anew,
        so that it is, if anything, better than said.
        """
        if (cv is None) == (se is None):
            raise SettingError("Give either cv or se.", key="cv" if se is None else "se")
        target = number(cv if se is None else se, "cv" if se is None else "se", "a positive number", lambda x: x > 0)
        self._told("chance")
        known = self._known()
        assert known is not None
        field, _ = self.ground.field(*self._asked())
        drawn = at_the_end(spread(known), known, field, self.next().planned, whole(draws, "draws", 1), relative=cv is not None)
        return float((drawn <= target * (1 + 1e-12)).mean())

    def to_frame(self, n: int | None = None) -> DataFrame:
        """The next wave, a row a stratum."""
        return self.next(n).to_frame()

    def picture(self, n: int | None = None, title: str = "") -> Any:
        """What was asked, what is next, and what is planned, by stratum."""
        from .wave_picture import picture

        return picture(self.next(n), title)

    def __repr__(self) -> str:
        told = int(self._asked()[0].sum())
        return (
            f"<Waves: {told:,} answers, {'cost' if self.ground.paid else 'budget'} {self.ground.limit:,.10g}, rule {self.rule}>"
        )

    def _told(self, what: str) -> Answers:
        if self.answers is None:
            raise StudyError(
                f"There are no answers yet, so that there is no {what}; ask what next() says, and tell.", key="answers"
            )
        return self.answers

    def _asked(self) -> tuple[Ints, Ints]:
        if self.answers is None:
            return np.zeros(len(self.frame), dtype=np.int64), np.zeros(len(self.frame), dtype=np.int64)
        return counts(self.answers, variable_of(self.answers, self.variable), self.frame)

    def _known(self) -> Seen | None:
        told = self.answers
        if told is None:
            return None
        variable = variable_of(told, self.variable)
        y = told.values[variable]
        here = ~np.isnan(y)
        return seen(self.frame, variable, told.stratum[here], y[here], told.binary(variable))

    def _guess(self) -> Floats | None:
        """Last year's S^2."""
        known = self.frame.variables
        if not known:
            return None
        name = self.variable if self.variable in known else known[0]
        if len(known) > 1 and self.variable not in known:
            raise SettingError(
                f"{self.frame.source} has S of {listed(list(known))}: say which question the waves are for (variable).",
                key="variable",
            )
        S = self.frame.S[str(name)]
        return S**2 if S.any() else None


def _one_of(x: str, known: tuple[str, ...], what: str) -> str:
    if x not in known:
        raise SettingError(f"{what} must be one of {', '.join(known)}, not {short(x)}.", key=what)
    return x
