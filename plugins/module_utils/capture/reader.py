# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reading vCenter for a capture: bounded pages, read-only requests, and what was refused."""

from __future__ import annotations

import datetime
import functools
import json
from typing import TYPE_CHECKING, Any, Callable, Iterable
from urllib.parse import quote

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import fields, objects
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import (
    VmomiSupport,
    managed_type,
    vim,
    vmodl,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered, Rest

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Folder
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

# Objects of one request. A VM has about 50 kB.
PAGE = 20
EVENTS = 1000
# Items of content libraries, each with two or three requests.
MOST_ITEMS = 1000
# Every method that a capture calls over SOAP, beside the login; docs/capture_requests.md lists them.
METHODS = (
    "CurrentTime",
    "CreateContainerView",
    "DestroyView",
    "QueryConfigOptionDescriptor",
    "QueryConfigOptionEx",
    "QueryConfigTarget",
    "QueryEvents",
    "RetrievePropertiesEx",
    "ContinueRetrievePropertiesEx",
)
# Every path that a capture reads by GET over REST.
PATHS = (
    "/api/esx/settings/clusters/{cluster}/enablement/software",
    "/api/esx/settings/clusters/{cluster}/software",
    "/api/esx/settings/clusters/{cluster}/software/compliance",
    "/api/esx/settings/clusters/{cluster}/software/reports/last-apply-result",
    "/api/content/library",
    "/api/content/library/{library}",
    "/api/content/library/item?library_id={library}",
    "/api/content/library/item/{item}",
    "/api/content/library/item/file?library_item_id={item}",
    "/api/vcenter/vm-template/library-items/{item}",
    "/api/cis/tagging/category",
    "/api/cis/tagging/category/{category}",
    "/api/cis/tagging/tag",
    "/api/cis/tagging/tag/{tag}",
)
# Every path that a capture reads by POST: the identifiers of tags are too long for an address.
POSTS = ("/api/cis/tagging/tag-association?action=list-attached-objects-on-tags",)
_LIBRARIES, _TAGS = "/api/content/library", "/api/cis/tagging/tag"
# Tags of one request.
TAGS_AT_ONCE = 100
# Sessions and licence keys are never read.
_LEFT_OUT = ("sessionManager", "licenseManager", "userDirectory", "propertyCollector", "viewManager")


class Reader:
    """One capture of a vCenter. Each step is saved, and the next run leaves out what is there."""

    def __init__(self, vcenter: VCenter, folder: Folder, keep_names: bool, event_days: int) -> None:
        self._vcenter = vcenter
        self._folder = folder
        self._days = event_days
        self._read_items = 0
        self.scrub = Scrubber(folder.table, keep_names)
        self.scrub.counts.update(folder.counts.get("texts", {}))
        self.scrub.dropped.update(folder.counts.get("dropped", {}))

    def read(self) -> None:
        """Read everything that is not there yet."""
        refs = self._inventory()
        hosts = [ref for ref in refs if ref._wsdlName == "HostSystem"]
        clusters = [ref for ref in refs if ref._wsdlName in ("ClusterComputeResource", "ComputeResource")]
        services = [
            getattr(self._vcenter.content, info.name)
            for info in self._vcenter.content._GetPropertyList()
            if info.name not in _LEFT_OUT
        ]
        managers = [one for one in services if isinstance(one, VmomiSupport.ManagedObject) and one not in refs]
        self._objects(managers)
        self._objects(refs)
        self._objects(self._of_hosts(hosts))
        self._environments(clusters)
        self._events()
        if self._vcenter.is_vcenter:
            self._rest([ref._GetMoId() for ref in clusters if ref._wsdlName == "ClusterComputeResource"])

    def _inventory(self) -> list[Ref]:
        """All objects of the inventory; the table learns their names."""
        content = self._vcenter.content
        view = content.viewManager.CreateContainerView(container=content.rootFolder, type=[], recursive=True)
        try:
            select = {kind: ["name"] for kind in sorted(fields.KINDS)}
            walk = [("ContainerView", "view")]
            rows = properties.retrieve(self._vcenter, select, [view], walk)
        finally:
            view.DestroyView()
        found = {row.moid: row for row in rows}
        for row in sorted(found.values(), key=lambda row: fields.order(row.kind, row.moid)):
            name = row.get("name")
            if name and name not in fields.GIVEN:
                self._folder.table.learn(fields.KINDS[row.kind], name)
        return [content.rootFolder, *(row.ref for row in found.values() if row.moid != content.rootFolder._GetMoId())]

    def _of_hosts(self, hosts: list[Ref]) -> list[Ref]:
        """The objects with the settings of each host."""
        found: dict[str, Ref] = {}
        for start in range(0, len(hosts), PAGE):
            rows = properties.retrieve(
                self._vcenter, {"HostSystem": ["configManager"]}, hosts[start : start + PAGE], skip_gone=True
            )
            for row in rows:
                manager = row.get("configManager")
                for info in manager._GetPropertyList() if manager is not None else ():
                    ref = getattr(manager, info.name)
                    if isinstance(ref, VmomiSupport.ManagedObject):
                        found[f"{ref._wsdlName}-{ref._GetMoId()}"] = ref
        return list(found.values())

    def _objects(self, refs: list[Ref]) -> None:
        """Read all properties of objects, page by page of one kind."""
        left = [ref for ref in refs if _label(ref) not in self._folder.coverage]
        for kind in sorted({ref._wsdlName for ref in left}):
            some = [ref for ref in left if ref._wsdlName == kind]
            for start in range(0, len(some), PAGE):
                self._page(kind, some[start : start + PAGE])
                self._save()

    def _page(self, kind: str, refs: list[Ref]) -> None:
        try:
            rows = _whole(self._vcenter, kind, refs)
        except vmodl.MethodFault as fault:
            if len(refs) == 1:
                self._note(_label(refs[0]), False, fault)
                return
            # One object that is gone, or that this user may not see, must not hide the others.
            for ref in refs:
                self._page(kind, [ref])
            return
        for row in rows:
            label = f"{row.kind}-{row.moid}"
            number = sum(1 for name in self._folder.coverage if not name.startswith(("/", "method ")))
            self._folder.put(f"vcenter/{number:04}-{label}.xml", objects.content(row, self.scrub))
            refused = {path: objects.fault_name(fault) for path, fault in sorted(row.missing.items())}
            self._note(label, True, None, refused)
        for ref in refs:
            if _label(ref) not in self._folder.coverage:
                self._note(_label(ref), False, None)

    def _environments(self, clusters: list[Ref]) -> None:
        """What a VM could be given on each host, and the limits of each hardware version."""
        rows = self._rows({ref._wsdlName: ["environmentBrowser", "host"] for ref in clusters}, clusters)
        for row in rows:
            browser = row.get("environmentBrowser")
            if browser is None:
                continue
            for host in row.get("host") or ():
                name = f"QueryConfigTarget-{host._GetMoId()}"
                self._method(browser, name, functools.partial(browser.QueryConfigTarget, host=host))
            found = self._method(browser, "QueryConfigOptionDescriptor", browser.QueryConfigOptionDescriptor)
            for one in found or ():
                spec = vim.EnvironmentBrowser.ConfigOptionQuerySpec(key=one.key)
                self._method(
                    browser,
                    f"QueryConfigOptionEx-{one.key}",
                    functools.partial(browser.QueryConfigOptionEx, spec=spec),
                )

    def _rows(self, select: dict[str, list[str]], refs: list[Ref]) -> list[properties.Row]:
        return properties.retrieve(self._vcenter, select, refs, skip_gone=True) if refs else []

    def _events(self) -> None:
        """The last events, without their texts."""
        if not self._days:
            return
        now = self._vcenter.si.CurrentTime()
        spec = vim.event.EventFilterSpec(
            time=vim.event.EventFilterSpec.ByTime(beginTime=now - datetime.timedelta(days=self._days)), maxCount=EVENTS
        )
        manager = self._vcenter.content.eventManager
        self._method(manager, "QueryEvents", functools.partial(manager.QueryEvents, filter=spec))

    def _method(self, ref: Ref, name: str, call: Callable[[], Data]) -> Data:
        label = f"method {_label(ref)}/{name}"
        # The descriptor lists what follows, so a later run needs it again.
        if label in self._folder.coverage and name != "QueryConfigOptionDescriptor":
            return None
        try:
            answer = call()
        except vmodl.MethodFault as fault:
            self._note(label, False, fault)
            answer = None
        else:
            self._folder.put(f"methods/{_label(ref)}/{name}.xml", objects.response(answer, self.scrub))
            self._note(label, True, None)
        self._save()
        return answer

    def _rest(self, clusters: Iterable[str]) -> None:
        rest = Rest(self._vcenter)
        try:
            for path in PATHS:
                if "{cluster}" in path:
                    for cluster in clusters:
                        self._get(rest, path.format(cluster=cluster), path)
                elif "{" not in path:
                    listed = _numbered(self._get(rest, path, path), path)
                    for one, label in listed:
                        self._get(rest, f"{path}/{quote(one, safe='')}", label)
                        if path == _LIBRARIES:
                            self._items(rest, one, label)
                    if path == _TAGS:
                        self._tagged(rest, [one for one, _label in listed])
        finally:
            rest.close()

    def _items(self, rest: Rest, library: str, label: str) -> None:
        """The items of a library, with the metadata of their files and the template behind each."""
        listed = self._get(rest, f"{_LIBRARIES}/item?library_id={quote(library, safe='')}", f"{label}/item")
        for one, shown in _numbered(listed, f"{label}/item"):
            if self._read_items >= MOST_ITEMS:
                why = f"The libraries have more than {MOST_ITEMS} items."
                self._folder.coverage[shown] = {"answered": False, "refused": {}, "skipped": why, "time": _now()}
                continue
            self._read_items += 1
            item = self._get(rest, f"{_LIBRARIES}/item/{quote(one, safe='')}", shown)
            self._get(rest, f"{_LIBRARIES}/item/file?library_item_id={quote(one, safe='')}", f"{shown}/file")
            if isinstance(item, dict) and item.get("type") == "vm-template":
                self._get(rest, f"/api/vcenter/vm-template/library-items/{quote(one, safe='')}", f"{shown}/template")

    def _tagged(self, rest: Rest, tags: list[str]) -> None:
        """The objects that have each tag. vCenter leaves out tags without objects."""
        (path,) = POSTS
        for number, start in enumerate(range(0, len(tags), TAGS_AT_ONCE), 1):
            body = {"tag_ids": tags[start : start + TAGS_AT_ONCE]}
            self._get(rest, path, f"{_TAGS}-association/{number:03}", body)

    def _get(self, rest: Rest, path: str, shown: str, body: Any = None) -> Any:
        """The identifiers of tags and libraries contain parts of the identifier of vCenter, so labels have numbers.

        body: that of one of POSTS.
        """
        label = path if "{cluster}" in shown else shown
        try:
            answer = rest.call("GET" if body is None else "POST", path, body, repeatable=True)
        except Answered as error:
            self._folder.coverage[label] = {
                "answered": False,
                "refused": {"": f"{error.status} {error.kind}".strip()},
                "time": _now(),
            }
            return None
        text = json.dumps(self.scrub.data(answer), indent=1, sort_keys=True)
        self._folder.put(f"rest{label}.json", text + "\n")
        self._note(label, True, None)
        self._save()
        return answer

    def _note(
        self, label: str, answered: bool, fault: vmodl.MethodFault | None, refused: dict[str, str] | None = None
    ) -> None:
        refused = dict(refused or {}, **({"": objects.fault_name(fault)} if fault is not None else {}))
        self._folder.coverage[label] = {"answered": answered, "refused": refused, "time": _now()}

    def _save(self) -> None:
        self._folder.counts = {"texts": dict(self.scrub.counts), "dropped": dict(self.scrub.dropped)}
        self._folder.save()


def _numbered(found: Any, label: str) -> list[tuple[str, str]]:
    """The identifiers of a list over REST, each with its label."""
    ids = [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
    return [(one, f"{label}/{number:03}") for number, one in enumerate(ids, 1)]


def _label(ref: Ref) -> str:
    return f"{ref._wsdlName}-{ref._GetMoId()}"


def _whole(vcenter: VCenter, kind: str, refs: list[Ref]) -> list[properties.Row]:
    """All properties of objects of one kind, with those that the server refuses."""
    collector = vmodl.query.PropertyCollector
    spec = collector.FilterSpec(
        propSet=[collector.PropertySpec(type=managed_type(kind), all=True)],
        objectSet=[collector.ObjectSpec(obj=ref, skip=False) for ref in refs],
    )
    return properties.read(vcenter, spec)


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
