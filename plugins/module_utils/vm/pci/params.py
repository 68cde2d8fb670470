# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of passthrough_device: their spec and the rules between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import FleetArguments
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import DVX, DYNAMIC, GROUP, STATIC


@dataclass(frozen=True)
class DeviceRequest:
    """One passthrough device: at an address, one of a kind or of a class, or a group."""

    kind: str
    id: str | None
    allowed: Sequence[str] | None
    label: str | None
    group: str | None
    device_class: str | None
    numa_node: int | None


@dataclass(frozen=True)
class PciRequest:
    """The passthrough devices of one VM."""

    state: str
    devices: Sequence[DeviceRequest]
    mixed: str
    max_per_vm: int | None


def _request(options: Mapping[str, Any]) -> PciRequest:
    devices = [request(DeviceRequest, entry) for entry in options["devices"] or []]
    return request(PciRequest, options, devices=devices)


ARGUMENTS: FleetArguments[PciRequest] = FleetArguments(
    settings=_request,
    per_vm={
        "devices": {
            "type": "list",
            "elements": "dict",
            "options": {
                "kind": {"type": "str", "required": True, "choices": [STATIC, DYNAMIC, GROUP, DVX]},
                "id": {"type": "str"},
                "allowed": {"type": "list", "elements": "str"},
                "label": {"type": "str"},
                "group": {"type": "str"},
                "device_class": {"type": "str"},
                "numa_node": {"type": "int"},
            },
            "required_if": [
                ("kind", STATIC, ("id",)),
                ("kind", DYNAMIC, ("allowed",)),
                ("kind", GROUP, ("group",)),
                ("kind", DVX, ("device_class",)),
            ],
        },
    },
    task={
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "placement": {"type": "str", "choices": ["host", "cluster"], "default": "host"},
        "mixed": {"type": "str", "choices": ["refuse", "allow"], "default": "refuse"},
        "max_per_vm": {"type": "int"},
    },
)

_BELONGS = {"id": STATIC, "allowed": DYNAMIC, "label": DYNAMIC, "group": GROUP, "device_class": DVX}


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = ARGUMENTS.problems(params, check_request)
    if params["max_per_vm"] is not None and params["max_per_vm"] < 1:
        problems.append(f"max_per_vm is {params['max_per_vm']}; it must be at least 1.")
    return problems


def check_request(requested: PciRequest) -> Iterator[str]:
    """Yield all problems of the request for one VM, one sentence each."""
    if requested.state == "absent":
        return
    if not requested.devices:
        yield "devices must name at least one device; use state=absent to remove all of them."
    for position, entry in enumerate(requested.devices, start=1):
        for problem in _check_entry(entry):
            yield f"device {position}: {problem}"
    addresses = [normal_address(entry.id) for entry in requested.devices if entry.id]
    for address, count in sorted(Counter(one for one in addresses if one).items()):
        if count > 1:
            yield f"device {address} is listed {count} times; list it once."


def _check_entry(entry: DeviceRequest) -> Iterator[str]:
    for option, kind in _BELONGS.items():
        if getattr(entry, option) is not None and entry.kind != kind:
            yield f"{option} needs kind={kind}, but this device has kind={entry.kind}."
    if entry.kind == STATIC and normal_address(entry.id or "") is None:
        yield f"{entry.id} is not a PCI address; write it as 0000:3b:00.0."
    if entry.kind == DYNAMIC and not entry.allowed:
        yield "allowed is empty; name at least one vendor and device, for example 10de:20f1."
    for one in entry.allowed or []:
        if plan.normal_ids(one) is None:
            yield f"{one} is not a vendor and device; write them as 10de:20f1."
    if entry.kind == GROUP and not (entry.group or "").strip():
        yield "group is empty; set the name of a group that the host offers."
    if entry.kind == DVX and not (entry.device_class or "").strip():
        yield "device_class is empty; set the name of a class that the host offers."
    node = entry.numa_node
    if node is not None and node < plan.NO_NODE:
        yield f"numa_node is {node}; use a node of the VM counted from 0, or {plan.NO_NODE} for none."
