# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A capture in the terms of the trade: hosts with their GPUs and ports, VMs, networks, switches. None is unknown."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator
from xml.etree import ElementTree

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

    # Reads the outputs of a platform. The package fabric is above this one, so its callers hand it in.
    Parse = Callable[[str, Dict[str, str]], Switch]

_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
# Words in the names of NVIDIA's VIBs for hosts: the management daemon is no driver.
_DRIVER = re.compile(r"(?:NVD|NVIDIA)[-_].*(?:Driver|AIE|VMware|VGPU)", re.IGNORECASE)
# A capture can come from anybody, so any value can have any type.
_STRANGE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_NVIDIA = "NVIDIA"
_FABRIC_DRIVERS = ("nmlx5_core",)


@dataclass
class Gpu:
    """A GPU of a host."""

    address: str
    name: str | None = None
    graphics_type: str | None = None
    configured_type: str | None = None
    vgpu_mode: str | None = None


@dataclass
class Nic:
    """A port of a host. One in passthrough mode is no vmnic, and not here."""

    device: str
    address: str | None = None
    driver: str | None = None
    driver_version: str | None = None
    firmware: str | None = None
    speed_mb: int | None = None
    switch: str | None = None
    mtu: int | None = None
    rdma: bool = False

    @property
    def is_fabric(self) -> bool:
        """Whether the port can carry RoCE."""
        return self.driver in _FABRIC_DRIVERS


@dataclass
class Vmknic:
    """A VMkernel port."""

    device: str
    portgroup: str | None = None
    mtu: int | None = None


@dataclass
class Host:
    """A host as it was read."""

    name: str
    read: bool = False  # whether its configuration was read
    cluster: str | None = None
    uuid: str | None = None
    version: str | None = None
    build: str | None = None
    vendor: str | None = None
    model: str | None = None
    bios: str | None = None
    memory_gb: int | None = None
    cores: int | None = None
    maintenance: bool | None = None
    driver: str | None = None
    gpus: dict[str, Gpu] = field(default_factory=dict)
    nics: dict[str, Nic] = field(default_factory=dict)
    vmknics: dict[str, Vmknic] = field(default_factory=dict)
    device_ids: dict[str, int] = field(default_factory=dict)
    passthrough: dict[str, str] = field(default_factory=dict)
    vgpu_types: list[str] = field(default_factory=list)
    bmc: str | None = None


@dataclass
class Vm:
    """A VM or a template."""

    name: str
    read: bool = False  # whether its configuration was read
    template: bool = False
    host: str | None = None
    folder: str | None = None
    power: str | None = None
    cpus: int | None = None
    memory_mb: int | None = None
    reserved_mb: int | None = None
    firmware: str | None = None
    hardware: str | None = None
    gpus: list[str] = field(default_factory=list)
    networks: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)


@dataclass
class Portgroup:
    """A port group of a distributed switch."""

    name: str
    switch: str | None = None
    vlan: str | None = None
    mtu: int | None = None
    uplink: bool = False


@dataclass
class Item:
    """An item of a content library."""

    kind: str | None = None
    size: int | None = None
    template: str | None = None


@dataclass
class Site:
    """All of a capture that other parts compare or write."""

    release: str | None = None
    hosts: dict[str, Host] = field(default_factory=dict)
    vms: dict[str, Vm] = field(default_factory=dict)
    portgroups: dict[str, Portgroup] = field(default_factory=dict)
    dvs_mtu: dict[str, int | None] = field(default_factory=dict)
    clusters: dict[str, str | None] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)  # by the names of the library and the item
    datacenters: list[str] = field(default_factory=list)
    datastores: list[str] = field(default_factory=list)
    switches: dict[str, Switch] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)  # switches that were asked, without readable answers


class _Node:
    """An element, with paths of the API."""

    def __init__(self, element: ElementTree.Element) -> None:
        self._element = element
        self.kind = (element.get(_TYPE) or "").rpartition(":")[2]
        self.value = (element.text or "").strip()

    def all(self, path: str) -> list[_Node]:
        found = [self._element]
        for name in path.split("."):
            found = [child for one in found for child in one.findall(name)]
        return [_Node(one) for one in found]

    def text(self, path: str) -> str | None:
        found = self.all(path)
        return found[0].value if found else None

    def texts(self, path: str) -> list[str]:
        return [one.value for one in self.all(path)]

    def number(self, path: str) -> int | None:
        text = self.text(path)
        return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


def _objects(capture: Capture) -> dict[str, list[tuple[str, _Node]]]:
    """The objects by kind, each with its identifier. Properties are children of the node."""
    found: dict[str, list[tuple[str, _Node]]] = {}
    for name in sorted(capture.files):
        if not (name.startswith("vcenter/") and name.endswith(".xml")):
            continue
        if b"<!DOCTYPE" in capture.files[name]:
            # Entities of a document type can expand without limit. A capture has none.
            continue
        try:
            root = ElementTree.fromstring(capture.files[name])
        except ElementTree.ParseError as error:
            raise trouble.damaged(capture.path, f"{name} is not XML: {error}.") from error
        own = root.find("obj")
        if own is None:
            continue
        made = ElementTree.Element("object")
        for prop in root.findall("propSet"):
            value = prop.find("val")
            if value is None:
                continue
            for one in value if (value.get(_TYPE) or "").startswith("ArrayOf") else (value,):
                copy = ElementTree.SubElement(made, prop.findtext("name") or "", one.attrib)
                copy.text = one.text
                copy.extend(list(one))
        found.setdefault(own.get("type") or "", []).append((own.text or "", _Node(made)))
    return found


def read(capture: Capture, parse: Parse) -> Site:
    """The site of a capture."""
    try:
        return _site(capture, parse)
    except _STRANGE as error:
        raise trouble.damaged(
            capture.path, f"A file in it does not have the form of a capture: {type(error).__name__}: {error}."
        ) from error


def _site(capture: Capture, parse: Parse) -> Site:
    objects = _objects(capture)
    names = {moid: node.text("name") or moid for found in objects.values() for moid, node in found}
    parents = {moid: node.text("parent") for found in objects.values() for moid, node in found}
    site = Site(release=(capture.manifest.get("vcenter") or {}).get("version"))
    for moid, node in objects.get("ClusterComputeResource", []):
        enabled = node.text("configurationEx.drsConfig.enabled")
        level = node.text("configurationEx.drsConfig.defaultVmBehavior")
        site.clusters[names[moid]] = "off" if enabled == "false" else level
    site.datacenters = [names[moid] for moid, _node in objects.get("Datacenter", [])]
    site.datastores = [names[moid] for moid, _node in objects.get("Datastore", [])]
    for kind in ("DistributedVirtualSwitch", "VmwareDistributedVirtualSwitch"):
        for moid, node in objects.get(kind, []):
            site.dvs_mtu[names[moid]] = node.number("config.maxMtu")
    for moid, node in objects.get("DistributedVirtualPortgroup", []):
        site.portgroups[names[moid]] = _portgroup(node, names[moid], names, site)
    for moid, node in objects.get("HostSystem", []):
        site.hosts[names[moid]] = _host(capture, node, names[moid], names)
        site.hosts[names[moid]].cluster = names.get(parents.get(moid) or "")
    for moid, node in objects.get("VirtualMachine", []):
        site.vms[names[moid]] = _vm(node, names[moid], names, parents.get(moid))
    _items(capture, site, names)
    _bmcs(capture, site)
    _switches(capture, site, parse)
    return site


def uuids(capture: Capture) -> set[str]:
    """The identifiers of the hosts."""
    found = (node.text("hardware.systemInfo.uuid") for _moid, node in _objects(capture).get("HostSystem", []))
    return {one for one in found if one}


def _portgroup(node: _Node, name: str, names: dict[str, str], site: Site) -> Portgroup:
    switch = names.get(node.text("config.distributedVirtualSwitch") or "")
    vlan = next(iter(node.all("config.defaultPortConfig.vlan")), None)
    text = None
    if vlan is not None:
        text = vlan.text("vlanId") if not vlan.all("vlanId.start") else None
        if text is None or not text:
            text = ",".join(f"{one.text('start')}-{one.text('end')}" for one in vlan.all("vlanId")) or None
    uplink = node.text("config.uplink") == "true" or bool(vlan is not None and vlan.all("vlanId.start"))
    return Portgroup(name, switch, text, site.dvs_mtu.get(switch or ""), uplink)


def _host(capture: Capture, node: _Node, name: str, names: dict[str, str]) -> Host:
    memory, maintenance = node.number("hardware.memorySize"), node.text("runtime.inMaintenanceMode")
    made = Host(
        name,
        read=bool(node.all("config")),
        uuid=node.text("hardware.systemInfo.uuid"),
        version=node.text("config.product.version"),
        build=node.text("config.product.build"),
        vendor=node.text("hardware.systemInfo.vendor"),
        model=node.text("hardware.systemInfo.model"),
        bios=node.text("hardware.biosInfo.biosVersion"),
        memory_gb=None if memory is None else memory // 1024**3,
        cores=node.number("hardware.cpuInfo.numCpuCores"),
        maintenance=None if maintenance is None else maintenance == "true",
        driver=_driver(capture, name),
        vgpu_types=node.texts("config.sharedPassthruGpuTypes"),
    )
    configured = {
        one.text("deviceId"): one.text("graphicsType") for one in node.all("config.graphicsConfig.deviceType")
    }
    for one in node.all("config.graphicsInfo"):
        address = one.text("pciId") or ""
        if _NVIDIA in (one.text("vendorName") or ""):
            made.gpus[address] = Gpu(
                address, one.text("deviceName"), one.text("graphicsType"), configured.get(address), one.text("vgpuMode")
            )
    devices = {one.text("id"): one.text("deviceName") or "" for one in node.all("hardware.pciDevice")}
    made.device_ids = {
        one.text("id") or "": (one.number("deviceId") or 0) & 0xFFFF for one in node.all("hardware.pciDevice")
    }
    for one in node.all("config.pciPassthruInfo"):
        device = devices.get(one.text("id"), "")
        if one.text("passthruActive") == "true" and "Virtual Function" not in device:
            made.passthrough[one.text("id") or ""] = device
    switches = {
        key: (switch.text("dvsName") or switch.text("name"), switch.number("mtu"))
        for path in ("config.network.vswitch", "config.network.proxySwitch")
        for switch in node.all(path)
        for key in switch.texts("pnic")
    }
    rdma = set(node.texts("config.network.rdmaDevice.backing.pairedUplink"))
    for one in node.all("config.network.pnic"):
        key, device = one.text("key") or "", one.text("device") or ""
        switch, mtu = switches.get(key, (None, None))
        made.nics[device] = Nic(
            device,
            one.text("pci"),
            one.text("driver"),
            one.text("driverVersion"),
            one.text("firmwareVersion"),
            one.number("linkSpeed.speedMb"),
            switch,
            mtu,
            key in rdma,
        )
    for one in node.all("config.network.vnic"):
        group = names.get(one.text("spec.distributedVirtualPort.portgroupKey") or "") or one.text("portgroup")
        made.vmknics[one.text("device") or ""] = Vmknic(one.text("device") or "", group or None, one.number("spec.mtu"))
    return made


def _driver(capture: Capture, host: str) -> str | None:
    """The host driver by its VIB, or an empty text if there is none."""
    for rows in _esxcli(capture, host, "software vib list"):
        found = [one for one in rows if _DRIVER.match(str(one.get("name", "")))]
        return " ".join(f"{one.get('name')} {one.get('version')}" for one in found)
    return None


def _esxcli(capture: Capture, host: str, words: str) -> Iterator[list[dict[str, Any]]]:
    """The rows of a command of esxcli, with keys in lower case without blanks."""
    for folder in (f"hosts/{host}/esxcli/", f"hosts/{host}/shell/"):
        listed = capture.files.get(f"{folder}commands.json")
        for one in json.loads(listed)["commands"] if listed else ():
            if words in one["command"] and "esxcli" in one["command"] and one.get("file"):
                rows = json.loads(capture.files[folder + one["file"]])
                yield [
                    {re.sub(r"[^a-z0-9]", "", key.lower()): value for key, value in row.items()}
                    for row in (rows if isinstance(rows, list) else [rows])
                ]


def _vm(node: _Node, name: str, names: dict[str, str], parent: str | None) -> Vm:
    gpus, networks = [], []
    for one in node.all("config.hardware.device"):
        if one.kind == "VirtualPCIPassthrough":
            gpus.append(one.text("backing.vgpu") or "passthrough device")
        key = one.text("backing.port.portgroupKey") or one.text("backing.network")
        if key:
            networks.append(names.get(key, key))
    return Vm(
        name,
        read=bool(node.all("config")),
        template=node.text("config.template") == "true",
        host=names.get(node.text("runtime.host") or ""),
        folder=names.get(parent or ""),
        power=node.text("runtime.powerState"),
        cpus=node.number("config.hardware.numCPU"),
        memory_mb=node.number("config.hardware.memoryMB"),
        reserved_mb=node.number("resourceConfig.memoryAllocation.reservation"),
        firmware=node.text("config.firmware"),
        hardware=node.text("config.version"),
        gpus=gpus,
        networks=networks,
        settings={
            one.text("key") or "": one.text("value") or ""
            for one in node.all("config.extraConfig")
            if (one.text("key") or "").startswith(("pciPassthru", "numa.", "sched."))
        },
    )


def _items(capture: Capture, site: Site, names: dict[str, str]) -> None:
    """The items of content libraries."""
    for name in sorted(capture.files):
        found = re.fullmatch(r"(rest/api/content/library/\d+)(/item/\d+)\.json", name)
        if not found:
            continue
        library, item = (_json(capture, f"{path}.json") for path in (found[1], found[1] + found[2]))
        behind = _json(capture, f"{found[1]}{found[2]}/template.json").get("vm_template")
        size = item.get("size")
        site.items[f"{library.get('name')}/{item.get('name')}"] = Item(
            item.get("type"), size if isinstance(size, int) else None, names.get(str(behind))
        )


def _json(capture: Capture, name: str) -> dict[str, Any]:
    """A file with an object; an empty one for another file."""
    try:
        found = json.loads(capture.files.get(name, b"{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _bmcs(capture: Capture, site: Site) -> None:
    """The BMC of each host: the identifier of its system is that of the host."""
    hosts = {one.uuid.lower(): one for one in site.hosts.values() if one.uuid and one.uuid.strip("0-")}
    for name, text in capture.files.items():
        found = re.fullmatch(r"bmcs/([^/]+)/redfish/v1/Systems/[^/]+/index\.json", name)
        system = json.loads(text) if found else None
        host = hosts.get(str(system.get("UUID") or "").lower()) if isinstance(system, dict) else None
        if found and host is not None:
            host.bmc = found[1]


def _switches(capture: Capture, site: Site, parse: Parse) -> None:
    asked = (re.match(r"switch ([^/]+)", label) for label in capture.manifest["coverage"])
    site.unreadable = sorted({found[1] for found in asked if found})
    for name in sorted(capture.files):
        if not (name.startswith("switches/") and name.endswith("/commands.json")):
            continue
        folder, own = name[: -len("commands.json")], name.split("/")[1]
        about = json.loads(capture.files[name])
        texts = {
            one["command"]: capture.files[folder + one["file"]].decode("utf-8", "replace")
            for one in about["commands"]
            if one.get("file") and folder + one["file"] in capture.files
        }
        try:
            switch = parse(about.get("platform") or "", texts)
        except (OperatorError, LookupError, ValueError, TypeError, AttributeError):
            # Outputs of a release that the reader does not know.
            continue
        site.unreadable = [one for one in site.unreadable if one != own]
        switch.version = switch.version or about.get("version")
        switch.model = switch.model or about.get("model")
        site.switches[own] = switch
