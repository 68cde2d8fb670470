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
    """{reads, secrets, unplanned}, without the job, which is a run and not a setting.

    reads are options of kubernetes.core.k8s_info, one of each kind and namespace, each with its objects. secrets are
    the same for those that must exist, whose content is not compared. unplanned has the reasons of objects that cannot
    be computed. pods is the namespace of the secret with the logins of registries.
    """
    seen = {"definitions": [], "namespaces": [], "nodes": found_nodes, "policies": []}
    # The training decides only whether its namespace and its permissions exist.
    made = plan(requested, seen, token)
    operator, secrets = requested["gpu_operator"], []
    dummy, unplanned = mig.objects(operator, nodes.chosen(found_nodes, requested["nodes"]))
    if operator["licensed"] and token:
        secrets.append(_secret(operator["namespace"], gpu_operator.licence_name(token)))
    if registry_secret:
        secrets.append(_secret(pods, registry_secret["name"]))
    secrets = reads(secrets)
    if operator["licensed"] and not token:
        why = "The name of the licence secret follows from the token, which is not set."
        secrets.append({"kind": "Secret", "objects": [], "why": why})
    objects = [*made["objects"], *made["networks"], *made["permissions"]]
    return {"reads": reads(objects), "secrets": secrets, "unplanned": unplanned}


def _secret(namespace: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": namespace, "name": name}}


def reads(objects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One read for each kind and namespace: of the object by its name, or a list if there are several."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for one in objects:
        where = (one["apiVersion"], one["kind"], one["metadata"].get("namespace") or "")
        groups.setdefault(where, []).append(one)
    return [
        {
            "api_version": version,
            "kind": kind,
            **({"namespace": namespace} if namespace else {}),
            **({"name": own[0]["metadata"]["name"]} if len(own) == 1 else {}),
            "objects": own,
        }
        for (version, kind, namespace), own in groups.items()
    ]


def without_content(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Results of reads of secrets, with names and failures only."""
    return [
        {
            **{key: one[key] for key in ("item", "msg", "exception", "api_found") if key in one},
            **({"resources": [_header(secret) for secret in one["resources"]]} if "resources" in one else {}),
        }
        for one in results
    ]


def _header(found: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: found["metadata"].get(key) for key in ("name", "namespace")}
    return {"apiVersion": found.get("apiVersion"), "kind": found.get("kind"), "metadata": metadata}
