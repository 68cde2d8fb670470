# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of vgpu_profile: their spec, the rules between them, and the wish of each VM."""

from __future__ import annotations

from collections import Counter

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.mmio import power_of_two
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, find

_PROFILES = {"type": "list", "elements": "str"}
_SIZE = {"type": "int"}
_CHOICES = {
    "memory_reservation": ["all", "ignore"],
    "mmio": ["auto", "ignore"],
    "unified_memory": ["enabled", "disabled", "ignore"],
}
_DEFAULTS = {"memory_reservation": "all", "mmio": "auto", "unified_memory": "enabled"}

_ENTRY = dict(
    args.VM_IDENTITY,
    profiles=_PROFILES,
    mmio_size_gb=_SIZE,
    **{name: {"type": "str", "choices": choices} for name, choices in _CHOICES.items()},
)

ARGUMENTS = dict(
    args.CONNECTION,
    profiles=_PROFILES,
    vms={
        "type": "list",
        "elements": "dict",
        "options": _ENTRY,
        "required_one_of": [args.IDENTITY_KEYS],
        "mutually_exclusive": [args.IDENTITY_KEYS],
    },
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
    mmio_size_gb=_SIZE,
    power={"type": "str", "choices": ["refuse", "cycle"], "default": "refuse"},
    guest_shutdown_timeout_s={"type": "int", "default": 300},
    max_per_vm={"type": "int"},
    **args.DATACENTER,
    **args.VM_IDENTITY,
    **args.TASK_WAITING,
    **{name: {"type": "str", "choices": choices, "default": _DEFAULTS[name]} for name, choices in _CHOICES.items()},
)

RELATIONS = {
    "required_one_of": [args.IDENTITY_KEYS + ("vms",)],
    "mutually_exclusive": [args.IDENTITY_KEYS + ("vms",)],
}

_COMMON = ("state", "power", "guest_shutdown_timeout_s", "max_per_vm")
_PER_VM = ("profiles", "memory_reservation", "mmio", "mmio_size_gb", "unified_memory")


def wishes(params):
    """One wish per VM: what its entry says, else what the task says."""
    entries = [params] if params["vms"] is None else params["vms"]
    result = []
    for entry in entries:
        wish = {key: entry[key] for key in args.IDENTITY_KEYS}
        wish.update((key, params[key]) for key in _COMMON)
        wish.update((key, params[key] if entry[key] is None else entry[key]) for key in _PER_VM)
        wish["profiles"] = wish["profiles"] or []
        result.append(wish)
    return result


def ids(wish):
    """What the wish itself tells about which VM it means; the rest is known once the VM was read."""
    known = {key: wish[key] for key in ("name", "moid", "instance_uuid", "path")}
    return dict(known, host=None, cluster=None)


def check_params(params):
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = args.check_common(params)
    if params["vms"] == []:
        problems.append("vms is empty; list at least one VM.")
    if params["guest_shutdown_timeout_s"] < 0:
        problems.append(f"guest_shutdown_timeout_s is {params['guest_shutdown_timeout_s']}; it cannot be negative.")
    if params["max_per_vm"] is not None and params["max_per_vm"] < 1:
        problems.append(f"max_per_vm is {params['max_per_vm']}; it must be at least 1.")
    wanted = wishes(params)
    labels = [find.label(wish) for wish in wanted]
    problems += [f"VM {label} is listed {count} times." for label, count in Counter(labels).items() if count > 1]
    for label, wish in zip(labels, wanted):
        problems += [f"VM {label}: {problem}" for problem in _check_wish(wish)]
    return problems


def _check_wish(wish):
    if wish["state"] == "absent":
        return
    if not wish["profiles"]:
        yield "profiles must name at least one profile; use state=absent to take all vGPUs away."
    if not all(profile.strip() for profile in wish["profiles"]):
        yield "profiles has an empty entry."
    size = wish["mmio_size_gb"]
    if size is None:
        return
    if wish["mmio"] == "ignore":
        yield "mmio_size_gb is set, but mmio=ignore says that it is not to be touched; drop one of them."
    if size < 1 or size != power_of_two(size):
        yield f"mmio_size_gb is {size}; it must be a power of two, for example {power_of_two(max(size, 1))}."
