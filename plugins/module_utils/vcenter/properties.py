# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reading: many objects, exactly the properties needed, one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import managed_type, vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import FateUnknown

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_RESTARTS = 2
# Steps that lead back to their origin. No server documents a detection of such loops.
_BACK: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {
    ("ComputeResource", "host"): (("HostSystem", "parent"),),
    ("HostSystem", "vm"): (("VirtualMachine", "runtime.host"),),
    ("HostSystem", "network"): (("DistributedVirtualPortgroup", "host"), ("Network", "host")),
    ("HostSystem", "datastore"): (("Datastore", "host"),),
}


class Row:
    """Reading of one object."""

    def __init__(self, ref: Ref, values: Mapping[str, Data], missing: Mapping[str, vmodl.MethodFault]) -> None:
        self.ref = ref
        self.missing = missing
        self.values = values

    @property
    def moid(self) -> str:
        return self.ref._GetMoId()

    @property
    def kind(self) -> str:
        return self.ref._wsdlName

    def get(self, path: str, default: Data = None) -> Data:
        """The value of a property path; the default when it is unset or could not be read (see missing)."""
        return self.values.get(path, default)

    def __repr__(self) -> str:
        return f"<Row {self.kind} {self.moid}>"


def retrieve(
    vcenter: VCenter,
    select: Mapping[str, Sequence[str]],
    start: Iterable[Ref],
    walk: Sequence[tuple[str, str]] = (),
    skip_gone: bool = False,
) -> list[Row]:
    """Return rows of everything reached from the start objects that is of a selected kind.

    select maps a kind to its property paths; walk lists (kind, property) steps that are followed from any object
    reached. With skip_gone, start objects that no longer exist are left out instead of failing the read.
    """
    start = list(start)
    while start:
        try:
            return read(vcenter, _filter_spec(select, start, walk))
        except vmodl.fault.ManagedObjectNotFound as fault:
            left = [ref for ref in start if not _same(ref, fault.obj)]
            if not skip_gone or len(left) == len(start):
                raise _explained(vcenter, fault, select) from fault
            start = left
        except vmodl.MethodFault as fault:
            raise _explained(vcenter, fault, select) from fault
    return []


def read(vcenter: VCenter, spec: Data) -> list[Row]:
    """Read all pages of a filter; again from the first one if the session or the connection is lost in between."""
    restarts = 0
    while True:
        try:
            return _pages(vcenter.content.propertyCollector, spec)
        except vim.fault.NotAuthenticated:
            if restarts == _RESTARTS:
                raise
            vcenter.renew()
        except FateUnknown:
            if restarts == _RESTARTS:
                raise
        restarts += 1


def _pages(collector: Ref, spec: Data) -> list[Row]:
    options = vmodl.query.PropertyCollector.RetrieveOptions()
    rows: list[Row] = []
    page = collector.RetrievePropertiesEx(specSet=[spec], options=options)
    while page is not None:
        rows.extend(_row(content) for content in page.objects or ())
        page = collector.ContinueRetrievePropertiesEx(token=page.token) if page.token else None
    return rows


def _row(content: Data) -> Row:
    missing = {entry.path: entry.fault for entry in content.missingSet or ()}
    for fault in missing.values():
        # vCenter answers a request without a session too, but hides every property behind this fault.
        if isinstance(fault, vim.fault.NotAuthenticated):
            raise fault
    return Row(content.obj, {entry.name: entry.val for entry in content.propSet or ()}, missing)


def _filter_spec(select: Mapping[str, Sequence[str]], start: Iterable[Ref], walk: Sequence[tuple[str, str]]) -> Data:
    collector = vmodl.query.PropertyCollector
    steps = [
        collector.TraversalSpec(
            name=f"{kind}.{path}",
            type=managed_type(kind),
            path=path,
            skip=False,
            selectSet=[collector.SelectionSpec(name=".".join(step)) for step in followed((kind, path), walk)],
        )
        for kind, path in walk
    ]
    return collector.FilterSpec(
        propSet=[
            collector.PropertySpec(type=managed_type(kind), all=False, pathSet=list(paths))
            for kind, paths in select.items()
        ],
        objectSet=[collector.ObjectSpec(obj=ref, skip=False, selectSet=list(steps)) for ref in start],
    )


def followed(step: tuple[str, str], walk: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The steps of a walk that go on after one of them: none that leads back to where it came from."""
    return [other for other in walk if tuple(other) not in _BACK.get(tuple(step), ())]


def _same(ref: Ref, other: Ref | None) -> bool:
    return other is not None and ref._GetMoId() == other._GetMoId()


def _explained(vcenter: VCenter, fault: vmodl.MethodFault, select: Mapping[str, Sequence[str]]) -> OperatorError:
    return explain(fault, vcenter.name, f"cannot read the properties of {', '.join(sorted(select))} objects")
