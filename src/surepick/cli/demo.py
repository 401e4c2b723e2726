"""surepick demo: one study from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .talk import AsJson, emit, save_pictures, say, show_certificate

STUDY = """\
# Eight sources pollute a river. Removing one unit at a source does some good, which only field trials tell, and
# costs factor * y ** 2 for y units. At least 21 units must be removed in all, at most 5 at each source.
# Edit this file and run it with: surepick run study.toml

title = "How much pollution to remove at each of eight sources"
delta = 0.05          # the plan may be wrong with this probability
arms = [
    "Paper mill", "Tannery", "Dairy", "Upper valley farms",
    "Brewery", "Lower valley farms", "Harbour", "Storm drains",
]

[problem]
kind = "resource-plan"
caps = [5, 5, 5, 5, 5, 5, 5, 5]
require = 21
cost = { kind = "power", factor = [0.15, 0.12, 0.18, 0.10, 0.20, 0.08, 0.25, 0.06], exponent = 2 }

[simulate]            # the truth that the trials are drawn from; the exploration does not see it
kind = "beta"
mean = [0.82, 0.64, 0.55, 0.47, 0.71, 0.36, 0.60, 0.25]
concentration = 6
"""


def demo(
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the study and its pictures go.")] = Path("surepick-demo"),
    as_json: AsJson = False,
) -> None:
    """Plan a river's clean-up from noisy field trials.

    Explores, certifies the plan, and writes study.toml, intervals.png and samples.png.
    The first run compiles for about 20 seconds, later ones take one or two.
    """
    from ..errors import StudyError
    from ..study import load
    from .watch import explore

    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "study.toml"
    if file.exists() and file.read_text(encoding="utf-8") != STUDY:
        raise StudyError(
            f"{file}: you have edited this file; run it with `surepick run {file}`, or give the demo another --folder."
        )
    file.write_text(STUDY, encoding="utf-8")
    spec = load(file)
    assert spec.environment is not None
    explorers = {policy: spec.replace(policy=policy).explorer() for policy in ("coci", "uniform")}
    for explorer in explorers.values():
        if not explore(explorer, spec.environment, seed=spec.seed):
            raise typer.Exit(130)
    certificate = explorers["coci"].certificate()
    pictures = save_pictures(certificate, folder, spec.title, spec.problem.parameter.name)
    truth = spec.problem.solve(spec.theta())
    right = bool((certificate.decision == truth).all())
    uniform = explorers["uniform"].samples
    if as_json:
        emit(
            {
                "file": str(file),
                "title": spec.title,
                "problem": spec.problem.kind,
                "certificate": certificate.to_dict(),
                "right": right,
                "samples_uniform": uniform,
                "pictures": pictures,
            }
        )
        return
    show_certificate(certificate, spec.title)
    say(f"The truth, which the exploration did not see: the decision is {'right' if right else 'wrong'}.")
    say(f"Sampling every arm equally often takes {uniform:,} samples, {uniform / certificate.samples:.1f} times as many.")
    say(f"Saved {', '.join(pictures)}")
    say(f"Edit {file} and try: surepick run {file}")
