# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""State of vm_clone: a VM, the possible placements, and the source of a VM."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref, vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

# The annotation of a VM that a content library has deployed and that is not set up yet.
UNFINISHED = "aiready.vsphere: this VM is being set up"

_SHOWN = ("exists", "path", "host", "datastore", "source", "owner", "disk_gb")


@dataclass(frozen=True)
class Machine:
    """State of a VM for cloning decisions; a missing one has only exists=False."""

    exists: bool = False
    path: str | None = None
    host: str | None = None
    datastore: str | None = None
    source: str | None = None
    owner: str | None = None
    # Read only where the task sets a size.
    disk_gb: float | None = None
    cloud_init: tuple[str, ...] = ()
    finished: bool = True
    # Not compared: a running copy has reserved the name.
    making: bool = dataclasses.field(default=False, compare=False)
    # Not compared: it decides whether the VM may be moved or removed.
    power: str = dataclasses.field(default="off", compare=False)
    template: bool = dataclasses.field(default=False, compare=False)
    snapshots: bool = dataclasses.field(default=False, compare=False)
    # Files of disks that are not its own: in the folder of another VM, or open to several VMs.
    other_disks: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    firmware: str | None = dataclasses.field(default=None, compare=False)
    disk: vim.vm.device.VirtualDisk | None = dataclasses.field(default=None, compare=False)


@dataclass(frozen=True)
class Source:
    """A template, a VM that serves as one, or an OVF item of a content library (which has no ref)."""

    path: str
    ref: Ref = None
    moid: str | None = None
    item_id: str | None = None
    template: bool = True
    power: str = "off"
    connection: str = "connected"
    firmware: str | None = None
    guest_id: str = ""
    tools: bool | None = None
    nics: int = 0
    thin_bytes: int = 0
    thick_bytes: int = 0
    cloud_init: tuple[str, ...] = ()
    host: str | None = None
    disk: vim.vm.device.VirtualDisk | None = None


@dataclass(frozen=True)
class HostPlace:
    """A host that VMs can be placed on."""

    ref: Ref
    moid: str
    name: str
    connection: str
    maintenance: bool
    compute: str
    datastores: tuple[str, ...]
    vms: int


@dataclass(frozen=True)
class Store:
    """A datastore."""

    ref: Ref
    moid: str
    name: str
    free: int
    usable: bool
    why_not: str = ""


@dataclass(frozen=True)
class Compute:
    """A cluster, or the compute resource of a standalone host."""

    moid: str
    name: str
    pool: Ref


@dataclass(frozen=True)
class Target:
    """Placement of a new or moved VM."""

    folder: Row | None
    host: HostPlace
    store: Store | None
    pool: Ref


def project(state: Machine) -> dict[str, object]:
    """A state as the user sees it."""
    return dict({name: getattr(state, name) for name in _SHOWN}, cloud_init=list(state.cloud_init))


def compare(now: Machine, wanted: Machine) -> list[Change]:
    """The list of changes that lead from one state to the other."""
    before, after = project(now), project(wanted)
    changes = [Change(name, before[name], after[name]) for name in before if before[name] != after[name]]
    if now.exists and not now.finished and wanted.finished:
        changes.append(Change("finished", False, True))
    return changes
