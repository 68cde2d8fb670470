# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of vm_guest_info: their spec and the rules between them."""

from __future__ import annotations

from collections import Counter
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, find

ARGUMENTS = dict(
    args.CONNECTION,
    **args.DATACENTER,
    vms={
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": args.VM_IDENTITY,
        "required_one_of": [args.IDENTITY_KEYS],
        "mutually_exclusive": [args.IDENTITY_KEYS],
    },
    address_network={"type": "str"},
    data_network={"type": "str"},
    host_driver={"type": "bool", "default": False},
    missing={"type": "str", "choices": ["fail", "report"], "default": "fail"},
)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = args.check_common(params)
    if not params["vms"]:
        problems.append("vms is empty; list at least one VM.")
    labels = Counter(find.label(requested) for requested in params["vms"])
    return problems + [
        (f"VM {label} is listed {count} times; list it once.") for label, count in labels.items() if count > 1
    ]
