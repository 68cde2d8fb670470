"""GPU boards and vGPU types as the rules need them, made from the tables of boards and MIG profiles."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from . import boards

ANY_RELEASE = (0,)
NOT_YET = (9, 0, 0)  # MIG-backed types of the twelve-slot boards come with vSphere 9 [unsure: secondary source]
SHARED_INSTANCES = (9, 0, 1)  # those that share an instance come with this release [unsure: secondary source]
TWELVE_SLOT_PREFIX = "rtx_pro"
MOST_PER_GPU = 32
DEFAULT_SUBSYSTEM = 0x1482  # of a card whose subsystem no table names [unsure]
# GPUs before Ampere have no mixed-size mode (NVIDIA AI Enterprise, vGPU types).
BEFORE_AMPERE = ("t4", "v100")


@dataclass(frozen=True)
class Profile:
    """A vGPU type as ESXi lists it."""

    name: str
    fb_gb: int
    series: str
    mig: bool
    most_same_size: int
    most_mixed_size: int | None = None
    placements: tuple = ()
    mig_profile_id: int | None = None
    since: tuple = ANY_RELEASE
    most_per_instance: int = 1


@dataclass(frozen=True)
class Board:
    """A GPU board."""

    key: str
    title: str
    device_id: int
    prefix: str
    memory_gb: int
    mmio_gb: int  # 0 fits below 4 GB, so that BIOS firmware will do: the T4 alone (frankdenneman.nl 2023-05-30)
    mixed_size: bool
    compute_only: bool
    mig_kind: object  # the row of the table of GPUs that can be partitioned, or None
    product: str  # as nvidia-smi names it
    subsystem_id: int
    profiles: tuple

    @property
    def migs(self):
        return self.mig_kind is not None


@functools.cache
def board(key):
    """The board with this key of the catalogue."""
    row = boards.board(key)
    if row is None:
        return _without_vgpu(key)
    kind = boards.GPUS.get(row.mig_gpu)
    device_id = int(row.pci_device_id, 16)
    return Board(
        key=row.key,
        title=row.title,
        device_id=device_id,
        prefix=row.vsphere_prefix,
        memory_gb=row.memory_gb,
        mmio_gb=_unpublished_mmio_gb(row.memory_gb) if row.mmio_gb is None else row.mmio_gb,
        mixed_size=not row.key.startswith(BEFORE_AMPERE),
        compute_only=not row.other_series,
        mig_kind=kind,
        product=_product(row, kind, device_id),
        subsystem_id=_subsystem(kind, device_id),
        profiles=(*_time_sliced(row), *_other_series(row), *_mig_backed(row)),
    )


def board_keys():
    """Return all boards that a seed may name: those with vGPU types, and every GPU of the table of MIG profiles."""
    return [*(row.key for row in boards.BOARDS), *(key for key in boards.GPUS if boards.board(key) is None)]


@functools.cache
def profile(name):
    """The vGPU type with this name and the board it belongs to, or (None, None)."""
    row = boards.board_of(name)
    owner = board(row.key) if row is not None else None
    for entry in owner.profiles if owner is not None else ():
        if entry.name == name:
            return entry, owner
    return None, owner


def _time_sliced(row):
    for entry in row.time_sliced:
        yield Profile(
            name=f"{row.vsphere_prefix}-{entry.gb}c",
            fb_gb=entry.gb,
            series="c",
            mig=False,
            most_same_size=entry.max_equal,
            most_mixed_size=entry.max_mixed or _most_mixed(entry.max_equal),
            placements=entry.placements or (),
        )


def _other_series(row):
    for suffix in row.other_series:
        gb, series = boards.size_and_series(suffix)
        most = min(MOST_PER_GPU, row.memory_gb // gb)
        # Starts belong to sizes, whatever the series [unsure: published for the C series].
        same = next((one for one in row.time_sliced if one.gb == gb), None)
        mixed, starts = (same.max_mixed, same.placements) if same is not None else (None, None)
        yield Profile(
            f"{row.vsphere_prefix}-{suffix}", gb, series, False, most, mixed or _most_mixed(most), starts or ()
        )


def _most_mixed(most):
    """Without a published number, the largest power of two up to that of the same-size mode [unsure]."""
    return 1 << (most.bit_length() - 1)


def _mig_backed(row):
    twelve_slots = (row.mig_gpu or "").startswith(TWELVE_SLOT_PREFIX)
    for entry in row.mig_backed:
        yield Profile(
            name=entry.name(row.vsphere_prefix),
            fb_gb=entry.gb,
            series=entry.series,
            mig=True,
            most_same_size=entry.max_per_gpu,
            mig_profile_id=entry.mig_profile_id,
            since=_since(twelve_slots, entry),
            most_per_instance=entry.max_per_instance,
        )


def _since(twelve_slots, entry):
    if not twelve_slots:
        return _release(entry.esxi_from)
    return SHARED_INSTANCES if entry.max_per_instance > 1 else NOT_YET


def _without_vgpu(key):
    """A GPU of the table of MIG profiles that has no board with vGPU types; KeyError where there is none."""
    kind = boards.GPUS[key]
    device_id, subsystem, product = kind.pci[0]
    return Board(
        key=key,
        title=(product or key).removeprefix("NVIDIA "),
        device_id=device_id,
        prefix="",
        memory_gb=kind.memory_gb,
        mmio_gb=_unpublished_mmio_gb(kind.memory_gb),
        mixed_size=True,
        compute_only=True,
        mig_kind=kind,
        product=product or f"NVIDIA {key}",
        subsystem_id=subsystem or DEFAULT_SUBSYSTEM,
        profiles=(),
    )


def _product(row, kind, device_id):
    """Return the driver's name of the card; for cards without MIG it is derived from their titles."""
    for known, _subsystem_id, product in kind.pci if kind is not None else ():
        if known == device_id and product:
            return product
    brand = "Tesla" if row.key.startswith(BEFORE_AMPERE) else "NVIDIA"
    return f"{brand} {row.title.partition(' (')[0]}"


def _subsystem(kind, device_id):
    found = [subsystem for known, subsystem, _product_name in kind.pci if known == device_id] if kind else []
    return found[0] or DEFAULT_SUBSYSTEM if found else DEFAULT_SUBSYSTEM


def _release(text):
    """'8.0.3' as (8, 0, 3)."""
    return tuple(int(part) for part in text.split(".")) if text else ANY_RELEASE


def _unpublished_mmio_gb(memory_gb):
    """Twice the memory rounded up to a power of two (rule of thumb of frankdenneman.nl 2023-05-30)."""
    return 2 << (memory_gb - 1).bit_length()
