"""NCCL over sockets in pods with RDMA is a failure with its cause."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.sockets import over_sockets
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.state import job_faults, job_success

from .clusters import requested
from .test_network_operator import with_network

SOCKETS = (
    "gpu-01:7:7 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.5<0>\ngpu-01:7:7 [0] NCCL INFO Using network Socket\n"
)
RDMA = "gpu-01:7:7 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.5<0>\n"
RDMA += "gpu-01:7:7 [0] NCCL INFO Using network IB\n"
NETWORK = requested(with_network())["network_operator"]
TRAINING = {"network": NETWORK, "gpus": 1}
GOOD = {
    "name": "node",
    "resources": {"limits": {"nvidia.com/gpu": 1, "nvidia.com/roce": 1}},
    "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
}


def pod(**more):
    labels = {"jobset.sigs.k8s.io/jobset-name": "aiready-1"}
    return {"metadata": {"name": "aiready-1-node-0", "labels": labels}, "spec": {"containers": [{**GOOD, **more}]}}


@pytest.mark.parametrize(
    "more, log, cause",
    [
        ({"resources": {}}, "", "aiready-1-node-0 does not request nvidia.com/roce"),
        ({"securityContext": {}}, "", "lacks the capability IPC_LOCK"),
        ({}, "ibv_reg_mr_iova2 failed with error Cannot allocate memory\n", "could not lock its memory"),
        ({}, "gpu-01:7:7 [0] NCCL INFO NET/IB : No device found.\n", "NCCL found no RDMA device"),
        ({}, "gpu-01:7:7 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n", "NCCL_IB_DISABLE is 1"),
        ({}, "", "The log names no cause"),
    ],
)
def test_cause_of_sockets(more, log, cause):
    (reported,) = over_sockets(TRAINING, [pod(**more)], log + SOCKETS)
    assert reported.startswith("NCCL used sockets on gpu-01 instead of RDMA")
    assert cause in reported


@pytest.mark.parametrize(
    "training, log",
    [(TRAINING, RDMA), (TRAINING, ""), ({**TRAINING, "network": {}}, SOCKETS), ({**TRAINING, "gpus": 0}, SOCKETS)],
)
def test_nothing_to_report(training, log):
    assert over_sockets(training, [pod(resources={})], log) == []


@pytest.mark.parametrize(
    "training, log, words",
    [
        (TRAINING, RDMA, "Its log proves that NCCL used RDMA."),
        (TRAINING, "", "RDMA is not proved, because its log does not show the transport of NCCL (not measured)."),
        ({**TRAINING, "network": {}}, "", ""),
    ],
)
def test_message_of_a_success(training, log, words):
    seen = {"jobs": [{"metadata": {"name": "aiready-1"}}], "log": log}
    found = job_success({"training": training}, seen)
    assert found.startswith(f"The training aiready-1 succeeded. {words}".strip())
    assert ("RDMA" in found) is bool(words)


def test_job_that_succeeded_over_sockets_is_a_fault():
    job = {
        "metadata": {"name": "aiready-1", "namespace": "aiready"},
        "status": {"conditions": [{"type": "Complete", "status": "True"}]},
    }
    seen = {"jobs": [job], "pods": [pod(resources={})], "events": [], "log": SOCKETS}
    assert "does not request nvidia.com/roce" in " ".join(job_faults({"training": TRAINING}, seen))
    assert job_faults({"training": TRAINING}, {**seen, "log": RDMA}) == []
