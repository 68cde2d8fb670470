# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Find VMs: many requests of a task, few requests to vCenter, and an answer for each of them."""

from __future__ import annotations

import difflib
import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import escapes, inventory
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import managed_type, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import IDENTITY_KEYS
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

# Up to this many UUIDs are looked up one by one; beyond it one read of all VMs is cheaper.
_FEW = 3
_MOID = re.compile(r"[\w.:-]+\Z", re.ASCII)
_NEAR = 5
_UUID_PROPERTY = {"instance_uuid": "config.instanceUuid", "bios_uuid": "config.uuid"}
_SPOKEN = {"name": "name", "path": "path", "moid": "MoID", "instance_uuid": "instance UUID", "bios_uuid": "BIOS UUID"}


@dataclass(frozen=True)
class Found:
    """A VM that was found."""

    ref: Ref
    moid: str
    name: str
    path: str


def label(requested: Mapping[str, Any]) -> str:
    """Return the name of a VM in a request, for messages."""
    key, value = _identity(requested)
    return value if key in ("name", "path") else f"{_SPOKEN[key]} {value}"


def find_vms(
    vcenter: VCenter, requests: Sequence[Mapping[str, Any]], datacenter: str | None = None
) -> list[Found | OperatorError]:
    """Return for each request a Found, or the OperatorError with the reason why there is none.

    A request is a dict with one of name, path, moid, instance_uuid and bios_uuid. An unknown datacenter is raised.
    """
    if not requests:
        return []
    above, home = datacenter_of_name(vcenter, datacenter) if datacenter else (inventory.Tree(), None)
    identities = [_identity(requested) for requested in requests]
    kinds = [key for key, value in identities]
    uuids = [key for key in kinds if key in _UUID_PROPERTY]
    if "name" in kinds or "path" in kinds or len(uuids) > _FEW:
        paths = sorted({_UUID_PROPERTY[key] for key in uuids})
        tree = inventory.read_down(vcenter, home or vcenter.content.rootFolder, paths)
        tree.add(above)
        hits = [_look_up(tree, key, value, datacenter) for key, value in identities]
        # A MoID may name a VM in a folder whose parents the user must not see.
        hidden = [value for (key, value), rows in zip(identities, hits) if key == "moid" and not rows]
        if hidden and not datacenter:
            tree.add(inventory.read_up(vcenter, _vm_refs(vcenter, hidden)))
            hits = [_look_up(tree, key, value, datacenter) for key, value in identities]
    else:
        candidates = [_ask(vcenter, key, value, home) for key, value in identities]
        tree = inventory.read_up(vcenter, _unique(ref for refs in candidates for ref in refs))
        hits = [_rows_of(tree, refs, home) for refs in candidates]
    return [_answer(tree, key, value, rows, datacenter) for (key, value), rows in zip(identities, hits)]


def datacenter_of_name(vcenter: VCenter, requested: str) -> tuple[inventory.Tree, Ref]:
    """Return the tree of all datacenters, and the requested one."""
    tree = inventory.read_datacenters(vcenter)
    there = tree.of_kind("Datacenter")
    rows = [row for row in there if _is_datacenter(tree, row, requested)]
    if len(rows) == 1:
        return tree, rows[0].ref
    if rows:
        raise OperatorError(
            f"datacenter {requested}",
            "the name is not unique",
            f"There are {len(rows)}: {_listed(tree.path(row) for row in rows)}",
            "Use the path of one of them",
            "datacenter_ambiguous",
            candidates=sorted(tree.path(row) for row in rows),
        )
    names = _listed(escapes.unescaped(row.get("name", "?")) for row in there)
    raise OperatorError(
        f"datacenter {requested}",
        "cannot find the datacenter",
        f"vCenter has none of this name that this user may see; there are: {names or 'none'}",
        "Correct `datacenter`, or check the user's permissions",
        "datacenter_not_found",
        candidates=sorted(tree.path(row) for row in there),
    )


def _identity(requested: Mapping[str, Any]) -> tuple[str, str]:
    for key in IDENTITY_KEYS:
        if requested.get(key):
            return key, requested[key]
    raise OperatorError(
        "VM",
        "the option that identifies it is missing",
        f"None of {', '.join(IDENTITY_KEYS)} is set",
        "Set exactly one of them",
        "identity_missing",
    )


def _is_datacenter(tree: inventory.Tree, row: Row, requested: str) -> bool:
    if "/" in requested:
        return escapes.same_path(tree.path(row), requested)
    return escapes.same_name(row.get("name", ""), requested)


def _look_up(tree: inventory.Tree, key: str, value: str, datacenter: str | None) -> list[Row]:
    """Return the VMs of a tree that a request names."""
    if key == "moid":
        row = tree.row(value)
        return [row] if row is not None and row.kind == "VirtualMachine" else []
    vms = tree.of_kind("VirtualMachine")
    if key == "name":
        return [row for row in vms if escapes.same_name(row.get("name", ""), value)]
    if key == "path":
        return [row for row in vms if _has_path(tree, row, value, datacenter)]
    wanted = _canonical(value)
    return [row for row in vms if wanted and _canonical(row.get(_UUID_PROPERTY[key])) == wanted]


def _has_path(tree: inventory.Tree, row: Row, requested: str, datacenter: str | None) -> bool:
    path = tree.path(row)
    if escapes.same_path(path, requested):
        return True
    if not datacenter or requested.startswith("/"):
        return False
    # Inside a datacenter a relative path starts at its folder of VMs, as in the client's tree view.
    home = tree.datacenter(row)
    below = path[len(tree.path(home)) :].strip("/").split("/")[1:] if home is not None else []
    return bool(below) and escapes.same_path("/".join(below), requested)


def _ask(vcenter: VCenter, key: str, value: str, datacenter: Ref | None) -> list[Ref]:
    """Return candidates for a MoID or UUID without reading the whole inventory."""
    if key == "moid":
        return _vm_refs(vcenter, [value])
    wanted = _canonical(value)
    if wanted is None:
        return []
    try:
        return list(
            vcenter.content.searchIndex.FindAllByUuid(
                datacenter=datacenter, uuid=wanted, vmSearch=True, instanceUuid=key == "instance_uuid"
            )
            or ()
        )
    except vmodl.MethodFault as fault:
        raise explain(fault, f"{_SPOKEN[key]} {value}", "cannot find the VM") from fault


def _rows_of(tree: inventory.Tree, refs: Iterable[Ref], datacenter: Ref | None) -> list[Row]:
    rows: list[Row] | list[Row | None] = [tree.row(ref._GetMoId()) for ref in refs]
    rows = [row for row in rows if row is not None and row.kind == "VirtualMachine"]
    if datacenter is None:
        return rows
    homes = [(row, tree.datacenter(row)) for row in rows]
    return [row for row, home in homes if home is not None and home.moid == datacenter._GetMoId()]


def _answer(
    tree: inventory.Tree, key: str, value: str, rows: Sequence[Row], datacenter: str | None
) -> Found | OperatorError:
    if len(rows) == 1:
        row = rows[0]
        return Found(row.ref, row.moid, escapes.unescaped(row.get("name", row.moid)), tree.path(row))
    subject = f"VM {value}" if key in ("name", "path") else f"VM with {_SPOKEN[key]} {value}"
    where = f" in datacenter {datacenter}" if datacenter else ""
    if rows:
        paths = sorted(tree.path(row) for row in rows)
        return OperatorError(
            subject,
            f"the {_SPOKEN[key]} is not unique{where}",
            f"There are {len(rows)}: {_listed(paths)}",
            "Use `path`, `instance_uuid` or `moid` to select one of them",
            "vm_ambiguous",
            candidates=paths,
        )
    if key in _UUID_PROPERTY and _canonical(value) is None:
        return OperatorError(
            subject,
            "cannot find the VM",
            "The value is not a UUID",
            "Write it as 32 hexadecimal digits, with or without dashes",
            "uuid_malformed",
        )
    near = _near(tree, key, value)
    found = f"There is none{where} that this user may see"
    if near:
        found += f"; near it: {_listed(near)}"
    return OperatorError(
        subject,
        "cannot find the VM",
        found,
        f"Correct `{key}`, or check the user's permissions",
        "vm_not_found",
        near=near,
    )


def _near(tree: inventory.Tree, key: str, value: str) -> list[str]:
    """Names, or paths of VMs with names, that the user may have meant; letters of the other case count as equal."""
    if key not in ("name", "path"):
        return []
    spoken: dict[str, set[str]] = {}
    for row in tree.of_kind("VirtualMachine"):
        name = escapes.unescaped(row.get("name", ""))
        spoken.setdefault(name.lower(), set()).add(name if key == "name" else tree.path(row))
    requested = escapes.unescaped(value if key == "name" else value.rstrip("/").rpartition("/")[2])
    near = difflib.get_close_matches(requested.lower(), spoken, n=_NEAR, cutoff=0.6)
    return [text for name in near for text in sorted(spoken[name])][:_NEAR]


def _vm_refs(vcenter: VCenter, moids: Iterable[str]) -> list[Ref]:
    # pyVmomi writes a MoID into its request as it is, and a "<" in one would break it for all VMs.
    return [managed_type("VirtualMachine")(moid, vcenter.stub) for moid in moids if _MOID.match(moid)]


def _unique(refs: Iterable[Ref]) -> list[Ref]:
    return list({ref._GetMoId(): ref for ref in refs}.values())


def _canonical(text: str | None) -> str | None:
    """A UUID in its usual form; None for anything else, such as that of an inaccessible VM."""
    try:
        return str(uuid.UUID(text.replace(" ", ""))) if text else None
    except ValueError:
        return None


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(sorted(texts))
