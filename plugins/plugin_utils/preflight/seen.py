# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The results that the plays of playbook preflight stored in the variables of the hosts. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def seen(
    variables: Mapping[str, Mapping[str, Any]], groups: Mapping[str, Sequence[str]], limits: Mapping[str, Any]
) -> dict[str, Any]:
    """All results, as input of the filter preflight_findings; variables are hostvars."""
    own, questions = variables["localhost"], variables["localhost"]["__preflight"]
    vcenter = own.get("__preflight_vcenter") or {}
    hosts = {name: variables[name] for name in groups.get("esxi_hosts") or ()}
    switches = {name: variables[name] for name in groups.get("switches") or ()}
    strangers = vcenter.get("strangers") or ()
    return {
        "site": own.get("__preflight_site"),
        "controller": own.get("__preflight_controller"),
        "target": own.get("__preflight_target") or "",
        "broken": own.get("__preflight_broken") or [],
        "questions": questions,
        "secrets": questions["secrets"],
        "limits": dict(limits),
        "vcenter": vcenter,
        "here": own.get("__preflight_here") or {},
        "hosts": {name: one.get("esxi_host_preview", {}) for name, one in hosts.items() if name not in strangers},
        "switches": {name: one.get("__switch_look", {}) for name, one in switches.items()},
        "machines": own.get("training_vm_preview") or {},
        "problems": {name: one.get("__preflight_problems", []) for name, one in hosts.items()},
        "switch_problems": own.get("__switch_problems") or [],
        "guests": _guests(own, variables),
        "quarantine": own.get("__preflight_quarantine") or {},
    }


def _guests(own: Mapping[str, Any], variables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Data of the guests from vCenter, and the answer of each guest."""
    look = own.get("__preflight_vms")
    if look is None:
        return {}
    known = own.get("__preflight_guests") or {}
    inside = [(name, variables[name]) for name in known.get("reached") or ()]
    parts = ("__preflight_inside", "__preflight_before", "__preflight_after")
    return {
        "look": look,
        "waiting": known.get("waiting") or [],
        "problems": known.get("problems") or [],
        "answers": [[name, *(one.get(part) for part in parts)] for name, one in inside],
    }
