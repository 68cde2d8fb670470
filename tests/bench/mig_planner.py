"""Measure the time to plan a layout: every geometry of each kind of GPU, from an empty GPU and from a full one."""

from __future__ import annotations

import itertools
import random
import statistics
import time

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.planner import RequestedInstance, plan
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

# GPUs with different grids; the others of a grid have the same numbers under other names.
ALIKE = ("a100_40gb", "a30", "rtx_pro_6000_blackwell")


def geometries(rules):
    """Every legal multiset of profiles, as {id: count}."""
    ranges = [range(profile.max_instances + 1) for profile in rules.gpu.profiles]
    ids = [profile.id for profile in rules.gpu.profiles]
    for numbers in itertools.product(*ranges):
        counts = {profile_id: number for profile_id, number in zip(ids, numbers, strict=True) if number}
        if counts and rules.legal(counts):
            yield counts


def measure(key, chosen):
    """Seconds for each geometry of a GPU, from nothing and from a layout that was drawn."""
    rules = Rules(GPUS[key])
    every = list(geometries(rules))
    took = []
    for counts in every:
        requests = [RequestedInstance(profile_id) for profile_id, count in counts.items() for _once in range(count)]
        full = next(rules.layouts(chosen.choice(every)))
        for present in ({}, dict.fromkeys(full, ())):
            began = time.perf_counter()
            plan(rules, present, requests)
            took.append(time.perf_counter() - began)
    return took


def main():
    """Print a line for each grid."""
    chosen = random.Random(1)
    print("\nMIG planner: time for one plan, in milliseconds")
    for key in ALIKE:
        took = [1000 * seconds for seconds in measure(key, chosen)]
        print(f"{key:26} {len(took):6} plans   median {statistics.median(took):6.2f}   longest {max(took):6.2f}")
