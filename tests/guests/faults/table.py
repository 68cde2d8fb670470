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
UNSEEN = {name: fault for name, fault in _ALL.items() if name not in SEEN}
# What is planted beside those that nobody sees without measuring, so that there is one of each layer.
_BESIDE = ("guest-no-module", "guest-mtu")
WORDS = ("some", "all", "unseen")


def chosen(which):
    """The faults that a word of WORDS names."""
    if which == "unseen":
        return UNSEEN
    return {name: fault for name, fault in FAULTS.items() if which == "all" or fault.silent or name in _BESIDE}
