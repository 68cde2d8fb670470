# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""MIG output of nvidia-smi, as rows. By tokens, since the tables have three widths and names drift."""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple, Sequence, cast


class ListedProfile(NamedTuple):
    """A row of `nvidia-smi mig -lgip`."""

    gpu: int
    name: str
    id: int
    free: int | None
    total: int
    memory_gib: float | None
    sm: int | None
    dec: int | None
    enc: int | None
    ce: int | None
    jpeg: int | None
    ofa: int | None


class ListedPlacement(NamedTuple):
    """A row of `nvidia-smi mig -lgipp`."""

    gpu: int
    profile_id: int
    starts: tuple[int, ...]
    size: int


class ListedInstance(NamedTuple):
    """A row of `nvidia-smi mig -lgi`."""

    gpu: int
    name: str
    profile_id: int
    instance_id: int
    start: int
    size: int


class ListedCompute(NamedTuple):
    """A row of `nvidia-smi mig -lci`."""

    gpu: int
    gpu_instance_id: int
    name: str
    profile_id: int
    instance_id: int
    start: int | None
    size: int | None


_ROW = re.compile(r"^\|\s+\d+(\s+\d+)?\s+MIG\s")
_UNREAD = re.compile(r"^\s*\|.*\sMIG\s+\d")  # a row, whatever its first cells are
_MORE = re.compile(r"^\|(\s+(\d+|\[?N/A\]?))+\s*\|$")
_MODES = {"enabled": True, "disabled": False, "[n/a]": None, "n/a": None, "": None}
_PLACEMENTS = re.compile(r"^GPU\s+(\d+)\s+Profile\s+ID\s+(\d+)\s+Placements?\s*:\s*\{([\d,\s]+)\}\s*:\s*(\d+)")


def profiles(text: str) -> list[ListedProfile]:
    """`nvidia-smi mig -lgip`: the profiles of GPU instances. The free count is not to be trusted."""
    rows = []
    for first, second in _pairs(text):
        gpu, _mig, name, profile_id, counts, memory, _p2p, sm, dec, enc = first[:10]
        free, _slash, total = counts.rpartition("/")
        ce, jpeg, ofa = _whole(second, 3)
        rows.append(
            ListedProfile(
                int(gpu),
                name,
                int(profile_id),
                cast("int | None", _figure(free)),
                int(total),
                _figure(memory),
                *cast("tuple[int | None, int | None, int | None]", map(_figure, (sm, dec, enc))),
                ce,
                jpeg,
                ofa,
            )
        )
    return rows


def placements(text: str) -> list[ListedPlacement]:
    """`nvidia-smi mig -lgipp`: where instances of each profile may begin."""
    found = []
    for line in text.splitlines():
        row = _PLACEMENTS.match(line)
        if row:
            starts = tuple(int(start) for start in row[3].split(","))
            found.append(ListedPlacement(int(row[1]), int(row[2]), starts, int(row[4])))
        elif re.match(r"\s*GPU\b.*\bProfile\b", line):
            raise ValueError(f"a line has another form: {line.strip()}")
    return found


def instances(text: str) -> list[ListedInstance]:
    """`nvidia-smi mig -lgi`: the present GPU instances."""
    rows = []
    for gpu, _mig, name, profile_id, instance_id, place in (first[:6] for first, _second in _pairs(text)):
        rows.append(ListedInstance(int(gpu), name, int(profile_id), int(instance_id), *_place(place)))
    return rows


def compute_instances(text: str) -> list[ListedCompute]:
    """`nvidia-smi mig -lci`: the compute instances; R450 prints no placement."""
    rows = []
    for first, _second in _pairs(text):
        gpu, gpu_instance, _mig, name, profile_id, instance_id = first[:6]
        place = _place(first[6]) if len(first) > 6 else (None, None)
        rows.append(ListedCompute(int(gpu), int(gpu_instance), name, int(profile_id), int(instance_id), *place))
    return rows


def csv_rows(text: str) -> list[list[str]]:
    """`--query-gpu=... --format=csv`: its rows, without the header if there is one. Names hold no comma."""
    rows = [[field.strip() for field in line.split(",")] for line in text.splitlines() if line.strip()]
    # A header repeats the requested fields, and no value is all lower case.
    if rows and all(re.match(r"^[a-z_.]+( \[\w+\])?$", field) for field in rows[0]):
        return rows[1:]
    return rows


def mode(text: str) -> bool | None:
    """Disabled is False, Enabled True; None on a GPU that cannot do MIG."""
    return _MODES.get(text.strip().lower())


def is_mode(text: str) -> bool:
    """Return whether this answer contains a mode, unlike [Unknown Error] of a lost GPU."""
    return text.strip().lower() in _MODES


def modes(text: str) -> tuple[bool | None, bool | None]:
    """Return (mode now, mode after a restart) from a query of both; raises ValueError if no row has them."""
    for row in csv_rows(text):
        if len(row) == 2 and all(map(is_mode, row)):
            return mode(row[0]), mode(row[1])
    raise ValueError("no row reports the MIG mode")


def _pairs(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The tokens of each row, and of the line below when it continues the row."""
    lines = text.splitlines()
    if not text.strip():
        raise ValueError("it is empty")
    drawn = [line.strip() for line in lines if re.match(r"\s*[|+]", line)]
    # Rows without a table are a selected part. A table without its end may lack rows.
    if drawn and drawn[0].startswith("+-") and not drawn[-1].startswith("+-"):
        raise ValueError("the table is cut off")
    for at, line in enumerate(lines):
        if _UNREAD.match(line) and not _ROW.match(line):
            raise ValueError(f"a row has another form: {line.strip()}")
        if _ROW.match(line):
            below = lines[at + 1] if at + 1 < len(lines) else ""
            yield line.strip("| \t\r").split(), below.strip("| \t\r").split() if _MORE.match(below.rstrip()) else []


def _place(text: str) -> tuple[int, int]:
    start, size = text.split(":")
    return int(start), int(size)


def _whole(tokens: Sequence[str], count: int) -> list[int | None]:
    return [cast("int | None", _figure(token)) for token in tokens[:count]] if len(tokens) >= count else [None] * count


def _figure(text: str) -> float | None:
    """A number, or None where the driver prints N/A or a question mark."""
    if re.match(r"^\d+$", text):
        return int(text)
    return float(text) if re.match(r"^\d+\.\d+$", text) else None
