# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Guests and hosts that enter quarantine after a health check, and leave it after a validation.

Pure, except last, which reads the file, and updated, which also writes it.

Each entry names its site. An entry without a site, from an older version, belongs to all sites. The key of an entry is
its name, except where another site has an object of the same name in quarantine. maintenance of an entry names the host
that must still enter maintenance mode: it may have been refused, and the fault is not new in the next check.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

FORMAT = 1
REPORT, DRS, CORDON = "report", "drs", "cordon"
MODES = (REPORT, DRS, CORDON)
GUEST, HOST = "guest", "host"
# Failing readings of a guest that are faults of the hardware of its host.
OF_HARDWARE = ("xid_hardware", "ecc_uncorrected", "ecc_corrected", "pcie_replays", "nvlink_errors", "nvlink_crc")
# Verdicts of rows that keep a guest in quarantine.
BLOCKING = ("fail", "not_run")


def last(path: str, site: str = "") -> dict[str, Any]:
    """{name: entry} of the site; empty without a file. A damaged file is an error, because it may hide a quarantine."""
    return {str(one.get("name") or key): one for key, one in _read(path).items() if _is_of(one, site)}


def _is_of(entry: Mapping[str, Any], site: str) -> bool:
    # The file can be edited by hand, and names of hosts have no case.
    return not site or str(entry.get("site") or "").lower() in ("", site.lower())


def _read(path: str) -> dict[str, Any]:
    """All entries of the file."""
    full = os.path.expanduser(os.path.expandvars(path))
    try:
        with open(full, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise AnsibleFilterError(
            f"Cannot read which guests and hosts are in quarantine. The file {full} is not readable: {error}. Repair "
            "it, or remove it to end all quarantines."
        ) from error
    objects = found.get("objects") if isinstance(found, dict) and found.get("format") == FORMAT else None
    if not isinstance(objects, dict) or not all(isinstance(one, dict) for one in objects.values()):
        raise AnsibleFilterError(
            f"Cannot read which guests and hosts are in quarantine. The file {full} does not have the format {FORMAT}. "
            "Use the version of the collection that wrote it, or remove it to end all quarantines."
        )
    return objects


def updated(
    path: str, added: Mapping[str, Any], released: Iterable[str], site: str = "", in_maintenance: Iterable[str] = ()
) -> dict[str, Any]:
    """The entries of the site after the file was written again with entries added and others of the site removed.

    Other writers wait between the read and the write, so none loses an entry. An entry that is there already stays.
    in_maintenance: hosts that entered maintenance mode, which later checks leave as they are.
    """
    full = os.path.expanduser(os.path.expandvars(path))
    folder = os.path.dirname(full) or "."
    try:
        with files.locked(folder):
            objects, ready = _changed(_read(full), added, set(released), site), set(in_maintenance)
            # Another site may have a host of the same name.
            objects = {key: _without(one, ready) if _is_of(one, site) else one for key, one in objects.items()}
            content = json.dumps({"format": FORMAT, "objects": objects}, indent=4, sort_keys=True)
            files.replace(full, content, private=True)
    except OSError as error:
        raise AnsibleFilterError(
            f"Cannot record which guests and hosts are in quarantine. The file {full} is not writable: {error}. "
            "Correct the permissions of its folder, and run the playbook again."
        ) from error
    return {str(one.get("name") or key): one for key, one in objects.items() if _is_of(one, site)}


def _changed(objects: Mapping[str, Any], added: Mapping[str, Any], gone: Collection[str], site: str) -> dict[str, Any]:
    """All entries of the file, with those of a site changed."""
    mine = {str(one.get("name") or key): key for key, one in objects.items() if _is_of(one, site)}
    changed = dict(objects)
    for name in added:
        if name in mine:
            changed[mine[name]] = {**changed[mine[name]], **_due(added[name].get("maintenance"))}
        else:
            taken = name in changed
            named = {"site": site, **({"name": name} if taken else {})} if site else {}
            mine[name] = f"{name} ({site})" if taken else name
            changed[mine[name]] = {**added[name], **named}
    left = {mine[name] for name in gone if name in mine}
    return {key: one for key, one in changed.items() if key not in left}


def _due(host: str | None) -> dict[str, str]:
    return {"maintenance": host} if host else {}


def _without(entry: Mapping[str, Any], hosts: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "maintenance" or value not in hosts}


def listed(record: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One sentence for each guest and host in quarantine."""
    return [
        f"{name} has been in quarantine since {one.get('at')}: {one.get('why')}" for name, one in sorted(record.items())
    ]


def entered(
    check: Mapping[str, Any], record: Mapping[str, Any], mode: str, places: Mapping[str, Any], at: str
) -> dict[str, Any]:
    """{objects, added, failing, maintenance, lines} after a health check.

    places: {guests: {name: its host}, hosts: [name]}. Switches have no quarantine. maintenance: hosts for DRS, with
    those that an earlier check could not put into maintenance mode. added: new entries, and those with a new host.
    """
    if mode not in MODES:
        raise AnsibleFilterError(f"Cannot quarantine with the mode {mode}. Use {', '.join(MODES)}.")
    kinds = {**dict.fromkeys(places["hosts"], HOST), **dict.fromkeys(places["guests"], GUEST)}
    failing = [name for name in check["failing"] if name in kinds]
    hosts = {**{name: name for name in failing if kinds[name] == HOST}, **_hosts_at_fault(check, places["guests"])}
    due = {name: host for name, host in hosts.items() if mode == DRS and host in places["hosts"]}
    added = [name for name in failing if name not in record or name in due] if mode != REPORT else []
    objects = {name: dict(entry) for name, entry in record.items()}
    for name in added:
        entry = objects.get(name) or {"kind": kinds[name], "at": at, "why": _why(check, name)}
        objects[name] = {**entry, **_due(due.get(name))}
    lines = listed(objects)
    if mode == REPORT:
        lines += [f"{name} fails, and health_quarantine is report." for name in failing if name not in objects]
    waiting = {entry["maintenance"] for entry in objects.values() if entry.get("maintenance")}
    return {
        "objects": objects,
        "added": added,
        "failing": failing,
        "maintenance": sorted(waiting & set(places["hosts"])) if mode == DRS else [],
        "lines": lines,
    }


def _why(check: Mapping[str, Any], name: str) -> str:
    """The reading of the first failing row, and how many more there are."""
    rows = [row for row in check["rows"] if row["object"] == name and row["state"] == "failing"]
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{rows[0]['reading']}{more}: {rows[0]['why']}"


def _hosts_at_fault(check: Mapping[str, Any], guests: Mapping[str, str]) -> dict[str, str]:
    """{guest: its host} of guests whose GPU, memory or bus reports errors."""
    rows = [row for row in check["rows"] if row["state"] == "failing" and row["object"] in guests]
    named = [row["object"] for row in rows if row["kind"] in OF_HARDWARE or row["reading"].startswith("gpu.")]
    return {name: guests[name] for name in named}


def held(record: Mapping[str, Any], guests: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The guests in quarantine, or on a host in quarantine; guests are those of the filter site_guests."""
    return [name for name, guest in guests.items() if name in record or (guest.get("host") or "") in record]


def released(
    record: Mapping[str, Any], validation: Mapping[str, Any] | None, guests: Mapping[str, str]
) -> dict[str, Any]:
    """{objects, released}: a guest leaves after its checks passed, and a host after those of all its measured guests.

    validation: that of the module validation_result. guests: {measured guest: its host}.
    """
    verdict = (validation or {}).get("verdict") or {}
    if not (verdict.get("counts") or {}).get("pass") or verdict.get("state") == "incomplete":
        return {"objects": dict(record), "released": []}
    names = set(guests)
    wrong = [set(str(row["id"]).split()) & names for row in (validation or {}).get("not_right") or () if _blocks(row)]
    # A failed check of the whole cluster names no guest, so all of them stay in quarantine.
    bad = names if any(not one for one in wrong) else set().union(*wrong)
    hosts = set(guests.values()) - {guests[name] for name in bad}
    passed = (names - bad) | (hosts - {""})
    return {
        "objects": {name: entry for name, entry in record.items() if name not in passed},
        "released": sorted(set(record) & passed),
    }


def _blocks(row: Mapping[str, Any]) -> bool:
    return row["verdict"] in BLOCKING
