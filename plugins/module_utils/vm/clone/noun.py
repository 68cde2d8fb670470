# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""VMs as copies of a template: the five steps."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import rest, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import (
    customization,
    disk,
    library,
    machines,
    placing,
    rules,
    source,
    world,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import state as states
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.make import Maker, current
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.params import CloneRequest

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref, vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter


class Clones(Noun[CloneRequest, states.Machine]):
    """The VMs of one task."""

    def __init__(self, params: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        self._params = params
        self._warn = warn
        self._vcenter: VCenter = None  # type: ignore[assignment]
        self._service: rest.Rest = None  # type: ignore[assignment]
        self._world: world.World = None  # type: ignore[assignment]
        self._disk_gb: int = params.get("disk_gb") or 0
        self._maker: Maker = None  # type: ignore[assignment]
        self._source: states.Source = None  # type: ignore[assignment]
        self._entry: library.Entry | None = None
        self._cluster: states.Compute | None = None
        self._placing: placing.Placing = None  # type: ignore[assignment]
        # Keyed by the id of an item.
        self._targets: dict[int, states.Target] = {}
        # The requested places of VMs that exist.
        self._places: dict[int, tuple[states.HostPlace | None, states.Store | None]] = {}
        self._customizations: dict[int, vim.vm.customization.Specification] = {}

    def read(self, items: Sequence[Item[CloneRequest, states.Machine]]) -> None:
        self._vcenter = session.connect(self._params, self._warn)
        self._service = rest.Rest(self._vcenter)
        self._world = world.read(self._vcenter, self._params["datacenter"])
        self._maker = Maker(self._vcenter, self._service, self._world, self._params)
        found = machines.read(self._vcenter, self._world, items)
        for index, item in enumerate(items):
            row, item.now = found.get(index, (None, states.Machine()))
            if item.now.exists:
                self._maker.adopt(item, cast("Row", row))
                item.ids["path"] = item.now.path
        if self._params["state"] == "absent":
            return
        self._cluster = placing.choose_cluster(self._world, self._params["cluster"])
        self._placing = placing.Placing(self._world, self._cluster, self._pools())
        todo = [item for item in items if item.error is None and not (item.now.exists and item.now.finished)]
        if todo:
            self._find_source()
            source.refuse_unfit(
                self._source, self._params["firmware"], any(item.requested.customization for item in todo)
            )
            source.refuse_disk(self._source, self._disk_gb)
            self._customizations = customization.specifications(self._vcenter, todo, self._source)
            self._place([item for item in todo if not item.now.exists])
            if self._is_ovf and self._targets:
                first = next(iter(self._targets.values()))
                library.refuse_eula(self._service, cast(library.Entry, self._entry), first, self._params["accept_eula"])
        for item in items:
            if item.error is None and item.now.exists and item.now.finished:
                self._find_place(item)

    def want(self, item: Item[CloneRequest, states.Machine]) -> states.Machine:
        if item.requested.state == "absent":
            return rules.removed(item)
        if not item.now.exists:
            target = self._targets[id(item)]
            return rules.new(item, target, self._source, self._world.path(cast("Row", target.folder)))
        if not item.now.finished:
            return rules.unfinished(item, self._source)
        host, store = self._places[id(item)]
        wanted = rules.moved(item, host, store)
        if wanted != item.now:
            self._target(item, host, store)
        return rules.claimed(item, wanted)

    def compare(self, now: states.Machine, wanted: states.Machine) -> list[Change]:
        return states.compare(now, wanted)

    def explain(self, item: Item[CloneRequest, states.Machine]) -> None:
        if not item.wanted.exists:
            return
        if (item.wanted.host, item.wanted.datastore) != (item.now.host, item.now.datastore) and item.now.exists:
            self._targets[id(item)] = self._target(item, *self._places[id(item)])
            item.ids.update(host_wanted=None, datastore_wanted=None)
        if id(item) in self._targets:
            host = self._targets[id(item)].host
            item.ids.update(host=host.name, cluster=self._world.computes[host.compute].name, path=item.wanted.path)

    def apply(self, items: Sequence[Item[CloneRequest, states.Machine]]) -> None:
        self._maker.remove([item for item in items if not item.wanted.exists])
        new = [item for item in items if not item.now.exists and item.wanted.exists]
        if new and self._is_ovf:
            self._maker.deploy(new, self._source, cast(library.Entry, self._entry), self._targets)
        elif new:
            self._maker.create(new, self._source, self._targets, self._customizations)
        raw = [item for item in items if item.error is None and current(item).exists and not current(item).finished]
        self._maker.finish(raw, self._source, self._customizations)
        self._maker.claim([item for item in items if item.now.exists and item.now.finished and item.wanted.exists])
        self._maker.move([item for item in items if item.now.exists and id(item) in self._targets], self._targets)

    def prove(self, items: Sequence[Item[CloneRequest, states.Machine]]) -> None:
        failed = {id(item): item.error for item in items}
        for item in items:
            item.error = None
        self._maker.refresh(items)
        for item in items:
            item.error = failed[id(item)] or item.error
            if item.error is None:
                item.error = self._gap(item)

    def project(self, state: states.Machine) -> dict[str, object]:
        return states.project(state)

    def close(self) -> None:
        if self._service is not None:
            self._service.close()
        if self._vcenter is not None:
            self._vcenter.close()

    @property
    def _is_ovf(self) -> bool:
        return self._entry is not None and self._entry.template is None

    def _find_source(self) -> None:
        if self._params["library_item"]:
            self._entry = library.find(self._service, self._params["library"], self._params["library_item"])
            if self._is_ovf:
                self._source = states.Source(
                    path=self._entry.path, item_id=self._entry.item_id, thin_bytes=self._entry.size
                )
                return
            ref = self._vcenter.managed("VirtualMachine", cast(str, self._entry.template))
            self._source = source.read(self._vcenter, ref, self._entry.path)
            return
        row = source.find(self._world, self._params["template"])
        self._source = source.read(self._vcenter, row.ref, self._world.path(row))

    def _pools(self) -> dict[str, Ref] | None:
        if not self._params["resource_pool"]:
            return None
        return world.pools_named(self._vcenter, self._world, self._params["resource_pool"])

    def _place(self, items: Sequence[Item[CloneRequest, states.Machine]]) -> None:
        """Choose a target for each VM to create, or report the reason if there is none."""
        kind = self._params["disk"]
        need = self._source.thick_bytes if kind == "thick" else self._source.thin_bytes
        need += disk.more_bytes(self._source.disk, self._disk_gb, kind)
        # Items with a requested host go first, so that the others are spread over the remaining space.
        for item in sorted(items, key=lambda one: not one.requested.host):
            try:
                folder = machines.folder_of(self._world, item.requested) or self._world.vm_folder
                self._targets[id(item)] = self._placing.target(
                    item.label, item.requested, folder, need, self._source.host
                )
            except OperatorError as error:
                item.error = error
        for moid, (store, given) in self._placing.overfull().items():
            for item in items:
                if id(item) in self._targets and cast(states.Store, self._targets[id(item)].store).moid == moid:
                    item.error = placing.too_little_space(item.label, store, given)

    def _find_place(self, item: Item[CloneRequest, states.Machine]) -> None:
        """Find the requested host and datastore of an existing VM. Its ids report differences that the task keeps."""
        requested, now = item.requested, item.now
        try:
            host = self._placing.host_named(item.label, requested.host) if requested.host else None
            here, store = host or self._host_of(item), None
            if here is not None and (requested.datastore or host is not None and not self._sees(here, now.datastore)):
                store = self._placing.store(item.label, requested.datastore, here, 0)
        except OperatorError as error:
            item.error = error
            return
        item.ids["host_wanted"] = host.name if host is not None and host.name != now.host else None
        item.ids["datastore_wanted"] = store.name if store is not None and store.name != now.datastore else None
        self._places[id(item)] = host, store

    def _host_of(self, item: Item[CloneRequest, states.Machine]) -> states.HostPlace | None:
        return next((one for one in self._world.hosts.values() if one.name == item.now.host), None)

    def _target(
        self, item: Item[CloneRequest, states.Machine], host: states.HostPlace | None, store: states.Store | None
    ) -> states.Target:
        """The target of a move; rejects one that cannot be used."""
        here = cast(states.HostPlace, host or self._host_of(item))
        placing.refuse_unusable(item.label, here)
        return states.Target(None, here, store, self._placing.pool(item.label, here))

    def _sees(self, host: states.HostPlace, datastore: str | None) -> bool:
        return any(self._world.stores[moid].name == datastore for moid in host.datastores if moid in self._world.stores)

    def _gap(self, item: Item[CloneRequest, states.Machine]) -> OperatorError | None:
        """Return the differences between a new reading and the desired state as an error."""
        left = states.compare(cast(states.Machine, item.proved), dataclasses.replace(item.wanted, finished=True))
        if left:
            return OperatorError(
                f"VM {item.label}",
                "did not change as requested",
                "vSphere reported success, but these settings did not change: "
                f"{'; '.join(str(change) for change in left)}",
                "Run the task again. If the error repeats, check the VM's events in vCenter",
                "not_proved",
                left=[change.as_result() for change in left],
            )
        made = item.wanted.exists and not item.now.exists
        if (
            made
            and self._params["firmware"] == "efi"
            and cast(states.Machine, item.proved).firmware not in (None, "efi")
        ):
            return OperatorError(
                f"VM {item.label}",
                "has no EFI firmware",
                f"It was created from {item.wanted.source}, and its firmware is "
                f"{cast(states.Machine, item.proved).firmware}",
                "Remove the VM, and create it from an item with EFI firmware",
                "template_firmware",
            )
        return None
