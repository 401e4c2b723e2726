"""Durable studies: experiments in a database, which many people and machines ask and tell."""

from __future__ import annotations

from .status import Entry, Status, Summary
from .study import Study
from .tables import BadRow, Imported
from .tickets import Ticket
from .verify import Verification

__all__ = ["BadRow", "Entry", "Imported", "Status", "Study", "Summary", "Ticket", "Verification"]
