"""Measure the time to plan placements: ten VMs per host, from 100 VMs on 10 hosts to 1,000 on 100, and one added VM.

The result is the growth: ten times the VMs on ten times the hosts, as a ratio of the times.
"""

from __future__ import annotations

import statistics
import time

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import answer
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
    Gpu,
    Host,
    Nic,
    NumaNode,
    Present,
    Rules,
    Vm,
    World,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import solve

SIZES = ("40c", "20c", "10c", "5c")
GB = 1024
ROUNDS = 5


def world(number):
    """Hosts with eight A100, two split ports, and two NUMA nodes."""
    board = catalogue.board_of("grid_a100-40c")
    offered = frozenset(catalogue.time_sliced_profiles(board))
    gpus = tuple(
        Gpu(f"0000:{0x10 + at:02x}:00.0", board.title, "grid_a100", "same_size", at % 2, f"root{at % 2}")
        for at in range(8)
    )
    nics = tuple(Nic(f"0000:{0x80 + at:02x}:00.0", f"vmnic{at}", at, f"root{at}", "dvs", 8) for at in (0, 1))
    return World(
        tuple(
            Host(
                moid=f"host-{at}",
                name=f"esx-{at:03}.example.com",
                version="8.0.3",
                memory_free_mb=2048 * GB,
                threads=128,
                nodes=tuple(NumaNode(node, 1024 * GB, 32) for node in (0, 1)),
                gpus=gpus,
                nics=nics,
                offered=offered,
                switches=frozenset({"dvs"}),
            )
            for at in range(number)
        )
    )


def request(number, present=None):
    """VMs of four sizes in jobs of eight, each with a virtual function."""
    return [
        Vm(
            f"train-{at:04}",
            (f"grid_a100-{SIZES[at % 4]}",),
            nics=1,
            memory_mb=64 * GB,
            cpus=8,
            job=f"job-{at // 8}",
            present=present(at) if present else None,
        )
        for at in range(number)
    ]


def seconds(there, vms, rules):
    """The time for a plan and its table, the median of some; and the plan."""
    took = []
    for _round in range(ROUNDS):
        began = time.perf_counter()
        found = solve(there, vms, rules)
        answer.answer(there, vms, rules, found, [])
        took.append(time.perf_counter() - began)
    return statistics.median(took), found


def main():
    """Print a line for each policy."""
    print("\nPlacement: time for one plan with its table, in milliseconds")
    print(f"{'':34} {'100 VMs':>10} {'1,000 VMs':>10} {'growth':>8}")
    for policy in ("spread", "packed"):
        for anti_affinity in (False, True):
            rules = Rules(policy, anti_affinity, gpudirect=True, path="sriov", switch="dvs")
            small, _found = seconds(world(10), request(100), rules)
            large, found = seconds(world(100), request(1000), rules)
            name = f"{policy}{', one VM of a job per host' if anti_affinity else ''}"
            print(f"{name:34} {1000 * small:10.1f} {1000 * large:10.1f} {large / small:8.1f}")
    where = {name: place.host for name, place in found.places.items()}
    again = request(1000, lambda at: Present(f"vm-{at}", "", where[f"train-{at:04}"], "off") if at else None)
    large, _found = seconds(world(100), again, rules)
    print(f"{'999 exist, one is added':34} {'':10} {1000 * large:10.1f}")
