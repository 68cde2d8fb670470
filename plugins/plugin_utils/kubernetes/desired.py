# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Objects of a cluster as the site describes them, and the fewest reads to compare them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import gpu_operator, mig, nodes
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.plan import plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]


def desired(
    requested: Mapping[str, Any],
    found_nodes: Objects,
    token: str = "",
    registry_secret: Mapping[str, Any] | None = None,
    pods: str = "",
) -> dict[str, Any]:
    """{objects, reads, secrets, unplanned}: without the job, which is a run and not a setting.

    reads are options of kubernetes.core.k8s_info, one of each kind and namespace; the nodes were read before. secrets
    are the same for those that must exist, whose content is not compared. unplanned has the reasons of objects
    that cannot be computed. pods is the namespace of the secret with the logins of registries.
    """
    seen = {"definitions": [], "namespaces": [], "nodes": found_nodes, "policies": []}
    # The training decides only whether its namespace and its permissions exist.
    made = plan(requested, seen, token)
    objects = [*made["objects"], *made["networks"], *made["permissions"]]
    operator, secrets = requested["gpu_operator"], []
    chosen = nodes.chosen(found_nodes, requested["nodes"])
    dummy, unplanned = mig.objects(operator, chosen)
    if operator["licensed"] and token:
        secrets.append(_secret(operator["namespace"], gpu_operator.licence_name(token)))
    if operator["licensed"] and not token:
        unplanned = [*unplanned, "The name of the licence secret follows from the token, which is not set."]
    if registry_secret:
        secrets.append(_secret(pods, registry_secret["name"]))
    return {"objects": objects, "reads": reads(objects), "secrets": secrets, "unplanned": unplanned}


def _secret(namespace: str, name: str) -> dict[str, str]:
    return {"api_version": "v1", "kind": "Secret", "namespace": namespace, "name": name}


def reads(objects: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """One read for each kind and namespace: of the object by its name, or a list if there are several."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for one in objects:
        where = (one["apiVersion"], one["kind"], one["metadata"].get("namespace") or "")
        names.setdefault(where, []).append(one["metadata"]["name"])
    return [
        {
            "api_version": version,
            "kind": kind,
            **({"namespace": namespace} if namespace else {}),
            **({"name": own[0]} if len(set(own)) == 1 else {}),
        }
        for (version, kind, namespace), own in names.items()
        if kind != "Node"
    ]
