"""What is wrong with the job: what the site says of trainings, and what a guest needs to start one."""

from __future__ import annotations

import contextlib

from . import FAIL, FIRST, NCCL, RUNS, SECOND, TRAINING, Fault, Seen, nothing, shell


def no_engine(twin):
    return shell(twin, SECOND, "systemctl stop docker.socket docker", "systemctl start docker.socket docker")


def variable(name, value, seen, **more):
    return Fault("job", nothing, seen, NCCL, lab={"lab_training": {"environment": {name: value}}}, **more)


# Horovod as an image has it that was built for another framework.
BUILT = """#!/bin/sh
cat <<'END'
Horovod v0.28.1:

Available Frameworks:
    [X] TensorFlow
    [ ] PyTorch
    [ ] MXNet

Available Controllers:
    [X] MPI
    [X] Gloo

Available Tensor Operations:
    [ ] NCCL
    [ ] DDL
    [ ] CCL
    [X] MPI
    [X] Gloo
END
"""
HOROVOD = "/srv/other-horovod/horovodrun"


@contextlib.contextmanager
def other_build(twin):
    """A folder of the guests hides Horovod of the image."""
    wrong = f"mkdir -p $(dirname {HOROVOD}) && cat > {HOROVOD} <<'FILE'\n{BUILT}FILE\nchmod 0755 {HOROVOD}"
    right = f"rm -r $(dirname {HOROVOD})"
    with shell(twin, FIRST, wrong, right), shell(twin, SECOND, wrong, right):
        yield


NCCL_ROW = "cluster.nccl rdma"

FAULTS = {
    "job-nccl-without-rdma": variable(
        "NCCL_IB_DISABLE", "1", (Seen(NCCL_ROW, FAIL, ("NCCL on sockets", "NCCL_IB_DISABLE")),), silent=True
    ),
    "job-nccl-other-device": variable(
        "NCCL_IB_HCA", "=mlx5_7", (Seen(NCCL_ROW, FAIL, ("NCCL on sockets", "NCCL_IB_HCA, =mlx5_7")),)
    ),
    "job-nccl-gid": variable("NCCL_IB_GID_INDEX", "9", (Seen(NCCL_ROW, FAIL, ("GID index",)),)),
    "job-nccl-interface": variable(
        "NCCL_SOCKET_IFNAME", "bond0", (Seen(NCCL_ROW, FAIL, ("interface of the data path",), ("NCCL_SOCKET_IFNAME",)),)
    ),
    "job-no-engine": Fault("job", no_engine, (Seen("cluster.hostname", FAIL, ("job-02",)),), NCCL),
    "job-no-image": Fault(
        "job",
        nothing,
        (Seen("cluster.hostname", FAIL, ()),),
        NCCL,
        lab={"lab_training": {"image": "{{ (lab_endpoint.registry | default({})).address }}/aiready/horovod:0.0.0"}},
    ),
    "job-built-for-another-framework": Fault(
        "job",
        other_build,
        (Seen("cluster.check_build", FAIL, ("image",), ("pytorch (frameworks)",)),),
        RUNS,
        lab={
            "lab_training": {
                "check_build": True,
                "mounts": [{"source": HOROVOD, "target": "/usr/local/bin/horovodrun"}],
            }
        },
    ),
    "job-other-program": Fault(
        "job",
        nothing,
        (Seen("cluster.mpi_allreduce", FAIL, ("site.validation.osu",), ("Bandwidth",)),),
        RUNS,
        lab={"lab_validation": {"osu": {"allreduce": ["osu_bw", "-m", "1048576:1048576", "-i", "4"]}}},
    ),
    # Each exchange of gradients waits for a second, which is longer than a step on any machine that is not overloaded.
    "job-slow-exchange": Fault(
        "job",
        nothing,
        (Seen("cluster.efficiency 2:tcp", FAIL, (), ("misses the threshold of at least 90",)),),
        TRAINING,
        lab={
            "lab_training": {"environment": {"HOROVOD_CYCLE_TIME": "1000"}},
            "lab_validation": {"nodes": [1, 2], "thresholds": {"cluster.efficiency": {"low": 90}}},
        },
        also=("cluster.training *",),
    ),
}
