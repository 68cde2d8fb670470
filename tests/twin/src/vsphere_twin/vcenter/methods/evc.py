"""The EVC manager of a cluster."""

from __future__ import annotations

from pyVmomi import VmomiSupport, vim, vmodl

from vsphere_twin.model import evc
from vsphere_twin.model.host import touch

from ..projections.shape import make
from ..registry import method, prop
from .tasking import begin

KIND = "ClusterEVCManager"
RESULTS = VmomiSupport.GetVmodlType("vim.cluster.EVCManager.CheckResult[]")


@method("ClusterComputeResource", "EvcManager")
def evc_manager(call, this):
    return this.evc


@method(KIND, "ConfigureEvcMode_Task")
def configure(call, this, evcModeKey, evcGraphicsModeKey=None):
    _refuse_graphics(evcGraphicsModeKey)
    return _changed(call, "ConfigureEvcMode_Task", this, lambda: evc.configure(this.cluster, evcModeKey))


@method(KIND, "DisableEvcMode_Task")
def disable(call, this):
    def work():
        this.mode = None

    return _changed(call, "DisableEvcMode_Task", this, work)


@method(KIND, "CheckConfigureEvcMode_Task")
def check(call, this, evcModeKey, evcGraphicsModeKey=None):
    _refuse_graphics(evcGraphicsModeKey)

    def work():
        try:
            evc.check(this.cluster, evcModeKey)
        except vim.fault.EVCConfigFault as fault:
            hosts = getattr(fault, "host", None) or []
            return RESULTS([make(vim.cluster.EVCManager.CheckResult, evcModeKey=evcModeKey, error=fault, host=hosts)])
        return RESULTS()

    return begin(call, "CheckConfigureEvcMode_Task", this.cluster, work, exclusive=False)


@prop(KIND, "managedCluster")
def managed_cluster(manager, world):
    return manager.cluster


@prop(KIND, "evcState")
def evc_state(manager, world):
    modes = evc.of_cluster(manager.cluster)
    return make(
        vim.cluster.EVCManager.EVCState,
        supportedEVCMode=[
            make(
                vim.EVCMode,
                key=key,
                label=key,
                summary=key,
                vendor=key.partition("-")[0],
                track=modes[: at + 1],
                vendorTier=at,
            )
            for at, key in enumerate(modes)
        ],
        currentEVCModeKey=manager.mode,
    )


def _refuse_graphics(key):
    if key:
        raise vmodl.fault.NotSupported(
            msg="The operation is not supported on the object: the twin has no graphics EVC."
        )


def _changed(call, name, manager, work):
    def change():
        work()
        call.world.touch(manager, manager.cluster)
        for host in manager.cluster.hosts.values():
            touch(call.world, host)

    return begin(call, name, manager.cluster, change)
