# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Facts of a host for the layers above its hardware, from the answers of vCenter and esxcli. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.host import (
    at_boot,
    device_mode,
    dvx,
    graphics,
    kernel,
    marks,
    module_state,
    module_text,
    passthrough,
    passthrough_rules,
    pci,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Port
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.port_groups import Group
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

PROPERTIES = (
    "availableField",
    "config.firewall.ruleset",
    "config.graphicsConfig",
    "config.graphicsInfo",
    "config.lockdownMode",
    "config.network",
    "config.pciPassthruInfo",
    "config.product",
    "config.service.service",
    "config.sharedPassthruGpuTypes",
    "config.virtualNicManagerInfo",
    "configManager",
    "customValue",
    "hardware.numaInfo",
    "hardware.pciDevice",
    "runtime.bootTime",
    "runtime.inMaintenanceMode",
    "runtime.powerState",
    "summary.rebootRequired",
)
# Properties that graphics_of needs.
GRAPHICS = (
    "availableField",
    "config.graphicsConfig",
    "config.graphicsInfo",
    "config.pciPassthruInfo",
    "config.product",
    "customValue",
    "runtime.bootTime",
)
POLICY_NOTE = "graphics_policy"
# Notes of power/maintenance.py and power/service.py.
MAINTENANCE_NOTE, SERVICE_NOTE = "maintenance", "service."
LOCKDOWN = {"lockdownDisabled": "disabled", "lockdownNormal": "normal", "lockdownStrict": "strict"}


@dataclass
class Answers:
    """Answers besides the properties; None if the host could not be asked."""

    modules: list[Any] | None = None
    kernel: list[dict[str, Any]] | None = None
    options: dict[str, Any] | None = None
    # {vmnic: output of `esxcli network nic dcb status get`}
    dcb: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    driver: dict[str, Any] | None = None
    # Exception users of lockdown mode.
    lockdown_exceptions: list[str] | None = None
    # Rows of `esxcli hardware pci list`, by which virtual functions are recognised.
    pci: list[dict[str, Any]] | None = None
    # Its distributed port groups, as port_groups.groups_of() has them.
    groups: dict[str, Group] = field(default_factory=dict)


def facts(found: HostFound, vms: Iterable[Row], answers: Answers, requested: Mapping[str, Any]) -> dict[str, Any]:
    """The whole projection; vms are rows of the host's VMs."""
    row = found.row
    running = running_vms(vms)
    product = row.get("config.product")
    network = network_of(row.get("config.network"), row.get("config.virtualNicManagerInfo"), answers.groups)
    tree = pci.tree_of(row.get("hardware.pciDevice"), row.get("hardware.numaInfo"))
    shown = graphics_of(row, running)
    given = passthrough.devices_of(row.get("config.pciPassthruInfo"))
    settings = {
        name: one for name, one in kernel.settings_of(answers.kernel).items() if name in requested["kernel_settings"]
    }
    modules = [one for one in modules_of(row, answers.modules, requested["modules"], network) if one is not None]
    gpus = [_gpu(device, tree, given) for device in (shown.devices if shown else ())]
    nics = [_nic(port, network, tree, answers.dcb, given) for port in network.ports]
    nics += [_given_nic(address, tree, given) for address in _given_ports(tree, network, given, answers.pci)]
    boot_time = row.get("runtime.bootTime")
    return {
        "name": found.name,
        "moid": found.moid,
        "cluster": found.cluster,
        "cluster_moid": found.cluster_ref._GetMoId() if found.cluster_ref else None,
        "version": product.version if product else None,
        "build": product.build if product else None,
        "connection": found.connection,
        "power": str(row.get("runtime.powerState", "unknown")),
        "in_maintenance": bool(row.get("runtime.inMaintenanceMode")),
        "unrestored": _unrestored(row),
        "boot_time": boot_time.isoformat() if boot_time else None,
        "running_vms": sorted(running.values()),
        "lockdown": LOCKDOWN.get(str(row.get("config.lockdownMode"))),
        "lockdown_exceptions": answers.lockdown_exceptions,
        "services": {
            one.key: {"running": bool(one.running), "policy": one.policy}
            for one in row.get("config.service.service") or []
        },
        "driver": answers.driver,
        "graphics": graphics.project(shown) if shown else None,
        "dvx_classes": dvx.project(dvx.classes_of(row.get(dvx.PROPERTY))),
        "profiles_offered": sorted(row.get("config.sharedPassthruGpuTypes") or []),
        "kernel": kernel.project(settings),
        "modules": {one.name: _module(one) for one in modules},
        "options": answers.options if answers.options is not None else {},
        "rulesets": {
            one.key: bool(one.enabled)
            for one in row.get("config.firewall.ruleset") or []
            if one.key in requested["rulesets"]
        },
        "nics": nics,
        "gpus": gpus,
        "nvswitches": tree.nvswitches(),
        "pairs": [
            dict(gpu=gpu["id"], nic=nic["device"] or nic["pci"], **tree.pair(gpu["id"], nic["pci"]))
            for gpu in gpus
            for nic in nics
            if nic["rdma"] is not None or _is_mellanox(tree, nic["pci"])
        ],
        "vmkernel": [
            {
                "device": one.device,
                "mtu": one.mtu,
                "services": list(one.services),
                "switch": one.switch,
                "ip": one.ip,
                "netmask": one.netmask,
                "portgroup": one.portgroup,
                "vlan": one.vlan,
            }
            for one in network.vmkernel
        ],
        "pending": _pending(row, shown, given, settings, modules, answers.driver),
    }


def _unrestored(row: Row) -> list[str]:
    """What an earlier run changed for its own time only and did not restore, by its notes on the host."""
    return sorted(name for name in marks.read(row) if name == MAINTENANCE_NOTE or name.startswith(SERVICE_NOTE))


def running_vms(rows: Iterable[Row]) -> dict[str, str]:
    """{MoID: name} of the VMs that run."""
    return {one.moid: one.get("name", one.moid) for one in rows if str(one.get("runtime.powerState")) == "poweredOn"}


def graphics_of(row: Row, running: Mapping[str, str]) -> graphics.Graphics | None:
    """The graphics of a host; None where vCenter does not know them."""
    config = row.get("config.graphicsConfig")
    if config is None:
        return None
    product = row.get("config.product")
    policy = at_boot.known(
        marks.read(row), POLICY_NOTE, row.get("runtime.bootTime"), config.sharedPassthruAssignmentPolicy
    )
    version = product.version if product else ""
    modes = device_mode.modes_of(row.get("config.pciPassthruInfo"))
    return graphics.state_of(config, row.get("config.graphicsInfo"), running, version, policy, modes)


def modules_of(
    row: Row, infos: Iterable[Any] | None, names: Iterable[str], network: Network
) -> list[module_state.Module | None]:
    """The kernel modules with these names, None for one that the host has not."""
    known = {info.name: info for info in infos or []}
    notes = marks.read(row)
    return [_module_of(row, notes, known[name], network) if name in known else None for name in names]


def _module_of(row: Row, notes: Mapping[str, str], info: Any, network: Network) -> module_state.Module:
    configured = info.optionString or ""
    active = at_boot.known(notes, info.name, row.get("runtime.bootTime"), configured)
    return module_state.Module(
        name=info.name,
        enabled=bool(info.enabled),
        loaded=bool(info.loaded),
        options=module_text.parse(configured),
        active=None if active is None else module_text.parse(active),
        ports=tuple(port.device for port in network.ports if port.driver == info.name),
    )


def dcb_of(answer: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return mode and priorities with flow control, from esxcli's answer about a port."""
    if not answer:
        return None
    flags = answer.get("PFCConfiguration", "")
    flags = [str(flag) for flag in flags] if isinstance(flags, list) else str(flags).split()
    return {
        "mode": str(answer.get("Mode", "")) or None,
        "pfc": [priority for priority, flag in enumerate(flags) if flag == "1"],
    }


def _module(one: module_state.Module) -> dict[str, Any]:
    shown = module_state.project(one)
    return {name: shown[name] for name in ("enabled", "loaded", "options", "active_options")}


def _gpu(device: graphics.Device, tree: pci.Tree, given: Mapping[str, passthrough.Given]) -> dict[str, Any]:
    return {
        "id": device.id,
        "board": device.name,
        "numa_node": tree.numa_node(device.id),
        "root": tree.root(device.id),
        "passthrough": _given_of(given, device.id),
        "device_mode": _mode_of(given, device.id),
    }


def _nic(
    port: Port,
    network: Network,
    tree: pci.Tree,
    dcb: Mapping[str, Mapping[str, Any] | None],
    given: Mapping[str, passthrough.Given],
) -> dict[str, Any]:
    rdma = network.rdma_of(port.device)
    return {
        "device": port.device,
        "pci": port.pci,
        "driver": port.driver,
        "mtu": port.mtu,
        "switch": port.switch or None,
        "numa_node": tree.numa_node(port.pci),
        "root": tree.root(port.pci),
        "link_mbps": port.link_mbps,
        "rdma": None if rdma is None else {"name": rdma.device, "state": rdma.state, "mtu": rdma.mtu},
        "dcb": dcb_of(dcb.get(port.device)),
        "passthrough": _given_of(given, port.pci),
        "device_mode": _mode_of(given, port.pci),
        "vfs": _functions_of(given, port.pci),
    }


def _given_ports(
    tree: pci.Tree, network: Network, given: Mapping[str, passthrough.Given], rows: Iterable[Mapping[str, Any]] | None
) -> list[str]:
    """Return adapters in passthrough mode, which the host's network no longer lists; empty without a list of
    functions.
    """
    if rows is None:
        return []
    known = {port.pci for port in network.ports} | passthrough_rules.functions_of(rows)
    return sorted(
        device.address
        for device in tree.all()
        if device.kind == pci.NETWORK
        and device.vendor == pci.MELLANOX
        and device.address not in known
        and device.address in given
        and (given[device.address].active or _is_enhanced(given[device.address]))
    )


def _is_enhanced(state: passthrough.Given) -> bool:
    return state.mode is not None and state.mode.current == device_mode.ENHANCED


def _given_nic(address: str, tree: pci.Tree, given: Mapping[str, passthrough.Given]) -> dict[str, Any]:
    reported = dict.fromkeys(("device", "driver", "mtu", "switch", "link_mbps", "rdma", "dcb"))
    return dict(
        reported,
        pci=address,
        numa_node=tree.numa_node(address),
        root=tree.root(address),
        passthrough=_given_of(given, address),
        device_mode=_mode_of(given, address),
        vfs={"active": 0, "max": 0},
    )


def _given_of(given: Mapping[str, passthrough.Given], address: str) -> dict[str, bool]:
    state = given.get(address)
    return {"configured": bool(state and state.configured), "active": bool(state and state.active)}


def _mode_of(given: Mapping[str, passthrough.Given], address: str) -> dict[str, Any] | None:
    state = given.get(address)
    return device_mode.project(state.mode if state else None)


def _functions_of(given: Mapping[str, passthrough.Given], address: str) -> dict[str, int]:
    """Return the present virtual functions, and the maximum of the running firmware.

    The number is that of the adapter's own PCI capability; whether it is usable now depends on the BIOS too [unsure].
    """
    state = given.get(address)
    return {"active": state.vfs_active if state else 0, "max": state.vfs_max if state else 0}


def _is_mellanox(tree: pci.Tree, address: str) -> bool:
    device = tree.get(address)
    return device is not None and device.vendor == pci.MELLANOX


def _pending(
    row: Row,
    shown: graphics.Graphics | None,
    given: Mapping[str, passthrough.Given],
    settings: Mapping[str, kernel.Setting],
    modules: Iterable[module_state.Module],
    driver: Mapping[str, Any] | None,
) -> list[dict[str, str]]:
    waiting = list(graphics.pending(shown)) if shown else []
    waiting += passthrough.pending(given.values())
    waiting += kernel.pending(settings)
    for one in modules:
        waiting += module_state.pending(one)
    if driver and driver["family"] != "none" and not driver["loaded"]:
        waiting.append({"what": "driver", "needs": "reboot"})
    if row.get("summary.rebootRequired"):
        waiting.append({"what": "host", "needs": "reboot"})
    return sorted(waiting, key=lambda entry: entry["what"])
