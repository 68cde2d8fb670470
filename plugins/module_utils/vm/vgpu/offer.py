# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Which host offers a profile, and if none does, why that may be so. Pure."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Iterable, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import ProfileName
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import Host, VmState


def against_profiles(now: VmState, profiles: Sequence[str]) -> list[Problem]:
    """Return the problems with profiles to add to a VM, given the offers of its cluster's hosts."""
    host = now.host
    if not profiles:
        return []
    if host is None:
        return [Problem("no_host", "vCenter does not report the host of the VM.", "Move the VM to a host.")]
    if not host.connected:
        return [
            Problem(
                "host_not_connected",
                f"Its host {host.name} is not connected, so its vGPU profiles are unknown.",
                "Connect the host in vCenter.",
            )
        ]
    missing = [profile for profile in profiles if profile not in host.offered]
    # A host without any offer gives the same answer for every profile.
    return list(dict.fromkeys(_missing(now, profile) for profile in missing))


def unknown_profile(now: VmState, profile: str) -> Problem:
    """Return the problem with an invalid or unknown profile."""
    return Problem(
        "unknown_profile",
        f"{profile} is not a vGPU profile that any host of the cluster offers or that this collection knows.",
        _near(profile, _offered(now)) or "No host of the cluster offers any profile.",
    )


def near(profile: str, offered: Sequence[str]) -> list[str]:
    """The offered profiles that were most likely meant."""
    name = parse(profile.lower())
    close = difflib.get_close_matches(profile.lower(), offered, n=3, cutoff=0.75)
    siblings = [
        other
        for other in offered
        if name
        and parse(other)
        and (cast("ProfileName", parse(other)).board, cast("ProfileName", parse(other)).series)
        == (name.board, name.series)
    ]
    return list(dict.fromkeys(close + siblings))[:5]


def _missing(now: VmState, profile: str) -> Problem:
    host = cast("Host", now.host)
    others = sorted(other.name for other in now.cluster if profile in other.offered)
    if others:
        verb = "does" if len(others) == 1 else "do"
        return Problem(
            "profile_on_other_host",
            f"Host {host.name} does not offer {profile}; in the same cluster {_listed(others)} {verb}.",
            f"Move the VM to such a host{_or_take(profile, host.offered)}.",
        )
    if not host.offered:
        found, todo = _offers_nothing(host)
        return Problem("host_offers_nothing", found, todo)
    if not catalogue.is_known(profile) and not _siblings(cast("ProfileName", parse(profile)), _offered(now)):
        return unknown_profile(now, profile)
    found, todo = _offers_others(now, profile)
    return Problem("profile_not_offered", found, todo)


def _offers_nothing(host: Host) -> tuple[str, str]:
    """Return the report of the host's graphics devices on why it offers no profile at all."""
    start = f"Host {host.name} offers no vGPU profile"
    if not host.gpus:
        return (
            f"{start} and shows no NVIDIA graphics device.",
            "Check that the GPU is seated, and enable SR-IOV and memory mapping above 4 GB in the BIOS; or use "
            "another host.",
        )
    names = _listed(sorted({gpu.name for gpu in host.gpus}))
    active = {gpu.active for gpu in host.gpus}
    if active == {"direct"}:
        return (
            f"{start}: its {names} is in passthrough mode.",
            "Switch passthrough off for the device, set its graphics type to Shared Direct and reboot the host.",
        )
    if active == {"basic"}:
        return (
            f"{start}: its {names} has the graphics type Basic, so no NVIDIA driver controls it.",
            "Install the NVIDIA AI Enterprise host driver, reboot the host and set the graphics type to Shared Direct.",
        )
    if "sharedDirect" not in active:
        waiting = any(gpu.configured == "sharedDirect" for gpu in host.gpus)
        pending = "; Shared Direct is configured and pending a restart" if waiting else ""
        return (
            f"{start}: the graphics type of its {names} is {_listed(sorted(active))}, not Shared Direct{pending}.",
            ("Restart Xorg" if waiting else "Set the type to Shared Direct and restart Xorg") + ", or reboot the host.",
        )
    if all(gpu.mode == "multiInstanceGpu" for gpu in host.gpus):
        return (
            f"{start} although its {names} is set to Shared Direct; it is in MIG mode.",
            "Check with nvidia-smi on the host that the change to MIG mode is complete (on Ampere the host reboots).",
        )
    return (
        f"{start} although its {names} is set to Shared Direct.",
        "Check the driver package (NVIDIA AI Enterprise, not graphics), nvidia-smi on the host, and memory mapping "
        "above 4 GB in the BIOS.",
    )


def _offers_others(now: VmState, profile: str) -> tuple[str, str]:
    """Return why a host that offers some profiles does not offer this one."""
    host, name = cast("Host", now.host), cast("ProfileName", parse(profile))
    start = f"Host {host.name} does not offer {profile}, nor does any other host of its cluster"
    siblings = _siblings(name, host.offered) or _siblings(name, _offered(now))
    instead = _near(profile, host.offered)
    if not siblings:
        return f"{start}: no host of the cluster has such a board.", instead
    same_kind = [other for other in siblings if other.mig_backed == name.mig_backed]
    if not same_kind and name.mig_backed:
        return (
            f"{start}: the GPUs of this board offer time-sliced profiles, so they are not in MIG mode.",
            f"Switch MIG mode on for the GPU (on Ampere the host has to reboot). {instead}",
        )
    if not same_kind:
        return (
            f"{start}: the GPUs of this board offer MIG-backed profiles, so they are in MIG mode.",
            f"Switch MIG mode off for the GPU (on Ampere the host has to reboot). {instead}",
        )
    if name.series == "c" and not any(other.series == "c" for other in siblings):
        return (
            f"{start}: the hosts offer other series of this board, but not the compute series C.",
            "Install the NVIDIA AI Enterprise driver in place of the graphics driver of the host.",
        )
    row = catalogue.mig_type(profile)
    if row is not None and row.esxi_from and () < host.release < tuple(int(part) for part in row.esxi_from.split(".")):
        return f"{start}: the profile needs ESXi {row.esxi_from} or newer, and the host has {host.version}.", instead
    return f"{start}; other profiles of this board are offered.", instead


def _siblings(name: ProfileName, offered: Iterable[str]) -> list[ProfileName]:
    return [other for other in map(parse, offered) if other is not None and other.board == name.board]


def _offered(now: VmState) -> list[str]:
    return sorted({profile for host in now.cluster or (now.host,) if host for profile in host.offered})


def _near(profile: str, offered: Sequence[str]) -> str:
    choice = near(profile, offered) or list(offered)[:8]
    return f"Use one of the offered profiles: {', '.join(choice)}." if choice else ""


def _or_take(profile: str, offered: Sequence[str]) -> str:
    choice = near(profile, offered)
    return f", or use a profile of its own host: {', '.join(choice)}" if choice else ""


def _listed(names: Sequence[str]) -> str:
    shown = names if len(names) <= 5 else [*names[:4], f"{len(names) - 4} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
