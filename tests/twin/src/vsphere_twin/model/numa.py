"""NUMA placement of a VM's processors and memory on its host; vCenter does not report it."""

from __future__ import annotations

from . import resources

AFFINITY = "numa.nodeAffinity"


def nodes(vm, host=None):
    """Return the nodes that the VM is bound to on a host; none: the scheduler chooses.

    A node that the host does not have is silently left out [unsure].
    """
    host = host or vm.host
    named = [part.strip() for part in (vm.setting(AFFINITY) or "").split(",")]
    return tuple(sorted({int(one) for one in named if one.isdigit() and int(one) < host.hardware.sockets}))


def remote_mb(vm):
    """Return how much of the guest's memory is on other nodes than its processors.

    The affinity binds processors; memory follows while there is space (frankdenneman.nl 2020-01-30).
    """
    bound = nodes(vm)
    if not bound:
        return 0
    others = [one for one in vm.host.running_vms() if one is not vm and set(nodes(one)) & set(bound)]
    taken = sum(one.memory_mb * len(set(nodes(one)) & set(bound)) // len(nodes(one)) for one in others)
    room = resources.memory_capacity_mb(vm.host) // vm.host.hardware.sockets * len(bound) - taken
    return max(0, vm.memory_mb - max(0, room))
