# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What only OpenShift needs: permission for the pods of trainings and checks, and node feature discovery. Pure.

Fields of SecurityContextConstraints: openshift/api, security/v1. NodeFeatureDiscovery: openshift/cluster-nfd-operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ACCOUNT = "aiready-training"
FEATURE = "feature.node.kubernetes.io/"
HOST = ("DirVolumePlugin", "IPC", "Network", "PID", "Ports")
VOLUMES = ("configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret")


def objects(namespace: str, capabilities: Sequence[str] = ("IPC_LOCK",), of_node: bool = False) -> list[dict[str, Any]]:
    """The service account of the pods and the constraint that allows what they request.

    of_node: whether they mount a folder of their node.

    Each namespace has a constraint of its own, so two sites of one cluster do not change that of the other.
    """
    account = {"name": ACCOUNT, "namespace": namespace}
    constraint: dict[str, Any] = {f"allowHost{name}": False for name in HOST}
    constraint.update(
        allowHostDirVolumePlugin=of_node,
        allowPrivilegedContainer=False,
        readOnlyRootFilesystem=False,
        allowedCapabilities=list(capabilities),
        defaultAddCapabilities=[],
        requiredDropCapabilities=[],
        # Above restricted-v2, which would run the launcher, that requests no capability, as another user.
        priority=10,
        # The images run as root, and so does sshd of an MPIJob.
        runAsUser={"type": "RunAsAny"},
        seLinuxContext={"type": "MustRunAs"},
        fsGroup={"type": "RunAsAny"},
        supplementalGroups={"type": "RunAsAny"},
        volumes=sorted([*VOLUMES, *(["hostPath"] if of_node else [])]),
        users=[f"system:serviceaccount:{namespace}:{ACCOUNT}"],
        groups=[],
    )
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
        {
            "apiVersion": "security.openshift.io/v1",
            "kind": "SecurityContextConstraints",
            "metadata": {"name": f"{ACCOUNT}-{namespace}"},
            **constraint,
        },
    ]


def problems(seen: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """Without labels of node feature discovery, the GPU Operator finds no GPU and reports that it is ready."""
    labelled = any(key.startswith(FEATURE) for one in seen["nodes"] for key in nodes.labels(one))
    if not labelled and not seen.get("features", True):
        yield (
            "Cannot configure the GPU Operator. No node has labels of node feature discovery, and the cluster has no "
            "NodeFeatureDiscovery object. Install the Node Feature Discovery Operator from OperatorHub, and create a "
            "NodeFeatureDiscovery."
        )
