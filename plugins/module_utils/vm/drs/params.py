# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of drs_placement: their spec and the rules between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

_LONGEST_NAME = 80
_NAMES = {"type": "list", "elements": "str"}

ARGUMENTS = dict(
    args.CONNECTION,
    cluster={"type": "str", "required": True},
    name={"type": "str"},
    vms=_NAMES,
    anti_affinity={"type": "bool", "default": True},
    mandatory={"type": "bool", "default": True},
    automation={
        "type": "str",
        "choices": ["manual", "partially_automated", "fully_automated", "disabled", "cluster", "ignore"],
        "default": "ignore",
    },
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
    planned=_NAMES,
    task_timeout_s=args.TASK_WAITING["task_timeout_s"],
    **args.DATACENTER,
)


@dataclass(frozen=True)
class DrsRequest:
    """The rule and the automation levels of some VMs of a cluster."""

    cluster: str
    name: str
    vms: Sequence[str] | None
    anti_affinity: bool
    mandatory: bool
    automation: str
    state: str


def request_of(params: Mapping[str, Any]) -> DrsRequest:
    """The request of the task."""
    return request(DrsRequest, params, cluster=params["cluster"].strip(), name=(params["name"] or "").strip())


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = args.check_common(params)
    name, vms = (params["name"] or "").strip(), params["vms"] or []
    present = params["state"] == "present"
    if not params["cluster"].strip():
        problems.append("cluster is empty; set its name.")
    if not name and (present and params["anti_affinity"]):
        problems.append("name is needed for the rule; set it, or set anti_affinity=false.")
    if not name and not vms:
        problems.append("name and vms are both missing; set at least one of them.")
    if len(name) > _LONGEST_NAME:
        problems.append(f"name has {len(name)} characters; vSphere allows at most {_LONGEST_NAME}.")
    if present and not vms and (params["anti_affinity"] or params["automation"] != "ignore"):
        problems.append("vms is empty; list the VMs to keep apart or to set the automation of.")
    if present and params["anti_affinity"] and len(set(vms)) == 1:
        problems.append("vms has one VM; a rule that keeps VMs apart needs at least two.")
    problems += [f"VM {vm} is listed {count} times; list it once." for vm, count in Counter(vms).items() if count > 1]
    if not all(vm.strip() for vm in vms):
        problems.append("vms has an empty entry; remove it.")
    return problems
