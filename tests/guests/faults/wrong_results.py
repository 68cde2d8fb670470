"""What is wrong with results that are wrong although a run ended well."""

from __future__ import annotations

from . import Fault

FAULTS: dict[str, Fault] = {}
