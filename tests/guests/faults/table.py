"""All faults of all layers."""

from __future__ import annotations

from . import fabric, hosts, inside, jobs, vms

FAULTS = {**hosts.FAULTS, **fabric.FAULTS, **vms.FAULTS, **inside.FAULTS, **jobs.FAULTS}
