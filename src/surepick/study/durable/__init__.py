"""Durable studies: experiments in a database, which many people and machines ask and tell."""

from __future__ import annotations

from .status import Entry, Status, Summary
from .study import Study
from .tickets import Ticket

__all__ = ["Entry", "Status", "Study", "Summary", "Ticket"]
