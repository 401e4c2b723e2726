"""surepick study status and watch."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated

import typer

from ..talk import AsJson, Plot, emit, save_pictures, say, show_certificate
from .options import FILE, Name, Where, opened

if TYPE_CHECKING:
    from ...certificate import Certificate
    from ...study.durable import Status, Study


def status(where: Where = FILE, name: Name = None, plot: Plot = None, as_json: AsJson = False) -> None:
    """How a study stands: what is certain, the interval of every arm, and who is working on what."""
    with opened(where, name) as study:
        found, explorer = study.status(), study.explorer()
        workers = working(study)
        pictures: list[str] = []
        if plot is not None:
            parameter = explorer.problem.parameter.name
            pictures = save_pictures(found.certificate, plot, found.title or found.name, parameter, explorer=explorer)
    if as_json:
        emit({**found.to_dict(), "workers": workers, "meaning": meaning(found.certificate), "pictures": pictures})
        return
    show_certificate(found.certificate, found.title or found.name)
    say(meaning(found.certificate))
    say(on_its_way(found, workers))
    if found.closed is not None:
        say(f"Closed on {found.closed.astimezone():%Y-%m-%d}.")
    for picture in pictures:
        say(f"Saved {picture}")


def meaning(certificate: Certificate) -> str:
    """What a certificate means, for who has not seen one before."""
    wrong = f"{100 * certificate.delta:g}"
    if certificate.certified:
        return (
            f"That means: you may stop. Of all studies that stop like this, at most {wrong} in 100 are wrong, however often one "
            "looked; what is sampled from now on does not change it."
        )
    return (
        f"That means: go on. You may look and stop at any time; the intervals hold together in all but {wrong} of 100 "
        "studies, and only what is certified is certain."
    )


def working(study: Study) -> dict[str, int]:
    """How many tickets everybody has."""
    found: dict[str, int] = {}
    for ticket in study.waiting():
        found[ticket.worker or "nobody in particular"] = found.get(ticket.worker or "nobody in particular", 0) + 1
    return found


def on_its_way(found: Status, workers: dict[str, int]) -> str:
    if not found.open:
        return "No ticket is open."
    who = ", ".join(f"{name} {many:,}" for name, many in sorted(workers.items()))
    late = f"; {found.expired:,} may be given out again" if found.expired else ""
    return f"{found.open:,} ticket{' is' if found.open == 1 else 's are'} open: {who}{late}."


def watch(
    every: Annotated[float, typer.Option(metavar="SECONDS", help="How often to look.", min=0.1)] = 5.0,
    where: Where = FILE,
    name: Name = None,
    as_json: AsJson = False,
) -> None:
    """Print a line whenever something has changed, until the study is done. Ctrl-C ends it; the study goes on."""
    with opened(where, name) as study:
        last: tuple[object, ...] = ()
        while True:
            found = study.status()
            now = (found.samples, found.open, found.corrected, found.done)
            if now != last:
                _line(found, as_json)
                last = now
            if found.done:
                if not as_json:
                    say(str(found))
                return
            time.sleep(every)


def _line(found: Status, as_json: bool) -> None:
    if as_json:  # an object a line
        print(json.dumps({key: value for key, value in found.to_dict().items() if key != "certificate"}), flush=True)
        return
    left = len(found.undecided)
    undecided = f"{left} arm{'' if left == 1 else 's'} undecided"
    say(f"{time.strftime('%H:%M:%S')}  {found.samples:,} samples, {undecided}, {found.open} open")
