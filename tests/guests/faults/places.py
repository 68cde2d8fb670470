"""What is wrong with places of VMs: lockdown, maintenance, virtual functions, third-party objects of the same name."""

from __future__ import annotations

from . import Fault

FAULTS: dict[str, Fault] = {}
