# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The results that the plays of playbook drift stored in the variables of the hosts. Pure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


STAGES = ("hosts", "fabric", "machines", "guests", "kubernetes")


def seen(
    variables: Mapping[str, Mapping[str, Any]],
    groups: Mapping[str, Sequence[str]],
    results: Mapping[str, Any],
    tags: Sequence[str] = (),
    skipped: Sequence[str] = (),
) -> dict[str, Any]:
    """All results, as input of the filter drift_report; variables are hostvars, results is that of drift_recorded.

    tags and skipped are those of the run, which select stages. A stage that they leave out has no row.
    """
    own, chosen = variables["localhost"], stages(tags, skipped)
    hosts = {name: variables[name] for name in groups.get("esxi_hosts") or () if "hosts" in chosen}
    switches = {name: variables[name] for name in groups.get("switches") or () if "fabric" in chosen}
    requested = list(own.get("__drift_guest_names") or ()) if "guests" in chosen else []
    # Only guests that the play reached have variables.
    previews = {name: _preview(variables[name]) for name in requested if name in variables}
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
        "reads_machines": "machines" in chosen,
        # A limit to other hosts, or a site without guests, requests none.
        "guests": {"requested": requested, "previews": previews},
        "kubernetes": own.get("kubernetes_preview") or {} if "kubernetes" in chosen else {},
        "captures": own.get("__drift_captured") or {} if not set(STAGES) & set(tags) else {},
        "quarantine": own.get("__drift_quarantine") or {},
    }


def _preview(guest: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the role read of a guest, or why the connection to it failed."""
    ping = guest.get("__drift_guest_ping") or {}
    # A module that does not start, for example without sudo, has its cause in another field.
    texts = [ping.get("msg"), ping.get("module_stderr"), ping.get("module_stdout")]
    words = textwrap.shorten(" ".join(str(text) for text in texts if text), 300, placeholder=" ...")
    return guest.get("guest_vm_preview") or ({"unread": words} if words else {})


def stages(tags: Sequence[str], skipped: Sequence[str] = ()) -> list[str]:
    """The stages that the tags of a run compare. Tags that name no stage leave out none, so all are then unknown."""
    named = [stage for stage in STAGES if stage in tags]
    return [stage for stage in named or STAGES if stage not in skipped]
