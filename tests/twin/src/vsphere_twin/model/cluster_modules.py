"""Modules of clusters: VMs that vCenter keeps on different hosts where it can (vcenter.cluster.modules)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Module:
    """One module; DRS of the twin does not place by modules [the twin's limit]."""

    id: str
    cluster: object
    members: list = field(default_factory=list)


def known(world):
    """The modules by their identifiers; one ends with its cluster, and a member with its VM."""
    for one in list(world.cluster_modules.values()):
        if world.get(one.cluster.moid) is not one.cluster:
            del world.cluster_modules[one.id]
        one.members = [vm for vm in one.members if world.get(vm.moid) is vm and vm.host.compute is one.cluster]
    return world.cluster_modules
