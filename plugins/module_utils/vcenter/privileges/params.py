# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The parameters of vcenter_access_info: their spec and the rules between them."""

from __future__ import annotations

from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

# These kinds need a name; without one, the other kinds mean all objects around the named hosts.
NAMED = ("datastore", "network", "vm")
KINDS = ("vcenter", "datacenter", "cluster", "host", "folder", *NAMED)
ARGUMENTS = dict(
    args.CONNECTION,
    **args.DATACENTER,
    hosts={"type": "list", "elements": "str", "default": []},
    objects={
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "kind": {"type": "str", "choices": list(KINDS), "required": True},
            "name": {"type": "str"},
            "privileges": {"type": "list", "elements": "str", "required": True},
        },
    },
)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = args.check_common(params)
    for number, requested in enumerate(params["objects"]):
        if requested["kind"] in NAMED and not requested["name"]:
            problems.append(f"objects[{number}]: a {requested['kind']} has no name; set it.")
        if not requested["privileges"]:
            problems.append(f"objects[{number}]: no privilege is listed; name at least one.")
    return problems
