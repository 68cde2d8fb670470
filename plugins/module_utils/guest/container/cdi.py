# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compare the GPUs of the machine with those that the Container Device Interface offers."""

from __future__ import annotations

import re
from typing import Iterable, Literal, Sequence

GPU = re.compile(r"GPU (\d+): .*\(UUID: (GPU-[0-9A-Za-z-]+)\)")
INSTANCE = re.compile(r"\s+MIG .*Device\s+(\d+): \(UUID: (MIG-[0-9A-Za-z/-]+)\)")
KIND = "nvidia.com/gpu"
# The toolkit can be configured to write gpu0 and mig0:1 for 0 and 0:1.
TYPED = re.compile(r"(?:gpu|mig)(?=\d)")


def gpus(listing: str) -> list[tuple[str, str, bool]]:
    """The devices of `nvidia-smi -L` as (name by number, UUID, whether it is divided).

    Containers get a divided GPU by its parts, so that it need not be handed out as a whole.
    """
    found, divided, number = [], set(), None
    for line in listing.splitlines():
        whole = GPU.match(line)
        part = INSTANCE.match(line)
        if whole is not None:
            number = whole[1]
            found.append((number, whole[2]))
        elif part is not None and number is not None:
            divided.add(number)
            found.append((f"{number}:{part[1]}", part[2]))
    return [(name, uuid, name in divided) for name, uuid in found]


def gap(present: Sequence[tuple[str, str, bool]], listed: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return devices that are not offered, and offered names without a device.

    Devices are named by numbers, by UUIDs, or both, as the toolkit was configured. UUIDs have priority, since numbers
    stay the same when a GPU is partitioned again.
    """
    names = {name.split("=", 1)[1] for name in listed if name.startswith(f"{KIND}=")} - {"all"}
    given = {TYPED.sub("", name) if TYPED.match(name) else name for name in names}
    uuids = {name for name in given if name.startswith(("GPU-", "MIG-"))}
    column: Literal[0, 1] = 1 if uuids else 0
    there = {device[column] for device in present}
    needed = {device[column] for device in present if not device[2]}
    return sorted(needed - given), sorted((uuids or given) - there)
