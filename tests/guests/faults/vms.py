"""What is wrong with VMs."""

from __future__ import annotations

import contextlib
import os

from . import FAIL, NCCL, ONE, OTHER, PAIRS, SECOND, TRAINING, WARN, Fault, Seen, attribute, entry, host, vm, ways


@contextlib.contextmanager
def one_host(twin):
    """Its host has both GPUs, so that nothing but the place is wrong."""
    here, there = host(twin, ONE), host(twin, OTHER)
    with attribute(twin, here, "gpus", here.gpus + there.gpus), attribute(twin, vm(twin, SECOND), "host", here):
        yield


def other_node(twin):
    return entry(twin, vm(twin, SECOND).extra, "numa.nodeAffinity", "1")


def adapter(twin):
    return vm(twin, SECOND).nics[1]


def other_protocol(twin):
    return attribute(twin, adapter(twin), "deviceProtocol", "rocev1")


def no_unified_memory(twin):
    return entry(twin, vm(twin, SECOND).extra, "pciPassthru0.cfg.enable_uvm", None)


@contextlib.contextmanager
def few_processors(twin):
    """A fifth of one processor of this machine, of which the guests share all."""
    one, cores = vm(twin, SECOND), len(os.sched_getaffinity(0))
    share = 0.2 / max(cores / 2, 0.5)
    with attribute(twin, one.cpu_allocation, "limit", max(1, int(one.cpus * one.host.hardware.mhz * share))):
        yield


def not_connected(twin):
    return attribute(twin, adapter(twin).connectable, "connected", False)


SLOW = ("no sign of lost packets: check the NUMA node of the VM", ONE, OTHER)
APART = (*ways("pair.write_bw", WARN, *SLOW), *ways("pair.write_bw_both", WARN, *SLOW))
SHARED = (f"the host {ONE}, which runs job-01 and job-02",)
FAULTS = {
    "vm-two-on-one-host": Fault(
        "vm",
        one_host,
        (Seen("placement.hosts", FAIL, SHARED), *ways("pair.write_bw", WARN, *SHARED)),
        PAIRS,
        silent=True,
    ),
    "vm-other-node": Fault("vm", other_node, APART, PAIRS),
    "vm-other-protocol": Fault(
        "vm", other_protocol, (Seen("guest.gid job-02", FAIL, ("the RoCE protocol", "job-02")),), PAIRS
    ),
    "vm-no-unified-memory": Fault(
        "vm", no_unified_memory, (Seen("cluster.nccl rdma", FAIL, ("job-02", "unified memory")),), NCCL
    ),
    # A fifth of a processor does not reach this mark, however quiet the machine is; other load only adds to it.
    "vm-few-processors": Fault(
        "vm",
        few_processors,
        (Seen("cluster.training job-02 (1:tcp)", WARN, (), ("misses the threshold of at least 60",)),),
        TRAINING,
        lab={"lab_validation": {"thresholds": {"cluster.training": {"warn_low": 60}}}},
        also=("cluster.training job-01 (1:tcp)",),
        silent=True,
    ),
    "vm-adapter-not-connected": Fault(
        "vm",
        not_connected,
        (
            Seen("guest.address job-02", FAIL, ("ens224 of job-02",), ("no link", "no IPv4 address")),
            Seen("guest.rdma_device job-02", FAIL, ("the adapter of job-02",)),
        ),
        PAIRS,
    ),
}
