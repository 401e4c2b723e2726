"""Policies, one file an algorithm. A new one is one file and one line in ``POLICIES``."""

from __future__ import annotations

from ..errors import SettingError
from .base import Policy
from .coci import COCI
from .uniform import Uniform

POLICIES: dict[str, type[Policy]] = {cls.name: cls for cls in (COCI, Uniform)}


def make_policy(policy: str) -> Policy:
    if policy not in POLICIES:
        raise SettingError(f"policy={policy!r} is unknown; use one of {', '.join(POLICIES)}.")
    return POLICIES[policy]()


__all__ = ["COCI", "POLICIES", "Policy", "Uniform", "make_policy"]
