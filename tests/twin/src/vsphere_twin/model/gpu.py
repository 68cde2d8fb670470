"""One physical GPU: its offer, and its free capacity."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from . import mig
from .catalogue import Board, Profile


@dataclass
class Resident:
    """A vGPU that lives on the GPU while its VM runs."""

    vm: object
    device_key: int
    profile: Profile
    start: int = 0  # first GB of the frame buffer (mixed size) or first memory slot (MIG)


@dataclass
class Gpu:
    """A GPU in a slot of a host."""

    pci_id: str
    board: Board
    numa_node: int = 0
    configured_type: str = "shared"  # shared | sharedDirect, as HostGraphicsConfig has it
    active_type: str = "basic"  # basic | shared | sharedDirect | direct
    mig: mig.MigState = field(default_factory=mig.MigState)
    vgpu_mode: str = "sameSize"  # sameSize | mixedSize
    passthrough: bool = False
    residents: list[Resident] = field(default_factory=list)
    held_by: object = None  # the VM that has the whole GPU by passthrough

    shareable: bool = True  # the BIOS gave it the address space and the functions that vGPU needs
    driver: str = "nvaie"  # the family that the host has loaded: nvaie | graphics | none
    bridge: str = ""  # the NVLink bridge, by the name that the seed has for it; empty without
    lost: bool = False  # it has fallen off the bus, and is back after a restart of the host

    @property
    def kind(self):
        """Its row in the table of GPUs that can be partitioned, or None."""
        return self.board.mig_kind

    @property
    def mig_enabled(self):
        return self.mig.current

    def types(self, release):
        """The vGPU types that this GPU can carry in its present mode, whether or not there is room."""
        if self.active_type != "sharedDirect" or self.passthrough or not self.shareable:
            return []
        # The graphics driver has no compute types, and compute-only boards do not work with it at all.
        compute = {"nvaie": True, "graphics": False}.get(self.driver)
        return [
            entry
            for entry in self.board.profiles
            if entry.mig == self.mig_enabled and (entry.series == "c") is compute and release.numbers >= entry.since
        ]

    def room_for(self, profile, release):
        """Return the start of a vGPU of this type, or None if it does not fit now."""
        if profile not in self.types(release) or self.held_by is not None:
            return None
        if self.mig_enabled:
            same = sum(one.profile == profile for one in self.residents)
            return mig.place_vgpu(self, profile) if same < profile.most_same_size else None
        if self.vgpu_mode == "mixedSize" and release.mixed_size and self.board.mixed_size:
            return self._mixed_room(profile)
        return self._same_size_room(profile)

    def load(self):
        """Return the load of the GPU, for the assignment policy."""
        return sum(one.profile.fb_gb for one in self.residents)

    def vms(self):
        """The VMs that use this GPU."""
        users = {id(one.vm): one.vm for one in self.residents}
        if self.held_by is not None:
            users[id(self.held_by)] = self.held_by
        return list(users.values())

    def _same_size_room(self, profile):
        if any(one.profile.fb_gb != profile.fb_gb for one in self.residents):
            return None
        return 0 if len(self.residents) < profile.most_same_size else None

    def _mixed_room(self, profile):
        if sum(one.profile.fb_gb == profile.fb_gb for one in self.residents) >= profile.most_mixed_size:
            return None
        taken = [(one.start, one.start + one.profile.fb_gb) for one in self.residents]
        for start in profile.placements or range(0, self.board.memory_gb, profile.fb_gb):
            end = start + profile.fb_gb
            if end <= self.board.memory_gb and all(end <= low or start >= high for low, high in taken):
                return start
        return None


def uuid_of(host, gpu):
    """Return the UUID of a GPU: the same for the same card in the same slot."""
    return f"GPU-{uuid.uuid5(uuid.UUID(host.uuid), gpu.pci_id)}"


@dataclass
class Placement:
    """A choice that is not yet made: this device on that GPU."""

    gpu: Gpu
    device_key: int
    profile: Profile
    start: int


def place_all(gpus, wanted, policy, release, vm, bound=()):
    """Find a GPU for each (device key, profile) together, or None; nothing is left behind."""
    placements = []
    try:
        for key, profile in sorted(wanted, key=lambda entry: (entry[0] not in bound, -entry[1].fb_gb)):
            gpu = _choose([bound[key]] if key in bound else gpus, profile, policy, release)
            if gpu is None:
                return None
            start = gpu.room_for(profile, release)
            placements.append(Placement(gpu, key, profile, start))
            gpu.residents.append(Resident(vm, key, profile, start))
        return placements
    finally:
        for one in placements:
            one.gpu.residents = [kept for kept in one.gpu.residents if not _is(kept, vm, one.device_key)]


def settle(placements, vm):
    """Make the choice real."""
    for one in placements:
        one.gpu.residents.append(Resident(vm, one.device_key, one.profile, one.start))


def release_all(gpus, vm):
    """Release everything of a VM on the GPUs; return whether there was anything."""
    found = False
    for gpu in gpus:
        kept = [one for one in gpu.residents if one.vm is not vm]
        found = found or len(kept) != len(gpu.residents) or gpu.held_by is vm
        gpu.residents = kept
        if gpu.held_by is vm:
            gpu.held_by = None
    return found


def _is(resident, vm, key):
    return resident.vm is vm and resident.device_key == key


def _choose(gpus, profile, policy, release):
    fitting = [gpu for gpu in gpus if gpu.room_for(profile, release) is not None]
    if not fitting:
        return None
    if policy == "consolidation" or fitting[0].mig_enabled or fitting[0].vgpu_mode == "mixedSize":
        # The policy is ignored for MIG and mixed size: one GPU is filled before the next (frankdenneman.nl 2026-02).
        return max(fitting, key=lambda gpu: gpu.load())
    return min(fitting, key=lambda gpu: gpu.load())
