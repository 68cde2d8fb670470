# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Running VMs that keep a host out of maintenance mode, and the methods to move them; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

# VMware KB 88271: -1 lets maintenance mode move VMs with vGPUs by itself; without it, it waits for a human.
DRS_OPTION, DRS_VALUE = "VgpuMMAutomationTimeoutSecs", "-1"
# NVIDIA AI Enterprise user guide 5.0, 2.7.5: a vCenter setting, in effect at once.
HOT_MIGRATE = "vgpu.hotmigrate.enabled"
MOVES = ("drs", "drs_vgpu")


@dataclass(frozen=True)
class Running:
    """A running VM, and the devices that restrict its migration."""

    name: str
    vgpus: tuple[str, ...] = ()
    passthrough: tuple[str, ...] = ()
    # NVIDIA AI Enterprise user guide 5.0, 2.7.8: a VM with unified memory has no vMotion.
    unified_memory: bool = False


@dataclass(frozen=True)
class Cluster:
    """The settings that decide if a cluster evacuates a host by itself."""

    name: str
    automatic: bool = False
    drs_option: str = ""
    hot_migrate: bool = False


def refuse_blocked(label: str, running: Sequence[Running], cluster: Cluster | None, evacuation: str) -> None:
    """Reject an evacuation that would only wait for a manual power-off of VMs."""
    if not running:
        return
    if evacuation not in MOVES:
        raise _blocked(
            label,
            running,
            f"{len(running)} VMs run on it: {_listed(running)}",
            "Move the VMs or shut them down, or set `evacuation: drs` so that DRS moves them",
        )
    if cluster is None or not cluster.automatic:
        where = "The host is in no cluster" if cluster is None else f"DRS of {cluster.name} is not fully automated"
        raise _blocked(
            label,
            running,
            f"{where}, so DRS does not move the VMs that run on it: {_listed(running)}",
            "Move the VMs or shut them down",
        )
    fixed = [vm for vm in running if vm.passthrough]
    unified = [vm for vm in running if vm.unified_memory]
    if fixed or unified:
        found = [f"VMs with passthrough devices cannot migrate: {_listed(fixed)}"] if fixed else []
        found += [f"VMs whose vGPUs have unified memory cannot migrate: {_listed(unified)}"] if unified else []
        todo = (
            "Shut them down, or set evacuation: shutdown in the role esxi_host (site.hosts.evacuation)"
            if unified
            else "Shut them down. With a dynamic device they can start on another host"
        )
        raise _blocked(label, [vm for vm in running if vm in fixed or vm in unified], ". ".join(found), todo)
    sharing = [vm for vm in running if vm.vgpus]
    missing = list(_missing_for_vgpus(cluster, evacuation)) if sharing else []
    if missing:
        raise _blocked(
            label,
            sharing,
            f"VMs with vGPUs run on it: {_listed(sharing)}. DRS does not move them, because {' and '.join(missing)}",
            "Set this, or shut the VMs down",
        )


def _missing_for_vgpus(cluster: Cluster, evacuation: str) -> Iterator[str]:
    if not cluster.hot_migrate:
        yield f"vCenter's setting {HOT_MIGRATE} is not true"
    if cluster.drs_option != DRS_VALUE and evacuation != "drs_vgpu":
        yield (f"the DRS option {DRS_OPTION} of {cluster.name} is not {DRS_VALUE} (`evacuation: drs_vgpu` sets it)")


def needs_option(running: Iterable[Running], cluster: Cluster | None, evacuation: str) -> bool:
    """Return whether entering maintenance mode has to set the DRS option first."""
    return (
        evacuation == "drs_vgpu"
        and any(vm.vgpus for vm in running)
        and cluster is not None
        and cluster.drs_option != DRS_VALUE
    )


def _blocked(label: str, vms: Sequence[Running], found: str, todo: str) -> OperatorError:
    names = [vm.name for vm in vms]
    return OperatorError(label, "cannot enter maintenance mode", found, todo, "running_vms", vms=names)


def _listed(vms: Iterable[Running]) -> str:
    return ", ".join(vm.name + _why(vm) for vm in sorted(vms, key=lambda vm: vm.name))


def _why(vm: Running) -> str:
    devices = vm.vgpus + vm.passthrough
    return f" ({', '.join(devices)})" if devices else ""
