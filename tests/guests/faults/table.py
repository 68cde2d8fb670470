"""All faults of all layers, and those of which nobody has seen yet what a validation says."""

from __future__ import annotations

from . import fabric, hosts, inside, jobs, vms

SEEN = (
    *("host-vmknic-not-tagged", "host-no-pfc", "host-c-states", "host-firewall-closed"),
    *("fabric-mtu-in-the-middle", "fabric-cable-out"),
    *("vm-two-on-one-host", "vm-other-node", "vm-other-protocol"),
    *("guest-unlicensed", "guest-licence-lost", "guest-mtu", "guest-no-module", "guest-gpu-lost", "guest-gpu-memory"),
    *("guest-firewall", "job-nccl-without-rdma"),
)
_ALL = {**hosts.FAULTS, **fabric.FAULTS, **vms.FAULTS, **inside.FAULTS, **jobs.FAULTS}
FAULTS = {name: fault for name, fault in _ALL.items() if name in SEEN}
# AIREADY_FAULTS=unseen plants them.
UNSEEN = {name: fault for name, fault in _ALL.items() if name not in SEEN}
