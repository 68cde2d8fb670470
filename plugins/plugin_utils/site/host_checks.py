# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compares the site's settings for hosts and network with each other. Each problem states the failure and the fix."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import trust
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import trust as site_trust
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import RDMA_PATHS, SOURCES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.machines import DIRECT_PATHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SERIAL = re.compile(r"[1-9]\d*|([1-9]\d?|100)%")
VMKNIC = re.compile(r"vmk\d+")
PCI = re.compile(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
# ESXi accepts VMkernel adapters and distributed switches up to this size (vSphere networking guide).
LARGEST_MTU = 9000
# PCIe gives 8 bits to the virtual functions of one port; ESXi's driver for ConnectX accepts nmlx5 max_vfs 0 to 128.
MOST_VFS = 128
# NVD-AIE-800_550.54.16-1OEM...zip: the family, the release of ESXi, the version.
VERSION_IN_NAME = re.compile(r"NVD-[^/]*_(\d+(?:\.\d+)+)")
CHECKSUM = re.compile(r"(sha256:)?[0-9a-fA-F]{64}")
# Without these no VM gets a vGPU (NVIDIA AI Enterprise user guide 5.0, 1.2 and 2.7).
NEEDED_BY_GPUS = ("virtualization", "iommu", "sriov", "above_4g")


def host_problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts between all settings for hosts, driver and network."""
    yield from _hosts(site["hosts"])
    yield from _bios(site["bios"]["functions"], site["gpu"]["mode"])
    yield from _driver(site["driver"], site["gpu"]["mode"])
    yield from _network(site["network"])
    yield from _together(site)


def _hosts(treatment: Mapping[str, Any]) -> Iterator[str]:
    if not SERIAL.fullmatch(treatment["serial"]):
        yield (
            f"site.hosts.serial: {treatment['serial']} is neither a number of hosts nor a percentage. Use 1, or a "
            "percentage such as 25%."
        )
    for key in ("maintenance_timeout_s", "reboot_timeout_s"):
        if not 1 <= treatment[key] <= 86400:
            yield f"site.hosts.{key}: {treatment[key]} is not a valid timeout. Use 1 to 86400 seconds."
    if treatment["cold_cycle"] == "allow" and treatment["reboot"] == "refuse":
        yield (
            "site.hosts: cold_cycle is allow, but reboot is refuse, and a cold cycle is also a restart. Set reboot "
            "to allow, or remove cold_cycle."
        )
    yield from _bmc(treatment["bmc"])


def _bmc(bmc: Mapping[str, Any]) -> Iterator[str]:
    if not 1 <= bmc["timeout_s"] <= 3600:
        yield f"site.hosts.bmc.timeout_s: {bmc['timeout_s']} is not a valid timeout. Use 1 to 3600 seconds."
    yield from site_trust.problems(trust.BMC, bmc)


def _bios(functions: Mapping[str, Any], mode: str) -> Iterator[str]:
    off = [key for key in NEEDED_BY_GPUS if functions[key] == "disabled"]
    if off and mode in ("vgpu", "mig"):
        yield (
            f"site.bios.functions: {' and '.join(off)} is disabled, but gpu.mode is {mode}, which needs it for "
            "every vGPU. Remove it, or set it to ignore to keep the BIOS setting of the hosts."
        )


def _driver(driver: Mapping[str, Any] | None, mode: str) -> Iterator[str]:
    if driver is None:
        return
    given = [key for key in SOURCES if driver[key]]
    if len(given) != 1:
        there = " and ".join(given) if given else "none of them"
        yield f"site.driver: exactly one of {', '.join(SOURCES)} is required, but it has {there}. Set one of them."
    if given == ["depot"] and not re.match(r"\[[^\]]+\] *\S|/vmfs/volumes/[^/]+/.", driver["depot"]):
        yield (
            f"site.driver.depot: {driver['depot']} is not a path on a datastore. Write it as [datastore] "
            "folder/file.zip or as /vmfs/volumes/datastore/folder/file.zip."
        )
    if driver["file"] and not driver["datastore"]:
        yield (
            "site.driver.datastore: it is not set, and the upload of the file needs it. Name a datastore that all "
            "hosts see."
        )
    named = VERSION_IN_NAME.search((driver[given[0]] if len(given) == 1 else "").rpartition("/")[2])
    if named and driver["version"] and driver["version"] != named[1]:
        yield (
            f"site.driver.version: {driver['version']} is requested, but the name of the {given[0]} says "
            f"{named[1]}. Correct one of them, or remove version."
        )
    if driver["checksum"] and not CHECKSUM.fullmatch(driver["checksum"]):
        yield (
            f"site.driver.checksum: {driver['checksum']} is not a SHA-256 checksum. Write the 64 digits that sha256sum "
            "prints."
        )
    if driver["family"] == "graphics" and mode in ("vgpu", "mig"):
        yield (
            "site.driver.family: graphics has no compute profiles for A30, A100, H100 and other compute boards. "
            "Use nvaie, or set gpu.mode to passthrough, which needs no driver on the host."
        )


def _network(network: Mapping[str, Any]) -> Iterator[str]:
    path = network["path"]
    if path in RDMA_PATHS and not network["nics"]:
        yield f"site.network.nics: it is empty, but the path is {path}. Name the RDMA ports, such as [vmnic2]."
    names = [name for name in network["nics"] if not PCI.fullmatch(name)]
    if path in directpath.WHOLE and names:
        yield (
            f"site.network.nics: {', '.join(names)} disappears once the port is passed through. With the path "
            f"{path}, name ports by their PCI addresses, such as 0000:3b:00.0."
        )
    if path in ("pvrdma", "sriov") and len(names) < len(network["nics"]):
        addresses = ", ".join(name for name in network["nics"] if name not in names)
        yield (
            f"site.network.nics: {addresses} is a PCI address, but with the path {path} the host keeps its ports. "
            "Use the names of the host, such as vmnic2."
        )
    doubles = {name for name in network["nics"] if network["nics"].count(name) > 1}
    if doubles:
        yield f"site.network.nics: {', '.join(sorted(doubles))} is listed more than once. List each port once."
    if path == "pvrdma" and not network["vmknic"]:
        yield (
            "site.network.vmknic: it is not set, and without it PVRDMA silently uses TCP. Set it to a VMkernel "
            "adapter, such as vmk1."
        )
    if network["vmknic"] and not VMKNIC.fullmatch(network["vmknic"]):
        yield (
            f"site.network.vmknic: {network['vmknic']} is not a valid name of a VMkernel adapter. Use a name such as "
            "vmk1."
        )
    if path in RDMA_PATHS and not 1280 <= network["mtu"] <= LARGEST_MTU:
        yield (
            f"site.network.mtu: {network['mtu']} is not an MTU that ESXi accepts. Use 1280 to {LARGEST_MTU}; 9000 is "
            "recommended."
        )
    if path == "sriov" and not 1 <= network["vfs"] <= MOST_VFS:
        yield f"site.network.vfs: {network['vfs']} is not a valid number of virtual functions. Use 1 to {MOST_VFS}."


def _together(site: Mapping[str, Any]) -> Iterator[str]:
    mode, path = site["gpu"]["mode"], site["network"]["path"]
    if mode == "mig" and site["gpu"]["per_vm"] > 1 and path in RDMA_PATHS:
        yield (
            "site.gpu: MIG instances have no peer-to-peer traffic, so several per VM do not speed up training over "
            "RDMA. Use mode vgpu with whole GPUs, or set per_vm to 1."
        )
    if path in DIRECT_PATHS and site["network"]["ats"] == "disabled":
        yield (
            f"site.network.ats: it is disabled, but the path {path} is for direct traffic between network adapter and "
            "GPU, which needs ATS. Remove ats, or use the path pvrdma."
        )
