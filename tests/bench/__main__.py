"""Run every measurement: `python -m bench`, which `make bench` calls."""

from __future__ import annotations

from . import fabric, mig_planner, placement, training_vms, vgpu_fleet

vgpu_fleet.main()
mig_planner.main()
placement.main()
training_vms.main()
fabric.main()
