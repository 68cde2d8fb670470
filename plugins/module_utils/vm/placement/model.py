# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Data of a plan: the hosts with their resources, the VMs with their requirements, and a placement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Hashable, Tuple

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release as releases

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.reach import End

    # (GPU, profile) of each; the profile is empty for a whole GPU.
    Gpus = Tuple[Tuple[str, str], ...]


# Sharing of a GPU. 'any': time-sliced or MIG, the host does not report which (before vSphere 8.0 Update 3).
SAME_SIZE, MIXED_SIZE, MIG, ANY = "same_size", "mixed_size", "mig", "any"
# In passthrough mode, and unusable.
DIRECT, NONE = "passthrough", "none"


def overhead_mb(memory_mb: int, cpus: int) -> int:
    """Return the memory that ESXi needs for a running VM; high, since a GPU's memory window counts [unsure].

    Public recordings of vCenter 6.7 to 8.0.1 have up to 6 MB per GB, and the window of a GPU needs 83 MB.
    """
    return 128 + 12 * cpus + memory_mb * 6 // 1024 if memory_mb else 0


@dataclass(frozen=True)
class Gpu:
    """One GPU of a host, and the share of VMs outside the request."""

    id: str
    title: str
    # The board's part of the names of its profiles, such as grid_a100; empty where it is not known.
    board: str
    mode: str
    # Active graphics type that vCenter reports: basic without a driver; empty for a GPU in passthrough mode.
    graphics: str = ""
    # The host picks the mode at power-on (SYSTEM_SELECT, vSphere 9.1).
    selects: bool = False
    # VMs get it through the vendor's software (Enhanced DirectPath I/O).
    enhanced: bool = False
    numa: int | None = None
    root: str = ""
    carries: tuple[str, ...] = ()
    # The VM that has the whole GPU.
    held_by: str = ""
    vendor_id: str = ""
    device_id: str = ""
    label: str = ""
    # (profile, most on one GPU) that the user knows better than the table of boards.
    maxima: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Nic:
    """One network port of a host."""

    pci: str
    # Empty for a port in passthrough mode, which has no name any more.
    device: str = ""
    numa: int | None = None
    root: str = ""
    switch: str = ""
    vfs_free: int = 0
    given: bool = False
    # VMs get it through the vendor's software (Enhanced DirectPath I/O).
    enhanced: bool = False
    held_by: str = ""
    vendor_id: str = ""
    device_id: str = ""
    label: str = ""


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node of a host."""

    number: int
    memory_mb: int
    cores: int


@dataclass(frozen=True)
class Host:
    """A host, without the resources of the request's VMs."""

    moid: str
    name: str
    cluster: str = ""
    version: str = ""
    # Reason why it accepts no VM at all; empty if it does.
    out_of_use: str = ""
    memory_free_mb: int = 0
    threads: int = 0
    # vCPUs of running VMs that are not in the request.
    vcpus: int = 0
    running: int = 0
    nodes: tuple[NumaNode, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    nics: tuple[Nic, ...] = ()
    offered: frozenset[str] = frozenset()
    # {name of a distributed switch: why PVRDMA does not work over it, empty when it does}
    pvrdma: dict[str, str] = field(default_factory=dict)
    # The VMkernel adapter that PVRDMA uses, as host.reach.End; None without one.
    vmknic: End | None = None
    # Names of its distributed switches, and {name of a standard port group: its switch}
    switches: frozenset[str] = frozenset()
    portgroups: dict[str, str] = field(default_factory=dict)
    # MoIDs of its datastores.
    datastores: tuple[str, ...] = ()
    # VMs that are off, are not in the request, and have vGPUs or devices that they will ask for.
    waiting: tuple[str, ...] = ()
    # {profile, empty for a whole GPU: most that all VMs of the request may have here}, where vCenter reports a limit.
    limits: dict[str, int] = field(default_factory=dict)

    @property
    def release(self) -> tuple[int, ...]:
        return releases.numbers(self.version)


@dataclass(frozen=True)
class Present:
    """A VM of the request as it is now."""

    moid: str
    path: str
    host: str
    power: str
    memory_mb: int = 0
    cpus: int = 0
    profiles: tuple[str, ...] = ()
    # (GPU, profile) of the running VM, PCI devices in its configuration, its NUMA affinity.
    gpus: Gpus = ()
    devices: tuple[str, ...] = ()
    nodes: tuple[int, ...] = ()
    # MoIDs of its datastores, and the space that it takes there.
    datastores: tuple[str, ...] = ()
    disk_gb: int = 0

    @property
    def fixed(self) -> bool:
        """Return whether it must not move: it runs, or its memory is saved in a form of its host."""
        return self.power != "off"


@dataclass(frozen=True)
class Vm:
    """Requirements of a VM in the request."""

    name: str
    profiles: tuple[str, ...] = ()
    gpus: int = 0
    nics: int = 0
    memory_mb: int = 0
    cpus: int = 0
    disk_gb: int = 0
    pin: str = ""
    job: str = ""
    present: Present | None = None

    @property
    def need_mb(self) -> int:
        """Return the free memory that its host needs: all memory is reserved, and the overhead comes on top."""
        return self.memory_mb + overhead_mb(self.memory_mb, self.cpus)

    def space_gb(self, host: Host) -> int | None:
        """Return the space that it takes on a datastore of this host; None if it needs none there."""
        now = self.present
        if now is None:
            return self.disk_gb or None
        stays = now.host == host.moid or set(now.datastores) <= set(host.datastores)
        return None if stays else now.disk_gb

    @property
    def kind(self) -> Hashable:
        """Return the properties that make two VMs alike for the search."""
        return (self.profiles, self.gpus, self.nics, self.memory_mb, self.cpus, self.disk_gb, self.pin, self.present)


if TYPE_CHECKING:

    class PresentVm(Vm):
        """An existing VM of the request."""

        present: Present


@dataclass(frozen=True)
class Rules:
    """Rules for all VMs of the request."""

    policy: str = "spread"
    anti_affinity: bool = False
    gpudirect: bool = False
    path: str = "tcp"
    switch: str = ""
    # A port group of standard switches, which has no switch of one name.
    portgroup: str = ""
    max_per_vm: int | None = None


@dataclass(frozen=True)
class Place:
    """Placement of a VM."""

    host: str
    # (GPU id, profile); the profile is empty for a whole GPU
    gpus: Gpus = ()
    nics: tuple[str, ...] = ()
    nodes: tuple[int, ...] = ()
    datastore: str = ""


@dataclass(frozen=True)
class World:
    """Input of a plan."""

    hosts: tuple[Host, ...]
    # {MoID: (name, free GB)}
    datastores: dict[str, tuple[str, int]] = field(default_factory=dict)
