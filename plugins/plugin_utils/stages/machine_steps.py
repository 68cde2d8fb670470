# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Options of each module of the stage machines per VM, from the request and the placement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.directpath import gpus_of_group
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import label_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

IDENTITY = ("name", "path", "moid", "instance_uuid", "bios_uuid")
STEPS = ("clone", "config", "power")
# Enhanced DirectPath I/O, as an assignment, a kind of device and a mode of placement; vendor device groups.
DVX, GROUP = "dvx", "group"
# The option for the adapters of each path; a passthrough port is a device like a GPU.
ADAPTERS = {"tcp": "vmxnet3", "pvrdma": "pvrdma", "sriov": "sriov"}
# Options of the shape that all VMs share.
SHAPE = (
    "advanced",
    "gpudirect",
    "hardware_version",
    "latency_sensitivity",
    "memory_reservation",
    "mmio",
    "mmio_size_gb",
)


NUMBERS = (
    "adapters",
    "cores_per_socket",
    "cpus",
    "disk_gb",
    "guest_shutdown_timeout_s",
    "hardware_version",
    "max_per_vm",
    "memory_gb",
    "mmio_size_gb",
    "task_timeout_s",
    "tasks_in_flight",
)


def typed(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with numeric types; ansible-core before 2.19 passes numbers as text."""
    return {key: int(value or 0) if key in NUMBERS else value for key, value in inputs.items()}


def to_place(vms: Iterable[Mapping[str, Any]], inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Input of vm_placement_info."""
    return [dict(_place_of(vm, inputs)) for vm in vms]


def steps(
    vms: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
    placement: Mapping[str, Any] | None = None,
    clones: Iterable[Mapping[str, Any]] = (),
    undecided: bool = False,
) -> dict[str, Sequence[dict[str, Any]]]:
    """{step: entries of its module}; a step that the requests do not need has none.

    clones: what vm_clone would do in check mode; of a VM that is missing, only a template reports what it will be.
    undecided: hosts are not in their desired state yet, so the checks that depend on the host of a VM are left out.
    """
    nothing: dict[str, Sequence[dict[str, Any]]]
    inputs, nothing = typed(inputs), dict.fromkeys(STEPS, ())
    placed = [(vm, place_of(vm, placement)) for vm in vms]
    cloned = [_clone(vm, place) for vm, place in placed] if creates(inputs) else []
    if not inputs["template"]:
        unknown = {clone["name"] for clone in clones if not clone["before"].get("exists")}
        placed = [(vm, place) for vm, place in placed if name_of(vm) not in unknown]
    if inputs["vgpu_state"] == "absent":
        there = [identity_of(vm) for vm in vms]
        return dict(nothing, config=[dict(one, vgpu=_vgpu(inputs)) for one in there], power=there)
    return dict(
        nothing,
        clone=cloned,
        config=[_config(vm, place, inputs, undecided) for vm, place in placed],
        power=[_vm(vm, place, inputs) for vm, place in placed],
    )


def given(inputs: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """The values that are set; an empty text, null and 0 are unset."""
    return {key: inputs[key] for key in keys if inputs[key] or inputs[key] is False}


def _config(
    vm: Mapping[str, Any], place: Mapping[str, Any], inputs: Mapping[str, Any], undecided: bool
) -> dict[str, Any]:
    """All parts of a VM that vm_config changes together."""
    entry = dict(_vm(vm, place, inputs), shape=_shape(vm, place, inputs))
    if undecided:
        return entry
    if vm.get("profiles"):
        entry["vgpu"] = dict(_vgpu(inputs), profiles=vm["profiles"])
    if inputs["path"] == "passthrough" or inputs["gpu_mode"] == "passthrough":
        entry["passthrough"] = {"devices": _devices(vm, place, inputs)}
    if inputs["path"] in ADAPTERS and inputs["portgroup"]:
        entry[ADAPTERS[inputs["path"]]] = {"adapters": _adapters(place, inputs)}
    return entry


def _vgpu(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return dict(given(inputs, ("max_per_vm", "unified_memory")), state=inputs["vgpu_state"])


def place_of(vm: Mapping[str, Any], placement: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The placement of a VM; empty without a placement."""
    places = {place["name"]: place for place in (placement or {}).get("vms", [])}
    return places.get(vm.get("path")) or places.get(name_of(vm)) or {}


def creates(inputs: Mapping[str, Any]) -> bool:
    """Whether missing VMs are created."""
    return bool(inputs["template"] or inputs["content_item"]) and inputs["vgpu_state"] == "present"


def name_of(vm: Mapping[str, Any]) -> str:
    """The name of a VM, also if the entry has its path."""
    return vm.get("name") or (vm.get("path") or "").rpartition("/")[2]


def key_of(entry: Mapping[str, Any]) -> str | None:
    """The identity of a VM, by any of the options for it."""
    return next((entry[key] for key in IDENTITY if entry.get(key)), None)


def identity_of(vm: Mapping[str, Any]) -> dict[str, str]:
    """The one option that identifies the VM of an entry."""
    return {key: vm[key] for key in IDENTITY if vm.get(key)}


def _place_of(vm: Mapping[str, Any], inputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from identity_of(vm).items()
    for key in ("profiles", "host"):
        if vm.get(key):
            yield key, vm[key]
    if inputs["gpu_mode"] == "passthrough":
        yield "gpus", vm.get("gpus", 1)
    for key in ("cpus", "disk_gb", "memory_gb"):
        if vm.get(key) or inputs[key]:
            yield key, vm.get(key) or inputs[key]
    if inputs["path"] != "tcp":
        yield "nics", inputs["adapters"]
    yield "job", inputs["rule"]


def _vm(vm: Mapping[str, Any], place: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of the VM, and in check mode its planned template and host."""
    planned = {"host": place.get("host"), "template": inputs["template"]}
    return dict(identity_of(vm), planned={key: value for key, value in planned.items() if value})


def _clone(vm: Mapping[str, Any], place: Mapping[str, Any]) -> dict[str, Any]:
    entry = {
        "name": name_of(vm),
        "folder": vm.get("folder") or (vm.get("path") or "").rpartition("/")[0],
        "host": place.get("host") or vm.get("host"),
        "datastore": vm.get("datastore") or place.get("datastore"),
    }
    return {key: value for key, value in entry.items() if value}


def _shape(vm: Mapping[str, Any], place: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    requested = {key: vm.get(key) or inputs[key] for key in ("cpus", "cores_per_socket", "memory_gb")}
    if inputs["numa"] in ("auto", "strict"):
        requested["numa_nodes"] = place.get("numa_nodes")
    requested["gpus"] = _gpu_ids(vm, place, inputs)
    shape = dict(given(inputs, SHAPE), **{key: value for key, value in requested.items() if value})
    return dict(shape, direct_nics=inputs["adapters"] if inputs["path"] in ("sriov", "passthrough") else 0)


def _gpu_ids(vm: Mapping[str, Any], place: Mapping[str, Any], inputs: Mapping[str, Any]) -> Sequence[str]:
    """The GPUs of a VM for the size of its memory mapped I/O."""
    if inputs["gpu_mode"] != "passthrough":
        return vm.get("profiles") or []
    if inputs["gpu_assignment"] == "dynamic" and inputs["gpu_devices"]:
        return [inputs["gpu_devices"][0]] * vm.get("gpus", 1)
    return [f"{gpu['vendor_id']}:{gpu['device_id']}" for gpu in place.get("gpus", [])]


def _devices(vm: Mapping[str, Any], place: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The passthrough devices of a VM: GPUs, then ports; or a vendor's groups of both."""
    devices: list[dict[str, Any]] = []
    if inputs["device_group"]:
        name = inputs["device_group"]
        devices += [{"kind": GROUP, "group": name} for dummy in range(vm.get("gpus", 1) // gpus_of_group(name))]
    elif inputs["gpu_mode"] == "passthrough":
        gpus = [dict(gpu, address=gpu["id"]) for gpu in place.get("gpus", [])]
        devices += _direct("gpu", gpus, vm.get("gpus", 1), inputs)
    # A group has the ports too, unless it has GPUs with NVLink.
    if inputs["path"] == "passthrough" and not (inputs["device_group"] and inputs["nic_assignment"] == GROUP):
        ports = [dict(port, address=port["pci"]) for port in place.get("nics", [])]
        devices += _direct("nic", ports, inputs["adapters"], inputs)
    return devices


def _direct(
    what: str, chosen: Sequence[Mapping[str, Any]], count: int, inputs: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The selected devices, or as many of their kinds, each with the label of its root if the site pairs devices."""
    if inputs[f"{what}_assignment"] == DVX:
        return [{"kind": DVX, "device_class": inputs[f"{what}_class"]} for dummy in range(count)]
    if inputs[f"{what}_assignment"] == "static":
        return [{"kind": "static", "id": one["address"]} for one in chosen]
    if inputs["directpath_label"]:
        return [
            {
                "kind": "dynamic",
                "allowed": [f"{one['vendor_id']}:{one['device_id']}"],
                "label": label_of(inputs["directpath_label"], one["root"]),
            }
            for one in chosen
        ]
    found = sorted({f"{one['vendor_id']}:{one['device_id']}" for one in chosen})
    kinds = inputs[f"{what}_devices"] or (found if what == "nic" else [])
    device = {"kind": "dynamic", "allowed": list(kinds)}
    label = inputs[f"{what}_label"]
    return [dict(device, label=label) if label else dict(device) for dummy in range(count)]


def _adapters(place: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    adapter = {key: inputs[key] for key in ("portgroup", "switch") if inputs[key]}
    if inputs["path"] == "pvrdma" and inputs["protocol"] != "auto":
        adapter["protocol"] = inputs["protocol"]
    count = inputs["adapters"]
    if inputs["path"] != "sriov" or inputs["gpudirect"] != "enabled":
        return [dict(adapter) for dummy in range(count)]
    # The port decides whether adapter and GPU sit below one root.
    ports = [nic["device"] for nic in place.get("nics", [])]
    return [dict(adapter, physical_function=port) for port in ports] or [dict(adapter) for dummy in range(count)]
