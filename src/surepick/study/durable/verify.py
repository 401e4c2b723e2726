"""An audit: what a study says of itself, worked out again from what it was created with and from its log alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import and_, func, select

from ...certificate import Certificate
from ...errors import SurepickError
from . import log, schema
from .state import State
from .turn import Turn

SHOWN = 5


@dataclass(frozen=True, eq=False)
class Verification:
    """What an audit found.

    Attributes
    ----------
    ok : bool
        All agrees.
    faults : list of str
        What does not, in sentences.
    samples, moments, corrected : int
        What the log has.
    certificate : Certificate
        As the log gives it.
    certified_at : int or None
        The moment that certified the study, as the log gives it.
    """

    faults: list[str]
    samples: int
    moments: int
    corrected: int
    certificate: Certificate
    certified_at: int | None

    @property
    def ok(self) -> bool:
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, **vars(self), "certificate": self.certificate.to_dict()}

    def __str__(self) -> str:
        of = f"{self.samples:,} observation{'' if self.samples == 1 else 's'}"
        if self.faults:
            return f"The log ({of}) and what is stored do not agree: {' '.join(self.faults)}"
        same = "the certificate that is stored" if self.certified_at is not None else "that nothing is certified yet"
        return f"Verified: the log ({of}) gives {same}."


def verify(turn: Turn) -> Verification:
    """Replay the log from its beginning, judge every moment, and compare."""
    row, connection = turn.row, turn.connection
    faults: list[str] = []
    spec, known = connection.execute(
        select(schema.study.c.spec, schema.study.c.spec_hash).where(schema.study.c.id == row.id)
    ).one()
    if hashlib.sha256(spec.encode()).hexdigest() != known:
        faults.append("What the study was created with has been changed.")
    faults += _gaps(turn)
    entries = log.read(connection, row.id, 0, row.seq, row.revision)
    state, found = State.blank(connection, row), None
    try:
        found = state.judge_again(entries)
    except SurepickError as error:
        faults.append(f"The log has entries that the study does not take: {error}")
    corrected = log.count_corrected(connection, row.id)
    fresh = Turn(connection, row, state)
    certificate = fresh.certificate()
    if found != row.certified:
        faults.append(f"The log certifies {_at(found)}, and what is stored says {_at(row.certified)}.")
    stored = connection.execute(
        select(schema.certificate.c.content).where(
            schema.certificate.c.study == row.id, schema.certificate.c.revision == row.revision
        )
    ).scalar_one_or_none()
    if (stored is None) != (found is None) or (stored is not None and json.loads(stored) != certificate.to_dict()):
        faults.append("The certificate that is stored is not the one that the log gives.")
    faults += _tickets(turn)
    if turn.certificate().to_dict() != certificate.to_dict():
        faults.append("The snapshot of the study is not what the log gives.")
    return Verification(faults, len(entries), row.moment, corrected, certificate, found)


def _at(moment: int | None) -> str:
    return "nothing" if moment is None else f"moment {moment}"


def _gaps(turn: Turn) -> list[str]:
    """Entries and moments that are missing."""
    o, m, row, faults = schema.observation, schema.moment, turn.row, []
    for what, column, last in (("entries", o.c.seq, row.seq), ("moments", m.c.moment, row.moment)):
        mine = column.table.c.study == row.id
        many, least, most = turn.connection.execute(select(func.count(), func.min(column), func.max(column)).where(mine)).one()
        if (many, least or 0, most or 0) != (last, min(1, last), last):
            faults.append(f"There should be {last:,} {what}, numbered without a gap, and there are {many:,}.")
    return faults


def _tickets(turn: Turn) -> list[str]:
    """Answers and tickets that do not belong together."""
    t, o, study = schema.ticket, schema.observation, turn.row.id
    both = t.outerjoin(o, and_(o.c.study == t.c.study, o.c.seq == t.c.seq))
    told = select(t.c.number, t.c.arm, t.c.item, t.c.state, o.c.arm.label("of"), o.c.item.label("on")).select_from(both)
    wrong = [
        row.number
        for row in turn.connection.execute(told.where(t.c.study == study, t.c.seq.isnot(None)))
        if (row.arm, row.item, row.state) != (row.of, row.on, schema.TOLD)
    ]
    answered = o.outerjoin(t, and_(t.c.study == o.c.study, t.c.number == o.c.ticket))
    lost = turn.connection.execute(
        select(o.c.ticket).select_from(answered).where(o.c.study == study, o.c.ticket.isnot(None), t.c.seq.is_(None))
    )
    wrong += [row.ticket for row in lost]
    listed = ", ".join(map(str, np.unique(np.array(wrong, dtype=np.int64))[:SHOWN].tolist()))
    return [f"Tickets and entries do not belong together, such as those of ticket {listed}."] if wrong else []
