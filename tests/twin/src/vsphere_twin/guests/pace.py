"""Real speed of a guest according to the model's slowdowns; a slow rank is really slow.

Processors do the work of a GPU here, so a slow GPU slows its guest down.
"""

from __future__ import annotations

import os
import time

from ..model import numa, rates
from .programs import hardware, licence, memory

PERIOD_US = 100_000
UNLIMITED = -1


def share(vm, now=None):
    """Return the share of its full speed: 1.0 without a slowdown."""
    found = 1.0
    limit = vm.cpu_allocation.limit
    if limit is not None and limit > 0:
        found = min(found, limit / (vm.cpus * vm.host.hardware.mhz))
    if not vm.host.bmc.functions().get("performance", True):
        found *= rates.of("pace.saving")
    if numa.remote_mb(vm):
        found *= rates.of("pace.apart")
    found *= min((part(card) for card in hardware.gpus_of(vm)), default=1.0)
    if _restricted(vm, time.time() if now is None else now):
        found *= rates.of("gpu.restricted")
    return max(found, rates.of("pace.least"))


def part(card):
    """Return the share of a GPU's processors for a VM: the slices of its instance, or its time slice."""
    if card.profile is None:
        return 1.0
    kind = card.physical.kind
    if card.mig:
        return kind.profile(card.profile.mig_profile_id).compute_slices / kind.compute_slices
    return 1 / max(len(card.physical.residents), 1)


def quota_us(found, guests, cores=None):
    """Return the processor quota of a container per period: its share of an equal part."""
    if found >= 1:
        return UNLIMITED
    cores = cores or len(os.sched_getaffinity(0))
    return int(PERIOD_US * found * max(cores / max(guests, 1), 0.5))


def _restricted(vm, now):
    """Return whether its vGPU has been without a licence long enough to be restricted."""
    state = memory.of(vm)
    if not vm.vgpus or not state.booted_at or licence.valid(state, now):
        return False
    return state.driver is not None and now - state.booted_at >= licence.UNRESTRICTED_S
