# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a plan was made from: digests of the site and of the inventory. A run of the plan must have the same ones."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import FILE, SECRET
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import plan, record
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The inventory has these groups before the run. Guests join theirs during the run.
GROUPS = ("esxi_hosts", "switches")
# Variables of a host that select the machine or its settings.
OF_HOSTS = ("ansible_host", "bmc_address", "site_host")
OF_SWITCHES = "switch_"
# A credential of AWX names vCenter here.
VCENTER = "VMWARE_HOST"
# Longer lists do not help a reader.
SHOWN = 10


def inputs(site: Mapping[str, Any], groups: Mapping[str, Any], hostvars: Mapping[str, Any]) -> dict[str, str]:
    """{key: digest of its value}. Secrets are left out, because a new password needs no new plan."""
    found = dict(_digests("site", plain(site)))
    for group in GROUPS:
        for host in groups.get(group, ()):
            of_host = hostvars[host]
            names = [name for name in of_host if name in OF_HOSTS or str(name).startswith(OF_SWITCHES)]
            found[f"{group}.{host}"] = _digest({})
            for name in names:
                found.update(_digests(f"{group}.{host}.{name}", plain(of_host[name])))
    found[VCENTER] = _digest(os.environ.get(VCENTER, ""))
    return found


def _digests(path: str, value: Any) -> Iterator[tuple[str, str]]:
    name = path.rpartition(".")[2]
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from _digests(f"{path}.{key}", one)
    elif not SECRET.search(name) or FILE.fullmatch(name):
        yield path, _digest(value)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def problem(folder: str, now: Mapping[str, str]) -> str:
    """Why a run with these inputs is not the one that the plan in the folder describes; empty if it is."""
    found = record.of_folder(folder)
    if not plan.planned(found)["stages"]:
        return (
            "The folder has no record of a run in check mode. Set aiready_plan to the folder of a dry run. In AWX, "
            "mount the folder of the results into all jobs."
        )
    before = (found or {}).get("inputs")
    if not isinstance(before, dict):
        return "The record of the plan has no digests of its site. Make a new plan."
    after = plain(now)
    changed = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    if not changed:
        return ""
    more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    return (
        f"The site or the inventory has changed since the plan: {', '.join(changed[:SHOWN])}{more}. Make a new plan, "
        "or set the values of the plan again."
    )
