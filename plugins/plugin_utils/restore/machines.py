# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Steps that restore VMs and the DRS settings of their cluster. Pure."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import adapters, shape
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import (
    Cannot,
    Made,
    Step,
    cannot,
    net,
    step,
)

if TYPE_CHECKING:
    from typing import Iterable, Mapping, Sequence, Union

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Entry, Inverse, Net

    Steps = list[Union[Step, Cannot]]

STAGE = "machines"
# Modules of single parts of a VM, and the part in vm_config, which restores all of them.
PARTS = {
    "vm_config": "",
    "vm_shape": "shape",
    "vgpu_profile": "vgpu",
    "passthrough_device": "passthrough",
    "vmxnet3_nic": "vmxnet3",
    "pvrdma_nic": "pvrdma",
    "sriov_nic": "sriov",
}
# Modules whose objects are VMs.
OF_VMS = (*PARTS, "vm_clone", "vm_power")
# Modules whose changes of adapters have lasting names in a plan.
WITH_ADAPTERS = tuple(PARTS)
# vm_clone rejects the removal for these: the VM is another one, or has something that others added.
OF_OTHERS = ("has_snapshots", "not_ours", "other_disks", "other_instance", "other_owner", "vm_elsewhere")
GONE = "vm_not_found"
_KINDS = ("vmxnet3", "pvrdma", "sriov")
# These manage all adapters of their kind, and not only those on the requested port groups.
_EXACT = ("pvrdma", "sriov")
# Power cycles of a reconfiguration end as they began.
PASSING = ("power", "power_cycle", "power_on_again")
_FIELDS = {
    "portgroup": "portgroup",
    "protocol": "protocol",
    "physical_function": "physical_function",
    "guest_mtu_change": "guest_mtu_change",
    "start_connected": "connected",
    "connected": "connected",
}

_DELETE = (
    "These runs created the VM. Set restore_delete_vms to true to delete it with its disks. Its other settings are not "
    "restored, because it did not exist before."
)
_UNIDENTIFIED = (
    "A run was killed while it created the VM, so the journal has no instance UUID. Check the VM and delete it in "
    "vCenter."
)
_DELETED = "The run deleted the VM with its disks. Create it again with vm_clone."
_BY_CLONE = {
    "disk_gb": "vSphere does not shrink disks.",
    "owner": "No module removes the owner from a VM. It has no effect on the VM.",
    "host": "No step moves a VM back. Move it in vCenter.",
    "datastore": "No step moves a VM back. Move it in vCenter.",
}
_ADAPTER = "The journal does not have the other adapters of the VM. Restore this adapter in vCenter."
_SUSPENDED = "No module suspends a VM."
_RULE = "The module manages only enabled rules. Disable the rule in vCenter."


def plain(entry: Entry) -> Entry:
    """The entry of a VM with the name of the VM, and with lasting names of its adapters."""
    if entry.module in OF_VMS:
        # A restore identifies VMs by their UUID.
        entry = replace(entry, label=str(entry.ids.get("name") or entry.label))
    if entry.module not in WITH_ADAPTERS:
        return entry
    changes = adapters.lasting([vars(made) for made in entry.changes])
    return replace(entry, changes=tuple(Made(**change) for change in changes))


def created(entries: Iterable[Entry]) -> set[str]:
    """The instance UUIDs and, for VMs of killed runs, the paths of the VMs that the entries created."""
    found = set()
    for entry in entries:
        if entry.module == "vm_clone" and any(made.path == "exists" and made.before is False for made in entry.changes):
            found.add(str(entry.ids.get("instance_uuid") or entry.ids.get("path")))
    return found


def is_of(entry: Entry, vms: set[str]) -> bool:
    """Whether an entry is about one of these VMs."""
    return bool({str(entry.ids.get("instance_uuid")), str(entry.ids.get("path"))} & vms)


def is_named(entry: Entry, names: Iterable[str]) -> bool:
    """Whether an entry is about a VM with one of these names, paths or MoIDs."""
    known = {entry.label, *(str(entry.ids.get(key)) for key in ("name", "path", "moid"))}
    return entry.module in OF_VMS and any(name in known or posixpath.basename(entry.label) == name for name in names)


def kept(found: Steps) -> Steps:
    """The steps without deletions, which need a permission of their own."""
    left: Steps = [one for one in found if not (isinstance(one, Step) and one.whole)]
    gone = [one for one in found if isinstance(one, Step) and one.whole and one.module == "vm_clone"]
    return left + [Cannot(one.stage, one.object, "exists", _DELETE, one.host) for one in gone]


def _clone(entries: Sequence[Entry]) -> Steps:
    settings = net(entries)
    exists = settings.get("exists")
    if exists is None and created(entries):
        return []
    if exists is None:
        return [cannot(entries, path, _BY_CLONE[path]) for path in sorted(settings) if path in _BY_CLONE]
    if exists.back:
        return [cannot(entries, "exists", _DELETED)]
    last = entries[-1]
    uuid, path = last.ids.get("instance_uuid"), str(last.ids.get("path") or "")
    if not uuid or not path:
        return [cannot(entries, "exists", _UNIDENTIFIED)]
    off = {"vms": [{"instance_uuid": uuid}], "state": "off", "force": True}
    vm = {"name": last.ids.get("name") or last.label, "folder": posixpath.dirname(path), "instance_uuid": uuid}
    gone: dict[str, Any] = {"vms": [vm], "state": "absent", "planned": {"power": "off"}}
    # The options of the first run: a restore names no owner.
    gone.update((name, entries[0].request[name]) for name in ("owner", "datacenter") if entries[0].request.get(name))
    base = step(entries, gone, {"exists": exists})
    return [
        replace(base, module="vm_power", args=off, back={"power": "off"}, left={"power": "on"}, also={}, whole=True),
        replace(base, whole=True),
    ]


def _power(entries: Sequence[Entry]) -> Steps:
    # The stage hosts powers VMs off for the restart of their host, and on again.
    if entries[-1].stage == "hosts":
        return []
    power = net(entries).get("power")
    if power is None:
        return []
    if power.back not in ("on", "off"):
        return [cannot(entries, "power", _SUSPENDED)]
    args = {"vms": [_identity(entries)], "state": power.back}
    return [step(entries, args, {"power": power})]


def _config(entries: Sequence[Entry]) -> Steps:
    settings = {path: one for path, one in net(entries).items() if path not in PASSING}
    nics = {path: one for path, one in settings.items() if path.startswith(adapters.PREFIX) or adapters.edited(path)}
    parts, found = _nics(entries, nics)
    known = {path: one for path, one in nics.items() if parts}
    rest = {path: one for path, one in settings.items() if path not in nics}
    for of_parts, restored, lost in (shape.devices(rest), shape.shape(rest)):
        parts.update(of_parts)
        known.update(restored)
        found += [cannot(entries, path, why) for path, why in sorted(lost.items())]
    if known:
        args = {"vms": [{**_identity(entries), **parts}], "power": entries[-1].request.get("power") or "refuse"}
        found.append(replace(step(entries, args, known), module="vm_config"))
    return found


def _nics(entries: Sequence[Entry], settings: Mapping[str, Net]) -> tuple[dict[str, Any], Steps]:
    """(the part of the request, what no step restores) for the adapters of a VM."""
    if not settings:
        return {}, []
    asked = [(kind, requested) for entry in entries for kind, requested in _requests(entry)]
    kinds = {kind for kind, _requested in asked}
    lost: Steps = [cannot(entries, path, _ADAPTER) for path in sorted(settings)]
    if len(kinds) != 1:
        return {}, lost
    (kind,) = kinds
    requested: Sequence[Mapping[str, Any]] = next(
        (requested["adapters"] for _kind, requested in reversed(asked) if _is_present(requested)), []
    )
    whole = [path for path in settings if path.startswith(adapters.PREFIX)]
    if len(whole) < len(settings):
        entry = None if whole else _edited(requested, settings)
        return ({kind: {"state": "present", "adapters": [entry]}}, []) if entry else ({}, lost)
    added = [path for path in whole if settings[path].back is None]
    removed = [adapters.entry_of(path) for path in whole if settings[path].back is not None]
    if kind in _EXACT:
        removed += [_public(one) for one in adapters.remaining(requested, added)]
    elif added and removed:
        return {}, lost
    elif added:
        return {kind: {"state": "absent", "adapters": [_place(adapters.entry_of(path)) for path in added]}}, []
    return {kind: {"state": "present", "adapters": removed} if removed else {"state": "absent"}}, []


def _edited(requested: Sequence[Mapping[str, Any]], settings: Mapping[str, Net]) -> dict[str, Any] | None:
    """The only requested adapter with its fields before the runs; None if that cannot be known."""
    if len(requested) != 1:
        return None
    entry = _public(requested[0])
    for path, one in settings.items():
        field = path.rpartition(".")[2]
        if field not in _FIELDS or one.back is None:
            return None
        if field == "portgroup":
            entry.pop("switch", None)
            entry.update(_place(adapters.entry_of(f"{adapters.PREFIX}{one.back}")))
        else:
            entry[_FIELDS[field]] = one.back
    return entry


def _requests(entry: Entry) -> list[tuple[str, Mapping[str, Any]]]:
    """The requests of an entry for adapters of its VM, by their kind."""
    kind, own = PARTS[entry.module], _own(entry)
    if kind in _KINDS:
        return [(kind, {name: own.get(name) or entry.request.get(name) for name in ("adapters", "state")})]
    found = {one: own.get(one) or entry.request.get(one) for one in _KINDS}
    return [(one, requested) for one, requested in found.items() if requested]


def _own(entry: Entry) -> Mapping[str, Any]:
    """The entry of the VM in the request of its task."""
    names = {entry.label, *(str(entry.ids.get(key)) for key in ("name", "path", "moid", "instance_uuid"))}
    keys = ("path", "moid", "instance_uuid", "bios_uuid", "name")
    vms: Sequence[Mapping[str, Any]] = entry.request.get("vms") or ()
    return next((one for one in vms if any(str(one.get(key)) in names for key in keys)), {})


def _is_present(requested: Mapping[str, Any]) -> bool:
    return bool(requested.get("adapters")) and requested.get("state") != "absent"


def _public(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if value is not None}


def _place(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("portgroup", "switch") if name in entry}


def _identity(entries: Sequence[Entry]) -> dict[str, Any]:
    """The VM by an id that another VM of the same name does not have."""
    ids = entries[-1].ids
    return next(({name: ids[name]} for name in ("instance_uuid", "moid", "path") if ids.get(name)), {})


def _drs(entries: Sequence[Entry]) -> Steps:
    found: Steps = []
    by_rule: dict[str, list[Entry]] = {}
    for entry in entries:
        by_rule.setdefault(str(entry.request.get("name") or ""), []).append(entry)
    for name, own in by_rule.items():
        settings = {path: one for path, one in net(own).items() if path.startswith("rule.")}
        found += _rule(own, name, settings)
    found += _levels(entries)
    return found


def _rule(entries: Sequence[Entry], name: str, settings: Mapping[str, Net]) -> Steps:
    if not settings:
        return []
    args = {**_cluster(entries), "name": name}
    if all(one.back is None for one in settings.values()) and "rule.vms" in settings:
        return [step(entries, {**args, "anti_affinity": False}, settings)]
    found: Steps = []
    disabled = settings.get("rule.enabled")
    if disabled is not None and disabled.back is False:
        found.append(cannot(entries, "rule.enabled", _RULE))
    known = {path: one for path, one in settings.items() if path != "rule.enabled" and one.back is not None}
    if known:
        vms, mandatory = known.get("rule.vms"), known.get("rule.mandatory")
        args["vms"] = vms.back if vms is not None else entries[-1].ids.get("vms") or entries[-1].request.get("vms")
        args["mandatory"] = mandatory.back if mandatory is not None else entries[-1].request.get("mandatory", True)
        found.append(step(entries, args, known))
    return found


def _levels(entries: Sequence[Entry]) -> Steps:
    levels: dict[str, dict[str, Net]] = {}
    for path, one in net(entries).items():
        if path.startswith("automation."):
            levels.setdefault(str(one.back), {})[path] = one
    return [
        step(
            entries,
            {
                **_cluster(entries),
                "anti_affinity": False,
                "automation": level,
                "vms": [path.partition(".")[2] for path in settings],
            },
            settings,
        )
        for level, settings in sorted(levels.items())
    ]


def _cluster(entries: Sequence[Entry]) -> dict[str, Any]:
    request = entries[-1].request
    given = {"cluster": entries[-1].ids.get("moid") or request.get("cluster"), "datacenter": request.get("datacenter")}
    return {name: value for name, value in given.items() if value}


INVERSE: Mapping[str, Inverse] = {
    **dict.fromkeys(PARTS, _config),
    "drs_placement": _drs,
    "vm_clone": _clone,
    "vm_power": _power,
}
