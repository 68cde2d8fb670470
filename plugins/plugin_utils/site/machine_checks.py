# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a site says of its VMs, their place and their data path, compared with itself; each problem names a way out."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import DIRECT_PATHS, creates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NO_NAME = re.compile(r"[/\x00-\x1f\x7f]")
PCI_IDS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}")
# Read only when a VM is made, so that they mean nothing where all VMs exist.
AT_CREATION = ("content_library", "customization", "datastore", "disk_gb", "folder", "metadata")
OF_ENTRY_AT_CREATION = ("datastore", "folder", "host")
# Of one virtual disk (configuration maximums of vSphere: 62 TB).
MOST_DISK_GB = 62 * 1024
# Hardware versions from which vSphere takes them (facts of vSphere 7.0 and 8.0; PVRDMA: vSphere networking guide).
HARDWARE_OF_PVRDMA = 13
HARDWARE_OF_DYNAMIC = 17
# From this one on, the protocol of a PVRDMA adapter is not to be set.
HARDWARE_WITHOUT_PROTOCOL = 20
# vSphere 6.0, the oldest that any of its releases in support offers.
OLDEST_HARDWARE = 11
# Where a site says what an option of vm_shape would set.
OWNERS = {
    "cores_per_socket": "site.machine.cores_per_socket",
    "cpu_reservation_mhz": "site.machine.latency_sensitivity",
    "gpudirect": "site.network.gpudirect",
    "latency_sensitivity": "site.machine.latency_sensitivity",
    "memory_reservation": "site.gpu.memory_reservation",
    "mmio": "site.gpu.mmio",
    "mmio_size_gb": "site.gpu.mmio_size_gb",
    "numa_nodes": "site.machine.numa",
}


def machine_problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Everything about the VMs, their place and their adapters that contradicts itself."""
    made = creates(site)
    yield from _source(site["machine"])
    yield from _creation(site) if made else _no_creation(site)
    yield from _leaving(site)
    yield from _advanced(site["machine"]["advanced"])
    yield from _size("site.machine", site["machine"])
    for index, entry in enumerate(site["vms"]):
        yield from _size(f"site.vms[{index}]", {**site["machine"], **_given(entry)}, _given(entry))
    yield from _placement(site["placement"], site["vms"], site["gpu"]["mode"])
    yield from _adapters(site["network"], site["machine"], made)
    yield from _gpudirect(site["network"])
    yield from _direct("site.network", site["network"], site["network"]["path"] == "passthrough", "path", site, made)
    yield from _direct(
        "site.gpu.passthrough", site["gpu"]["passthrough"], site["gpu"]["mode"] == "passthrough", "mode", site, False
    )
    yield from _reservation(site)


def _given(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value is not None}


def _source(machine: Mapping[str, Any]) -> Iterator[str]:
    if machine["template"] and machine["content_item"]:
        yield "site.machine: template and content_item both say what VMs are created from. Remove one of them."
    if machine["content_library"] and not machine["content_item"]:
        yield (
            "site.machine.content_item: it is not set, so nothing is taken from the library "
            f"{machine['content_library']}. Name the item, or remove content_library."
        )
    if machine["customization"] and machine["metadata"]:
        yield (
            "site.machine: customization and metadata would both set up the guest at its first boot. Remove one of "
            "them: customization is VMware Tools' way, metadata that of cloud-init."
        )
    secret = [key for key in machine["metadata"] if re.fullmatch(r"user[-_]?data", str(key).lower())]
    for key in secret:
        yield (
            f"site.machine.metadata.{key}: user data is no metadata, and holds secrets. Put it as site_userdata into a "
            "vault."
        )
    if not 0 <= machine["disk_gb"] <= MOST_DISK_GB:
        yield (
            f"site.machine.disk_gb: {machine['disk_gb']} is no size of a disk in vSphere. Use up to {MOST_DISK_GB} (62 "
            "TB), or 0 to keep the size of the template."
        )
    if not 1 <= machine["wait_timeout_s"] <= 86400:
        yield f"site.machine.wait_timeout_s: {machine['wait_timeout_s']} is no time to wait. Use 1 to 86400 seconds."


def _creation(site: Mapping[str, Any]) -> Iterator[str]:
    if not site["cluster"]:
        yield "site.cluster: it is not set, and VMs are created in it. Name the cluster of the hosts."
    for key, what in (("memory_gb", "how much memory a host has to have free"), ("cpus", "how many cores")):
        if site["machine"][key] is None and any(entry[key] is None for entry in site["vms"]):
            yield f"site.machine.{key}: it is not set, and the placement has to know {what}. Set it, such as " + (
                "64." if key == "memory_gb" else "16."
            )
    for index, entry in enumerate(site["vms"]):
        if entry["path"] and entry["folder"]:
            yield f"site.vms[{index}].folder: the path {entry['path']} names the folder already. Remove one of them."


def _no_creation(site: Mapping[str, Any]) -> Iterator[str]:
    reason = "it acts when a VM is created, but nothing says from what. Name site.machine.template, or remove it."
    for key in AT_CREATION:
        if site["machine"][key]:
            yield f"site.machine.{key}: {reason}"
    for index, entry in enumerate(site["vms"]):
        for key in OF_ENTRY_AT_CREATION:
            if entry[key]:
                yield f"site.vms[{index}].{key}: {reason}"


def _leaving(site: Mapping[str, Any]) -> Iterator[str]:
    """What a site says of VMs that left it."""
    name, absent = site["name"], site["absent"]
    if name is not None and (not name.strip() or NO_NAME.search(name)):
        yield "site.name: it has to be a name without slashes and control characters, such as lab. Correct it."
    if site["prune"] != "report" and not name:
        yield (
            f"site.name: it is not set, and site.prune is {site['prune']}, which recognises VMs of the site by its "
            "name. Set it, or use site.absent."
        )
    if (absent or site["prune"] != "report") and not site["cluster"]:
        yield "site.cluster: it is not set, and site.absent and site.prune need it. Name the cluster of the hosts."
    for one, times in Counter(absent).items():
        if not one.strip() or "/" in one:
            yield f"site.absent: {one or 'an empty text'} is no name of a VM. Write the name without its folder."
        elif times > 1:
            yield f"site.absent: {one} is named {times} times. Name each VM once."


def _advanced(advanced: Mapping[str, Any]) -> Iterator[str]:
    others = {}
    for name, value in advanced.items():
        found = keys.find(str(name))
        if found and found[0].owner:
            yield f"site.machine.advanced: {name} is what {OWNERS[found[0].owner]} is for. Set that instead."
        else:
            others[str(name)] = value
    for problem in keys.wrong_keys(others):
        yield f"site.machine: {problem}"


def _size(key: str, shape: Mapping[str, Any], own: Mapping[str, Any] | None = None) -> Iterator[str]:
    """What is wrong with a size; with own, only what an entry itself brings in."""
    cpus, cores, memory = (shape.get(name) for name in ("cpus", "cores_per_socket", "memory_gb"))
    given = shape if own is None else own
    for name in ("cpus", "cores_per_socket", "memory_gb"):
        if given.get(name) is not None and given[name] < 1:
            yield f"{key}.{name}: {given[name]} is none. Use at least 1, or leave it out."
            return
    if cpus and cores and cpus % cores and (given.get("cpus") or given.get("cores_per_socket")):
        yield (
            f"{key}.cores_per_socket: {cpus} processors cannot be put into sockets of {cores}. Use a number that "
            f"divides {cpus}, best the cores of one NUMA node."
        )
    if memory and memory > 24576 and given.get("memory_gb"):
        yield f"{key}.memory_gb: {memory} is more than vSphere gives one VM (24 TB). It is a number of GB; correct it."
    version = given.get("hardware_version")
    if own is None and version is not None and not OLDEST_HARDWARE <= version <= 99:
        yield f"{key}.hardware_version: {version} is none. It is the number in vmx-20, from {OLDEST_HARDWARE} on."


def _placement(placement: Mapping[str, Any], vms: Sequence[Mapping[str, Any]], mode: str) -> Iterator[str]:
    if placement["policy"] == "packed" and placement["anti_affinity"]:
        yield (
            "site.placement: policy packed wants as few hosts as possible, anti_affinity a host for each VM. Set "
            "anti_affinity to false, or use policy spread."
        )
    if placement["drs"] == "enabled" and not placement["rule"]:
        yield "site.placement.rule: the rule of DRS has no name. Name it, or set drs to ignore."
    if placement["automation"] == "fully_automated" and mode in ("vgpu", "mig"):
        yield (
            "site.placement.automation: fully_automated lets DRS move VMs with vGPUs by itself, which NVIDIA advises "
            "against. Use partially_automated or manual."
        )
    pinned = Counter(entry["host"] for entry in vms for dummy in range(entry["count"] or 1) if entry["host"])
    for host, count in pinned.items():
        if count > 1 and placement["anti_affinity"]:
            yield (
                f"site.vms: {count} VMs shall be on the host {host}, but site.placement.anti_affinity gives each VM "
                "a host of its own. Pin them to different hosts, or set it to false."
            )


def _adapters(network: Mapping[str, Any], machine: Mapping[str, Any], made: bool) -> Iterator[str]:
    path, group, version = network["path"], network["portgroup"], machine["hardware_version"]
    if network["adapters"] < 1:
        yield f"site.network.adapters: {network['adapters']} is no number of adapters. Use at least 1."
    if network["switch"] and not group:
        yield f"site.network.portgroup: it is not set, only its switch {network['switch']}. Name the port group."
    if made and path in ("pvrdma", "sriov") and not group:
        yield (
            f"site.network.portgroup: it is not set, and the adapters of the path {path} have to be connected to "
            "one. Name a port group of the switch behind site.network.nics."
        )
    if path == "passthrough" and group:
        yield (
            f"site.network.portgroup: {group} would be used by nobody, since with the path passthrough a VM has the "
            "port itself. Remove it, or use the path sriov."
        )
    if network["protocol"] != "auto" and path != "pvrdma":
        yield f"site.network.protocol: it is for PVRDMA, but the path is {path}. Remove it."
    elif network["protocol"] != "auto" and version and version >= HARDWARE_WITHOUT_PROTOCOL:
        yield (
            f"site.network.protocol: with hardware version {version}, the protocol of PVRDMA adapters is not set any "
            f"more. Remove it, or use a hardware version below {HARDWARE_WITHOUT_PROTOCOL}."
        )
    if path == "pvrdma" and version and version < HARDWARE_OF_PVRDMA:
        yield (
            f"site.machine.hardware_version: {version} has no PVRDMA adapters. Use {HARDWARE_OF_PVRDMA} or newer, or "
            "leave it out."
        )


def _gpudirect(network: Mapping[str, Any]) -> Iterator[str]:
    if network["gpudirect"] != "enabled" or network["path"] in DIRECT_PATHS:
        return
    reason = {
        "pvrdma": "a PVRDMA adapter is no PCIe device that a GPU can reach, so that its traffic is staged through "
        "the memory of the host",
        "tcp": "TCP goes through the network stack of the guest",
    }[network["path"]]
    yield (f"site.network.gpudirect: it is enabled, but {reason}. Use the path sriov or passthrough, or remove it.")


def _direct(
    key: str, part: Mapping[str, Any], used: bool, word: str, site: Mapping[str, Any], chosen: bool
) -> Iterator[str]:
    """How devices are given to VMs; chosen: the placement tells their kinds."""
    own = [name for name in ("devices", "label") if part[name]]
    if not used:
        if own or part["assignment"] == "dynamic":
            named = " and ".join(own) or "assignment"
            yield f"{key}: {named} is for the {word} passthrough, which the site does not have. Remove it."
        return
    for device in part["devices"]:
        if not PCI_IDS.fullmatch(device):
            yield f"{key}.devices: {device} is no vendor and device. Write them as lspci -n does, such as 10de:20f1."
    if part["assignment"] == "static":
        if own:
            yield (
                f"{key}: {' and '.join(own)} is looked at when the host chooses, but assignment is static. Set "
                "assignment to dynamic, or remove it."
            )
        return
    if not part["devices"] and not chosen:
        yield (
            f"{key}.devices: it is empty, so the host has nothing to choose from. Name vendor and device, such as "
            "10de:20f1."
        )
    version = site["machine"]["hardware_version"]
    if version and version < HARDWARE_OF_DYNAMIC:
        yield (
            f"{key}.assignment: dynamic needs hardware version {HARDWARE_OF_DYNAMIC}, but "
            f"site.machine.hardware_version is {version}. Raise it, or use static."
        )


def _reservation(site: Mapping[str, Any]) -> Iterator[str]:
    if site["gpu"]["memory_reservation"] == "all":
        return
    direct = [f"site.network.path is {site['network']['path']}"] if site["network"]["path"] in DIRECT_PATHS else []
    direct += ["site.gpu.mode is passthrough"] if site["gpu"]["mode"] == "passthrough" else []
    if direct:
        yield (
            f"site.gpu.memory_reservation: it is ignore, but {' and '.join(direct)}, and a VM with a device of its "
            "own is not powered on without all of its memory reserved. Leave it out."
        )
