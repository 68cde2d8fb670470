"""MIG state of a GPU: the mode, its instances, and their operations."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import mig_layout as layouts
from .seed_file import SeedError

# Ids of compute instance profiles by their slices (NVML API reference). The double-memory 1g has one of its own.
COMPUTE_IDS = {1: 0, 2: 1, 3: 2, 4: 3, 7: 4, 8: 5, 6: 6}
DOUBLE_COMPUTE_ID = 7
IN_USE, INSUFFICIENT, INVALID = "In use by another client", "Insufficient Resources", "Invalid Argument"
NEWEST = 999  # a branch with all profiles
NOT_FOUND, NOT_SUPPORTED = "Not Found", "Not Supported"


class Refused(Exception):
    """Refusal in the words of the driver."""


@dataclass
class ComputeInstance:
    """A share of the compute slices of a GPU instance."""

    id: int
    profile_id: int
    slices: int
    start: int


@dataclass
class GpuInstance:
    """A part of a GPU with memory of its own."""

    id: int
    profile: object  # a row of the collection's table of MIG profiles
    start: int
    compute: list = field(default_factory=list)
    vm: object = None  # the VM that vSphere made it for

    @property
    def size(self):
        return self.profile.size


@dataclass
class MigState:
    """Mode now, mode after a reset or reboot, and manually created instances."""

    current: bool = False
    pending: bool = False
    instances: list[GpuInstance] = field(default_factory=list)


def seeded(board, wanted):
    """The state that a seed describes: {enabled, instances: [[profile id, start], ...]}, or only the mode."""
    if not isinstance(wanted, dict):
        wanted = {"enabled": wanted}
    instances = wanted.get("instances", [])
    on = bool(wanted.get("enabled", instances)) and board.mig_kind is not None
    state = MigState(on, on)
    for profile_id, start in instances if on else []:
        try:
            made = _create(board.mig_kind, state, taken_by(state.instances), NEWEST, profile_id, start)
        except Refused as why:
            raise SeedError([f"{board.key}: no GPU instance {profile_id} at {start}: {why}."]) from why
        create_compute(made, None)
    return state


def at_boot(host, cold):
    """Instances are gone, a pending mode becomes the mode; Hopper and later forget the mode with their driver."""
    host.daemons.clear()
    for gpu in host.gpus:
        survives = gpu.kind is not None and gpu.kind.mode_survives_reboot
        on = gpu.mig.pending if survives else False
        gpu.mig = MigState(on, on)
        gpu.lost = False


def branch_of(version):
    """550 of 550.54.16; the newest rules without a version."""
    text = str(version).partition(".")[0]
    return int(text) if text.isdigit() else NEWEST


def layout(gpu, branch=NEWEST):
    """Return all instances: manually created ones, and those of vSphere for running VMs, several of which may share."""
    made = {}
    for one in gpu.residents:
        if one.profile.mig:
            made.setdefault(one.start, one)
    return [*gpu.mig.instances, *(_of_vgpu(gpu, one, branch) for one in made.values())]


def taken_by(instances):
    """(profile, start) of every instance."""
    return [(one.profile, one.start) for one in instances]


def place_vgpu(gpu, profile):
    """The start of the instance for one more vGPU, or None where there is no room.

    vGPUs of one type share an instance in time, where the table says how many [unsure: that types do not mix].
    """
    alike = [one.start for one in gpu.residents if one.profile == profile]
    shared = [start for start in alike if alike.count(start) < profile.most_per_instance]
    if shared:
        return shared[0]
    row = gpu.kind.profile(profile.mig_profile_id)
    starts = layouts.free_starts(gpu.kind, taken_by(layout(gpu)), row, NEWEST)
    return starts[0] if starts else None


def held(host, gpu):
    """Return the holder of an open GPU: running VMs, or Xorg if the GPU is shared with it [unsure: that only then]."""
    xorg = next((one for one in host.services if one.key == "xorg"), None)
    return bool(gpu.vms()) or (gpu.active_type == "shared" and xorg is not None and xorg.running)


def set_mode(world, host, gpu, on, resettable=False):
    """Set a mode; return 'done', or the reason why it is pending. Raise Refused if it is impossible.

    An Ampere GPU has to be reset for it, which ESXi cannot do: the host's reboot does (NVIDIA AI Enterprise user guide
    5.0, 2.11). Later ones switch at once, unless a process holds them.
    """
    if gpu.kind is None:
        raise Refused(NOT_SUPPORTED)
    if not on and layout(gpu):
        raise Refused(IN_USE)
    gpu.mig.pending = on
    world.touch(host)
    if gpu.mig.current == on:
        return "done"
    if gpu.kind.enable_needs_gpu_reset and not resettable:
        return NOT_SUPPORTED
    if held(host, gpu):
        return IN_USE
    gpu.mig.current = on
    return "done"


def create(gpu, branch, profile_id, start=None):
    """Create one more GPU instance, at a given start or by the driver's choice."""
    return _create(gpu.kind, gpu.mig, taken_by(layout(gpu, branch)), branch, profile_id, start)


def destroy(gpu, instance):
    """Remove a GPU instance; not while it holds compute instances or belongs to a VM."""
    if instance.compute or instance.vm is not None:
        raise Refused(IN_USE)
    gpu.mig.instances.remove(instance)


def compute_profiles(instance):
    """(profile id, slices) that a GPU instance can be cut into; the last one is the whole, and the default."""
    whole = instance.profile.compute_slices
    if whole == 1:
        return [(default_compute(instance), 1)]
    cuts = {2: (1, 2), 3: (1, 2, 3), 4: (1, 2, 4), 7: (1, 2, 3, 4, 7)}
    return [(COMPUTE_IDS[slices], slices) for slices in cuts[whole]]


def default_compute(instance):
    """The profile of the compute instance that fills a GPU instance."""
    if "double" in instance.profile.key:
        return DOUBLE_COMPUTE_ID
    return COMPUTE_IDS[instance.profile.compute_slices]


def compute_starts(instance, slices):
    """Return the possible starts of a compute instance of this many slices."""
    whole = instance.profile.compute_slices
    busy = {at for one in instance.compute for at in range(one.start, one.start + one.slices)}
    return [start for start in range(whole - slices + 1) if not busy & set(range(start, start + slices))]


def create_compute(instance, profile_id):
    """Create one more compute instance; without a profile, the one that fills the GPU instance."""
    offered = dict(compute_profiles(instance))
    wanted = default_compute(instance) if profile_id is None else profile_id
    if wanted not in offered:
        raise Refused(INVALID)
    starts = compute_starts(instance, offered[wanted])
    if not starts:
        raise Refused(INSUFFICIENT)
    number = next(at for at in range(8) if all(one.id != at for one in instance.compute))
    made = ComputeInstance(number, wanted, offered[wanted], starts[0])
    instance.compute.append(made)
    return made


def destroy_compute(instance, compute):
    """Remove a compute instance; not from under a running VM."""
    if instance.vm is not None:
        raise Refused(IN_USE)
    instance.compute.remove(compute)


def _create(kind, state, taken, branch, profile_id, start):
    row = kind.profile(profile_id)
    if row is None or row not in layouts.profiles(kind, branch) or start not in (None, *row.starts):
        raise Refused(INVALID)
    starts = layouts.free_starts(kind, taken, row, branch)
    if start is not None:
        starts = [one for one in starts if one == start]
    if not starts:
        raise Refused(INSUFFICIENT)
    made = GpuInstance(layouts.instance_id(kind, starts[0], row.size, branch), row, starts[0])
    state.instances.append(made)
    return made


def _of_vgpu(gpu, resident, branch):
    """The instance that vSphere made for a vGPU, with the one compute instance of the guest's driver."""
    row = gpu.kind.profile(resident.profile.mig_profile_id)
    made = GpuInstance(layouts.instance_id(gpu.kind, resident.start, row.size, branch), row, resident.start)
    create_compute(made, None)
    made.vm = resident.vm
    return made
