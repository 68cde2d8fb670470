# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compares the site's settings for VMs, placement and data path with each other. Each problem has a fix."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import DIRECT_PATHS, creates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NO_NAME = re.compile(r"[/\x00-\x1f\x7f]")
PCI_IDS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}")
# Read only at the creation of a VM, so they have no effect where all VMs exist.
AT_CREATION = ("content_library", "customization", "datastore", "disk_gb", "folder", "metadata")
OF_ENTRY_AT_CREATION = ("datastore", "folder", "host")
# Maximum size of one virtual disk (configuration maximums of vSphere: 62 TB).
MOST_DISK_GB = 62 * 1024
# First hardware versions with these features (facts of vSphere 7.0 and 8.0; PVRDMA: vSphere networking guide).
HARDWARE_OF_PVRDMA = 13
HARDWARE_OF_DYNAMIC = 17
# From this version on, the protocol of a PVRDMA adapter must not be set.
HARDWARE_WITHOUT_PROTOCOL = 20
# vSphere 6.0, the oldest version that the supported releases offer.
OLDEST_HARDWARE = 11
# Site keys that set the same as an option of vm_shape.
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
    """Conflicts between all settings for VMs, placement and adapters."""
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
        yield (
            "site.machine: template and content_item are both set, and each is a source for new VMs. Remove one of "
            "them."
        )
    if machine["content_library"] and not machine["content_item"]:
        yield (
            f"site.machine.content_item: it is not set, so the library {machine['content_library']} has no effect. "
            "Name the item, or remove content_library."
        )
    if machine["customization"] and machine["metadata"]:
        yield (
            "site.machine: customization and metadata would both configure the guest at its first boot. Remove one "
            "of them: VMware Tools use customization, and cloud-init uses metadata."
        )
    secret = [key for key in machine["metadata"] if re.fullmatch(r"user[-_]?data", str(key).lower())]
    for key in secret:
        yield (
            f"site.machine.metadata.{key}: user data may contain secrets and does not belong into metadata. Put it "
            "as site_userdata into a vault."
        )
    if not 0 <= machine["disk_gb"] <= MOST_DISK_GB:
        yield (
            f"site.machine.disk_gb: {machine['disk_gb']} is not a valid size of a disk in vSphere. Use up to "
            f"{MOST_DISK_GB} (62 TB), or 0 to keep the size of the template."
        )
    if not 1 <= machine["wait_timeout_s"] <= 86400:
        yield f"site.machine.wait_timeout_s: {machine['wait_timeout_s']} is not a valid time. Use 1 to 86400 seconds."


def _creation(site: Mapping[str, Any]) -> Iterator[str]:
    if not site["cluster"]:
        yield "site.cluster: it is not set, and new VMs are created in it. Set it to the cluster of the hosts."
    for key, what in (
        ("memory_gb", "how much memory a host must have free"),
        ("cpus", "how many cores a host must have free"),
    ):
        if site["machine"][key] is None and any(entry[key] is None for entry in site["vms"]):
            yield f"site.machine.{key}: it is not set, and the placement needs to know {what}. Set it, such as " + (
                "64." if key == "memory_gb" else "16."
            )
    for index, entry in enumerate(site["vms"]):
        if entry["path"] and entry["folder"]:
            yield f"site.vms[{index}].folder: the path {entry['path']} already contains the folder. Remove one of them."


def _no_creation(site: Mapping[str, Any]) -> Iterator[str]:
    reason = (
        "it applies only to new VMs, but the site has no source for new VMs. Set site.machine.template, or remove it."
    )
    for key in AT_CREATION:
        if site["machine"][key]:
            yield f"site.machine.{key}: {reason}"
    for index, entry in enumerate(site["vms"]):
        for key in OF_ENTRY_AT_CREATION:
            if entry[key]:
                yield f"site.vms[{index}].{key}: {reason}"


def _leaving(site: Mapping[str, Any]) -> Iterator[str]:
    """Problems of the settings for VMs that left the site."""
    name, absent = site["name"], site["absent"]
    if name is not None and (not name.strip() or NO_NAME.search(name)):
        yield "site.name: it is empty, or contains slashes or control characters. Use a name such as lab."
    if site["prune"] != "report" and not name:
        yield (
            f"site.name: it is not set, and site.prune is {site['prune']}, which finds VMs of the site by its name. "
            "Set it, or use site.absent."
        )
    if (absent or site["prune"] != "report") and not site["cluster"]:
        yield "site.cluster: it is not set, and site.absent and site.prune need it. Set it to the cluster of the hosts."
    for one, times in Counter(absent).items():
        if not one.strip() or "/" in one:
            yield f"site.absent: {one or 'an empty text'} is not a valid VM name. Write the name without its folder."
        elif times > 1:
            yield f"site.absent: {one} is listed {times} times. List each VM once."


def _advanced(advanced: Mapping[str, Any]) -> Iterator[str]:
    others = {}
    for name, value in advanced.items():
        found = keys.find(str(name))
        if found and found[0].owner:
            yield f"site.machine.advanced: {name} has its own setting, {OWNERS[found[0].owner]}. Set that instead."
        else:
            others[str(name)] = value
    for problem in keys.wrong_keys(others):
        yield f"site.machine: {problem}"


def _size(key: str, shape: Mapping[str, Any], own: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Problems of a size; with own, only those that the entry itself adds."""
    cpus, cores, memory = (shape.get(name) for name in ("cpus", "cores_per_socket", "memory_gb"))
    given = shape if own is None else own
    for name in ("cpus", "cores_per_socket", "memory_gb"):
        if given.get(name) is not None and given[name] < 1:
            yield f"{key}.{name}: {given[name]} is not a valid number. Use at least 1, or remove it."
            return
    if cpus and cores and cpus % cores and (given.get("cpus") or given.get("cores_per_socket")):
        yield (
            f"{key}.cores_per_socket: {cpus} processors cannot be divided into sockets of {cores}. Use a number "
            f"that divides {cpus}, best the cores of one NUMA node."
        )
    if memory and memory > 24576 and given.get("memory_gb"):
        yield (
            f"{key}.memory_gb: {memory} exceeds the 24 TB that vSphere supports for one VM. Correct the number, which "
            "is in GB."
        )
    version = given.get("hardware_version")
    if own is None and version is not None and not OLDEST_HARDWARE <= version <= 99:
        yield (
            f"{key}.hardware_version: {version} is not a valid version. Use the number of vmx-20, at least "
            f"{OLDEST_HARDWARE}."
        )


def _placement(placement: Mapping[str, Any], vms: Sequence[Mapping[str, Any]], mode: str) -> Iterator[str]:
    if placement["policy"] == "packed" and placement["anti_affinity"]:
        yield (
            "site.placement: policy packed uses as few hosts as possible, but anti_affinity requires a host for "
            "each VM. Set anti_affinity to false, or use policy spread."
        )
    if placement["drs"] == "enabled" and not placement["rule"]:
        yield "site.placement.rule: it is empty, and the DRS rule needs a name. Set it, or set drs to ignore."
    if placement["automation"] == "fully_automated" and mode in ("vgpu", "mig"):
        yield (
            "site.placement.automation: fully_automated lets DRS move VMs with vGPUs automatically, which NVIDIA "
            "advises against. Use partially_automated or manual."
        )
    pinned = Counter(entry["host"] for entry in vms for dummy in range(entry["count"] or 1) if entry["host"])
    for host, count in pinned.items():
        if count > 1 and placement["anti_affinity"]:
            yield (
                f"site.vms: {count} VMs are pinned to the host {host}, but site.placement.anti_affinity requires a "
                "separate host for each VM. Pin them to different hosts, or set it to false."
            )


def _adapters(network: Mapping[str, Any], machine: Mapping[str, Any], made: bool) -> Iterator[str]:
    path, group, version = network["path"], network["portgroup"], machine["hardware_version"]
    if network["adapters"] < 1:
        yield f"site.network.adapters: {network['adapters']} is not a valid number of adapters. Use at least 1."
    if network["switch"] and not group:
        yield f"site.network.portgroup: it is not set, only its switch {network['switch']}. Set it to the port group."
    if made and path in ("pvrdma", "sriov") and not group:
        yield (
            f"site.network.portgroup: it is not set, and the adapters of the path {path} need a port group. Set it "
            "to a port group of the switch behind site.network.nics."
        )
    if path in directpath.WHOLE and group:
        yield (
            f"site.network.portgroup: {group} has no effect, because with the path {path} a VM has the port "
            "itself. Remove it, or use the path sriov."
        )
    if network["protocol"] != "auto" and path != "pvrdma":
        yield f"site.network.protocol: it is for PVRDMA, but the path is {path}. Remove it."
    elif network["protocol"] != "auto" and version and version >= HARDWARE_WITHOUT_PROTOCOL:
        yield (
            f"site.network.protocol: it cannot be set, because hardware version {version} has no protocol setting "
            f"for PVRDMA adapters. Remove it, or use a hardware version below {HARDWARE_WITHOUT_PROTOCOL}."
        )
    if path == "pvrdma" and version and version < HARDWARE_OF_PVRDMA:
        yield (
            f"site.machine.hardware_version: {version} has no PVRDMA adapters. Use {HARDWARE_OF_PVRDMA} or newer, "
            "or remove it."
        )


def _gpudirect(network: Mapping[str, Any]) -> Iterator[str]:
    if network["gpudirect"] != "enabled" or network["path"] in DIRECT_PATHS:
        return
    reason = {
        "pvrdma": "a PVRDMA adapter is not a PCIe device that a GPU can reach, so its traffic is staged through host "
        "memory",
        "tcp": "TCP uses the network stack of the guest",
    }[network["path"]]
    yield (
        f"site.network.gpudirect: it is enabled, but {reason}. Use the path directpath, sriov or passthrough, or "
        "remove it."
    )


def _direct(
    key: str, part: Mapping[str, Any], used: bool, word: str, site: Mapping[str, Any], chosen: bool
) -> Iterator[str]:
    """How devices are assigned to VMs; chosen: the placement determines their kinds."""
    own = [name for name in ("devices", "label") if part[name]]
    if not used:
        if own or part["assignment"] == "dynamic":
            named = " and ".join(own) or "assignment"
            yield f"{key}: {named} is for the {word} passthrough, which the site does not use. Remove it."
        return
    for device in part["devices"]:
        if not PCI_IDS.fullmatch(device):
            yield (
                f"{key}.devices: {device} is not a vendor and device ID. Write them as lspci -n prints them, such as "
                "10de:20f1."
            )
    if part["assignment"] == "static":
        if own:
            yield (
                f"{key}: {' and '.join(own)} applies only to dynamic assignment, but assignment is static. Set "
                "assignment to dynamic, or remove it."
            )
        return
    if not part["devices"] and not chosen:
        yield (
            f"{key}.devices: it is empty, so the host cannot choose a device. Set vendor and device ID, such as "
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
    mode = site["gpu"]["mode"]
    direct += [f"site.gpu.mode is {mode}"] if mode in directpath.WHOLE else []
    if direct:
        yield (
            f"site.gpu.memory_reservation: it is ignore, but {' and '.join(direct)}, and a VM with a passed-through "
            "device powers on only with all its memory reserved. Remove it."
        )
