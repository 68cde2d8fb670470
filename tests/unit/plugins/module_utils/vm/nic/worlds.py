"""States of network adapters for tests: a host with a PVRDMA-ready switch, one with functions, and a standard one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import (
    Network,
    Port,
    Rdma,
    Switch,
    Vmkernel,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host.passthrough import Given
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.networks import Fabric, Portgroup
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import AdapterRequest, NicRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, HostView, NicState
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

HCA, SPLIT, WHOLE = "0000:3b:00.0", "0000:3b:00.1", "0000:5e:00.0"


def port(device, pci, switch="", driver="nmlx5_core"):
    return Port(device, pci, driver, 9000, 100000, switch)


NETWORK = Network(
    ports=(port("vmnic2", HCA, "dvs-rdma"), port("vmnic3", SPLIT, "dvs-sriov")),
    switches=(
        Switch("vSwitch0", False, 1500),
        Switch("dvs-rdma", True, 9000, ("vmnic2",), "uuid-rdma"),
        Switch("dvs-sriov", True, 9000, ("vmnic3",), "uuid-sriov"),
    ),
    vmkernel=(Vmkernel("vmk0", 1500, ("management",), "vSwitch0"), Vmkernel("vmk1", 9000, (), "dvs-rdma")),
    rdma=(Rdma("vmrdma0", "nmlx5_rdma", "active", 4096, "vmnic2"),),
)
HOST = HostView(
    moid="host-1",
    name="esx-01",
    connected=True,
    network=NETWORK,
    networks=frozenset({"network-1", "pg-1", "pg-2", "pg-3"}),
    standard={"VM Network": "vSwitch0"},
    given={
        HCA: Given(HCA, True, False, False, sriov_capable=True),
        SPLIT: Given(SPLIT, True, False, False, sriov_capable=True, vfs_configured=2, vfs_active=2, vfs_max=8),
        WHOLE: Given(WHOLE, True, True, True),
    },
    firewall={"pvrdma": True},
)
GROUPS = (
    Portgroup("pg-1", "pg-1", "pg-rdma", "dc-1", True, "dvs-rdma", "uuid-rdma"),
    Portgroup("pg-2", "pg-2", "pg-rdma-2", "dc-1", True, "dvs-rdma", "uuid-rdma"),
    Portgroup("pg-3", "pg-3", "pg-sriov", "dc-1", True, "dvs-sriov", "uuid-sriov"),
    Portgroup("pg-4", "pg-4", "pg-away", "dc-1", True, "dvs-away", "uuid-away"),
    Portgroup("pg-5", "pg-5", "DVUplinks", "dc-1", True, "dvs-rdma", "uuid-rdma", uplink=True),
    Portgroup("network-1", "network-1", "VM Network", "dc-1"),
    Portgroup("network-2", "network-2", "segment", "dc-1", opaque=True),
    Portgroup("pg-9", "pg-9", "pg-rdma", "dc-2", True, "dvs-other", "uuid-other"),
)
FABRIC = Fabric(GROUPS, {"host-1": "dc-1", "host-9": "dc-2"})
READY = Vm(hardware_version=19, guest_id="ubuntu64Guest", memory_mb=1024, memory_locked=True)


def adapter(key=4000, network="pg-1", label=None, **more):
    """An adapter that is there; on a distributed port group unless its network says otherwise."""
    group = FABRIC.named(network)
    return Adapter(
        key=key,
        label=label or f"Network adapter {key - 3999}",
        network=network,
        switch_uuid=group.switch_uuid if group else "",
        mac=f"00:50:56:80:00:{key % 100:02d}",
        **more,
    )


def state(*adapters, host=HOST, others=1, **vm):
    return NicState(vm=replace(READY, **vm), adapters=adapters, others=others, host=host)


@dataclass(frozen=True)
class Asked(NicRequest):
    """A request with the options of all kinds, as their modules fill them."""

    same_switch: bool = True
    host_path: str = "refuse"
    unreserved_memory: str = "refuse"
    gpudirect: str = "detect"
    guest_os: str = "check"
    max_adapters: int | None = None
    port_off_switch: str = "refuse"


def entry(portgroup="pg-rdma", **more):
    """One of the adapters of a request, as the module's specification fills it."""
    return AdapterRequest(**{"portgroup": portgroup, "switch": None, "mac": None, "connected": True, **more})


def requested(*entries, state="present", **more):
    return Asked(**{"adapters": list(entries), "state": state, **more})
