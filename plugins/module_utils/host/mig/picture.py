# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The layout of a GPU drawn in text, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Instance


# At least as wide as the name of a small profile in one slot.
CELL = 8


def draw(slots: int, instances: Sequence[Instance]) -> list[str]:
    """Return two lines: the numbers of the memory slots, and below them the instance on each."""
    # Two brackets for each; -(-a // b) is a / b rounded up.
    width = max([CELL, *(-(-(len(instance.name) + 2) // instance.size) for instance in instances)])
    numbers = "".join(str(slot).ljust(width) for slot in range(slots))
    by_start = {instance.start: instance for instance in instances}
    cells, slot = "", 0
    while slot < slots:
        instance = by_start.get(slot)
        size = instance.size if instance is not None else 1
        text = instance.name if instance is not None else "-"
        cells += f"[{text.ljust(width * size - 2)}]"
        slot += size
    return [numbers.rstrip(), cells]
