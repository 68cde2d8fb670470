# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The check suite (ladder): each check with its title, its unit, its dependencies, and where it does not apply. Data.

Cheap and local checks run first. Dependencies apply to the same guests: a test of a pair depends on both guests, a
cluster run on all of its guests and on all pairs among them.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

GUEST, PLACEMENT, PAIR, FABRIC, CLUSTER = "guest", "placement", "pair", "fabric", "cluster"
RDMA_PATHS = ("pvrdma", "sriov", "passthrough")
DIRECT_PATHS = ("sriov", "passthrough")


class Rung(NamedTuple):
    """One check."""

    check: str
    title: str
    layer: str
    # guest, pair (each direction), all (one row for all guests), place (a port or host), or derived (from other rows).
    of: str
    unit: str
    # Names of checks. `:variant` restricts the dependency to that variant.
    needs: tuple[str, ...] = ()
    # Direction in which a figure is better; empty if the value is not a figure.
    better: str = ""
    # Where it applies: data paths, and whether it needs GPUs or a vGPU licence.
    paths: tuple[str, ...] = ("tcp", *RDMA_PATHS)
    gpu: bool = False
    licence: bool = False
    variant: str = ""
    # OSU program that measures it, if the site names one.
    program: str = ""
    # Option of site.stack that requests it. Without an option, every site has it.
    option: str = ""
    # Whether its figure goes into the baseline.
    kept: bool = False
    # Parts of a site that the result depends on and that can be simulated, by their names in simulated.py. Efficiency
    # and the RDMA speedup are derived from trainings and inherit their parts.
    rests_on: tuple[str, ...] = ()


RUNGS = (
    Rung("guest.kernel", "Guest reachable, kernel version", GUEST, "guest", "", rests_on=("guests",)),
    Rung("guest.clock", "Clock synchronised", GUEST, "guest", "ms", ("guest.kernel",), rests_on=("guests",)),
    Rung(
        *("guest.address", "Link and IP address of the data path", GUEST, "guest", "", ("guest.kernel",)),
        rests_on=("guests", "network"),
    ),
    Rung(
        "guest.mtu",
        "Interface MTU of the data path",
        GUEST,
        "guest",
        "bytes",
        ("guest.kernel",),
        rests_on=("guests", "network"),
    ),
    Rung(
        "guest.driver", "GPU driver and GPU count", GUEST, "guest", "", ("guest.kernel",), gpu=True, rests_on=("gpu",)
    ),
    Rung(
        *("guest.licence", "vGPU licence before the timed runs", GUEST, "guest", "", ("guest.driver",)),
        gpu=True,
        licence=True,
        variant="before",
        rests_on=("gpu",),
    ),
    # The log also has the reason of a missing GPU, which the driver no longer shows.
    Rung(
        *("guest.xid", "GPU errors in the kernel log (Xid)", GUEST, "guest", "", ("guest.kernel",)),
        gpu=True,
        rests_on=("gpu",),
    ),
    Rung("guest.ecc", "GPU memory errors (ECC)", GUEST, "guest", "", ("guest.driver",), gpu=True, rests_on=("gpu",)),
    Rung(
        *("guest.topology", "PCIe distance between GPU and network adapter", GUEST, "guest", "", ("guest.driver",)),
        paths=DIRECT_PATHS,
        gpu=True,
        rests_on=("gpu", "rdma"),
    ),
    Rung(
        *("guest.gpudirect", "GPUDirect RDMA support of kernel and driver", GUEST, "guest", ""),
        needs=("guest.driver",),
        paths=DIRECT_PATHS,
        gpu=True,
        rests_on=("gpu", "rdma"),
    ),
    Rung(
        *("guest.dcgm", "GPU diagnostic (DCGM)", GUEST, "guest", "", ("guest.driver",)),
        gpu=True,
        option="dcgm_diag",
        rests_on=("gpu",),
    ),
    Rung(
        *("guest.gds", "GPUDirect Storage support", GUEST, "guest", "", ("guest.driver",)),
        gpu=True,
        option="gds",
        rests_on=("gpu",),
    ),
    Rung(
        *("guest.gds_read", "GPUDirect Storage read", GUEST, "guest", "GiB/s", ("guest.gds",), "high"),
        gpu=True,
        option="gds_file",
        kept=True,
        rests_on=("gpu",),
    ),
    Rung(
        *("guest.modules", "RDMA kernel modules loaded", GUEST, "guest", "", ("guest.kernel",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    Rung(
        *("guest.memlock", "Locked memory limit (memlock)", GUEST, "guest", "", ("guest.kernel",)),
        paths=RDMA_PATHS,
        rests_on=("guests",),
    ),
    Rung(
        *("guest.rdma_device", "RDMA device active", GUEST, "guest", "", ("guest.modules",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    Rung(
        *(
            "guest.gid",
            "RoCE v2 GID with an IPv4 address",
            GUEST,
            "guest",
            "",
            ("guest.rdma_device", "guest.address"),
        ),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    Rung("placement.hosts", "One VM per ESXi host", PLACEMENT, "all", "", rests_on=("vcenter", "hosts")),
    Rung(
        *("fabric.settings", "RoCE traffic class consistent", FABRIC, "all", ""),
        paths=RDMA_PATHS,
        rests_on=("rdma", "hosts", "switches"),
    ),
    Rung(
        *("pair.ping_mtu", "Path MTU{mtu} end to end", PAIR, "pair", "bytes", ("guest.address", "guest.mtu")),
        rests_on=("network",),
    ),
    Rung(
        *(
            "pair.rping",
            "RDMA connection between guests (rping)",
            PAIR,
            "pair",
            "",
            ("guest.gid", "guest.memlock", "pair.ping_mtu"),
        ),
        paths=RDMA_PATHS,
        rests_on=("rdma", "network"),
    ),
    Rung(
        *("pair.write_lat", "RDMA write latency", PAIR, "pair", "us", ("pair.rping",), "low", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    Rung(
        *("pair.write_bw", "RDMA write bandwidth", PAIR, "pair", "Gb/s", ("pair.rping",), "high", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    Rung(
        *("pair.write_bw_both", "RDMA write bandwidth, bidirectional", PAIR, "pair", "Gb/s", ("pair.write_bw",)),
        *("high", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    Rung(
        *("pair.write_bw_gpu", "RDMA write bandwidth, GPU memory", PAIR, "pair", "Gb/s"),
        *(("pair.write_bw", "guest.driver", "guest.topology"), "high", DIRECT_PATHS),
        gpu=True,
        kept=True,
        rests_on=("rdma", "gpu", "network"),
    ),
    Rung(
        *("pair.iperf3", "TCP bandwidth", PAIR, "pair", "Gb/s", ("pair.ping_mtu",), "high"),
        kept=True,
        rests_on=("network",),
    ),
    Rung(
        *("guest.counters", "Adapter drop counters during the timed runs", GUEST, "guest", "", ("guest.rdma_device",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    Rung(
        *("fabric.counters", "Switch port drop counters during the timed runs", FABRIC, "place", ""),
        paths=RDMA_PATHS,
        rests_on=("rdma", "switches"),
    ),
    Rung(
        *("cluster.hostname", "Process launch on all guests", CLUSTER, "all", "", ("guest.kernel", "guest.address")),
        rests_on=("guests", "network"),
    ),
    Rung("cluster.check_build", "Horovod build features", CLUSTER, "all", "", ("guest.kernel",)),
    Rung(
        *("pair.mpi_lat", "MPI latency", PAIR, "pair", "us", ("cluster.hostname", "pair.ping_mtu"), "low"),
        program="latency",
        kept=True,
        rests_on=("network",),
    ),
    Rung(
        *("pair.mpi_bw", "MPI bandwidth", PAIR, "pair", "Gb/s", ("cluster.hostname", "pair.ping_mtu"), "high"),
        program="bandwidth",
        kept=True,
        rests_on=("network",),
    ),
    Rung(
        *("cluster.mpi_allreduce", "MPI all-reduce latency", CLUSTER, "all", "us"),
        *(("cluster.hostname", "pair.ping_mtu"), "low"),
        program="allreduce",
        kept=True,
        rests_on=("network",),
    ),
    Rung(
        *("cluster.nccl", "NCCL all-reduce bandwidth", CLUSTER, "all", "GB/s"),
        *(("cluster.hostname", "guest.licence:before", "pair.write_bw"), "high"),
        gpu=True,
        kept=True,
        rests_on=("gpu", "rdma", "network"),
    ),
    Rung(
        *("cluster.training", "Training throughput", CLUSTER, "training", "img/s"),
        *(("cluster.hostname", "cluster.check_build", "guest.licence:before", "pair.ping_mtu"), "high"),
        kept=True,
        rests_on=("gpu", "rdma", "network"),
    ),
    Rung("cluster.efficiency", "Scaling efficiency", CLUSTER, "derived", "%", ("cluster.training",), "high"),
    Rung(
        *("cluster.rdma_gain", "RDMA speedup over TCP", CLUSTER, "derived", "%", ("cluster.training",), "high"),
        paths=RDMA_PATHS,
        gpu=True,
    ),
    Rung(
        *("guest.licence", "vGPU licence after the timed runs", GUEST, "guest", "", ("guest.licence:before",)),
        gpu=True,
        licence=True,
        variant="after",
        rests_on=("gpu",),
    ),
    Rung(
        *("guest.dcgm_health", "GPU health watches during the timed runs", GUEST, "guest", "", ("guest.driver",)),
        gpu=True,
        option="dcgm_health",
        rests_on=("gpu",),
    ),
)
# Options of site.stack that request a check, by their names in the intent.
OPTIONS = {
    "dcgm_diag": "site.stack.dcgm.diag",
    "dcgm_health": "site.stack.dcgm.health",
    "gds": "site.stack.gds.check",
    "gds_file": "site.stack.gds.read_file",
}
# Checks that need at least two guests, besides tests of pairs.
BETWEEN = ("placement.hosts", "guest.counters", "fabric.counters", "cluster.mpi_allreduce")
# Checks that do not apply if the site disables GPUDirect.
OVER_GPUDIRECT = ("guest.gpudirect", "pair.write_bw_gpu")
PROGRAMS = {rung.check: rung.program for rung in RUNGS if rung.program}
CHECKS = tuple(dict.fromkeys(rung.check for rung in RUNGS))
# Reasons for which a check is skipped on a data path.
NOT_ON = {
    "tcp": "The data path tcp has no RDMA.",
    "pvrdma": "PVRDMA does not support GPUDirect RDMA.",
}


_FIRST = {rung.check: rung for rung in reversed(RUNGS)}
_BY_VARIANT = {(rung.check, rung.variant): rung for rung in RUNGS}


def of(check: str, variant: str = "") -> Rung | None:
    """The rung of a check and variant, else the first rung of the check. None for an unknown check."""
    return _BY_VARIANT.get((check, variant)) or _FIRST.get(check)


def title(rung: Rung, intent: Mapping[str, Any]) -> str:
    """The name of a check in a report, with the MTU of the site if there is one."""
    return rung.title.format(mtu=f" {intent['mtu']}" if intent["mtu"] else "")


def place(check: str, variant: str = "") -> int:
    """Position of a check in the check suite; an unknown check is last."""
    rung = of(check, variant)
    return RUNGS.index(rung) if rung is not None else len(RUNGS)


def left_out(rung: Rung, intent: Mapping[str, Any]) -> str:
    """Reason for which a rung does not apply to the site; an empty text if it applies."""
    for name in (rung.check, f"{rung.check}:{rung.variant}"):
        if name in intent["skip"]:
            return f"The site skips this check: {intent['skip'][name]}".rstrip(".") + "."
    if intent["data_path"] not in rung.paths:
        return NOT_ON.get(intent["data_path"], f"The check does not apply to the data path {intent['data_path']}.")
    if rung.program and rung.program not in intent["osu"]:
        return f"The site names no OSU program for {rung.program}."
    if rung.option and not intent["stack"].get(rung.option):
        return f"The site does not request this check: {OPTIONS[rung.option]} is not set."
    if rung.gpu and intent["gpus"] == "none":
        return "The guests have no GPUs."
    if rung.licence and not intent["licence"]:
        return "The GPUs of the guests need no licence."
    if (rung.of in ("pair", "derived") or rung.check in BETWEEN) and len(intent["guests"]) < 2:
        return "The site has only one guest."
    if rung.check in OVER_GPUDIRECT and intent["gpudirect"] == "disabled":
        return "The site disables GPUDirect."
    return ""
