# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Request that changes the passthrough configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.passthrough import Given


def configs(
    now: Mapping[str, Given], wanted: Mapping[str, Given], addresses: Iterable[str], apply_now: bool
) -> list[vim.host.PciPassthruConfig]:
    """Return one entry per device and kind of change; unchanged values are included: an entry replaces all."""
    entries = []
    for address in addresses:
        before, after = now[address], wanted[address]
        if (before.configured, before.label) != (after.configured, after.label):
            entry = vim.host.PciPassthruConfig(id=address, passthruEnabled=after.configured, applyNow=apply_now)
            if before.label != after.label:
                entry.hardwareLabel = after.label
            entries.append(entry)
        if before.vfs_configured != after.vfs_configured:
            entries.append(
                vim.host.SriovConfig(
                    id=address,
                    passthruEnabled=after.configured,
                    sriovEnabled=after.vfs_configured > 0,
                    numVirtualFunction=after.vfs_configured,
                )
            )
    return entries
