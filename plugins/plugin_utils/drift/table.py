# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The drift of a site: one table of all settings, its summary, and a short text for a notification. Pure."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift import captures, cluster, compared, guests, recorded
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.row import (
    AS_REQUESTED,
    CHANGED,
    EVERYTHING,
    NOT_APPLIED,
    STATES,
    UNKNOWN,
    Row,
    unread,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.health import quarantine
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.results import safe, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# Status of the whole site, each with its code for schedulers.
NO_DRIFT, DRIFT = "no drift", "drift"
CODES = {NO_DRIFT: 0, DRIFT: 10, UNKNOWN: 20}
# Rows in the text of a notification.
SHOWN = 5


def answer(seen: Mapping[str, Any], events: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The table; see the filter drift_report for the keys. events: the result of vcenter_event_info."""
    found_rows = changed_by(list(_rows(seen)), (events or {}).get("events") or ())
    if events and "events" not in events and events.get("msg"):
        found_rows = [_without_events(row, str(events["msg"])) for row in found_rows]
    rows = sorted(map(_clean, found_rows), key=lambda row: STATES.index(row.state))
    counts = {state: sum(1 for row in rows if row.state == state) for state in STATES}
    status = _status(counts)
    found = {"status": status, "code": CODES[status], "counts": counts, "rows": [asdict(row) for row in rows]}
    reported = [line(row) for row in reversed(rows) if row.state != AS_REQUESTED]
    # Quarantine is no drift, and does not change the status.
    out = [plain_text.shown(one) for one in quarantine.listed(seen.get("quarantine") or {})]
    return {
        **found,
        "quarantine": dict(seen.get("quarantine") or {}),
        "runs": list((seen.get("recorded") or {}).get("runs") or ()),
        "sentence": "\n".join([sentence(counts), *(f"- {one}" for one in [*reported, *out])]),
        "text": "\n".join([notification(counts, reported, str(seen.get("name") or "")), *quarantined(out)]),
        "table": [*table(rows), *out],
        "markdown": markdown(counts, rows, seen) + "".join(f"\n{_cell(one)}\n" for one in out),
    }


def quarantined(lines: Sequence[str]) -> list[str]:
    """The lines of a notification about the quarantine."""
    more = [f"- and {len(lines) - SHOWN} more in quarantine"] if len(lines) > SHOWN else []
    return [f"- {textwrap.shorten(one, 160, placeholder=' ...')}" for one in lines[:SHOWN]] + more


def asked(seen: Mapping[str, Any]) -> dict[str, Any]:
    """{objects, since}: the objects whose events name who changed them, and from when; empty without any."""
    rows = [row for row in _rows(seen) if row.state == CHANGED and row.moid and row.since]
    return {"objects": sorted({row.moid for row in rows}), "since": min((row.since for row in rows), default="")}


def changed_by(rows: Iterable[Row], events: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows, with the last event of the object after the run that applied the setting."""
    return [_changed_by(row, events) for row in rows]


def _without_events(row: Row, why: str) -> Row:
    """A row whose events were asked for and not read."""
    asked_for = row.state == CHANGED and row.moid and row.since
    return replace(row, why=f"{row.why} Who changed it is unknown. {why}".strip()) if asked_for else row


def _changed_by(row: Row, events: Sequence[Mapping[str, Any]]) -> Row:
    if not (row.state == CHANGED and row.moid and row.since):
        return row
    mine = [one for one in events if one["moid"] == row.moid and str(one["at"]) >= row.since]
    last = max(mine, key=lambda one: str(one["at"]), default=None)
    return row if last is None else replace(row, changed_at=str(last["at"]), changed_by=str(last["user"]))


def _rows(seen: Mapping[str, Any]) -> Iterator[Row]:
    for problem in seen.get("problems") or ():
        yield unread("site", str(problem["where"]), EVERYTHING, str(problem["why"]))
    if seen.get("broken"):
        # Without a login to vCenter, each object would repeat its failure.
        yield unread("site", "vCenter", "login", str(seen["broken"]))
    runs = seen.get("recorded") or {}
    for row in (
        *compared.hosts(seen.get("hosts") or {}),
        *compared.switches(seen.get("switches") or {}),
        *(compared.machines(seen.get("machines")) if seen.get("reads_machines", True) else ()),
        *_of_guests(seen.get("guests") or {}),
        *cluster.cluster(seen.get("kubernetes")),
    ):
        yield recorded.dated(row, runs)
    yield from captures.rows(seen.get("captures") or {})


def _of_guests(seen: Mapping[str, Any]) -> Iterator[Row]:
    return guests.guests(seen.get("requested") or (), seen.get("previews") or {})


def _clean(row: Row) -> Row:
    """A row without secrets and without control characters of other systems."""
    values = {name: str(safe(row.setting, getattr(row, name))) for name in ("requested", "found")}
    made = replace(row, why=without_secrets(row.why), **values)
    texts = {name: plain_text.shown(value) for name, value in asdict(made).items()}
    return Row(**texts)


def _status(counts: Mapping[str, int]) -> str:
    if counts[CHANGED] or counts[NOT_APPLIED]:
        return DRIFT
    return UNKNOWN if counts[UNKNOWN] else NO_DRIFT


def sentence(counts: Mapping[str, int]) -> str:
    """The counts in one line."""
    shown = [f"{counts[state]} {state}" for state in reversed(STATES) if counts[state]]
    return f"{', '.join(shown) or 'Nothing was compared'}."


def line(row: Row) -> str:
    """A row in one line: object, setting, both values, and who changed it."""
    where = f"{row.object}, {row.setting}"
    if row.state == UNKNOWN:
        return f"{where}: unknown. {row.why}".strip()
    if row.stage == captures.STAGE:
        return f"{where}: captured {row.requested}, now {row.found} (since the capture {row.run} of {row.since})."
    text = f"{where}: requested {row.requested}, found {row.found}"
    if row.changed_by or row.changed_at:
        who = " ".join(part for part in (f"by {row.changed_by}" if row.changed_by else "", row.changed_at) if part)
        text += f" (field set {who})" if row.stage == cluster.STAGE else f" (last event of the object: {who})"
    elif row.state == CHANGED and row.run:
        text += f" (changed since the run {row.run}{f' of {row.since}' if row.since else ''})"
    return f"{text}. {row.why}" if row.why else f"{text}."


def notification(counts: Mapping[str, int], reported: Sequence[str], name: str) -> str:
    """A few lines for a chat or a mail, the worst first."""
    status = _status(counts)
    shown = [textwrap.shorten(one, 160, placeholder=" ...") for one in reported[:SHOWN]]
    more = [f"and {len(reported) - SHOWN} more"] if len(reported) > SHOWN else []
    head = f"{name}: {status}. {sentence(counts)}" if name else f"{status.capitalize()}. {sentence(counts)}"
    return "\n".join([head, *(f"- {one}" for one in [*shown, *more])])


def table(rows: Sequence[Row]) -> list[str]:
    """One line for each row, the worst last."""
    if not rows:
        return []
    state = max(len(row.state) for row in rows)
    owner = min(40, max(len(row.object) for row in rows))
    setting = min(44, max(len(row.setting) for row in rows))
    return [
        f"{row.state:<{state}}  {_cut(row.object, owner):<{owner}}  {_cut(row.setting, setting):<{setting}}  "
        f"{textwrap.shorten(_values(row), 200, placeholder=' ...')}".rstrip()
        for row in rows
    ]


def _values(row: Row) -> str:
    return "" if row.state == AS_REQUESTED else line(row)[len(f"{row.object}, {row.setting}: ") :]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def markdown(counts: Mapping[str, int], rows: Iterable[Row], seen: Mapping[str, Any]) -> str:
    """The table for a ticket: what differs and what is unknown, the worst first."""
    reported = [row for row in reversed(list(rows)) if row.state != AS_REQUESTED]
    runs = list((seen.get("recorded") or {}).get("runs") or ())
    lines = [
        f"# Drift: {_status(counts)}",
        "",
        sentence(counts),
        "",
        f"Compared with the site and with the run {runs[0]}."
        if runs
        else "Compared with the site. No run is recorded.",
    ]
    if reported:
        lines += ["", "| State | Object | Setting | Requested | Found | Changed |", "|---|---|---|---|---|---|"]
    for row in reported:
        who = " ".join(part for part in (row.changed_at, row.changed_by) if part)
        since = who or (f"since {row.run}" if row.state == CHANGED and row.run else "")
        cells = (row.state, row.object, row.setting, row.requested, row.found or row.why, since)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
