# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of vm_power: their spec and the rules between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.vm import args
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import FleetArguments


@dataclass(frozen=True)
class PowerRequest:
    """The power state of one VM."""

    state: str
    force: bool
    again: bool


ARGUMENTS: FleetArguments[PowerRequest] = FleetArguments(
    settings=lambda options: request(PowerRequest, options),
    per_vm={},
    task={
        "state": {"type": "str", "choices": ["on", "off"], "required": True},
        "force": {"type": "bool", "default": False},
        "again": {"type": "bool", "default": False},
        "wait_for": {"type": "str", "choices": ["none", "tools", "address"], "default": "none"},
        "wait_timeout_s": {"type": "int", "default": 600},
    },
    # Power operations are the purpose of the module, so it has no option to allow them.
    power={"guest_shutdown_timeout_s": args.POWER["guest_shutdown_timeout_s"]},
)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = ARGUMENTS.problems(params, lambda settings: ())
    if params["wait_timeout_s"] < 1:
        problems.append(f"wait_timeout_s is {params['wait_timeout_s']}; it must be at least 1.")
    if params["state"] == "off" and params["wait_for"] != "none":
        problems.append(f"wait_for={params['wait_for']} needs a running guest; it cannot be combined with state=off.")
    if params["state"] == "on":
        for name in ("again", "force"):
            if params[name]:
                problems.append(f"{name} applies only when VMs are powered off; it cannot be combined with state=on.")
    return problems
