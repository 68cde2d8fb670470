"""PlaceVm: a cluster's placement of a VM that is created, cloned, moved or changed."""

from __future__ import annotations

import datetime

from pyVmomi import vim, vmodl

from vsphere_twin.model import drs, power

from ..projections.shape import make
from ..registry import method
from .tasking import resolved

TYPES = ("create", "reconfigure", "relocate", "clone")


@method("ClusterComputeResource", "PlaceVm")
def place_vm(call, this, placementSpec):
    """Return at most one recommendation: the emptiest host that accepts the VM, and there the emptiest datastore."""
    spec = placementSpec
    kind = spec.placementType or ("relocate" if spec.relocateSpec is not None else "create")
    if kind not in TYPES:
        raise _wrong("placementSpec.placementType")
    vm = resolved(call, spec.vm)
    if kind != "create" and vm is None:
        raise _wrong("placementSpec.vm")
    if kind in ("create", "reconfigure") and spec.configSpec is None:
        raise _wrong("placementSpec.configSpec")
    if kind == "clone" and spec.cloneSpec is None:
        raise _wrong("placementSpec.cloneSpec")
    hosts = [call.resolve(one) for one in spec.hosts or []] or list(this.hosts.values())
    if any(one.moid not in this.hosts for one in hosts):
        raise _wrong("placementSpec.hosts")
    stores = [call.resolve(one) for one in spec.datastores or []]
    host = _host(hosts, vm, stores)
    if host is None:
        return make(
            vim.cluster.PlacementResult, drsFault=make(vim.cluster.DrsFaults, reason="No host can take the VM.")
        )
    among = [one for one in host.datastores.values() if not stores or one in stores]
    store = max(among, key=lambda one: (one.free, one.name))
    action = make(
        vim.cluster.PlacementAction,
        type="PlacementV1",
        vm=vm,
        target=host,
        targetHost=host,
        relocateSpec=vim.vm.RelocateSpec(
            host=vim.HostSystem(host.moid),
            datastore=vim.Datastore(store.moid),
            pool=vim.ResourcePool(this.pool.moid),
        ),
    )
    recommendation = make(
        vim.cluster.Recommendation,
        key="1",
        type="V1",
        time=datetime.datetime.now(datetime.timezone.utc),
        rating=1,
        reason="xvmotionPlacement",
        reasonText="Place the virtual machine",
        target=this,
        action=[action],
    )
    return make(vim.cluster.PlacementResult, recommendations=[recommendation])


def _host(hosts, vm, stores):
    """The emptiest host that is in use, has a datastore and breaks no mandatory rule."""
    usable = [
        host
        for host in hosts
        if host.reachable
        and not host.maintenance
        and any(not stores or one in stores for one in host.datastores.values())
        and (vm is None or not any(rule.mandatory for rule in drs.violated(vm, host)) and power.reaches(vm, host))
    ]
    return min(usable, key=lambda one: (len(one.running_vms()), len(one.vms), one.number), default=None)


def _wrong(place):
    return vmodl.fault.InvalidArgument(msg=f"A specified parameter was not correct: {place}", invalidProperty=place)
