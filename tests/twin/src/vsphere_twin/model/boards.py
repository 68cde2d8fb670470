"""The tables of GPU boards and of MIG profiles, as the file data/boards.json has them; nothing here changes them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "data" / "boards.json"
# A board's name may hold hyphens (rtx6000-ada) and digits, so the sizes are taken from the end.
PROFILE = re.compile(
    r"(?P<board>(?:grid|nvidia)_[a-z0-9_-]+?)-(?:\d-)?(?P<gb>\d+)(?P<series>[abcq])(?:me|\d)?",
)


@dataclass(frozen=True)
class MigProfile:
    """A profile of GPU instances. Unknown values are None."""

    name: str
    key: str  # the same on every GPU: 1g, 1g+me, 1g_double, 2g, ...
    id: int  # for nvidia-smi; it differs between GPUs
    compute_slices: int
    size: int  # in memory slots
    starts: tuple
    max_instances: int
    attributes: tuple = ()  # me, gfx, me.all or -me
    memory_gib: float | None = None
    sm: int | None = None
    ce: int | None = None
    dec: int | None = None
    jpeg: int | None = None
    ofa: int | None = None
    enc: int | None = None
    first_driver_branch: int | None = None
    aliases: tuple = ()


@dataclass(frozen=True)
class MigGpu:
    """A GPU that can be partitioned."""

    key: str
    architecture: str
    mode_survives_reboot: bool
    enable_needs_gpu_reset: bool
    esxi_enable_needs_host_reboot: bool
    memory_gb: int
    memory_slots: int | None
    compute_slices: int | None
    min_driver: str | None
    pci: tuple  # (device id, subsystem id or None, product name or None)
    profiles: tuple

    def profile(self, profile_id):
        """The profile with this id, or None."""
        return next((entry for entry in self.profiles if entry.id == profile_id), None)


@dataclass(frozen=True)
class TimeSliced:
    """A time-sliced type of the C series."""

    gb: int
    max_equal: int
    max_mixed: int | None
    placements: tuple | None


@dataclass(frozen=True)
class MigBacked:
    """A type that is backed by a GPU instance."""

    slices: int
    gb: int
    series: str
    media: bool
    mig_profile: str
    mig_profile_id: int
    max_per_gpu: int
    max_per_instance: int
    esxi_from: str | None

    def name(self, prefix):
        """The name of this type of a board."""
        return f"{prefix}-{self.slices}-{self.gb}{self.series}{'me' if self.media else ''}"


@dataclass(frozen=True)
class Row:
    """A GPU board and its vGPU types."""

    key: str
    title: str
    pci_device_id: str
    product: str | None
    vsphere_prefix: str
    mig_gpu: str | None  # its key in the table of MIG profiles
    memory_gb: int
    mmio_gb: int | None  # 0: fits below 4 GB; None: not published
    time_sliced: tuple
    mig_backed: tuple
    other_series: tuple


NESTED = {(MigGpu, "profiles"): MigProfile, (Row, "time_sliced"): TimeSliced, (Row, "mig_backed"): MigBacked}


def _made(kind, row):
    """A row of the file as an object whose lists are tuples."""
    values = {}
    for field in fields(kind):
        value, nested = row[field.name], NESTED.get((kind, field.name))
        values[field.name] = tuple(_made(nested, entry) for entry in value) if nested else _frozen(value)
    return kind(**values)


def _frozen(value):
    return tuple(_frozen(entry) for entry in value) if isinstance(value, list) else value


_DATA = json.loads(FILE.read_text(encoding="utf-8"))
BOARDS = tuple(_made(Row, row) for row in _DATA["boards"])
GPUS = {row["key"]: _made(MigGpu, row) for row in _DATA["gpus"]}
_BY_KEY = {row.key: row for row in BOARDS}
_BY_PREFIX = {row.vsphere_prefix: row for row in BOARDS}


def board(key):
    """The board with this key, or None."""
    return _BY_KEY.get(key)


def board_of(profile):
    """The board of a vGPU type by its name, or None."""
    found = PROFILE.fullmatch(profile)
    return _BY_PREFIX.get(found["board"]) if found else None


def size_and_series(suffix):
    """The GB and the series in the last part of a type's name, such as 48q or 1b4."""
    gb, series = re.fullmatch(r"(\d+)([abcq])\d?", suffix).groups()
    return int(gb), series
