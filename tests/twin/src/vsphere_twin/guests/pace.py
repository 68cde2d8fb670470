"""How fast a guest really computes, where the model says that something holds it back; so a slow rank is really slow.

Work of a GPU is done by processors here, so what slows a GPU down slows its guest down.
"""

from __future__ import annotations

import os
import time

from ..model import numa, rates
from .programs import hardware, licence, memory

PERIOD_US = 100_000
UNLIMITED = -1


def share(vm, now=None):
    """Of its full speed: 1.0 unless something is wrong."""
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
    """What a VM gets of a GPU's processors: the slices of its instance, or its turn among those that run there."""
    if card.profile is None:
        return 1.0
    kind = card.physical.kind
    if card.mig:
        return kind.profile(card.profile.mig_profile_id).compute_slices / kind.compute_slices
    return 1 / max(len(card.physical.residents), 1)


def quota_us(found, guests, cores=None):
    """What a container may use of processors in each period: that share of what it would get among equals."""
    if found >= 1:
        return UNLIMITED
    cores = cores or len(os.sched_getaffinity(0))
    return int(PERIOD_US * found * max(cores / max(guests, 1), 0.5))


def _restricted(vm, now):
    """Whether its vGPU has no licence for so long that it is held back."""
    state = memory.of(vm)
    if not vm.vgpus or not state.booted_at or licence.valid(state, now):
        return False
    return state.driver is not None and now - state.booted_at >= licence.UNRESTRICTED_S
