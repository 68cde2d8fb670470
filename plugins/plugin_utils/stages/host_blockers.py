# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Problems of a host that would stop its stage after other hosts were restarted, from the data of vCenter. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import is_loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import Request

ATS = "atsSupport"


def blockers(host: Mapping[str, Any], request: Request, shell: Sequence[str]) -> list[dict[str, str]]:
    """[{what, found, todo, text}]: part of the stage, reason against it, and fix; shell: what needs SSH."""
    found = [
        *_boards(host, request),
        *_functions(host, request),
        *_modes(host, request),
        *_classes(host, request),
        *_translation(host, request),
        *_lockdown(host, request, shell),
    ]
    name = host.get("name", "The host")
    return [{"what": what, "found": text, "todo": todo, "text": f"{name}: {text} {todo}"} for what, text, todo in found]


def _boards(host: Mapping[str, Any], request: Request) -> Iterator[tuple[str, str, str]]:
    """Profiles of another board than the host's; a host without profiles may still offer any."""
    profiles, offered = request.profiles, host.get("profiles_offered") or ()
    boards = _boards_of(offered)
    if boards and _boards_of(profiles) and not boards & _boards_of(profiles):
        yield (
            "vGPU profiles",
            f"The host offers {', '.join(offered)}. {', '.join(profiles)} needs another GPU board.",
            "Set site.gpu.profile, or profiles of single VMs in site.vms, to one that the host offers.",
        )


def _boards_of(profiles: Iterable[str]) -> set[str]:
    """Boards by their names without the prefix, which depends on the driver release."""
    return {name.board.rpartition("_")[2] for name in map(parse, profiles) if name}


def _functions(host: Mapping[str, Any], request: Request) -> Iterator[tuple[str, str, str]]:
    """Virtual functions that the firmware of a port does not allow, if the stage does not change firmware."""
    number = request.vfs
    if not number or request.nic_firmware:
        return
    for port in host.get("nics") or ():
        if port["device"] not in request.nics or port["vfs"]["max"] >= number:
            continue
        most = port["vfs"]["max"]
        yield (
            "firmware of the network adapters",
            f"The firmware of {port['device']} allows {most} virtual functions, and {number} are requested"
            f"{' (SRIOV_EN is off)' if not most else ''}.",
            f"Set site.network.firmware to auto, or run `mlxconfig set SRIOV_EN=1 NUM_OF_VFS={number}` and power the "
            "host off and on.",
        )


def _modes(host: Mapping[str, Any], request: Request) -> Iterator[tuple[str, str, str]]:
    """Devices that cannot be configured to the mode that the run needs; the BIOS of the run may still change that."""
    gpus, ports = host.get("gpus") or (), host.get("nics") or ()
    if request.bios:
        return
    if request.graphics_type == "shared_direct" and is_loaded(host):
        for gpu in gpus:
            yield from _mode(gpu, f"GPU {gpu['id']}", (device_mode.SAME, device_mode.MIXED), "vGPU")
    if request.gpu_passthrough == "enabled":
        for gpu in gpus:
            yield from _mode(gpu, f"GPU {gpu['id']}", (device_mode.DIRECT,), "passthrough")
    for port in ports if request.nic_passthrough else ():
        if port.get("pci") in request.nics:
            yield from _mode(port, f"port {port['pci']}", (device_mode.DIRECT,), "passthrough")


def _mode(device: Mapping[str, Any], name: str, modes: Sequence[str], use: str) -> Iterator[tuple[str, str, str]]:
    mode = device.get("device_mode")
    if mode and not {mode["current"], *mode["configurable"]} & set(modes):
        yield (
            "device mode",
            f"The {name} is in the mode {mode['current']}, and {use} needs {' or '.join(modes)}. It can be configured "
            f"to {', '.join(mode['configurable']) or 'no mode'}.",
            "Check that the device supports this use, and that the BIOS enables the IOMMU, SR-IOV and memory mapped "
            "I/O above 4 GB.",
        )


def _classes(host: Mapping[str, Any], request: Request) -> Iterator[tuple[str, str, str]]:
    """Device classes that the host lacks or that do not support vMotion, and GPUs that are not in their mode."""
    known = {one["device_class"]: one for one in host.get("dvx_classes") or ()}
    for what, name in request.dvx_classes.items():
        key = "gpu_class" if what == "gpu" else "port_class"
        if name not in known:
            there = f"its classes are {', '.join(sorted(known))}" if known else "it has none"
            yield (
                "device classes",
                f"The host has no device class {name}; {there}.",
                f"Correct site.directpath.{key}, or install the vendor's software that defines the class.",
            )
        elif request.requires_vmotion and not known[name]["vmotion"]:
            yield (
                "vMotion",
                f"The host does not report checkpointSupported of the device class {name}, so a VM with such a device "
                "cannot move while it runs.",
                "Set site.directpath.vmotion to ignore, or use a device whose vendor's software supports it.",
            )
    for what, key, name in (("gpu", "gpus", "GPU"), ("nic", "nics", "port")):
        modes = [one["device_mode"]["current"] for one in host.get(key) or () if one.get("device_mode")]
        if what in request.dvx_classes and device_mode.ENHANCED not in modes:
            found = ", ".join(sorted(set(modes))) or "not reported, as before vSphere 9.1"
            yield (
                "device mode",
                f"No {name} of the host is in the mode {device_mode.ENHANCED}. The modes are: {found}.",
                f"Set the mode of the {name}s to {device_mode.ENHANCED} in vCenter, and restart the host if vCenter "
                "asks for it.",
            )


def _translation(host: Mapping[str, Any], request: Request) -> Iterator[tuple[str, str, str]]:
    """ATS of the kernel that the host lacks and the stage does not set (NVIDIA AI Enterprise user guide 5.0, 4)."""
    setting = (host.get("kernel") or {}).get(ATS)
    if not request.requires_ats or ATS in request.kernel_settings or setting is None:
        return
    if setting["configured"].casefold() in ("true", "1"):
        return
    yield (
        "kernel settings",
        f"The kernel setting {ATS} is {setting['configured']}. Without ATS, a port and a GPU do not reach each other "
        "by DirectPath.",
        f"Set site.network.ats to enabled, or {ATS} (esxcli system settings kernel) to TRUE and restart the host.",
    )


def _lockdown(host: Mapping[str, Any], request: Request, needed: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Lockdown mode accepts SSH only from exception users (VMware vSphere Security)."""
    mode, allowed = host.get("lockdown"), host.get("lockdown_exceptions")
    user = request.user or "root"
    if mode not in ("normal", "strict") or not needed or allowed is None or user in allowed:
        return
    yield (
        "lockdown mode",
        f"The host is in {mode} lockdown mode, and {' and '.join(needed)} need{'s' if len(needed) == 1 else ''} SSH. "
        f"{user} is not an exception user.",
        f"Add {user} to the exception users of the host (Configure, Security Profile, Lockdown Mode), or disable "
        "lockdown mode for the run.",
    )
