# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Objects of the GPU Operator: its ClusterPolicy and the secret of the licence. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.plain_text import shown
from ansible_collections.aiready.vsphere.plugins.module_utils.kubernetes import fields
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.merge import merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import mig, nodes

GROUP, VERSION, KIND = "nvidia.com", "v1", "ClusterPolicy"
# The CRD requires them, also without a value.
REQUIRED = (
    "daemonsets",
    "dcgm",
    "dcgmExporter",
    "devicePlugin",
    "driver",
    "gfd",
    "nodeStatusExporter",
    "operator",
    "toolkit",
)
# By the kubelet version, such as v1.33.4+rke2r1 (GPU Operator documentation, getting started).
CONTAINERD = {"+rke2": ("RKE2", "/var/lib/rancher/rke2"), "+k3s": ("k3s", "/var/lib/rancher/k3s")}
SOCKET = "/run/k3s/containerd/containerd.sock"
PREFIX, MANAGER = "aiready-licence-", "aiready.vsphere"
# Label of the secrets that the role may remove.
OURS = {"app.kubernetes.io/managed-by": "aiready.vsphere"}
# Keys of the secret that the driver container reads.
TOKEN_KEY, SETTINGS_KEY = "client_configuration_token.tok", "gridd.conf"


def policy(requested: Mapping[str, Any], licence: str, openshift: bool) -> dict[str, Any]:
    """The ClusterPolicy; licence is the name of the secret, or empty."""
    made: dict[str, Any] = {name: {} for name in REQUIRED}
    driver = requested.get("driver")
    made["driver"] = {"enabled": bool(driver)}
    if driver:
        made["driver"].update({key: driver[key] for key in ("repository", "image", "version") if driver.get(key)})
        if driver.get("pull_secrets"):
            made["driver"]["imagePullSecrets"] = list(driver["pull_secrets"])
        if licence:
            made["driver"]["licensingConfig"] = {"secretName": licence, "nlsEnabled": True}
    toolkit = requested.get("toolkit")
    made["toolkit"] = {"enabled": bool(driver) if toolkit is None else toolkit}
    made["mig"] = {"strategy": requested.get("mig_strategy") or "single"}
    made["dcgmExporter"] = {"enabled": True}
    if requested.get("dcgm"):
        # A host engine of its own on each node, with a Service. The exporter then uses it too.
        made["dcgm"] = {"enabled": True}
    if requested.get("mig_layout"):
        made["migManager"] = {"enabled": True, "config": {"name": mig.config_map(requested["mig_layout"])}}
    if requested.get("gds"):
        made["gds"] = {"enabled": True}
    if openshift:
        # The driver container gets the headers of the kernel from the image of the driver toolkit.
        made["operator"] = {"use_ocp_driver_toolkit": True}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "metadata": {"name": requested["policy"]},
        "spec": merged(made, requested.get("spec") or {}),
    }


def toolkit_problems(policy: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Nodes whose containerd has other paths than those that the toolkit configures without its environment."""
    spec = policy["spec"]
    toolkit, cdi = (part if isinstance(part, dict) else {} for part in (spec.get("toolkit"), spec.get("cdi")))
    if not toolkit.get("enabled", True) or cdi.get("nriPluginEnabled"):
        return
    env = toolkit.get("env")
    given = {str(one.get("name")) for one in env if isinstance(one, dict)} if isinstance(env, list) else set()
    for mark, (product, folder) in CONTAINERD.items():
        own = [one for one in found if mark in nodes.kubelet(one)]
        paths = {"CONTAINERD_CONFIG": f"{folder}/agent/etc/containerd/config.toml", "CONTAINERD_SOCKET": SOCKET}
        missing = [f"{name} to {path}" for name, path in paths.items() if name not in given]
        if own and missing:
            name, version = shown(own[0]["metadata"]["name"]), shown(nodes.kubelet(own[0]))
            yield (
                f"Cannot configure containerd on {len(own)} node{'s' * (len(own) > 1)}, such as {name}. The kubelet "
                f"{version} is that of {product}, whose containerd has its own paths. Set {' and '.join(missing)} in "
                "site.kubernetes.gpu_operator.spec.toolkit.env, see docs/kubernetes.md."
            )


def licence_secret(namespace: str, token: str) -> dict[str, Any]:
    """The secret of a licence token.

    A running driver pod does not read a changed secret, so each token has a secret with its own name. The operator then
    replaces the driver pods.
    """
    data = {TOKEN_KEY: token, SETTINGS_KEY: ""}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": licence_name(token), "namespace": namespace, "labels": dict(OURS)},
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
    }


def licence_name(token: str) -> str:
    """The name of the secret of a licence token."""
    return f"{PREFIX}{hashlib.sha256(token.encode()).hexdigest()[:10]}" if token else ""


def old_licences(
    secrets: Sequence[Mapping[str, Any]],
    current: str,
    pods: Sequence[Mapping[str, Any]],
    policies: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """{name, namespace, uid} of the secrets of earlier tokens that nothing uses any more.

    Only secrets that the role created and nobody else changed. None is old until a pod uses the current one.
    """
    used = json.dumps([[one.get("spec") for one in pods], [one.get("spec") for one in policies]])
    if not current or f'"{current}"' not in json.dumps([one.get("spec") for one in pods]):
        return []
    found = []
    for one in secrets:
        metadata = one["metadata"]
        name, labels = str(metadata["name"]), metadata.get("labels") or {}
        marked = all(labels.get(key) == value for key, value in OURS.items())
        ours = name.startswith(PREFIX) and marked and name != current
        entries = metadata.get("managedFields") or []
        if ours and entries and not fields.others(entries, MANAGER) and f'"{name}"' not in used:
            found.append({"name": name, "namespace": metadata["namespace"], "uid": metadata["uid"]})
    return found
