# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Convert the answers of vCenter to the input of a plan. Pure but for the types of pyVmomi."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Iterable, Iterator, Mapping, Sequence, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode, dvx, pci, pvrdma, reach
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of
from ansible_collections.aiready.vsphere.plugins.module_utils.host.passthrough import devices_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import gpus
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
    Host,
    Nic,
    NumaNode,
    Present,
    overhead_mb,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Switch
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.passthrough import Given
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.port_groups import Group
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

    class Where(TypedDict):
        """Common data of any device in a plan."""

        numa: int | None
        root: str
        vendor_id: str
        device_id: str
        label: str


MB = 1024 * 1024
GB = 1024 * MB
HOST_PROPERTIES = (
    "name",
    "config.firewall.ruleset",
    "config.graphicsInfo",
    "config.network",
    "config.pciPassthruInfo",
    "config.product.version",
    "config.sharedPassthruGpuTypes",
    "datastore",
    "hardware.cpuInfo",
    "hardware.memorySize",
    "hardware.numaInfo",
    "hardware.pciDevice",
    "runtime.connectionState",
    "runtime.inMaintenanceMode",
)
VM_PROPERTIES = (
    "name",
    "config.extraConfig",
    "config.hardware.device",
    "config.hardware.memoryMB",
    "config.hardware.numCPU",
    "config.memoryAllocation.reservation",
    "config.memoryReservationLockedToMax",
    "datastore",
    "runtime.host",
    "runtime.powerState",
    "summary.storage.committed",
)
POWER = {"poweredOn": "on", "poweredOff": "off", "suspended": "suspended"}
_VF_NAME = re.compile("virtual function", re.IGNORECASE)
_AFFINITY = "numa.nodeaffinity"


@dataclass(frozen=True)
class Machine:
    """Current or future resources of a VM, whether or not it is in the request."""

    moid: str
    name: str
    host: str
    power: str
    memory_mb: int
    reserved_mb: int
    cpus: int
    profiles: tuple[str, ...]
    # Addresses that its configuration names, or that it was given.
    devices: tuple[str, ...]
    # (address of the physical function, switch's UUID or network's name) per adapter with a virtual function
    functions: tuple[tuple[str, str], ...]
    nodes: tuple[int, ...]
    # MoIDs, and the space that its files take
    datastores: tuple[str, ...] = ()
    disk_gb: int = 0
    # Keys of its devices of Enhanced DirectPath I/O, whose addresses only the host reports.
    enhanced: tuple[int, ...] = ()


def machine_of(row: Row) -> Machine:
    """A VM."""
    profiles: list[str]
    devices: list[str]
    functions: list[tuple[str, str]]
    enhanced: list[int]
    profiles, devices, functions, enhanced = [], [], [], []
    for device in row.get("config.hardware.device") or []:
        if isinstance(device, vim.vm.device.VirtualPCIPassthrough):
            _passthrough(device.backing, profiles, devices)
            if _is_enhanced(device.backing):
                enhanced.append(device.key)
        elif isinstance(device, vim.vm.device.VirtualSriovEthernetCard):
            functions.append((_physical(device), _network(device.backing)))
    memory_mb = row.get("config.hardware.memoryMB") or 0
    locked = row.get("config.memoryReservationLockedToMax")
    extra = {option.key.lower(): str(option.value) for option in row.get("config.extraConfig") or []}
    return Machine(
        moid=row.moid,
        name=row.get("name", row.moid),
        host=_moid(row.get("runtime.host")),
        power=POWER.get(str(row.get("runtime.powerState")), "off"),
        memory_mb=memory_mb,
        reserved_mb=memory_mb if locked else row.get("config.memoryAllocation.reservation") or 0,
        cpus=row.get("config.hardware.numCPU") or 0,
        profiles=tuple(sorted(profiles)),
        devices=tuple(devices),
        functions=tuple(functions),
        nodes=tuple(int(part) for part in extra.get(_AFFINITY, "").replace(" ", "").split(",") if part.isdecimal()),
        datastores=tuple(_moid(ref) for ref in row.get("datastore") or []),
        disk_gb=-(-(row.get("summary.storage.committed") or 0) // GB),
        enhanced=tuple(enhanced),
    )


def bound(machines: Mapping[str, Machine], rows: Iterable[Row]) -> dict[str, Machine]:
    """The VMs with the addresses of their devices of Enhanced DirectPath I/O, as the rows of the hosts report them."""
    there = {pair: at for row in rows for pair, at in dvx.bound_of(row.get(dvx.BINDINGS)).items()}
    return {
        moid: replace(
            one, devices=one.devices + tuple(there[moid, key] for key in one.enhanced if (moid, key) in there)
        )
        for moid, one in machines.items()
    }


def present_of(machine: Machine, path: str, host_row: Row | None) -> Present:
    """A VM of the request as it is now."""
    used = gpus.used_by(host_row, machine) if host_row is not None and machine.power != "off" else ()
    return Present(
        moid=machine.moid,
        path=path,
        host=machine.host,
        power=machine.power,
        memory_mb=machine.memory_mb,
        cpus=machine.cpus,
        profiles=machine.profiles,
        gpus=used,
        devices=machine.devices + tuple(function for function, network in machine.functions if function),
        nodes=machine.nodes,
        datastores=machine.datastores,
        disk_gb=machine.disk_gb,
    )


def host_of(
    row: Row, cluster: str, others: Sequence[Machine], kept_mb: int, port_groups: Mapping[str, Group] | None = None
) -> Host:
    """Return a host with the usage of VMs outside the request."""
    running = [one for one in others if one.power == "on"]
    network = network_of(row.get("config.network"), groups=port_groups)
    given = devices_of(row.get("config.pciPassthruInfo"))
    tree = pci.tree_of(row.get("hardware.pciDevice"), row.get("hardware.numaInfo"))
    cpu = row.get("hardware.cpuInfo")
    groups = row.get("config.network").portgroup if row.get("config.network") else None
    memory_mb = (row.get("hardware.memorySize") or 0) // MB
    return Host(
        moid=row.moid,
        name=row.get("name", row.moid),
        cluster=cluster,
        version=row.get("config.product.version") or "",
        out_of_use=_out_of_use(row),
        memory_free_mb=memory_mb - kept_mb - sum(map(_reserved_mb, running)),
        threads=cpu.numCpuThreads if cpu else 0,
        vcpus=sum(one.cpus for one in running),
        running=len(running),
        nodes=tuple(_nodes(row.get("hardware.numaInfo"), cpu)),
        gpus=gpus.gpus_of(row, tree, given, running),
        nics=tuple(_nics(network, tree, given, running)),
        offered=frozenset(row.get("config.sharedPassthruGpuTypes") or []),
        pvrdma=_pvrdma(row, network),
        vmknic=_vmknic(row, network),
        switches=frozenset(one.name for one in network.switches if one.distributed),
        portgroups={group.spec.name: group.spec.vswitchName for group in groups or []},
        datastores=tuple(ref._GetMoId() for ref in row.get("datastore") or []),
        waiting=tuple(sorted(one.name for one in others if _waits(one))),
    )


def _waits(machine: Machine) -> bool:
    return machine.power == "off" and bool(machine.profiles or machine.devices or machine.enhanced)


def _reserved_mb(machine: Machine) -> int:
    return machine.reserved_mb + overhead_mb(machine.memory_mb, machine.cpus)


def _out_of_use(row: Row) -> str:
    state = str(row.get("runtime.connectionState"))
    if state != "connected":
        return f"it is {'not responding' if state == 'notResponding' else state}"
    return "it is in maintenance mode" if row.get("runtime.inMaintenanceMode") else ""


def _passthrough(backing: Data, profiles: list[str], devices: list[str]) -> None:
    kinds = vim.vm.device.VirtualPCIPassthrough
    if isinstance(backing, kinds.VmiopBackingInfo):
        profiles.append(cast(str, backing.vgpu))
    elif isinstance(backing, kinds.DeviceBackingInfo):
        devices.append(pci.normal_address(backing.id or "") or backing.id)
    elif getattr(backing, "assignedId", None):
        devices.append(pci.normal_address(backing.assignedId) or backing.assignedId)


def _is_enhanced(backing: Data) -> bool:
    # Type libraries before 8.0.0.1 do not know the backing.
    kind = getattr(vim.vm.device.VirtualPCIPassthrough, "DvxBackingInfo", None)
    return kind is not None and isinstance(backing, kind)


def _physical(card: vim.vm.device.VirtualSriovEthernetCard) -> str:
    backing = getattr(card.sriovBacking, "physicalFunctionBacking", None) if card.sriovBacking else None
    return (pci.normal_address(backing.id or "") or "") if backing else ""


def _network(backing: Data) -> str:
    port = getattr(backing, "port", None)
    return port.switchUuid if port is not None else getattr(backing, "deviceName", None) or ""


def _nodes(info: vim.host.NumaInfo | None, cpu: vim.host.CpuInfo | None) -> Iterator[NumaNode]:
    there = (info.numaNode if info else None) or []
    listed = sum(len(node.cpuID or []) for node in there)
    for node in there:
        # cpuID lists threads on some hosts and cores on others; its part of the whole is the same.
        cores = cpu.numCpuCores * len(node.cpuID or []) // listed if cpu and listed else 0
        # memorySize came with vSphere 8.0; before, the range reports the same.
        yield NumaNode(node.typeId, (node.memorySize or node.memoryRangeLength or 0) // MB, cores)


def _nics(network: Network, tree: pci.Tree, given: Mapping[str, Given], running: Sequence[Machine]) -> Iterator[Nic]:
    taken = {address: one.name for one in running for address in one.devices}
    used = _functions_used(network, given, running)
    for port in network.ports:
        state = given.get(port.pci)
        yield Nic(
            pci=port.pci,
            device=port.device,
            switch=port.switch,
            vfs_free=max(0, (state.vfs_active if state else 0) - used.get(port.pci, 0)),
            enhanced=_is_enhanced_port(state),
            held_by=taken.get(port.pci, "") if _is_enhanced_port(state) else "",
            **_where(tree, given, port.pci),
        )
    known = {port.pci for port in network.ports}
    for device in sorted(tree.all(), key=lambda one: one.address):
        state = given.get(device.address)
        if device.address not in known and _is_given_port(device, state):
            yield Nic(
                pci=device.address,
                given=state is not None and state.active,
                enhanced=_is_enhanced_port(state),
                held_by=taken.get(device.address, ""),
                **_where(tree, given, device.address),
            )


def _is_given_port(device: pci.Device, state: Given | None) -> bool:
    """Return whether it is an RDMA port in passthrough mode; virtual functions are recognised by their name and their
    parent device."""
    return (
        state is not None
        and (state.active or _is_enhanced_port(state))
        and device.kind == pci.NETWORK
        and device.vendor == pci.MELLANOX
        and state.dependent in ("", device.address)
        and not _VF_NAME.search(device.name)
    )


def _is_enhanced_port(state: Given | None) -> bool:
    return state is not None and state.mode is not None and state.mode.current == device_mode.ENHANCED


def _functions_used(network: Network, given: Mapping[str, Given], running: Iterable[Machine]) -> dict[str, int]:
    """{physical function: virtual functions that running VMs have}."""
    used: dict[str, int] = {}
    for function, where in sorted(entry for one in running for entry in one.functions):
        address = function or _split_port(network, given, used, where)
        used[address] = used.get(address, 0) + 1
    return used


def _split_port(network: Network, given: Mapping[str, Given], used: Mapping[str, int], where: str) -> str:
    """Return the port from which a host takes a function by default [unsure]: of the adapter's switch, the freest."""
    switches = {switch.name for switch in network.switches if where and switch.uuid == where}
    split = [port for port in network.ports if port.pci in given and given[port.pci].vfs_active]
    there = [port.pci for port in split if port.switch in switches] or [port.pci for port in split]
    return max(there, key=lambda address: given[address].vfs_active - used.get(address, 0), default="")


def _where(tree: pci.Tree, given: Mapping[str, Given], address: str) -> Where:
    device, state = tree.get(address), given.get(address)
    return {
        "numa": tree.numa_node(address),
        "root": tree.root(address),
        "vendor_id": f"{device.vendor:04x}" if device else "",
        "device_id": f"{device.device:04x}" if device else "",
        "label": state.label if state else "",
    }


def _pvrdma(row: Row, network: Network) -> dict[str, str]:
    """{distributed switch: why PVRDMA would not work over it}, empty where it would."""
    if row.get("config.option") is None:
        return {}
    vmknic = _tag(row)
    rules = {one.key: bool(one.enabled) for one in row.get("config.firewall.ruleset") or []}
    state = pvrdma.Pvrdma(vmknic, rules.get(pvrdma.RULESET, False), network)
    return {switch.name: _why_not(state, switch.name) for switch in network.switches if switch.distributed}


def _tag(row: Row) -> str:
    options = row.get("config.option") or []
    return next((str(one.value or "") for one in options if one.key == pvrdma.OPTION), "")


def _vmknic(row: Row, network: Network) -> reach.End | None:
    """The adapter that PVRDMA uses, with its address."""
    one = network.adapter(_tag(row))
    if one is None:
        return None
    return reach.End(row.get("name", row.moid), one.device, one.ip, one.netmask, one.vlan, one.portgroup)


def _why_not(state: pvrdma.Pvrdma, switch: str) -> str:
    if not state.vmknic:
        return f"{pvrdma.OPTION} is not set"
    try:
        pvrdma.want("", state, pvrdma.PvrdmaRequest(vmknic=state.vmknic, state="present"))
    except OperatorError as error:
        return f"{pvrdma.OPTION} is {state.vmknic}: {error.found}"
    if cast("Switch", state.switch).name != switch:
        return f"its PVRDMA adapter {state.vmknic} is on {cast('Switch', state.switch).name}"
    if not state.firewall:
        return f"its firewall ruleset {pvrdma.RULESET} is closed"
    return "; ".join(pvrdma.doubts(state)).rstrip(".")


def _moid(ref: Ref | None) -> str:
    return ref._GetMoId() if ref is not None else ""
