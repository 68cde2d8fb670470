# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The facts that mig_info returns about the GPUs of a host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import identify, picture, select, state
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.nvidia_smi import NvidiaSmi

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.remote import Remote
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigProfile
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.inventory import FoundGpu
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import Instance


def look(remote: Remote, names: Sequence[str]) -> tuple[list[dict[str, Any]], list[str], str]:
    """(one dict for each GPU that is named, names of the GPUs that do not answer, a sentence on them)."""
    smi = NvidiaSmi(remote.run)
    inventory = smi.inventory()
    reader = select.Reader(smi, inventory, select.is_esxi(remote))
    # Unlike mig_partition, all means every GPU, also those without MIG; a lost GPU hides no other.
    gpus = [
        dict(select.ids(gpu), driver_version=inventory.driver_version, **_reported(reader, gpu))
        for gpu in select.choose(inventory, names, every=True, lost="show")
    ]
    return gpus, inventory.missing, select.lost_gpus(inventory)


def _reported(reader: select.Reader, gpu: FoundGpu) -> dict[str, Any]:
    known = identify.identify(gpu.device_id, gpu.name)
    about = {"model": known.key if known is not None else "", "mig_capable": gpu.mig is not None}
    if gpu.mig is None:
        word = "unknown" if gpu.trouble else "unsupported"
        return dict(
            about, mode=word, pending_mode=word, pending=[], layout=[], instances=[], free={},
            profiles=[], largest_free_region=0, free_regions=[], blocked=[], picture=[], processes=[],
        )  # fmt: skip
    now = reader.state(gpu)
    regions = state.free_regions(now)
    return dict(
        about,
        **now.project(),
        pending=[{"what": "mode", "needs": now.mode_needs}] if now.mode != now.mode_next else [],
        instances=[_instance(one) for one in sorted(now.instances, key=lambda one: one.start)],
        free=state.still_fits(now) if now.mode else {},
        profiles=[_profile(one) for one in now.rules.gpu.profiles],
        largest_free_region=max((length for dummy, length in regions), default=0),
        free_regions=[{"start": start, "size": length} for start, length in regions],
        blocked=state.blockers(now),
        picture=picture.draw(now.rules.gpu.memory_slots or 0, now.instances),
        processes=[{"name": one.name, "pid": one.pid, "gpu_instance_id": one.gpu_instance_id} for one in now.processes],
    )


def _instance(instance: Instance) -> dict[str, Any]:
    return {
        "instance_id": instance.instance_id,
        "profile": instance.name,
        "profile_id": instance.profile_id,
        "start": instance.start,
        "size": instance.size,
        "compute": [
            {"instance_id": one.instance_id, "slices": one.slices, "start": one.start} for one in instance.compute
        ],
    }


def _profile(profile: MigProfile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "id": profile.id,
        "compute_slices": profile.compute_slices,
        "memory_slots": profile.size,
        "starts": list(profile.starts),
        "max_instances": profile.max_instances,
    }
