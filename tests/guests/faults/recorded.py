"""What is wrong on data paths, and in guests, that the lab does not have: measurements of a run, for the judge alone.

The lab's VMs have vGPUs and PVRDMA, and its guests are containers without a clock of their own. test_planted.py of the
judge replaces these values in the measurements of a good run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import FAIL, FIRST, SECOND, WARN, Seen


@dataclass(frozen=True)
class Recorded:
    """One measurement that is not as in a good run, and the rows that the judge makes of it."""

    path: str
    check: str
    values: dict
    seen: tuple
    subject: object = SECOND
    variant: str | None = None
    also: tuple = ()  # patterns of rows that may be wrong with it
    intent: dict = field(default_factory=dict)  # what the site requires besides


# What a site requires that requests device groups of two GPUs.
NVLINK = {"nvlink": True, "nvlink_gpus": 2}
GPUS = [f"GPU{number}" for number in range(4)]
RECORDED = {
    "recorded-clock": Recorded(
        "pvrdma",
        "guest.clock",
        {"synchronised": False, "offset_s": 4.2},
        (Seen("guest.clock job-02", FAIL, ("chrony of job-02",), ("not synchronised",)),),
    ),
    "recorded-other-node": Recorded(
        "sriov",
        "guest.topology",
        {"nearest": {"GPU0": {"nic": "mlx5_0", "class": "SYS"}}},
        (Seen("guest.topology job-02", WARN, ("the GPU and the network adapter of job-02",), ("SYS",)),),
    ),
    "recorded-no-nvlink": Recorded(
        "passthrough",
        "guest.topology",
        {"matrix": {one: {other: "NV12" if one + other == "GPU0GPU1" else "PHB" for other in GPUS} for one in GPUS}},
        (
            Seen(
                "guest.topology job-02",
                FAIL,
                ("the GPUs of job-02", "are not NVLink sets of 2"),
                ("2 of 4 GPUs have no NVLink connection", "such as GPU2"),
            ),
        ),
        intent=NVLINK,
    ),
    "recorded-nvlinks-down": Recorded(
        "passthrough",
        "guest.topology",
        {"links": {"GPU0": {"active": 12, "inactive": 0}, "GPU1": {"active": 0, "inactive": 12}}},
        (Seen("guest.topology job-02", FAIL, ("the NVLinks of job-02", "are down"), ("GPU1: no NVLink is active",)),),
        intent=NVLINK,
    ),
    "recorded-no-gpudirect": Recorded(
        "passthrough",
        "guest.gpudirect",
        {"gpudirect": {"peermem": None, "open_module": False, "kernel_dmabuf": True}},
        (
            Seen(
                "guest.gpudirect job-02",
                FAIL,
                ("the GPU driver or nvidia_peermem of job-02",),
                ("needs the open GPU driver",),
            ),
        ),
        intent={"gpudirect": "enabled"},
    ),
    "recorded-diagnostic": Recorded(
        "passthrough",
        "guest.dcgm",
        {
            "tests": [
                {
                    "name": "memory",
                    "status": "fail",
                    "findings": [{"status": "fail", "gpu": "0", "text": "Uncorrectable error.", "setting": False}],
                }
            ]
        },
        (Seen("guest.dcgm job-02", FAIL, ("GPU 0 of job-02",), ("The test memory of DCGM failed: Uncorrectable",)),),
        intent={"stack": {"dcgm_diag": 2}},
    ),
    "recorded-unhealthy-gpu": Recorded(
        "passthrough",
        "guest.dcgm_health",
        {"overall": "Failure", "incidents": [{"what": "GPU 0 Memory system", "state": "Failure", "text": "A DBE."}]},
        (
            Seen(
                "guest.dcgm_health job-02",
                FAIL,
                ("the GPUs of job-02",),
                ("DCGM reports GPU 0 Memory system: A DBE.",),
            ),
        ),
        intent={"stack": {"dcgm_health": True}},
    ),
    "recorded-no-direct-storage": Recorded(
        "passthrough",
        "guest.gds",
        {"storage": []},
        (Seen("guest.gds job-02", FAIL, ("the storage driver of job-02",), ("nvidia_fs serves no storage",)),),
        intent={"stack": {"gds": True}},
    ),
    "recorded-copied-storage": Recorded(
        "passthrough",
        "guest.gds_read",
        {"moved": 0},
        (
            Seen(
                "guest.gds_read job-02",
                FAIL,
                ("the file system of /data/x on job-02",),
                ("a copy through host memory",),
            ),
        ),
        intent={"stack": {"gds": True, "gds_file": "/data/x"}},
    ),
    "recorded-gpu-memory": Recorded(
        "passthrough",
        "pair.write_bw_gpu",
        {"gbps": 41.3},
        (Seen("pair.write_bw_gpu job-01 > job-02 (cuda)", FAIL, (), ("41.3 Gb/s misses", "at least 90")),),
        subject=(FIRST, SECOND),
    ),
    "recorded-drops": Recorded(
        "sriov",
        "guest.counters",
        {"changed": {"port_xmit_data": 10**9, "port_rcv_data": 10**9, "rx_prio3_discards": 4711}},
        (Seen("guest.counters job-02", FAIL, ("job-02", "packets are dropped"), ("rx_prio3_discards +4711",)),),
    ),
    "recorded-drops-at-a-switch": Recorded(
        "pvrdma",
        "fabric.counters",
        {"changed": {"roce_packets_received": 10**6, "roce_packets_sent": 10**6, "roce_drops": 4711}},
        (
            Seen(
                "fabric.counters leaf-01 Ethernet1",
                FAIL,
                ("packets are dropped at leaf-01 Ethernet1",),
                ("roce_drops +4711",),
            ),
        ),
        subject=("leaf-01", "Ethernet1"),
    ),
    "recorded-rdma-loses": Recorded(
        "sriov",
        "cluster.training",
        {"total": 1800.0, "iterations": [900.0, 901.0, 899.0]},
        (Seen("cluster.rdma_gain 2", WARN, (), ("misses the threshold of at least 0",)),),
        subject=(FIRST, SECOND),
        variant="2:rdma",
        also=("cluster.efficiency *",),
    ),
}
