# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The ladder: every check with its title, its unit, what it needs first, and where it does not apply. Data.

Cheap and local checks come first. What a rung needs is looked for among the same guests: a test of a pair needs both
guests, a run of many needs all of its guests and all pairs among them.
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
    # Names of checks, with `:variant` where only that counts.
    needs: tuple[str, ...] = ()
    # Which way a figure is better; empty where it is none.
    better: str = ""
    # Where it applies: data paths, and whether it needs GPUs or the licence of a vGPU.
    paths: tuple[str, ...] = ("tcp", *RDMA_PATHS)
    gpu: bool = False
    licence: bool = False
    variant: str = ""
    # Which program of OSU measures it, and only where the site names one.
    program: str = ""
    # Whether its figure is kept as a baseline.
    kept: bool = False
    # Parts of a site that its result rests on and that can be simulated, in the words of simulated.py. Efficiency and
    # the gain of RDMA follow from trainings, whose parts they have.
    rests_on: tuple[str, ...] = ()


RUNGS = (
    Rung("guest.kernel", "The guest answers and tells its kernel", GUEST, "guest", "", rests_on=("guests",)),
    Rung("guest.clock", "Its clock is synchronised", GUEST, "guest", "ms", ("guest.kernel",), rests_on=("guests",)),
    Rung(
        *("guest.address", "Link and address of its data path", GUEST, "guest", "", ("guest.kernel",)),
        rests_on=("guests", "network"),
    ),
    Rung(
        "guest.mtu", "MTU of its data path", GUEST, "guest", "bytes", ("guest.kernel",), rests_on=("guests", "network")
    ),
    Rung("guest.driver", "Driver and GPUs", GUEST, "guest", "", ("guest.kernel",), gpu=True, rests_on=("gpu",)),
    Rung(
        *("guest.licence", "Licence before the timed runs", GUEST, "guest", "", ("guest.driver",)),
        gpu=True,
        licence=True,
        variant="before",
        rests_on=("gpu",),
    ),
    # The log also tells why a GPU is gone, which the driver then shows no more.
    Rung(
        *("guest.xid", "Errors of the GPU in the kernel's log", GUEST, "guest", "", ("guest.kernel",)),
        gpu=True,
        rests_on=("gpu",),
    ),
    Rung("guest.ecc", "Errors of the GPU's memory", GUEST, "guest", "", ("guest.driver",), gpu=True, rests_on=("gpu",)),
    Rung(
        *("guest.topology", "Distance between GPU and network adapter", GUEST, "guest", "", ("guest.driver",)),
        paths=DIRECT_PATHS,
        gpu=True,
        rests_on=("gpu", "rdma"),
    ),
    Rung(
        *("guest.gpudirect", "Kernel and driver support for GPUDirect RDMA", GUEST, "guest", ""),
        needs=("guest.driver",),
        paths=DIRECT_PATHS,
        gpu=True,
        rests_on=("gpu", "rdma"),
    ),
    Rung(
        *("guest.modules", "Kernel modules of the data path", GUEST, "guest", "", ("guest.kernel",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    Rung(
        *("guest.memlock", "Memory that may be locked", GUEST, "guest", "", ("guest.kernel",)),
        paths=RDMA_PATHS,
        rests_on=("guests",),
    ),
    Rung(
        *("guest.rdma_device", "RDMA device of the data path", GUEST, "guest", "", ("guest.modules",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    Rung(
        *(
            "guest.gid",
            "RoCE v2 address of the RDMA device",
            GUEST,
            "guest",
            "",
            ("guest.rdma_device", "guest.address"),
        ),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    Rung("placement.hosts", "Each VM runs on a host of its own", PLACEMENT, "all", "", rests_on=("vcenter", "hosts")),
    Rung(
        *("fabric.settings", "All ends treat RoCE alike", FABRIC, "all", ""),
        paths=RDMA_PATHS,
        rests_on=("rdma", "hosts", "switches"),
    ),
    Rung(
        *("pair.ping_mtu", "Packets of full size arrive", PAIR, "pair", "bytes", ("guest.address", "guest.mtu")),
        rests_on=("network",),
    ),
    Rung(
        *(
            "pair.rping",
            "RDMA reaches the other side",
            PAIR,
            "pair",
            "",
            ("guest.gid", "guest.memlock", "pair.ping_mtu"),
        ),
        paths=RDMA_PATHS,
        rests_on=("rdma", "network"),
    ),
    Rung(
        *("pair.write_lat", "Latency of RDMA writes", PAIR, "pair", "us", ("pair.rping",), "low", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    Rung(
        *("pair.write_bw", "Bandwidth of RDMA writes", PAIR, "pair", "Gb/s", ("pair.rping",), "high", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    Rung(
        *("pair.write_bw_both", "Bandwidth of RDMA writes both ways at once", PAIR, "pair", "Gb/s", ("pair.write_bw",)),
        *("high", RDMA_PATHS),
        kept=True,
        rests_on=("rdma", "network"),
    ),
    Rung(
        *("pair.write_bw_gpu", "Bandwidth of RDMA writes of GPU memory", PAIR, "pair", "Gb/s"),
        *(("pair.write_bw", "guest.driver", "guest.topology"), "high", DIRECT_PATHS),
        gpu=True,
        kept=True,
        rests_on=("rdma", "gpu", "network"),
    ),
    Rung(
        *("pair.iperf3", "Bandwidth of TCP", PAIR, "pair", "Gb/s", ("pair.ping_mtu",), "high"),
        kept=True,
        rests_on=("network",),
    ),
    Rung(
        *("guest.counters", "What adapters counted during the timed runs", GUEST, "guest", "", ("guest.rdma_device",)),
        paths=RDMA_PATHS,
        rests_on=("rdma",),
    ),
    Rung(
        *("fabric.counters", "What ports counted during the timed runs", FABRIC, "place", ""),
        paths=RDMA_PATHS,
        rests_on=("rdma", "switches"),
    ),
    Rung(
        *("cluster.hostname", "Processes start on all guests", CLUSTER, "all", "", ("guest.kernel", "guest.address")),
        rests_on=("guests", "network"),
    ),
    Rung("cluster.check_build", "What Horovod of the image was built with", CLUSTER, "all", "", ("guest.kernel",)),
    Rung(
        *("pair.mpi_lat", "Latency of MPI", PAIR, "pair", "us", ("cluster.hostname", "pair.ping_mtu"), "low"),
        program="latency",
        kept=True,
        rests_on=("network",),
    ),
    Rung(
        *("pair.mpi_bw", "Bandwidth of MPI", PAIR, "pair", "Gb/s", ("cluster.hostname", "pair.ping_mtu"), "high"),
        program="bandwidth",
        kept=True,
        rests_on=("network",),
    ),
    Rung(
        *("cluster.mpi_allreduce", "All-reduce of MPI", CLUSTER, "all", "us"),
        *(("cluster.hostname", "pair.ping_mtu"), "low"),
        program="allreduce",
        kept=True,
        rests_on=("network",),
    ),
    Rung(
        *("cluster.nccl", "All-reduce of NCCL", CLUSTER, "all", "GB/s"),
        *(("cluster.hostname", "guest.licence:before", "pair.write_bw"), "high"),
        gpu=True,
        kept=True,
        rests_on=("gpu", "rdma", "network"),
    ),
    Rung(
        *("cluster.training", "Training", CLUSTER, "training", "img/s"),
        *(("cluster.hostname", "cluster.check_build", "guest.licence:before", "pair.ping_mtu"), "high"),
        kept=True,
        rests_on=("gpu", "rdma", "network"),
    ),
    Rung("cluster.efficiency", "Efficiency of scaling", CLUSTER, "derived", "%", ("cluster.training",), "high"),
    Rung(
        *("cluster.rdma_gain", "What RDMA gains over TCP", CLUSTER, "derived", "%", ("cluster.training",), "high"),
        paths=RDMA_PATHS,
        gpu=True,
    ),
    Rung(
        *("guest.licence", "Licence after the timed runs", GUEST, "guest", "", ("guest.licence:before",)),
        gpu=True,
        licence=True,
        variant="after",
        rests_on=("gpu",),
    ),
)
# What makes no sense with one guest, besides tests of pairs.
BETWEEN = ("placement.hosts", "guest.counters", "fabric.counters", "cluster.mpi_allreduce")
# What makes no sense where the site has GPUDirect disabled.
OVER_GPUDIRECT = ("guest.gpudirect", "pair.write_bw_gpu")
PROGRAMS = {rung.check: rung.program for rung in RUNGS if rung.program}
CHECKS = tuple(dict.fromkeys(rung.check for rung in RUNGS))
# Why a check is left out on a data path.
NOT_ON = {
    "tcp": "The data path is tcp, which has no RDMA.",
    "pvrdma": "PVRDMA cannot reach the memory of GPUs, so that it makes no difference.",
}


_FIRST = {rung.check: rung for rung in reversed(RUNGS)}
_BY_VARIANT = {(rung.check, rung.variant): rung for rung in RUNGS}


def of(check: str, variant: str = "") -> Rung | None:
    """The rung of a check; of one with variants, that of the variant, else the first. None for an unknown one."""
    return _BY_VARIANT.get((check, variant)) or _FIRST.get(check)


def place(check: str, variant: str = "") -> int:
    """Where a check stands on the ladder; one that is not known stands at the end."""
    rung = of(check, variant)
    return RUNGS.index(rung) if rung is not None else len(RUNGS)


def left_out(rung: Rung, intent: Mapping[str, Any]) -> str:
    """Why a rung does not apply to what is intended; an empty text where it does."""
    if rung.check in intent["skip"]:
        return f"The site leaves it out: {intent['skip'][rung.check]}".rstrip(".") + "."
    if intent["data_path"] not in rung.paths:
        return NOT_ON.get(intent["data_path"], f"It does not apply to the data path {intent['data_path']}.")
    if rung.program and rung.program not in intent["osu"]:
        return f"The site names no program of OSU for {rung.program}."
    if rung.gpu and intent["gpus"] == "none":
        return "The guests have no GPUs."
    if rung.licence and not intent["licence"]:
        return "The GPUs of the guests need no licence."
    if (rung.of in ("pair", "derived") or rung.check in BETWEEN) and len(intent["guests"]) < 2:
        return "There is only one guest."
    if rung.check in OVER_GPUDIRECT and intent["gpudirect"] == "disabled":
        return "The site has GPUDirect disabled."
    return ""
