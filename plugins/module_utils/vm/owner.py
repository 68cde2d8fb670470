# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Creator of a VM, from the markers that vm_clone leaves in it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes

# Written with the creation of a VM: its source and its owner.
CLONED_FROM = "aiready.vsphere.cloned_from"
OWNER = "aiready.vsphere.owner"


@dataclass(frozen=True)
class Origin:
    """Source and owner of a VM. A VM that vm_clone did not create has neither."""

    source: str | None = None
    owner: str | None = None


def mark(owner: str | None, name: str) -> str:
    """Return the value of the marker; empty without an owner, which removes the marker of a template."""
    return f"{owner}/{name}" if owner else ""


def origin_of(extra: Mapping[str, str], name: str) -> Origin:
    """Return the origin of a VM of this name, from its extra settings by keys in lower case.

    vCenter copies all settings with a VM. The name in the marker distinguishes the created VM from copies of it.
    """
    owner, slash, marked = str(extra.get(OWNER) or "").partition("/")
    if slash and not escapes.same_name(name, marked):
        return Origin()
    return Origin(extra.get(CLONED_FROM) or None, owner or None)
