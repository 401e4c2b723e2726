"""surepick run: explore a simulated truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import Budget, CostBudget, Dependent, Epsilon, PerArm, Relative, Seed
from .talk import AsJson, File, Plot, emit, open_folder, save_pictures, say, show_certificate

if TYPE_CHECKING:
    from ..arms import Floats
    from ..lab import Trace
    from ..study import StudySpec

RECORDED = 2000  # arms up to which all intervals are recorded for pictures
BOUNDED = 50  # arms up to which the lower bound is quick to find


def run(
    file: File,
    delta: Annotated[float | None, typer.Option(help="Probability of a wrong decision.", show_default=False)] = None,
    epsilon: Epsilon = None,
    relative: Relative = None,
    per_arm: PerArm = None,
    budget: Budget = None,
    cost_budget: CostBudget = None,
    spend: Annotated[bool | None, typer.Option(help="Spend the whole budget.", show_default=False)] = None,
    dependent: Dependent = None,
    policy: Annotated[str | None, typer.Option(help="auto, coci, ts-explore:q=0.3, ...", show_default=False)] = None,
    confidence: Annotated[str | None, typer.Option(help="auto, own, paper, normal:tuned=500, ...", show_default=False)] = None,
    seed: Seed = None,
    batch: Annotated[int, typer.Option(help="Samples between two looks at the data.", min=1)] = 1,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Explore a simulated truth until the decision is certified.

    The truth is FILE's [simulate] table. Options replace the study's own settings.
    Ctrl-C stops and prints what is known so far (exit code 130).
    """
    from ..errors import StudyError
    from ..study import load

    spec = load(file).replace(
        delta=delta, epsilon=epsilon, relative=relative, per_arm=per_arm, budget=budget, cost_budget=cost_budget,
        spend=spend, dependent=dependent, policy=policy, confidence=confidence, seed=seed,
    )  # fmt: skip
    if spec.environment is None:
        raise StudyError(
            f"{file}, key simulate: there is no truth to draw from. Add a [simulate] table to try the study out, or, if you have "
            f"observations of your own, use `surepick check {file} DATA.csv`."
        )
    if plot is not None:
        open_folder(plot)  # better now than after a long run
    from .watch import explore, warn_of_ties

    if not as_json:
        warn_of_ties(spec)
    explorer = spec.explorer()
    trace = None if plot is None else _recorder(spec)
    finished = explore(explorer, spec.environment, seed=spec.seed, batch=batch, trace=trace)
    certificate = explorer.certificate()
    pictures: list[str] = []
    if plot is not None:
        pictures = save_pictures(
            certificate, plot, spec.title, spec.problem.parameter.name, trace, proportions=_proportions(spec), explorer=explorer
        )  # fmt: skip
    if as_json:
        emit(
            {
                "file": str(file),
                "title": spec.title,
                "problem": spec.problem.kind,
                "seed": spec.seed,
                "interrupted": not finished,
                "certificate": certificate.to_dict(),
                "pictures": pictures,
            }
        )
    else:
        show_certificate(certificate, spec.title)
        for picture in pictures:
            say(f"Saved {picture}")
        if not finished:
            say("Stopped by Ctrl-C.")
    if not finished:
        raise typer.Exit(130)


def _recorder(spec: StudySpec) -> Trace | None:
    """What looks at a run on the way. Of very many arms a look takes long, so there is one only where the gap is the point."""
    from ..lab import History, Trace

    if spec.problem.m <= RECORDED:
        return History()
    return Trace() if spec.epsilon > 0 or spec.spend else None


def _proportions(spec: StudySpec) -> Floats | None:
    """The shares of the lower bound, where they are known and quick to find; it is one on finding the very best decision."""
    from ..difficulty.lower_bound import characteristic_time

    if spec.epsilon > 0 or spec.problem.m > BOUNDED:
        return None
    found = characteristic_time(spec.problem, spec.theta())
    return None if found is None else found[1]
