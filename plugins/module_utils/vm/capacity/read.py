# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the hosts for gpu_capacity_info: as a placement reads them, for a request without VMs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import read as placement

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Host
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import Scope


_NOTHING: dict[str, object] = {"vms": [], "leaving": [], "switch": None, "portgroup": None, "path": "tcp"}


def read(vcenter: VCenter, params: Mapping[str, Any]) -> tuple[Scope, Sequence[Host]]:
    """Return the scope and its hosts with all of their VMs."""
    try:
        scope, world, dummy, now = placement.read(vcenter, {**params, **_NOTHING})
    except OperatorError as error:
        if error.subject != "Placement":
            raise
        raise OperatorError("GPU capacity", "cannot read it", error.found, error.todo, error.code) from error
    return scope, world.hosts
