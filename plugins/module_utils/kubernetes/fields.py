# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Fields of the objects of a cluster: their paths, differences and owners. Pure."""

from __future__ import annotations

import copy
import re
from typing import Any, Iterator, Mapping, Sequence

# The server, and not a manager of fields, sets these.
OF_SERVER = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)
# Controllers set these in objects of others: Kueue suspends jobs until it admits them.
OF_CONTROLLERS = (
    "f:metadata.f:annotations.f:operator.",
    "f:metadata.f:finalizers",
    "f:metadata.f:ownerReferences",
    "f:spec.f:suspend",
    "f:spec.f:runPolicy.f:suspend",
    # Cluster API and VKS complete a Cluster. The domains of the labels of VKS are [unsure].
    "f:spec.f:controlPlaneEndpoint",
    "f:spec.f:controlPlaneRef",
    "f:spec.f:infrastructureRef",
    *(
        f"f:metadata.f:{part}.f:{domain}"
        for part in ("labels", "annotations")
        for domain in (
            "topology.cluster.x-k8s.io/",
            "cluster.x-k8s.io/",
            "run.tanzu.vmware.com/",
            "kubernetes.vmware.com/",
        )
    ),
)
_PART = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")


def leaves(made: Mapping[str, Any]) -> dict[str, Any]:
    """{path: value} of the fields that a manager can set. A list is one value."""
    metadata = {key: one for key, one in (made.get("metadata") or {}).items() if key not in OF_SERVER}
    metadata.pop("name", None)
    metadata.pop("namespace", None)
    body = {key: one for key, one in made.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    return dict(_walk({"metadata": metadata, **body}, ""))


def _walk(node: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        path = joined(prefix, key)
        if isinstance(value, Mapping):
            # An empty dictionary has no value of its own.
            yield from _walk(value, path)
        elif value is not None:
            yield path, value


def joined(prefix: str, key: str) -> str:
    """The path of a key. A key with dots is in brackets, as in metadata.labels[nvidia.com/mig.config]."""
    if re.search(r"[.\[\]]", key):
        return f"{prefix}[{key}]"
    return f"{prefix}.{key}" if prefix else key


def parts(path: str) -> list[str]:
    """The keys of a path."""
    return [plain or quoted for plain, quoted in _PART.findall(path)]


def put(made: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The object with another value; None removes the field, and parents that become empty."""
    result = copy.deepcopy(dict(made))
    _put(result, parts(path), value)
    return result


def _put(node: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    key = keys[0]
    if len(keys) == 1:
        if value is None:
            node.pop(key, None)
        else:
            node[key] = value
        return
    if not isinstance(node.get(key), dict):
        if value is None:
            return
        node[key] = {}
    _put(node[key], keys[1:], value)
    if value is None and not node[key]:
        del node[key]


def others(entries: Sequence[Mapping[str, Any]], manager: str) -> list[str]:
    """The managers of fields besides this one. Controllers set the status and a few fields of any object."""
    found = []
    for entry in entries:
        if entry.get("manager") == manager or entry.get("subresource"):
            continue
        owned = list(_owned(entry.get("fieldsV1") or {}, ""))
        if any(not one.startswith(("f:status", *OF_CONTROLLERS)) for one in owned):
            found.append(str(entry.get("manager")))
    return sorted(set(found))


def _owned(node: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for key, inner in node.items():
        if key == ".":
            continue
        path = f"{prefix}.{key}" if prefix else key
        if inner and set(inner) != {"."}:
            yield from _owned(inner, path)
        else:
            yield path
