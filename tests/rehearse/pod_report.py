"""The validation of the pods of a rehearsal: what its site requests, and what its report must have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.expected import row_id
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import checks

from . import rule
from .failure import RehearsalFailed

IMAGE = "images.example.org/aiready/horovod:0.28.1-cpu"
REQUESTED = {"image": IMAGE, "pairs": {"image": IMAGE}, "jobs": True, "limit_s": 240}
RECORDED = "Simulated pods: no program ran. The pods of the simulated cluster printed a recorded text."
OF_NODE = "The simulated node answers in place of the GPU and its driver."
OF_RDMA = "The files of this device are those of the simulated node. No RDMA device exists."
OF_MPI = "The image of the lab measures its real MPI over TCP with programs that print what OSU prints."
OF_CONTAINERS = "The pods are containers of one machine, which share its processors. No packet uses a cable."
NOTES = {
    **dict.fromkeys(("guest.driver", "guest.licence", "guest.xid", "guest.ecc"), OF_NODE),
    **dict.fromkeys(("guest.modules", "guest.rdma_device", "guest.gid", "fabric.settings"), OF_RDMA),
    **dict.fromkeys(suite.PROGRAMS, OF_MPI),
    **dict.fromkeys(("guest.kernel", "guest.address", "guest.mtu", "guest.memlock", "pair.iperf3"), OF_CONTAINERS),
    "cluster.training": f"{OF_CONTAINERS} They train on processors.",
}
# What no container of the lab can run.
SKIPPED = {
    **dict.fromkeys(("pair.write_lat", "pair.write_bw"), "Containers of the lab have no RDMA device."),
    "cluster.nccl": "NCCL needs GPUs, which containers of the lab do not have.",
    "cluster.rdma_gain": "Containers of the lab train only over TCP.",
    "cluster.efficiency": "Containers of the lab share processors, so two nodes are not faster than one.",
}
NOT_GOOD = ("warn", "fail", "not_run")
MEASURED = ("pass", "not_required")


def variables(real: bool) -> dict[str, Any]:
    """Variables of the site: its checks, the remarks of their rows, and the checks that are left out, with reasons."""
    notes = NOTES if real else dict.fromkeys(suite.CHECKS, RECORDED)
    return {"pods_checks": REQUESTED, "pods_notes": notes, "pods_skip": SKIPPED if real else {}}


def validated(folder: Path, nodes: int, real: bool) -> str:
    """Check the report of the pods: it has all checks of the lab. None failed or claims more than was measured."""
    file, page = folder / "validation.json", folder / "report.html"
    if not (file.is_file() and page.is_file()):
        raise RehearsalFailed(f"The run wrote no report of the pods into {folder}.")
    reported = json.loads(file.read_text())
    rows = reported["checks"]
    bad = [f"{row['id']} ({row['verdict']}): {row['why']}" for row in rows if row["verdict"] in NOT_GOOD]
    if reported["verdict"]["state"] != "pass" or bad:
        raise RehearsalFailed(f"The pods of a correct lab must pass without a warning: {'; '.join(bad)}")
    broken = [*rule.violations(reported, folder), *_unlabelled(rows, real)]
    if broken:
        raise RehearsalFailed(f"The report of the pods claims more than was measured: {'; '.join(broken)}")
    measured = {row["id"] for row in rows if row["verdict"] in MEASURED}
    names = [row["subject"]["guest"] for row in rows if row["check"] == "guest.kernel"]
    rdma = reported["site"]["data_path"] != "tcp"
    lacking = [one for one in required(names, rdma, real) if one not in measured]
    if lacking or len(names) != nodes:
        raise RehearsalFailed(
            f"The report has {len(names)} of {nodes} nodes, and lacks {', '.join(lacking) or 'no row'}."
        )
    counts = reported["verdict"]["counts"]
    return f"{counts['pass']} checks passed on {' and '.join(names)}, {counts['skipped']} are skipped with a reason"


def required(names: Sequence[str], rdma: bool, real: bool) -> Iterator[str]:
    """The ids of the rows that the lab measures, with a result."""
    for check in (*checks.ALL, *(checks.WITH_RDMA if rdma else ())):
        if check == "fabric.settings":
            yield check
        elif check != "guest.memlock" or rdma:
            yield from (row_id(check, {"guest": one}, suite.of(check).variant) for one in names)
    pairs = [one for one in checks.pair_checks({"rdma": True} if rdma else {}) if not (real and one in SKIPPED)]
    for check in (*pairs, "pair.mpi_lat", "pair.mpi_bw"):
        yield from (row_id(check, {"from": one, "to": other}) for one in names for other in names if one != other)
    yield row_id("cluster.mpi_allreduce", {"guests": names})
    yield from (row_id("cluster.training", {"guest": one}, f"1:{'rdma' if rdma else 'tcp'}") for one in names)
    yield row_id("cluster.training", {"guests": names}, f"{len(names)}:tcp")
    if rdma and not real:
        yield row_id("cluster.training", {"guests": names}, f"{len(names)}:rdma")


def _unlabelled(rows: Sequence[Mapping[str, Any]], real: bool) -> Iterator[str]:
    """Results that do not name their simulated parts, or how the lab measured them."""
    for row in rows:
        if row["verdict"] not in MEASURED:
            continue
        device = "CPU" if row["check"] == "cluster.training" and real else ""
        parts = simulated.of(row["check"], simulated.WORDS, row["variant"], device)
        if not set(parts) <= set(row["simulated_parts"]):
            yield f"{row['id']} depends on {parts}, but declares {row['simulated_parts']}."
        if not row["notes"] or (not real and row["notes"] != [RECORDED]):
            yield f"{row['id']} has no remark about the lab."
