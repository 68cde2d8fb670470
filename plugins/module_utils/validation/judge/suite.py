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


class CheckSpec(NamedTuple):
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


SUITE = (
    CheckSpec("guest.kernel", "Guest reachable, kernel version", GUEST, "guest", "", rests_on=("guests",)),
    CheckSpec("guest.clock", "Clock synchronised", GUEST, "guest", "ms", ("guest.kernel",), rests_on=("guests",)),
    CheckSpec(
        *("guest.address", "Link and IP address of the data path", GUEST, "guest", "", ("guest.kernel",)),
        rests_on=("guests", "network"),
    ),
    CheckSpec(
        "guest.mtu",
        "Interface MTU of the data path",
        GUEST,
        "guest",
        "bytes",
        ("guest.kernel",),
        rests_on=("guests", "network"),
    ),
    CheckSpec(
        "guest.driver", "GPU driver and GPU count", GUEST, "guest", "", ("guest.kernel",), gpu=True, rests_on=("gpu",)
    ),
    CheckSpec(
        *("guest.licence", "vGPU licence before the timed runs", GUEST, "guest", "", ("guest.driver",)),
        gpu=True,
        licence=True,
        variant="before",
        rests_on=("gpu",),
    ),
    # The log also has the reason of a missing GPU, which the driver no longer shows.
    CheckSpec(
        *("guest.xid", "GPU errors in the kernel log (Xid)", GUEST, "guest", "", ("guest.kernel",)),
        gpu=True,
        rests_on=("gpu",),
    ),
    CheckSpec(
        *("guest.ecc", "GPU memory errors (ECC)", GUEST, "guest", ""), ("guest.driver",), gpu=True, rests_on=("gpu",)
    ),
    CheckSpec(
        *("guest.topology", "PCIe distance between GPU and network adapter", GUEST, "guest", "", ("guest.driver",)),
        paths=DIRECT_PATHS,
        gpu=True,
        rests_on=("gpu", "rdma"),
    ),
    CheckSpec(
        *("guest.gpudirect", "GPUDirect RDMA support of kernel and driver", GUEST, "guest", ""),
        needs=("guest.driver",),
        paths=DIRECT_PATHS,
        gpu=True,
        rests_on=("gpu", "rdma"),
    ),
    CheckSpec(
        *("guest.dcgm", "GPU diagnostic (DCGM)", GUEST, "guest", "", ("guest.driver",)),
        gpu=True,
        option="dcgm_diag",
        rests_on=("gpu",),
    ),
    CheckSpec(
        *("guest.gds", "GPUDirect Storage support", GUEST, "guest", "", ("guest.driver",)),
        gpu=True,
        option="gds",
        rests_on=("gpu",),
    ),
    CheckSpec(
        *("guest.gds_read", "GPUDirect Storage read", GUEST, "guest", "GiB/s", ("guest.gds",), "high"),
        gpu=True,
        option="gds_file",
        kept=True,
        rests_on=("gpu",),
    ),
    CheckSpec(
        *("guest.modules", "RDMA kernel modules loaded", GUEST, "guest", "", ("guest.kernel",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    CheckSpec(
        *("guest.memlock", "Locked memory limit (memlock)", GUEST, "guest", "", ("guest.kernel",)),
        paths=RDMA_PATHS,
        rests_on=("guests",),
    ),
    CheckSpec(
        *("guest.rdma_device", "RDMA device active", GUEST, "guest", "", ("guest.modules",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    CheckSpec(
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
    CheckSpec("placement.hosts", "One VM per ESXi host", PLACEMENT, "all", "", rests_on=("vcenter", "hosts")),
    CheckSpec(
        *("fabric.settings", "RoCE traffic class consistent", FABRIC, "all", ""),
        paths=RDMA_PATHS,
        rests_on=("rdma", "hosts", "switches"),
    ),
    CheckSpec(
        *("pair.ping_mtu", "Path MTU{mtu} end to end", PAIR, "pair", "bytes", ("guest.address", "guest.mtu")),
        rests_on=("network",),
    ),
    CheckSpec(
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
    CheckSpec(
        *("pair.write_lat", "RDMA write latency", PAIR, "pair", "us", ("pair.rping",), "low", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    CheckSpec(
        *("pair.write_bw", "RDMA write bandwidth", PAIR, "pair", "Gb/s", ("pair.rping",), "high", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    CheckSpec(
        *("pair.write_bw_both", "RDMA write bandwidth, bidirectional", PAIR, "pair", "Gb/s", ("pair.write_bw",)),
        *("high", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    CheckSpec(
        *("pair.write_bw_gpu", "RDMA write bandwidth, GPU memory", PAIR, "pair", "Gb/s"),
        *(("pair.write_bw", "guest.driver", "guest.topology"), "high", DIRECT_PATHS),
        gpu=True,
        kept=True,
        rests_on=("rdma", "gpu", "network"),
    ),
    CheckSpec(
        *("pair.iperf3", "TCP bandwidth", PAIR, "pair", "Gb/s", ("pair.ping_mtu",), "high"),
        kept=True,
        rests_on=("network",),
    ),
    CheckSpec(
        *("guest.counters", "Adapter drop counters during the timed runs", GUEST, "guest", "", ("guest.rdma_device",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    CheckSpec(
        *("fabric.counters", "Switch port drop counters during the timed runs", FABRIC, "place", ""),
        paths=RDMA_PATHS,
        rests_on=("rdma", "switches"),
    ),
    CheckSpec(
        *("cluster.hostname", "Process launch on all guests", CLUSTER, "all", "", ("guest.kernel", "guest.address")),
        rests_on=("guests", "network"),
    ),
    CheckSpec("cluster.check_build", "Horovod build features", CLUSTER, "all", "", ("guest.kernel",)),
    CheckSpec(
        *("pair.mpi_lat", "MPI latency", PAIR, "pair", "us", ("cluster.hostname", "pair.ping_mtu"), "low"),
        program="latency",
        kept=True,
        rests_on=("network",),
    ),
    CheckSpec(
        *("pair.mpi_bw", "MPI bandwidth", PAIR, "pair", "Gb/s", ("cluster.hostname", "pair.ping_mtu"), "high"),
        program="bandwidth",
        kept=True,
        rests_on=("network",),
    ),
    CheckSpec(
        *("cluster.mpi_allreduce", "MPI all-reduce latency", CLUSTER, "all", "us"),
        *(("cluster.hostname", "pair.ping_mtu"), "low"),
        program="allreduce",
        kept=True,
        rests_on=("network",),
    ),
    CheckSpec(
        *("cluster.nccl", "NCCL all-reduce bandwidth", CLUSTER, "all", "GB/s"),
        *(("cluster.hostname", "guest.licence:before", "pair.write_bw"), "high"),
        gpu=True,
        kept=True,
        rests_on=("gpu", "rdma", "network"),
    ),
    CheckSpec(
        *("cluster.training", "Training throughput", CLUSTER, "training", "img/s"),
        *(("cluster.hostname", "cluster.check_build", "guest.licence:before", "pair.ping_mtu"), "high"),
        kept=True,
        rests_on=("gpu", "rdma", "network"),
    ),
    CheckSpec("cluster.efficiency", "Scaling efficiency", CLUSTER, "derived", "%", ("cluster.training",), "high"),
    CheckSpec(
        *("cluster.rdma_gain", "RDMA speedup over TCP", CLUSTER, "derived", "%", ("cluster.training",), "high"),
        paths=RDMA_PATHS,
        gpu=True,
    ),
    CheckSpec(
        *("guest.licence", "vGPU licence after the timed runs", GUEST, "guest", "", ("guest.licence:before",)),
        gpu=True,
        licence=True,
        variant="after",
        rests_on=("gpu",),
    ),
    CheckSpec(
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
PROGRAMS = {spec.check: spec.program for spec in SUITE if spec.program}
CHECKS = tuple(dict.fromkeys(spec.check for spec in SUITE))
# Reasons for which a check is skipped on a data path.
NOT_ON = {
    "tcp": "The data path tcp has no RDMA.",
    "pvrdma": "PVRDMA does not support GPUDirect RDMA.",
}


_FIRST = {spec.check: spec for spec in reversed(SUITE)}
_BY_VARIANT = {(spec.check, spec.variant): spec for spec in SUITE}


def of(check: str, variant: str = "") -> CheckSpec | None:
    """The description of a check and variant, else the first one of the check. None for an unknown check."""
    return _BY_VARIANT.get((check, variant)) or _FIRST.get(check)


def title(spec: CheckSpec, intent: Mapping[str, Any]) -> str:
    """The name of a check in a report, with the MTU of the site if there is one."""
    return spec.title.format(mtu=f" {intent['mtu']}" if intent["mtu"] else "")


def place(check: str, variant: str = "") -> int:
    """Position of a check in the check suite; an unknown check is last."""
    spec = of(check, variant)
    return SUITE.index(spec) if spec is not None else len(SUITE)


def left_out(spec: CheckSpec, intent: Mapping[str, Any]) -> str:
    """Reason for which a check does not apply to the site; an empty text if it applies."""
    for name in (spec.check, f"{spec.check}:{spec.variant}"):
        if name in intent["skip"]:
            return f"The site skips this check: {intent['skip'][name]}".rstrip(".") + "."
    if intent["data_path"] not in spec.paths:
        return NOT_ON.get(intent["data_path"], f"The check does not apply to the data path {intent['data_path']}.")
    if spec.program and spec.program not in intent["osu"]:
        return f"The site names no OSU program for {spec.program}."
    if spec.option and not intent["stack"].get(spec.option):
        return f"The site does not request this check: {OPTIONS[spec.option]} is not set."
    if spec.gpu and intent["gpus"] == "none":
        return "The guests have no GPUs."
    if spec.licence and not intent["licence"]:
        return "The GPUs of the guests need no licence."
    if (spec.of in ("pair", "derived") or spec.check in BETWEEN) and len(intent["guests"]) < 2:
        return "The site has only one guest."
    if spec.check in OVER_GPUDIRECT and intent["gpudirect"] == "disabled":
        return "The site disables GPUDirect."
    return ""


def is_timed(checks: Mapping[str, Any] | None) -> bool:
    """Whether pods measure pairs or jobs, which load the GPUs and the network; checks of site.kubernetes."""
    return bool(checks and (checks.get("pairs") or checks.get("jobs")))
