# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Drift of the objects of a Kubernetes cluster, from reads of the cluster alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.kubernetes import fields
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.row import (
    AS_REQUESTED,
    EVERYTHING,
    Row,
    alike,
    differs,
    of_items,
    unread,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.unread import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

STAGE, MANAGER = "kubernetes", "aiready.vsphere"
CLUSTER = "Kubernetes cluster"
EXISTS = "exists"
# The version of a VKS cluster is a prefix: admission replaces it by the full version of a release.
RELEASE = "spec.topology.version"
# Keys that identify the elements of a list in Kubernetes.
KEYS = ("name", "key", "class")


def cluster(preview: Mapping[str, Any] | None) -> Iterator[Row]:
    """preview: kubernetes_preview of the role, or nothing if the site has no cluster."""
    if not preview:
        return
    for result in preview.get("classes") or ():
        if result.get("skipped"):
            continue
        name = str((result.get("item") or {}).get("name") or "VM class")
        yield from _closed(name, of_items(STAGE, name, "VM class", result))
    if preview.get("why"):
        yield unread(STAGE, CLUSTER, EVERYTHING, str(preview["why"]))
    for why in preview.get("unplanned") or ():
        yield unread(STAGE, CLUSTER, "request", str(why))
    for answer in (*_clusters(preview), *(preview.get("answers") or ()), *(preview.get("secrets") or ())):
        item = answer["item"]
        # The nodes were read before the objects were known.
        own = (preview.get("nodes") or {}) if item["kind"] == "Node" else answer
        for made in item["objects"]:
            yield from _closed(_name(made), _object(made, own))
        if item.get("why"):
            yield unread(STAGE, CLUSTER, "request", str(item["why"]))


def _closed(owner: str, rows: Iterator[Row]) -> list[Row]:
    return list(rows) or [Row(STAGE, owner, EVERYTHING, AS_REQUESTED)]


def _clusters(preview: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The read of the Cluster of VKS in the version of its definition."""
    for made in preview.get("cluster") or ():
        for one in preview.get("clusters") or ():
            if made["apiVersion"].endswith(f"/{one.get('item')}"):
                yield {**one, "item": {"kind": made["kind"], "objects": [made]}}


def _name(made: Mapping[str, Any]) -> str:
    metadata = made["metadata"]
    where = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{made['kind']} {where}{metadata['name']}"


def _object(made: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of one object, from the read of its kind. Without any, it is as requested."""
    owner = _name(made)
    if "resources" not in answer:
        yield unread(STAGE, owner, EVERYTHING, sentence(answer, f"the {owner}"))
        return
    metadata = made["metadata"]
    found = next(
        (
            one
            for one in answer["resources"]
            if one["metadata"]["name"] == metadata["name"]
            and (one["metadata"].get("namespace") or "") == (metadata.get("namespace") or "")
        ),
        None,
    )
    if found is None:
        row = differs(STAGE, owner, EXISTS, True, False)
        served = answer.get("api_found", True)
        yield row if served else replace(row, why=f"The cluster does not serve {made['kind']} of {made['apiVersion']}.")
        return
    if found["metadata"].get("deletionTimestamp"):
        yield differs(STAGE, owner, EXISTS, True, "is being deleted")
    values = fields.leaves(found)
    for path, requested in fields.leaves(made).items():
        if path == RELEASE and _is_release(requested, values.get(path)):
            continue
        if not _holds(requested, values.get(path)):
            yield _by(differs(STAGE, owner, path, requested, values.get(path)), path, found)


def _is_release(requested: Any, found: Any) -> bool:
    """Whether a Supervisor completed the version of a cluster. [sure: public runbooks of VKS]"""
    return isinstance(found, str) and found.startswith(tuple(f"{requested}{sign}" for sign in "+.-"))


def _holds(requested: Any, found: Any) -> bool:
    """Whether a value has everything that was requested. The server adds defaults, and controllers add elements."""
    if isinstance(requested, Mapping):
        return isinstance(found, Mapping) and all(_holds(one, found.get(key)) for key, one in requested.items())
    if isinstance(requested, Sequence) and not isinstance(requested, str):
        if found is None or isinstance(found, str) or not isinstance(found, Sequence):
            return not requested and found is None
        if requested and all(isinstance(one, Mapping) for one in requested):
            key = next((key for key in KEYS if all(key in one for one in requested)), None)
            if key:
                # Two tolerations may have one key.
                rows = [one for one in found if isinstance(one, Mapping)]
                return all(any(_holds(one, row) for row in rows) for one in requested)
        return len(requested) == len(found) and all(map(_holds, requested, found))
    if isinstance(requested, bool) or isinstance(found, bool):
        return requested is found
    return alike(requested, found)


def _by(row: Row, path: str, found: Mapping[str, Any]) -> Row:
    """The row with the field manager that set the field last, and its time, if the API server recorded both."""
    entries = found["metadata"].get("managedFields")
    owners = [
        (str(one.get("time") or ""), str(one.get("manager") or ""))
        for one in (entries if isinstance(entries, list) else ())
        if isinstance(one, Mapping) and one.get("manager") != MANAGER and _owns(one.get("fieldsV1"), path)
    ]
    at, manager = max(owners, default=("", ""))
    return replace(row, changed_at=at, changed_by=manager) if manager else row


def _owns(node: Any, path: str) -> bool:
    for key in fields.parts(path):
        if not isinstance(node, Mapping) or f"f:{key}" not in node:
            return False
        node = node[f"f:{key}"]
    return True
