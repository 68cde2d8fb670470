# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Helm releases of the operators that the stage kubernetes installs on request. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import sriov
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.merge import merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GPU_OPERATOR, NETWORK_OPERATOR = "gpu-operator", "network-operator"
# Both charts contain node feature discovery, and a cluster needs one. That of the GPU Operator labels both vendors.
OF_NETWORK = {"nfd": {"enabled": False, "deployNodeFeatureRules": True}}


def is_requested(operator: Mapping[str, Any]) -> bool:
    """Whether the stage installs this operator."""
    return bool((operator.get("chart") or {}).get("install"))


def releases(
    operator: Mapping[str, Any], network: Mapping[str, Any], policy: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The releases in the order of their installation.

    The chart of the GPU Operator also creates the ClusterPolicy. Its values therefore have the fields of the policy, so
    that Helm and the role request the same. The names of the fields are the same in both.
    """
    found = []
    if is_requested(operator):
        values = {key: value for key, value in policy["spec"].items() if value}
        found.append(_release(GPU_OPERATOR, operator, values))
    if network and is_requested(network):
        own = network["attachment"] == "sriov" and sriov.namespace(network) == network["namespace"]
        found.append(_release(NETWORK_OPERATOR, network, {**OF_NETWORK, **(sriov.CHART if own else {})}))
    return found


def _release(name: str, operator: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    chart = operator["chart"]
    return {
        "name": name,
        "namespace": operator["namespace"],
        "ref": chart["ref"],
        "repository": chart.get("repository") or "",
        "version": chart.get("version") or "",
        "values": merged(values, chart.get("values") or {}),
    }


def problems(operator: Mapping[str, Any], network: Mapping[str, Any], openshift: bool) -> Iterator[str]:
    """Reasons why Helm must not install the operators in this cluster."""
    for key, one in (("gpu_operator", operator), ("network_operator", network)):
        if openshift and is_requested(one):
            yield (
                f"Cannot install the operator of site.kubernetes.{key} with its chart. The cluster is OpenShift, where "
                "OperatorHub installs operators. Install it from OperatorHub, and set "
                f"site.kubernetes.{key}.chart.install to false."
            )
