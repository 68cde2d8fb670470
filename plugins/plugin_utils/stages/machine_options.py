# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Options of each module of the stage machines for all VMs; unset options keep the default of the module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.machine_steps import (
    DVX,
    creates,
    given,
    name_of,
    to_place,
    typed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WAITING = ("tasks_in_flight", "task_timeout_s")
FLEET = (*WAITING, "datacenter", "guest_shutdown_timeout_s")
CLONE = (*WAITING, "cluster", "datacenter", "datastore", "disk_gb", "folder", "owner", "template")
# Names of the role, and those of vm_clone.
FROM_LIBRARY = {"content_library": "library", "content_item": "library_item"}
LABELS = ("gpu_label", "nic_label")
PLACE = (
    *LABELS,
    "anti_affinity",
    "cluster",
    "datacenter",
    "datastore",
    "gpu_mode",
    "max_per_vm",
    "most_per_gpu",
    "path",
    "policy",
)


def options(vms: Sequence[Mapping[str, Any]], inputs: Mapping[str, Any], userdata: str = "") -> dict[str, Any]:
    """{module: its options}; the VMs of a fleet and what is done with running ones is said by each task."""
    inputs = typed(inputs)
    fleet = dict(given(inputs, FLEET), power="cycle")
    return {
        "place": _place(inputs),
        "to_place": to_place(vms, inputs),
        "clone": dict(given(inputs, CLONE), move="cold", **_from_library(inputs), **_first_boot(inputs, userdata)),
        "config": fleet,
        "power": dict(given(inputs, FLEET)),
        "drs": _drs(vms, inputs),
    }


def _place(inputs: Mapping[str, Any]) -> dict[str, Any]:
    # A port in passthrough mode has no port group.
    network = () if inputs["path"] == "passthrough" else ("portgroup", "switch")
    place = dict(given(inputs, PLACE + network), gpudirect=inputs["gpudirect"] == "enabled", **_nodes(inputs))
    if inputs["gpu_mode"] == "passthrough" and inputs["gpu_assignment"] == DVX:
        place["gpu_mode"] = DVX
    if inputs["path"] == "passthrough" and inputs["nic_assignment"] == DVX:
        place["path"] = DVX
    return place


def _nodes(inputs: Mapping[str, Any]) -> dict[str, str]:
    return {"gpu_nic_numa": "strict"} if inputs["numa"] == "strict" else {}


def _from_library(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {FROM_LIBRARY[key]: value for key, value in given(inputs, FROM_LIBRARY).items()}


def _first_boot(inputs: Mapping[str, Any], userdata: str) -> dict[str, Any]:
    """The first boot options of a new VM; vm_clone rejects both methods at once."""
    cloud_init = dict(given(inputs, ("metadata",)), **({"userdata": userdata} if userdata else {}))
    reported = {"cloud_init": cloud_init} if cloud_init else {}
    return dict(reported, customization={"spec": inputs["customization"]}) if inputs["customization"] else reported


def _drs(vms: Sequence[Mapping[str, Any]], inputs: Mapping[str, Any]) -> dict[str, Any]:
    names = [name_of(vm) for vm in vms]
    apart = inputs["anti_affinity"] and len(names) > 1
    return dict(
        given(inputs, ("automation", "cluster", "datacenter")),
        anti_affinity=apart,
        name=inputs["rule"],
        planned=names if creates(inputs) else [],
        vms=names,
    )
