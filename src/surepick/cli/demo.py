"""surepick demo: one survey from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .talk import AsJson, about, emit, open_folder, save_pictures, say, show_attained, table

if TYPE_CHECKING:
    from ..certificate import Certificate
    from ..study import StudySpec

WAVE = 50  # pilot answers between two looks
PAPER_WAVE = 5_000  # the same for the paper's intervals, which need many more

STUDY = """\
# A poll in a town: yes or no? How many of 1,000 interviews go to each of seven groups, so that the estimated share of yes
# varies least? That depends on how much a group disagrees, which nobody knows yet. A pilot finds out: it asks where the answer
# matters, and stops when the variance is certain to be at most 1.05 times that of the best split.
# Edit this file and run it with: surepick run study.toml --batch 50

title = "1,000 interviews in a town of seven groups"
delta = 0.05          # the certificate may be wrong with this probability
epsilon = 0.05        # good enough: a variance within 5 % ...
relative = true       # ... of the best one
arms = [              # bernoulli: an answer is 0 or 1
    { name = "students", kind = "bernoulli" },
    { name = "young workers", kind = "bernoulli" },
    { name = "parents", kind = "bernoulli" },
    { name = "pensioners", kind = "bernoulli" },
    { name = "farmers", kind = "bernoulli" },
    { name = "shopkeepers", kind = "bernoulli" },
    { name = "newcomers", kind = "bernoulli" },
]

[problem]
kind = "sample-allocation"
sizes = [900, 1300, 1600, 1500, 500, 400, 300]
budget = 1000         # interviews in all

[simulate]            # the truth that pilot answers are drawn from; the exploration does not see it
kind = "voter-model"  # people copy their friends' opinions, or fall back on their own
share = [0.50, 0.35, 0.06, 0.05, 0.02, 0.15, 0.50]   # of people whose own opinion is yes
homophily = 0.95      # of friendships within a group
stubbornness = 0.5    # how often people fall back on their own opinion
seed = 1
"""


def demo(
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the study and its pictures go.")] = Path("surepick-demo"),
    as_json: AsJson = False,
) -> None:
    """Plan a survey's interviews from a pilot.

    Seven groups on a simulated social network: the pilot asks them until the split of 1,000 interviews is certified to be
    within 5 % of the best. Writes study.toml, gap.png, intervals.png and samples.png.
    Takes some 3 seconds; the first run compiles for 1 or 2 more.
    """
    from ..errors import StudyError
    from ..lab import Trace
    from ..study import load
    from .watch import explore

    open_folder(folder, "--folder")
    file = folder / "study.toml"
    if file.exists() and file.read_text(encoding="utf-8") != STUDY:
        raise StudyError(
            f"{file}: you have edited this file; run it with `surepick run {file}`, or give the demo another --folder."
        )
    file.write_text(STUDY, encoding="utf-8")
    spec = load(file)
    assert spec.environment is not None
    explorer, paper = spec.explorer(), spec.replace(policy="coci", confidence="paper").explorer()
    traces = {"surepick": Trace(), "the paper's intervals": Trace()}
    for one, batch, trace in zip((explorer, paper), (WAVE, PAPER_WAVE), traces.values(), strict=True):
        if not explore(one, spec.environment, seed=spec.seed, batch=batch, trace=trace):
            raise typer.Exit(130)
    certificate = explorer.certificate()
    found = _findings(spec, certificate, paper.samples)
    exact = found["paper"]["exact_estimate"]
    marks = {f"the paper's exact rule needs about {_billions(exact)} (estimate)": exact}
    pictures = save_pictures(certificate, folder, spec.title, spec.problem.parameter.name, traces, marks)
    if as_json:
        emit({"file": str(file), **found, "pictures": pictures})
        return
    _tell(certificate, found)
    say(f"Saved {', '.join(pictures)}")
    say(f"Edit {file} and try: surepick run {file} --batch {WAVE}")


def _findings(spec: StudySpec, certificate: Certificate, paper_samples: int) -> dict[str, Any]:
    """The allocation beside others, by the truth, and what the paper's algorithm needs."""
    import numpy as np

    from ..difficulty import hardness
    from ..problems import SampleAllocation

    problem, truth = spec.problem, spec.theta()
    assert isinstance(problem, SampleAllocation)
    splits = {
        "interviews": certificate.decision,
        "proportional": problem.solve(np.full(problem.m, 0.25)),  # the best if all groups disagreed alike
        "best": problem.solve(truth),
    }
    variance = {name: -problem.reward(truth, split) for name, split in splits.items()}
    return {
        "title": spec.title,
        "problem": problem.kind,
        "groups": problem.names,
        "sizes": problem.sizes.tolist(),
        "pilot_answers": certificate.counts.tolist(),
        "standard_deviation": {
            "estimate": np.sqrt(certificate.estimate).tolist(),
            "lower": np.sqrt(certificate.lower).tolist(),
            "upper": np.sqrt(certificate.upper).tolist(),
            "truth": np.sqrt(truth).tolist(),
        },
        **{name: split.tolist() for name, split in splits.items()},
        "truth": {
            "standard_error": {name: x**0.5 for name, x in variance.items()},
            "variance_over_best": {name: x / variance["best"] for name, x in variance.items()},
        },
        "paper": {
            "same_certificate": paper_samples,
            "exact_estimate": hardness(problem, truth).expected(spec.delta),
        },
        "certificate": certificate.to_dict(),
    }


def _tell(certificate: Certificate, found: dict[str, Any]) -> None:
    """For a survey statistician."""
    sd, times, error = found["standard_deviation"], found["truth"]["variance_over_best"], found["truth"]["standard_error"]
    sure, most = f"{100 * (1 - certificate.delta):g} %", 1 + certificate.epsilon
    say(found["title"], "bold")
    say(
        f"Certified after {certificate.samples:,} pilot answers: with probability at least {sure} the variance of this "
        f"allocation is at most {most:g} times the best one's.",
        "bold green",
    )
    columns = found["groups"], found["sizes"], found["pilot_answers"], found["interviews"], found["proportional"]
    table(
        ["group", "people", "pilot answers", "standard deviation", f"its {sure} interval", "interviews", "proportional"],
        [
            (name, f"{n:,.0f}", f"{t:,}", f"{s:.3f}", f"{low:.3f} to {high:.3f}", f"{y:,}", f"{z:,}")
            for name, n, t, y, z, s, low, high in zip(*columns, sd["estimate"], sd["lower"], sd["upper"], strict=True)
        ],
    )
    say(f"The intervals hold together with that probability; the variance is at most {1 + certificate.gap:.4f} times the best.")
    if certificate.blocking is not None:
        say(f"The strongest rival asks more {certificate.blocking}.")
    show_attained(certificate)
    say("The truth, which the pilot did not see:", "bold")
    budget, same = sum(found["interviews"]), times["proportional"] / times["interviews"]
    say(
        f"- this allocation has {times['interviews']:.4f} times the best variance: a standard error of "
        f"{100 * error['interviews']:.3f} percentage points, where the best one has {100 * error['best']:.3f};"
    )
    say(
        f"- proportional allocation has {times['proportional']:.4f} times the best variance; to do as well as this one it takes "
        f"{budget * same:,.0f} interviews."
    )
    say("What the paper's algorithm needs:", "bold")
    same_answers, exact = found["paper"]["same_certificate"], _billions(found["paper"]["exact_estimate"])
    say(f"- for the same certificate, with its intervals: {same_answers:,} pilot answers (measured, in steps of {PAPER_WAVE:,});")
    say(f"- for the very best allocation, by its exact rule: about {exact} (an estimate from the truth; it was not run).")


def _billions(x: float) -> str:
    return f"{about(x / 1e9)} billion"
