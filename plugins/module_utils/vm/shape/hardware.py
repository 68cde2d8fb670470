# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Virtual hardware version: the supported versions of a host, and the task that raises it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Protocol, Sequence, TypeVar, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import current
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import moid_of

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.fleet import Fleet, GiveUp
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import R, VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Host
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import VmState

    class Hardware(VmState, Protocol):
        """The state of a VM whose virtual hardware version is managed."""

        @property
        def hardware_version(self) -> int: ...

    H = TypeVar("H", bound=Hardware)


def newest_versions(vcenter: VCenter, hosts: Iterable[Host | None]) -> dict[str, int]:
    """{moid: newest hardware version} of these hosts, with one question per cluster."""
    moids = sorted({host.moid for host in hosts if host is not None})
    if not moids:
        return {}
    clusters = properties.retrieve(
        vcenter,
        select={"ComputeResource": ["environmentBrowser"]},
        start=[vcenter.managed("HostSystem", moid) for moid in moids],
        walk=[("HostSystem", "parent")],
        skip_gone=True,
    )
    newest: dict[str, int] = {}
    for row in clusters:
        for descriptor in _descriptors(vcenter, row):
            number = descriptor.key.rpartition("-")[2]
            if not number.isdecimal() or descriptor.upgradeSupported is False:
                continue
            for moid in (cast(str, moid_of(host)) for host in descriptor.host or []):
                newest[moid] = max(int(number), newest.get(moid, 0))
    return {moid: newest[moid] for moid in moids if moid in newest}


def upgrade(fleet: Fleet[H], items: Sequence[Item[VmRequest[R], H]], give_up: GiveUp[R, H]) -> None:
    """Raise the version if requested; ConfigSpec.version is for new VMs, this task for existing ones."""
    fleet.settle(
        [item for item in items if _wanted(item) > current(item).hardware_version],
        "cannot upgrade its virtual hardware",
        lambda item: current(item).hardware_version >= _wanted(item),
        lambda ref, item: ref.UpgradeVM_Task(version=f"vmx-{_wanted(item):02}"),
        give_up,
    )


def _wanted(item: Item[VmRequest[R], H]) -> int:
    return item.wanted.hardware_version


def _descriptors(vcenter: VCenter, row: Row) -> list[vim.vm.ConfigOptionDescriptor]:
    try:
        return row.get("environmentBrowser").QueryConfigOptionDescriptor()
    except vmodl.MethodFault as fault:
        raise explain(fault, vcenter.name, "cannot list the hardware versions that the hosts support") from fault
