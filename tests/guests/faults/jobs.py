"""What is wrong with the job: what the site says of trainings, and what a guest needs to start one."""

from __future__ import annotations

from . import FAIL, NCCL, SECOND, Fault, Seen, nothing, shell


def no_engine(twin):
    return shell(twin, SECOND, "systemctl stop docker.socket docker", "systemctl start docker.socket docker")


def variable(name, value, seen, **more):
    return Fault("job", nothing, seen, NCCL, site={"environment": {name: value}}, **more)


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
        site={"image": "{{ (lab_endpoint.registry | default({})).address }}/aiready/horovod:0.0.0"},
    ),
}
