# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The results that the plays of playbook drift stored in the variables of the hosts. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def seen(
    variables: Mapping[str, Mapping[str, Any]], groups: Mapping[str, Sequence[str]], results: Mapping[str, Any]
) -> dict[str, Any]:
    """All results, as input of the filter drift_report; variables are hostvars, results is that of drift_recorded."""
    own = variables["localhost"]
    hosts = {name: variables[name] for name in groups.get("esxi_hosts") or ()}
    switches = {name: variables[name] for name in groups.get("switches") or ()}
    # Only guests that the play reached have variables.
    previews = {
        name: variables[name].get("guest_vm_preview") or {}
        for name in own.get("__drift_guest_names") or ()
        if name in variables
    }
    problems = [{"where": one["where"], "why": one["why"]} for one in own.get("__drift_broken") or ()]
    for name, one in hosts.items():
        problems += [{"where": name, "why": why} for why in one.get("__drift_problems") or ()]
    for problem in own.get("__switch_problems") or ():
        name, colon, why = str(problem).partition(": ")
        problems.append({"where": name, "why": why} if colon else {"where": "switches", "why": name})
    return {
        "name": ((own.get("site") or {}).get("cluster") if isinstance(own.get("site"), dict) else "") or "",
        "problems": problems,
        "recorded": dict(results),
        "hosts": {name: one.get("esxi_host_preview") or {} for name, one in hosts.items()},
        "switches": {name: one.get("__switch_look") or {} for name, one in switches.items()},
        "machines": own.get("training_vm_preview") or {},
        # A limit to other hosts, or a site without guests, requests none.
        "guests": {"requested": list(own.get("__drift_guest_names") or ()), "previews": previews},
        "quarantine": own.get("__drift_quarantine") or {},
    }
