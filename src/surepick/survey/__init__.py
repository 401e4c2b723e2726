"""Surveys, from the frame to the plan: how many people to ask in which stratum.

``frame`` reads the strata (``cells``, ``figures`` and ``titles`` are its parts), ``plan`` says what is asked for (``targets``,
``units``) and has it done: ``optimum`` and ``core`` for one variable, ``bethel`` for several, ``twostage`` for primary units.
``estimate`` goes from ``answers`` to figures (``told``, ``rows``), by ``classical`` and by ``anytime`` intervals. ``result`` is
what comes out of a plan, in ``words``, as a ``picture`` and as a ``report``.

``waves`` splits interviews wave by wave: ``field`` says what can still be asked, ``spread`` what is believed of the variances,
``next_wave`` what comes next, ``chance`` and ``evidence`` how good that is; ``rehearsal`` tries it on a population of ``people``.
"""

from __future__ import annotations

from .estimate import estimate
from .estimates import Estimate, Estimates
from .evidence import Evidence
from .frame import Frame, read_frame
from .plan import plan
from .rehearsal import Cost, Rehearsal, rehearse
from .result import Plan, Reached
from .twostage import TwoStage, two_stage
from .wave import Wave
from .waves import Waves

__all__ = [
    "Cost",
    "Estimate",
    "Estimates",
    "Evidence",
    "Frame",
    "Plan",
    "Reached",
    "Rehearsal",
    "TwoStage",
    "Wave",
    "Waves",
    "estimate",
    "plan",
    "read_frame",
    "rehearse",
    "two_stage",
]
