"""A data centre for network adapters, and how a plain pyVmomi client sees the adapters of its VMs."""

from __future__ import annotations

import copy
import functools

from pyVmomi import vim

from .observe import client, virtual_machine

FIRMWARE = {"ats": True, "sriov": True, "num_vfs": 8}
HOST = {
    "name": "esx-01",
    "module_options": {"nmlx5_core": "max_vfs=0,8,8"},
    "options": {"Net.PVRDMAVmknic": "vmk1"},
    "rulesets": {"pvrdma": True},
    "nics": [
        {"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"},
        {"device": "vmnic1", "model": "i350"},
        {"device": "vmnic2", "model": "cx6dx", "uplink_of": "dvs-rdma", "firmware": FIRMWARE},
        {"device": "vmnic3", "model": "cx6dx", "uplink_of": "dvs-sriov", "firmware": FIRMWARE},
        {"device": "vmnic4", "model": "cx6dx", "uplink_of": "dvs-sriov", "firmware": FIRMWARE},
        {"device": "vmnic5", "model": "cx6dx", "passthrough": True},
    ],
    "vmkernel": [
        {"device": "vmk0", "network": "Management Network", "services": ["management"]},
        {"device": "vmk1", "portgroup": "pg-rdma", "mtu": 9000},
    ],
}
SWITCHES = [
    {"name": "dvs-rdma", "mtu": 9000, "uplinks": 1, "portgroups": [{"name": "pg-rdma"}, {"name": "pg-rdma-2"}]},
    {"name": "dvs-sriov", "uplinks": 2, "portgroups": [{"name": "pg-sriov"}, {"name": "pg-sriov-2"}]},
    {"name": "dvs-a", "portgroups": [{"name": "pg-a"}]},
    {"name": "dvs-b", "portgroups": [{"name": "pg-b"}]},
]
VM = {
    "firmware": "efi",
    "memory_gb": 16,
    "guest_id": "ubuntu64Guest",
    "hardware_version": 19,
    "memory_reservation": "all",
    "networks": ["VM Network"],
}


def network_lab(*vms, hosts=({},), switches=(), **seed):
    """VMs train-01, train-02, ... on the first host, unless they say otherwise; {} stands for what is usual."""
    machines = vms or ({},)
    members = [host(number, changes) for number, changes in enumerate(hosts, start=1)]
    return {
        "release": "8.0.3",
        "users": {"administrator@vsphere.local": "VMware1!"},
        **seed,
        "datacenters": [
            {
                "name": "dc1",
                "datastores": [{"name": "datastore-01", "capacity_gb": 1000}],
                "networks": [{"name": "VM Network"}],
                "switches": [*copy.deepcopy(SWITCHES), *switches],
                "vm_folders": ["training"],
                "clusters": [{"name": "gpu", "hosts": members}],
                "vms": [
                    {"name": f"train-{number:02}", "host": "esx-01", "folder": "training", **VM, **vm}
                    for number, vm in enumerate(machines, start=1)
                ],
            }
        ],
    }


def host(number, changes):
    """One host; the changes of its ports are given by their devices, and a None takes a key away."""
    ports = changes.get("nics", {})
    plain = {key: value for key, value in changes.items() if key != "nics"}
    nics = [{**nic, **ports.get(nic["device"], {})} for nic in HOST["nics"]]
    nics = [{key: value for key, value in nic.items() if value is not None} for nic in nics]
    return copy.deepcopy({**HOST, "name": f"esx-{number:02}", **plain, "nics": nics})


def adapters_of(twin, name):
    """The Ethernet cards of a VM, each as (kind, port group, whether it is or will be connected, what else is set)."""
    with client(twin) as service, virtual_machine(twin, name) as machine:
        names = _networks(service)
        running = machine.runtime.powerState == "poweredOn"
        return sorted(
            (_adapter(card, names, running) for card in machine.config.hardware.device if _is_card(card)), key=str
        )


def see(*names):
    """An observer of these VMs for the contract."""
    return functools.partial(lambda twin: {name: adapters_of(twin, name) for name in names})


def cards(twin, name, kind):
    """The devices of one kind, as the server reports them."""
    with virtual_machine(twin, name) as machine:
        return [card for card in machine.config.hardware.device if card.__class__ is kind]


def remove(card):
    """What an administrator sends to take an adapter away."""
    return vim.vm.device.VirtualDeviceSpec(operation="remove", device=card)


def add(card, twin, portgroup):
    """What an administrator sends to add an adapter on a distributed port group."""
    with client(twin) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.DistributedVirtualPortgroup], True)
        (group,) = [entry for entry in view.view if entry.name == portgroup]
        port = vim.dvs.PortConnection(switchUuid=group.config.distributedVirtualSwitch.uuid, portgroupKey=group.key)
    card.backing = vim.vm.device.VirtualEthernetCard.DistributedVirtualPortBackingInfo(port=port)
    return vim.vm.device.VirtualDeviceSpec(operation="add", device=card)


def _is_card(device):
    return isinstance(device, vim.vm.device.VirtualEthernetCard)


def _networks(service):
    content = service.RetrieveContent()
    view = content.viewManager.CreateContainerView(content.rootFolder, [vim.Network], True)
    return {entry._GetMoId(): entry.name for entry in view.view}


def _adapter(card, names, running):
    backing = card.backing
    if isinstance(backing, vim.vm.device.VirtualEthernetCard.DistributedVirtualPortBackingInfo):
        network = names[backing.port.portgroupKey]
    else:
        network = names[backing.network._GetMoId()]
    extra = {}
    if card.addressType == "manual":
        extra["mac"] = card.macAddress
    if getattr(card, "deviceProtocol", None):
        extra["protocol"] = card.deviceProtocol
    sriov = getattr(card, "sriovBacking", None)
    if sriov is not None and sriov.physicalFunctionBacking is not None:
        extra["function"] = sriov.physicalFunctionBacking.id
    if getattr(card, "allowGuestOSMtuChange", None) is not None:
        extra["mtu change"] = card.allowGuestOSMtuChange
    kind = type(card).__name__.rpartition(".")[2]
    connected = card.connectable.startConnected and (card.connectable.connected or not running)
    return kind, network, bool(connected), extra
