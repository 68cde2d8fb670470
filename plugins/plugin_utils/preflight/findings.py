# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""All findings of preflight, their table, and the summary with what blocks. Pure."""

from __future__ import annotations

import re
import textwrap
from dataclasses import asdict, astuple, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import around, compatibility, job, machines
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import hosts as preflight_hosts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import (
    BLOCKS,
    CHANGED,
    OPEN,
    STATES,
    Finding,
    once,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import SSH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

NO_CLUSTER = "cluster_not_found"
# Codes of modules for an object that vCenter does not have; preflight checks each by its name.
NOT_FOUND = {
    "cluster": NO_CLUSTER,
    "datastore": "datastore_not_found",
    "folder": "folder_not_found",
    "network": "portgroup_not_found",
    "vm": "template_not_found",
}
NO_DATACENTER = "datacenter_not_found"
# AWX's own type of credential sets it to False.
VMWARE = "environment variable VMWARE_VALIDATE_CERTS"
# VMs that exist need none of these.
FOR_NEW_VMS = ("vm ", "folder ", "datastore ")
# Messages of modules list the existing names after these words; a test checks this.
BEFORE_NAMES = ("here are", "imilar names")
THERE_ARE = re.compile(rf"(?:{'|'.join(BEFORE_NAMES)}): ([^.;]+)")


def findings(seen: Mapping[str, Any]) -> list[Finding]:
    """All findings; see the filter preflight_findings for the keys."""
    hosts = list(preflight_hosts.hosts(seen.get("hosts") or {}))
    waits = any(one.state == CHANGED for one in hosts)
    asked = seen["questions"]
    seen = dict(seen, limits={name: _whole(name, limit) for name, limit in seen["limits"].items()})
    reported = [
        *around.needs(seen.get("controller")),
        *around.site(asked["problems"], seen.get("secrets") or ()),
        *around.plain(asked.get("plain") or ()),
        *unverified(asked.get("unverified") or ()),
        *job.findings(asked.get("job") or ()),
        *job.target(seen.get("target") or ""),
        *around.broken(seen.get("broken") or ()),
        *around.vcenter(seen.get("vcenter"), asked, seen["limits"]),
        *around.different(seen.get("problems") or {}, seen.get("switch_problems") or ()),
        *hosts,
        *preflight_hosts.data_path(seen.get("hosts") or {}),
        *preflight_hosts.switches(seen.get("switches") or {}),
        *([] if asked["problems"] else machines.machines(seen.get("machines"), waits)),
        *around.compatibility(seen.get("site"), seen.get("hosts") or {}),
        *([] if asked["problems"] else compatibility.translation(seen.get("site"))),
        *([] if asked["problems"] else compatibility.unpinned(seen.get("site"))),
        *([] if asked["problems"] else compatibility.rules(seen.get("site"), seen.get("hosts") or {})),
        *around.controller(seen.get("here"), asked, seen["limits"], (seen.get("guests") or {}).get("answers") or ()),
        *around.guests(seen.get("guests"), asked, seen["limits"]),
        *around.quarantine(seen.get("quarantine") or {}),
    ]
    reported = causes(reported, (seen.get("vcenter") or {}).get("objects") or (), seen.get("hosts") or {})
    reported = together(
        one_datacenter(reported, asked.get("datacenter"), (seen.get("vcenter") or {}).get("strangers") or ())
    )
    if any(where == "vCenter" and not there for where, dummy, there, dummy in seen.get("secrets") or ()):
        # The cause of the missing login has its own row.
        reported = [row for row in reported if not (row.category == "vcenter" and row.found.endswith(" is not set."))]
    return sorted(once(map(_plain, reported)), key=lambda one: STATES.index(one.state))


def _whole(name: str, limit: Any) -> int:
    found = plain_text.amount(limit)
    if found is None or found != int(found):
        raise ValueError(
            f"Cannot use preflight_{name}. Its value {limit!r} is not a whole number of at least 0. Set a whole number."
        )
    return int(found)


def unknown(seen: Mapping[str, Any]) -> list[str]:
    """Sentences about names that vCenter does not have and a stage needs; vms: the answer of vm_guest_info."""
    there = (seen.get("vms") or {}).get("missing") == []
    rows = findings(dict(seen, limits=dict.fromkeys(("clock_s", "controller_gb", "guest_gb"), 0)))
    return [
        f"{one.where}: {one.found} {one.todo}"
        for one in rows
        if (one.what, one.state) == ("object", BLOCKS) and not (there and one.where.startswith(FOR_NEW_VMS))
    ]


def causes(
    reported: list[Finding], objects: Iterable[Mapping[str, Any]], previews: Mapping[str, Mapping[str, Any] | None]
) -> list[Finding]:
    """Without findings that only repeat a missing object; its own row gets the existing names."""
    for one in objects:
        code = NOT_FOUND.get(one["kind"])
        if one["found"] or code is None:
            continue
        repeated = [row for row in reported if row.code == code or (code == NO_CLUSTER and _elsewhere(row, previews))]
        names = next(filter(None, (THERE_ARE.search(row.found) for row in repeated)), None)
        where = f"{one['kind']} {one['name']}"
        reported = [
            replace(row, found=f"{row.found} There are: {names[1]}.") if names and row.where == where else row
            for row in reported
            if row not in repeated
        ]
    return reported


def one_datacenter(reported: list[Finding], name: str | None, strangers: Collection[str]) -> list[Finding]:
    """One row for a missing datacenter, instead of one for each object in it."""
    refused = [row for row in reported if row.code == NO_DATACENTER]
    if not refused:
        return reported
    names = next(filter(None, (THERE_ARE.search(row.found) for row in refused)), None)
    found = "vCenter has no object of this name, or this user may not see it." + (
        f" There are: {names[1]}." if names else ""
    )
    todo = "Correct site.datacenter, or give this user access to it."
    cause = Finding("privileges", f"datacenter {name}", "object", BLOCKS, found, "", todo, NO_DATACENTER)
    kept = [row for row in reported if row not in refused and not _within(row, strangers)]
    return [*kept, cause]


def _within(row: Finding, strangers: Collection[str]) -> bool:
    """Whether it is about an object in the datacenter of the site."""
    return (row.category, row.what) == ("privileges", "object") or (row.where in strangers and row.what == "host")


def together(reported: Iterable[Finding]) -> list[Finding]:
    """One row for all VMs that one name of the site blocks in the same way."""
    rows: dict[object, list[Finding]] = {}
    for row in reported:
        same = row.category == "machines" and row.code in NOT_FOUND.values()
        rows.setdefault(replace(row, where="") if same else (len(rows), row), []).append(row)
    return [replace(alike[0], where=", ".join(dict.fromkeys(one.where for one in alike))) for alike in rows.values()]


def _elsewhere(row: Finding, previews: Mapping[str, Mapping[str, Any] | None]) -> bool:
    """Whether a host is rejected because it is in another cluster, and not because it is disconnected."""
    host = (previews.get(row.where) or {}).get("host") or {}
    return row.what == preflight_hosts.STEPS["cluster"] and host.get("connection") == "connected"


def _plain(one: Finding) -> Finding:
    """A finding for a terminal: it may contain output of guests, switches and BMCs."""
    return Finding(*map(plain_text.shown, astuple(one)))


def unverified(connections: Iterable[Sequence[str]]) -> Iterator[Finding]:
    """Connections without a verified certificate, with the setting that disables the verification."""
    for what, setting in connections:
        if what == SSH:
            found = f"Host keys are not checked: {setting}. An attacker on the network can impersonate a host."
            todo = (
                "Set ansible_host_key_checking to true for these hosts or their group. Give jobs of AWX the host keys "
                "as the file /etc/ssh/ssh_known_hosts of their container, see docs/awx.md."
            )
            yield Finding("trust", what, "host keys", OPEN, found, todo=todo)
            continue
        found = f"The certificate is not verified: {setting}. An attacker on the network can read the password."
        key = "site.vcenter" if what == "vCenter" else "site.hosts.bmc"
        todo = f"Set {key}.validate_certs to true and {key}.ca_file to the authority."
        if VMWARE in setting:
            todo += " In AWX, replace the credential of the type VMware vCenter by one of the type aiready vCenter."
        yield Finding("trust", what, "certificate", OPEN, found, todo=todo)


def answer(seen: Mapping[str, Any]) -> dict[str, Any]:
    """The findings with counts, the table and the sentence."""
    reported = findings(seen)
    counts = {state: sum(1 for one in reported if one.state == state) for state in STATES}
    blocking = [one for one in reported if one.state == BLOCKS]
    return {
        "findings": [asdict(one) for one in reported],
        "counts": counts,
        "status": "blocked" if blocking else "open" if counts[OPEN] else "ok",
        "blocked": bool(blocking),
        "sentence": sentence(counts, blocking),
        "table": table(reported),
    }


def sentence(counts: Mapping[str, int], blocking: Iterable[Finding]) -> str:
    """A line of counts, and a line with cause and fix for each finding that blocks."""
    shown = [f"{counts[state]} {WORDS[state]}" for state in STATES if counts[state]]
    lines = [f"{sum(counts.values())} checks: {', '.join(shown)}."]
    return "\n".join(lines + [f"- {one.where}, {one.what}: {_said(one)}" for one in blocking])


WORDS = {"ok": "ok", "will be changed": "will be changed", "open": "open", "blocks": "block"}


def table(reported: Sequence[Finding]) -> list[str]:
    """One line for each finding, the worst last."""
    if not reported:
        return []
    state = max(len(one.state) for one in reported)
    where = min(40, max(len(one.where) for one in reported))
    what = min(34, max(len(one.what) for one in reported))
    lines = [
        f"{one.state:<{state}}  {_cut(one.where, where):<{where}}  {_cut(one.what, what):<{what}}  {_line(one)}"
        for one in reported
    ]
    return [line.rstrip() for line in lines]


def _line(one: Finding) -> str:
    text = _said(one) if one.state == BLOCKS else one.found
    return text if one.state == BLOCKS else textwrap.shorten(text, 200, placeholder=" ...")


def _said(one: Finding) -> str:
    wanted = f"Required: {one.wanted}" if one.wanted else ""
    return " ".join(part for part in (one.found, wanted, one.todo) if part)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
