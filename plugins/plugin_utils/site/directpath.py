# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""DirectPath of a site: its meaning for the roles, which know passthrough devices only, and its conflicts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DIRECTPATH = "directpath"
# Modes whose VMs have whole GPUs, and paths whose VMs have whole ports.
WHOLE = ("passthrough", DIRECTPATH)
# Other paths whose running VMs cannot move.
BOUND_PATHS = ("sriov", "passthrough")
# First hardware version with device groups and with Enhanced DirectPath I/O, and the first that allows several GPUs
# beside each other in any server.
HARDWARE_OF_GROUPS = 20
KINDS = {"group": "a device group", "dvx": "Enhanced DirectPath I/O"}
# Multi-vGPU guide of NVIDIA AI Enterprise 2.0, for vSphere 7.
MOST_BEFORE_GROUPS = 4
# The most passthrough devices of a VM from hardware version 20 on, and before (vSphere 8.0 release notes).
MOST_DEVICES = 32
ASSIGNMENTS = {"labels": "dynamic", "group": "group", "dvx": "dvx"}
DVX = "dvx"
# Names such as Nvidia:2@grid_a100-40c%NVLink have the number of GPUs, and what joins them [unsure: the form].
_GROUP = re.compile(r"[^:@%]+:(\d+)@")
NVLINK = "%nvlink"


def lowered(site: Any) -> Any:
    """A validated site in the words of the roles: directpath is passthrough with an assignment at power-on."""
    if not isinstance(site, dict):
        return site
    gpu, network, requested = site["gpu"], site["network"], site["directpath"]
    assignment = ASSIGNMENTS[requested["assignment"]]
    if gpu["mode"] == DIRECTPATH:
        gpu = dict(gpu, mode="passthrough", passthrough=dict(gpu["passthrough"], assignment=assignment))
    if network["path"] == DIRECTPATH:
        network = dict(network, path="passthrough", assignment=assignment)
    return dict(site, gpu=gpu, network=network)


def uses(site: Mapping[str, Any]) -> bool:
    """Whether any device of a validated site comes by DirectPath."""
    return DIRECTPATH in (site["gpu"]["mode"], site["network"]["path"])


def pairs(site: Mapping[str, Any]) -> bool:
    """Whether the VMs of a validated site have a GPU and a port by DirectPath."""
    return site["gpu"]["mode"] == site["network"]["path"] == DIRECTPATH


def label(site: Mapping[str, Any]) -> str:
    """The beginning of the hardware labels, empty without them."""
    requested = site["directpath"]
    return requested["label"] if uses(site) and requested["assignment"] == "labels" else ""


def group(site: Mapping[str, Any]) -> str:
    """The vendor device group that a VM requests, empty without one."""
    requested = site["directpath"]
    return requested["group"] or "" if uses(site) and requested["assignment"] == "group" else ""


def gpus_of_group(name: str) -> int:
    """The number of GPUs of a vendor device group, by its name; 1 if the name has none."""
    found = _GROUP.match(name.strip())
    return max(1, int(found.group(1))) if found else 1


def by_nvlink(name: str) -> bool:
    """Whether a vendor device group has GPUs with NVLink, and no port."""
    return name.strip().lower().endswith(NVLINK)


def gpus_of_set(site: Mapping[str, Any]) -> int:
    """The number of GPUs of an NVLink set that a VM requests by its device group; 0 if all its GPUs are one set."""
    requested = site["directpath"]
    name = requested["group"] or "" if requested["assignment"] == "group" else ""
    size = gpus_of_group(name) if by_nvlink(name) else 0
    return size if size > 1 else 0


def classes(site: Mapping[str, Any]) -> dict[str, str]:
    """The device classes of Enhanced DirectPath I/O by device, gpu and nic; empty without it."""
    requested = site["directpath"]
    if requested["assignment"] != DVX:
        return {}
    found = {}
    if site["gpu"]["mode"] == DIRECTPATH:
        found["gpu"] = requested["gpu_class"] or ""
    if site["network"]["path"] == DIRECTPATH:
        found["nic"] = requested["port_class"] or ""
    return found


def requires_vmotion(site: Mapping[str, Any]) -> bool:
    """Whether the running VMs of a validated site must be able to move."""
    return uses(site) and site["directpath"]["vmotion"] == "required"


def problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts of DirectPath, NVLink and the licence with the other settings."""
    yield from _directpath(site)
    yield from _nvlink(site)
    yield from _licence(site)


def _directpath(site: Mapping[str, Any]) -> Iterator[str]:
    gpu, requested = site["gpu"], site["directpath"]
    mode, path, version = gpu["mode"], site["network"]["path"], site["machine"]["hardware_version"]
    if not uses(site):
        if any(requested[key] for key in ("group", "gpu_class", "port_class")) or requested["assignment"] != "labels":
            yield (
                "site.directpath: it has no effect, because neither gpu.mode nor network.path is directpath. Set them "
                "to directpath, or remove it."
            )
        return
    if requested["assignment"] == "group":
        if not requested["group"]:
            yield (
                "site.directpath.group: it is not set, and assignment is group. Set it to a device group that vSphere "
                "shows for the hosts."
            )
        if by_nvlink(requested["group"] or ""):
            yield from _nvlink_group(site)
        elif (mode, path) != (DIRECTPATH, DIRECTPATH):
            yield (
                "site.directpath.assignment: a device group has the GPUs and the ports of a VM, but gpu.mode is "
                f"{mode} and network.path is {path}. Set both to directpath, or use labels."
            )
        size, count = gpus_of_group(requested["group"] or ""), gpu["per_vm"]
        if mode == DIRECTPATH and count % size:
            yield (
                f"site.gpu.per_vm: it is {count}, but the device group {requested['group']} has {size} GPUs. Set "
                f"per_vm to a multiple of {size}, or use another group."
            )
    elif requested["group"]:
        yield (
            f"site.directpath.group: it has no effect, because assignment is {requested['assignment']}. Set assignment "
            "to group, or remove it."
        )
    yield from _enhanced(site)
    if requested["assignment"] == "labels" and not requested["label"].strip():
        yield "site.directpath.label: it is empty, so GPUs and ports could not be paired. Set it, such as aiready."
    if requested["assignment"] in KINDS and version and version < HARDWARE_OF_GROUPS:
        yield (
            f"site.directpath.assignment: {KINDS[requested['assignment']]} needs hardware version "
            f"{HARDWARE_OF_GROUPS}, but site.machine.hardware_version is {version}. Raise it, or use labels."
        )
    if mode == DIRECTPATH and version and version < HARDWARE_OF_GROUPS and gpu["per_vm"] > MOST_BEFORE_GROUPS:
        yield (
            f"site.gpu.per_vm: {gpu['per_vm']} GPUs per VM need hardware version {HARDWARE_OF_GROUPS}, but "
            f"site.machine.hardware_version is {version}, with which NVIDIA supports {MOST_BEFORE_GROUPS} by dynamic "
            "DirectPath. Raise it, lower per_vm, or use passthrough with a static assignment."
        )
    devices = (gpu["per_vm"] if mode == DIRECTPATH else 0) + (site["network"]["adapters"] if path == DIRECTPATH else 0)
    if devices > MOST_DEVICES:
        yield (
            f"site.gpu.per_vm: {devices} devices per VM exceed the {MOST_DEVICES} that vSphere supports. Lower per_vm "
            "or site.network.adapters."
        )


def _nvlink_group(site: Mapping[str, Any]) -> Iterator[str]:
    """A group of GPUs with NVLink has no port, and a VM gets whole groups."""
    name, mode, path = site["directpath"]["group"], site["gpu"]["mode"], site["network"]["path"]
    if mode != DIRECTPATH:
        yield (
            f"site.directpath.group: {name} has GPUs, but gpu.mode is {mode}. Set it to directpath, or remove the "
            "group."
        )
    if path == DIRECTPATH:
        yield (
            f"site.directpath.group: {name} has no port, but network.path is directpath, whose ports come with the "
            "group. Set network.path to sriov, passthrough, pvrdma or tcp."
        )


def _enhanced(site: Mapping[str, Any]) -> Iterator[str]:
    """Device classes that are missing or have no effect, and vMotion that the devices do not support."""
    requested, found = site["directpath"], classes(site)
    for key, what, part in (
        ("gpu_class", "gpu", "gpu.mode is directpath"),
        ("port_class", "nic", "network.path is directpath"),
    ):
        if what in found and not found[what].strip():
            yield (
                f"site.directpath.{key}: it is not set, and assignment is dvx. Set it to a device class that "
                "esxi_host_info returns for the hosts."
            )
        elif requested[key] and what not in found:
            yield (
                f"site.directpath.{key}: it has no effect, unless assignment is dvx and {part}. Set both, or remove it."
            )
    if requested["vmotion"] != "required":
        return
    key = "site.directpath.vmotion: it is required, but"
    if requested["assignment"] != DVX:
        yield (
            f"{key} assignment is {requested['assignment']}, and only Enhanced DirectPath I/O supports vMotion. Set "
            "assignment to dvx, or vmotion to ignore."
        )
    bound = [f"gpu.mode is {site['gpu']['mode']}"] if site["gpu"]["mode"] == "passthrough" else []
    bound += [f"network.path is {site['network']['path']}"] if site["network"]["path"] in BOUND_PATHS else []
    if bound:
        yield (
            f"{key} {' and '.join(bound)}, which does not support vMotion. Set it to directpath, or vmotion to ignore."
        )


def _nvlink(site: Mapping[str, Any]) -> Iterator[str]:
    gpu = site["gpu"]
    if gpu["nvlink"] != "required":
        return
    key = "site.gpu.nvlink: it is required, but"
    if gpu["mode"] == "mig":
        yield (
            f"{key} gpu.mode is mig, and MIG instances have no NVLink. Use vgpu with a whole-GPU profile, or "
            "directpath."
        )
        return
    assignment = site["directpath"]["assignment"]
    if gpu["mode"] == DIRECTPATH and assignment != "group":
        how = "labels do" if assignment == "labels" else "a device class does"
        yield (
            f"{key} {how} not select GPUs by their NVLink connections. Set site.directpath.assignment to group, with a "
            "group of the NVLink set."
        )
    several = gpu["per_vm"] > 1 or any(len(entry["profiles"] or ()) > 1 for entry in site["vms"])
    # A device group brings its GPUs itself.
    if not several and gpu["mode"] != DIRECTPATH:
        yield f"{key} each VM has one GPU. Set site.gpu.per_vm to the number of connected GPUs, or remove nvlink."
    if gpu["mode"] == "vgpu":
        named = [gpu["profile"], *(name for entry in site["vms"] for name in entry["profiles"] or ())]
        for profile in dict.fromkeys(name for name in named if name):
            yield from _peers(key, profile)


def _peers(key: str, profile: str) -> Iterator[str]:
    """Several vGPUs of a VM are NVLink peers only as whole GPUs of the C series (vGPU user guide)."""
    name, board = parse(profile), catalogue.board_of(profile)
    if name is None or name.mig_backed or board is None:
        return
    if name.series != "c" or name.gb != board.memory_gb:
        yield (
            f"{key} {profile} is not a whole GPU, and only whole-GPU profiles of the C series are NVLink peers. Use "
            f"{board.vsphere_prefix}-{board.memory_gb}c."
        )


def _licence(site: Mapping[str, Any]) -> Iterator[str]:
    if site["licence"] != "none":
        return
    mode, guests = site["gpu"]["mode"], site["guests"] or {}
    if mode not in WHOLE:
        yield (
            f"site.licence: it is none, but gpu.mode is {mode}, and every vGPU needs a licence of NVIDIA AI "
            "Enterprise. Set gpu.mode to directpath, or licence to nvaie."
        )
        return
    if site["driver"] is not None:
        yield (
            "site.driver: it installs NVIDIA's host driver, but site.licence is none, and whole GPUs need no host "
            "driver. Remove it."
        )
    if guests.get("licence") is not None:
        yield "site.guests.licence: it configures a licence, but site.licence is none. Remove one of them."
    if (guests.get("driver") or {}).get("flavour") == "vgpu":
        yield (
            "site.guests.driver.flavour: it is vgpu, whose driver needs a licence, but site.licence is none. Use "
            "data_centre, or remove it."
        )
    if site["directpath"]["assignment"] == "group" and uses(site):
        yield (
            "site.directpath.assignment: NVIDIA's host driver offers the device groups, but site.licence is none, so "
            "the hosts have no such driver. Use labels, or set licence to nvaie."
        )
