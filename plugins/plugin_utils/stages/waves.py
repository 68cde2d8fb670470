# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Number and order of the hosts or switches that a stage changes at once. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def size(variables: Mapping[str, Mapping[str, Any]] | None, part: str, names: Sequence[str]) -> int:
    """The serial value of a section of the site, hosts or fabric."""
    found: int = (_site(variables, names).get(part) or {}).get("serial", 1)
    return found


def order(variables: Mapping[str, Mapping[str, Any]] | None, names: Sequence[str], state: str) -> str:
    """Spines before leaves, or leaves first for the removal of flow control; see the head of playbook fabric."""
    lossy = (_site(variables, names).get("roce") or {}).get("mode") == "lossy"
    return "reverse_inventory" if lossy or state == "absent" else "inventory"


def _site(variables: Mapping[str, Mapping[str, Any]] | None, names: Sequence[str]) -> Mapping[str, Any]:
    """The site from the first host; Ansible has no other variables when it splits a play into waves."""
    site: Mapping[str, Any] = (variables[names[0]].get("site") if variables and names else None) or {}
    return site
