# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Inputs of the role training_vm from a site, without the prefix of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import directpath
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import identities, validate

if TYPE_CHECKING:
    from collections.abc import Mapping

# GPUDirect needs the adapter, or a part of it, as a PCIe device of the VM.
DIRECT_PATHS = ("sriov", "passthrough", directpath.DIRECTPATH)
OF_GPU = ("unified_memory", "memory_reservation", "mmio")
OF_NETWORK = ("adapters", "path", "portgroup", "protocol", "switch")
OF_PLACEMENT = ("anti_affinity", "automation", "drs", "policy", "rule")
OF_ENTRY = ("cores_per_socket", "cpus", "datastore", "folder", "host", "memory_gb")
NUMBERS = ("cores_per_socket", "cpus", "hardware_version", "memory_gb", "mmio_size_gb", "max_per_vm")


def machines(site: Any) -> dict[str, Any]:
    """The inputs of the role training_vm."""
    site, errors = validate(site)
    if errors:
        raise AnsibleFilterError("The site is not valid. " + " ".join(errors))
    pairs = {"directpath_label": directpath.label(site), "device_group": directpath.group(site)}
    classes = directpath.classes(site)
    site = directpath.lowered(site)
    gpu, network = site["gpu"], site["network"]
    inputs = {
        **{key: gpu[key] for key in OF_GPU},
        **site["machine"],
        **{key: network[key] for key in OF_NETWORK},
        **{key: site["placement"][key] for key in OF_PLACEMENT},
        "vms": [vm for entry in site["vms"] for vm in _vms(entry, gpu)],
        "datacenter": site["datacenter"],
        "cluster": site["cluster"],
        "gpu_mode": gpu["mode"],
        "gpu_assignment": gpu["passthrough"]["assignment"],
        "gpu_devices": gpu["passthrough"]["devices"],
        "gpu_label": gpu["passthrough"]["label"],
        "gpudirect": gpudirect(network),
        "nic_assignment": network["assignment"],
        "nic_devices": network["devices"],
        "nic_label": network["label"],
        **pairs,
        "gpu_class": classes.get("gpu", ""),
        "nic_class": classes.get("nic", ""),
        "mmio_size_gb": gpu["mmio_size_gb"],
        "max_per_vm": gpu["max_per_vm"],
        "most_per_gpu": gpu["most_per_gpu"],
        "owner": site["name"],
        "absent": site["absent"],
        "prune": site["prune"],
        "power": site["power"],
        "guest_shutdown_timeout_s": site["guest_shutdown_timeout_s"],
    }
    # Inputs of a role always have a value: 0 for unset numbers, otherwise an empty text.
    return {key: (0 if key in NUMBERS else "") if value is None else value for key, value in inputs.items()}


def fleet(site: Any, action: str) -> dict[str, Any]:
    """The power actions of playbook fleet: the VMs of each entry of the site in order, and the options."""
    site, errors = validate(site)
    if errors:
        raise AnsibleFilterError("The site is not valid. " + " ".join(errors))
    waves = [identities(entry) for entry in site["vms"]]
    stops = action == "stop"
    return {
        "waves": waves[::-1] if stops else waves,
        "state": "off" if stops else "on",
        # Hard power-off only if the site allows it.
        "force": stops and site["power"] == "cycle",
        "wait_for": "none" if stops else site["machine"]["wait_for"],
        "wait_timeout_s": site["machine"]["wait_timeout_s"],
        "guest_shutdown_timeout_s": site["guest_shutdown_timeout_s"],
        "datacenter": site["datacenter"] or "",
    }


def gpudirect(network: Mapping[str, Any]) -> str:
    """Whether network adapter and GPU communicate directly, as an option of vm_shape."""
    if network["gpudirect"] == "auto":
        return "enabled" if network["path"] in DIRECT_PATHS else "ignore"
    return network["gpudirect"]


def creates(site: Mapping[str, Any]) -> bool:
    """Whether missing VMs are created."""
    return bool(site["machine"]["template"] or site["machine"]["content_item"])


def _vms(entry: Mapping[str, Any], gpu: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One dictionary for each VM of an entry."""
    more = {key: entry[key] for key in OF_ENTRY if entry[key] is not None}
    if gpu["mode"] == "passthrough":
        more["gpus"] = gpu["per_vm"]
    else:
        common = [gpu["profile"]] * gpu["per_vm"] if gpu["profile"] else []
        more["profiles"] = list(entry["profiles"] or common)
    return [dict(identity, **more) for identity in identities(entry)]


def gpus_of(entry: Mapping[str, Any], gpu: Mapping[str, Any]) -> int:
    """The number of GPUs of each VM of an entry."""
    return len(entry["profiles"]) if entry["profiles"] and gpu["mode"] not in directpath.WHOLE else gpu["per_vm"]
