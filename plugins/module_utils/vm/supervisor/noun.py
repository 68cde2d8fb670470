# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""VM classes over REST: read all of them, create, update or delete one, and offer it in namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence
from urllib.parse import quote

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered, Rest, refused
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.supervisor import vm_class

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_CLASSES = "/api/vcenter/namespace-management/virtual-machine-classes"
_NAMESPACES = "/api/vcenter/namespaces/instances"
_FIELD = "VM classes (VirtualMachineClasses.Manage)"
_OF_NAMESPACES = "the namespaces of the Supervisor (Namespaces.Configure)"
_OFFERED = "offered in"


class VmClasses(Noun[vm_class.ClassRequest, vm_class.VmClass]):
    """One VM class of a vCenter."""

    def __init__(self, params: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        self._params = params
        self._warn = warn
        self._vcenter: VCenter | None = None
        self._rest: Rest = None  # type: ignore[assignment]
        self._release: tuple[int, ...] = ()

    def read(self, items: Sequence[Item[vm_class.ClassRequest, vm_class.VmClass]]) -> None:
        (item,) = items
        self._vcenter = session.connect(self._params, self._warn)
        self._rest = Rest(self._vcenter)
        self._release = release.numbers(self._vcenter.content.about.version)
        item.now = self._look(item)
        for namespace in item.requested.namespaces if item.requested.state == "present" else ():
            self._namespace(item, namespace, _OFFERED)

    def want(self, item: Item[vm_class.ClassRequest, vm_class.VmClass]) -> vm_class.VmClass:
        return vm_class.want(item.label, item.now, item.requested, self._release)

    def compare(self, now: vm_class.VmClass, wanted: vm_class.VmClass) -> list[Change]:
        return vm_class.compare(now, wanted)

    def apply(self, items: Sequence[Item[vm_class.ClassRequest, vm_class.VmClass]]) -> None:
        (item,) = items
        name, now, wanted = item.requested.name, item.now, item.wanted
        item.touched = True
        for namespace in sorted(set(now.namespaces) - set(wanted.namespaces)):
            self._withdraw(item, namespace)
        if not wanted.present:
            self._remove(item)
            return
        body = vm_class.body(now, wanted, self._release)
        if not now.present:
            self._send(item, "POST", _CLASSES, {"id": name, **body}, "cannot be created")
        elif body:
            self._send(item, "PATCH", f"{_CLASSES}/{name}", body, "cannot be changed")
        for namespace in sorted(set(wanted.namespaces) - set(now.namespaces)):
            self._offer(item, namespace)

    def prove(self, items: Sequence[Item[vm_class.ClassRequest, vm_class.VmClass]]) -> None:
        (item,) = items
        item.proved = self._look(item)
        left = vm_class.compare(item.proved, vm_class.want(item.label, item.proved, item.requested, self._release))
        if left:
            item.error = not_proved(
                item.label,
                "the change had no effect",
                left,
                "Check the VM class in vCenter, then run again",
                "vCenter reported success, but this still differs",
            )

    def project(self, state: vm_class.VmClass) -> dict[str, Any]:
        return vm_class.project(state)

    def close(self) -> None:
        """Log out."""
        if self._vcenter is not None:
            self._rest.close()
            self._vcenter.close()

    def _look(self, item: Item[vm_class.ClassRequest, vm_class.VmClass]) -> vm_class.VmClass:
        wanted = "cannot read the VM classes"
        try:
            answer = self._rest.call("GET", _CLASSES)
        except Answered as error:
            if error.status == 404:
                raise OperatorError(
                    item.label,
                    wanted,
                    "This vCenter has no VM classes (HTTP status 404)",
                    "Use vCenter 7.0 Update 2a or newer",
                    "vm_class_release",
                ) from error
            raise refused(error, item.label, wanted, _FIELD) from error
        found = [one for one in answer or () if one["id"] == item.requested.name]
        return vm_class.parsed(found[0]) if found else vm_class.ABSENT

    def _namespace(self, item: Item[vm_class.ClassRequest, vm_class.VmClass], name: str, verb: str) -> dict[str, Any]:
        """What a namespace offers to its VMs."""
        wanted = f"cannot be {verb} the namespace {name}"
        try:
            answer = self._rest.call("GET", f"{_NAMESPACES}/{quote(name, safe='')}")
        except Answered as error:
            if error.status == 404:
                raise OperatorError(
                    item.label,
                    wanted,
                    "vCenter has no such namespace",
                    "Create the namespace in vCenter with a storage policy, or correct `namespaces`",
                    "namespace_not_found",
                    namespace=name,
                ) from error
            raise refused(error, item.label, wanted, _OF_NAMESPACES) from error
        return dict(answer.get("vm_service_spec") or {})

    def _withdraw(self, item: Item[vm_class.ClassRequest, vm_class.VmClass], namespace: str) -> None:
        try:
            self._offer(item, namespace, False)
        except OperatorError as error:
            # A namespace that somebody deleted since the read offers nothing.
            if error.code != "namespace_not_found":
                raise

    def _remove(self, item: Item[vm_class.ClassRequest, vm_class.VmClass]) -> None:
        wanted = "cannot be removed"
        try:
            self._rest.call("DELETE", f"{_CLASSES}/{item.requested.name}")
        except Answered as error:
            # Somebody may have deleted it since the read, and prove reads again.
            if error.status != 404:
                raise refused(error, item.label, wanted, _FIELD) from error

    def _offer(self, item: Item[vm_class.ClassRequest, vm_class.VmClass], name: str, offered: bool = True) -> None:
        # The lists replace those of the namespace, so that a request has all of them.
        verb = _OFFERED if offered else "withdrawn from"
        spec = self._namespace(item, name, verb)
        others = set(spec.get("vm_classes") or ()) - {item.requested.name}
        spec["vm_classes"] = sorted({*others, item.requested.name} if offered else others)
        path, wanted = f"{_NAMESPACES}/{quote(name, safe='')}", f"cannot be {verb} the namespace {name}"
        self._send(item, "PATCH", path, {"vm_service_spec": spec}, wanted, _OF_NAMESPACES)

    def _send(
        self,
        item: Item[vm_class.ClassRequest, vm_class.VmClass],
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        wanted: str,
        field: str = _FIELD,
    ) -> None:
        try:
            self._rest.call(method, path, body)
        except Answered as error:
            raise refused(error, item.label, wanted, field) from error
