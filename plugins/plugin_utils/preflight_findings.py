# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""All findings of a look before a run, the table of them, and the sentence that says what blocks. Pure."""

from __future__ import annotations

import textwrap
from dataclasses import asdict

from ansible_collections.aiready.vsphere.plugins.plugin_utils import preflight_around as around
from ansible_collections.aiready.vsphere.plugins.plugin_utils import preflight_hosts, preflight_machines
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight_finding import BLOCKS, CHANGED, STATES, once


def findings(seen):
    """Everything that the looks tell; see the filter preflight_findings for the keys."""
    hosts = list(preflight_hosts.hosts(seen.get("hosts") or {}))
    waits = any(one.state == CHANGED for one in hosts)
    asked = seen["questions"]
    told = [
        *around.site(asked["problems"], seen.get("secrets") or ()),
        *around.vcenter(seen.get("vcenter"), asked, seen["limits"]),
        *around.different(seen.get("problems") or {}, seen.get("switch_problems") or ()),
        *hosts,
        *preflight_hosts.switches(seen.get("switches") or {}),
        *([] if asked["problems"] else preflight_machines.machines(seen.get("machines"), waits)),
        *around.compatibility(seen.get("site"), seen.get("hosts") or {}),
        *around.controller(seen.get("here"), asked, seen["limits"], (seen.get("guests") or {}).get("answers") or ()),
        *around.guests(seen.get("guests"), asked, seen["limits"]),
    ]
    return sorted(once(told), key=lambda one: STATES.index(one.state))


def answer(seen):
    """The findings with counts, the table and the sentence."""
    told = findings(seen)
    counts = {state: sum(1 for one in told if one.state == state) for state in STATES}
    blocking = [one for one in told if one.state == BLOCKS]
    return {
        "findings": [asdict(one) for one in told],
        "counts": counts,
        "blocked": bool(blocking),
        "sentence": sentence(counts, blocking),
        "table": table(told),
    }


def sentence(counts, blocking):
    """One sentence of counts, and for each thing that blocks what it is and what to do."""
    shown = [f"{counts[state]} {WORDS[state]}" for state in STATES if counts[state]]
    lines = [f"{sum(counts.values())} things were looked at: {', '.join(shown)}."]
    return "\n".join(lines + [f"- {one.where}, {one.what}: {_said(one)}" for one in blocking])


WORDS = {"ok": "ok", "will be changed": "will be changed", "open": "cannot be told yet", "blocks": "block"}


def table(told):
    """One line each, the worst last."""
    if not told:
        return []
    state = max(len(one.state) for one in told)
    where = min(40, max(len(one.where) for one in told))
    what = min(34, max(len(one.what) for one in told))
    lines = [
        f"{one.state:<{state}}  {_cut(one.where, where):<{where}}  {_cut(one.what, what):<{what}}  {_line(one)}"
        for one in told
    ]
    return [line.rstrip() for line in lines]


def _line(one):
    text = _said(one) if one.state == BLOCKS else one.found
    return text if one.state == BLOCKS else textwrap.shorten(text, 200, placeholder=" ...")


def _said(one):
    wanted = f"Wanted: {one.wanted}" if one.wanted else ""
    return " ".join(part for part in (one.found, wanted, one.todo) if part)


def _cut(text, width):
    return text if len(text) <= width else f"{text[: width - 3]}..."
