# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Why NCCL used sockets although the site gives the pods RDMA: from the log of the ranks and their pods. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import nccl_log
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import network_operator
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]

NOT_LOCKED = re.compile(r"ibv_(?:reg_mr|create_cq|create_qp)\w*.*(?:Cannot allocate memory|failed)")
DISABLED = re.compile(r"NCCL_IB_DISABLE set (?:by environment )?to 1")
LOCK = "IPC_LOCK"
# Containers with ranks: of a worker of an MPIJob, and of a node of a TrainJob.
OF_RANKS = ("worker", "node")


def over_sockets(requested: Mapping[str, Any], pods: Objects, log: str) -> list[str]:
    """A sentence with the cause, if the site gives the pods RDMA and the log shows sockets."""
    network = requested.get("network") or {}
    if not network or not requested.get("gpus"):
        return []
    reported = nccl_log.parse(log)
    sockets = reported.get("on_sockets") or []
    if reported.get("transport") not in ("tcp", "mixed") and not sockets:
        return []
    # A log of one rank has no other hosts.
    where = f" on {', '.join(map(short, sockets))}" if sockets else ""
    cause = next(_causes(network, pods, log, reported))
    return [f"NCCL used sockets{where} instead of RDMA, so the training was slow. {cause}"]


def transport(requested: Mapping[str, Any], log: str) -> str:
    """A sentence about the transport of a training that over_sockets does not reject; empty without RDMA in the site.

    A log without the lines of NCCL does not prove that the ranks used RDMA.
    """
    if not requested.get("network") or not requested.get("gpus"):
        return ""
    used = nccl_log.parse(log).get("transport")
    if used == "rdma":
        return "Its log proves that NCCL used RDMA."
    if used == "local":
        return "RDMA is not proved, because all ranks of its log were on one node (not measured)."
    return (
        "RDMA is not proved, because its log does not show the transport of NCCL (not measured). Run it with "
        "NCCL_DEBUG=INFO, and read the log before the kubelet rotates it."
    )


def _causes(network: Mapping[str, Any], pods: Objects, log: str, reported: Mapping[str, Any]) -> Iterator[str]:
    """The causes, the certain ones first."""
    wanted = network_operator.resources(network)
    ranks = [(pod, one) for pod in pods for one in pod["spec"]["containers"] if one.get("name") in OF_RANKS]
    if DISABLED.search(log):
        yield "NCCL_IB_DISABLE is 1. Remove it from site.training.environment, and from the image."
    for pod, container in ranks:
        name = short(pod["metadata"]["name"])
        limits = (container.get("resources") or {}).get("limits") or {}
        missing = [one for one in wanted if one not in limits]
        if missing:
            yield (
                f"The pod {name} does not request {', '.join(missing)}, so it has no RDMA device. A queue, a webhook "
                "or the training runtime removed it. Correct the runtime in site.kubernetes.training.runtime."
            )
        added = ((container.get("securityContext") or {}).get("capabilities") or {}).get("add") or []
        if LOCK not in added:
            yield (
                f"The container of the pod {name} lacks the capability {LOCK}, so RDMA cannot lock its memory. Check "
                "webhooks and the training runtime, and label the namespace with "
                "pod-security.kubernetes.io/enforce=privileged."
            )
    if NOT_LOCKED.search(log):
        yield (
            f"RDMA could not lock its memory. The container lacks the capability {LOCK}, or the memlock limit of the "
            "container runtime is too low. Check webhooks, or set LimitMEMLOCK=infinity in the unit of containerd."
        )
    if reported.get("no_device"):
        yield (
            "NCCL found no RDMA device. Check that the networks of the pods have addresses, that NCCL_IB_HCA names "
            "their devices, and that the image contains libibverbs and its provider."
        )
    yield "The log names no cause. Run the job with NCCL_DEBUG=INFO, and set site.kubernetes.checks."
