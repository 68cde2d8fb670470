# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A health check: the readings of now, compared with those of the last check and with thresholds. Pure."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.plugin_utils.health.readings import meaning
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.results import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FORMAT = 1
HEALTHY, UNKNOWN, FAILING = "healthy", "unknown", "failing"
# The worst last.
STATES = (HEALTHY, UNKNOWN, FAILING)
CODES = {HEALTHY: 0, UNKNOWN: 20, FAILING: 30}
# The most new events of a kind since the last check that are healthy. Only hardware errors, storms, and replays and
# recoveries of NVLinks, which must not increase (health watch of DCGM), have a published meaning; the other numbers are
# defaults [unsure].
THRESHOLDS = {
    "xid_hardware": 0,
    "xid_program": 10,
    "ecc_uncorrected": 0,
    "ecc_corrected": 100,
    "pcie_replays": 10,
    "nvlink_errors": 0,
    "nvlink_crc": 100,
    "link_flaps": 0,
    "pfc_storms": 0,
    "drops": 0,
    "discards": 1000,
    # Not counters: hours until a licence expires, and the largest offset of a clock in seconds. Guests renew a lease
    # long before its end, and leases last a day by default [unsure].
    "licence_hours": 4,
    "clock_s": 1,
}
WORDS = {
    "xid_hardware": "hardware errors of GPUs (Xid)",
    "xid_program": "errors of programs on GPUs (Xid)",
    "ecc_uncorrected": "uncorrected memory errors (ECC)",
    "ecc_corrected": "corrected memory errors (ECC)",
    "pcie_replays": "PCIe replays",
    "nvlink_errors": "NVLink replays or recoveries",
    "nvlink_crc": "NVLink CRC errors",
    "link_flaps": "link failures",
    "pfc_storms": "PFC storms",
    "drops": "dropped RoCE packets",
    "discards": "discarded packets",
}
SHOWN = 5


@dataclass(frozen=True)
class Row:
    """One reading of an object. increase: new events since the last check, None without a comparison."""

    object: str
    reading: str
    state: str
    found: str = ""
    why: str = ""
    increase: int | None = None
    kind: str = ""


def check(
    now: Mapping[str, Any], before: Mapping[str, Any] | None, given: Mapping[str, Any] | None, at: str, site: str = ""
) -> dict[str, Any]:
    """The rows and the readings to save; before: the result of saved.last; given: thresholds; at: the time in UTC."""
    if given is not None and not isinstance(given, dict):
        raise ValueError(
            f"Cannot use health_thresholds. Its value {given!r} is not a dictionary. Set it like {{'drops': 10}}."
        )
    strange = sorted(map(str, set(given or {}) - set(THRESHOLDS)))
    if strange:
        raise ValueError(f"There are no thresholds {', '.join(strange)}. Use {', '.join(THRESHOLDS)}.")
    limits = {name: _number(name, (given or {}).get(name, most)) for name, most in THRESHOLDS.items()}
    earlier = before if before and before.get("format") == FORMAT else {}
    old = earlier.get("objects") or {}
    rows = [row for name, reported in now.items() for row in _object(name, reported, old.get(name), limits, at)]
    rows = [Row(**{key: plain_text.shown(value) for key, value in asdict(row).items()}) for row in rows]
    rows.sort(key=lambda row: STATES.index(row.state))
    counts = {state: sum(1 for row in rows if row.state == state) for state in STATES}
    status = next(state for state in reversed(STATES) if counts[state] or state == HEALTHY)
    reported = [line(row) for row in reversed(rows) if row.state != HEALTHY]
    return {
        "status": status,
        "code": CODES[status],
        "counts": counts,
        "since": earlier.get("at") or "",
        "rows": [asdict(row) for row in rows],
        "failing": sorted({row.object for row in rows if row.state == FAILING}),
        "text": _text(status, counts, reported),
        "table": _table(rows),
        "saved": {
            "format": FORMAT,
            "site": site,
            "at": at,
            "objects": {**old, **{name: _kept(one, old.get(name)) for name, one in now.items() if _was_read(one)}},
        },
    }


def _number(name: str, value: Any) -> float:
    found = plain_text.amount(value)
    if found is None:
        raise ValueError(
            f"Cannot use the threshold {name}. Its value {value!r} is not a number of at least 0. Set a "
            f"number, such as {THRESHOLDS[name]}, in health_thresholds."
        )
    return found


def _was_read(reported: Mapping[str, Any]) -> bool:
    return bool(reported["counters"] or reported["states"])


def _kept(reported: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    """The readings to save. Those that were not read this time stay, so that the next check has no false events."""
    stays = old if old and reported["unread"] and not _restarted(reported, old) else {}
    counters = {name: number for name, (_kind, number) in reported["counters"].items()}
    return {
        "boot": reported["boot"],
        "counters": {**(stays.get("counters") or {}), **counters},
        "states": {**(stays.get("states") or {}), **reported["states"]},
        # Counters that it lacks may have events from before the first check.
        "partly": bool(reported["unread"]),
    }


def _restarted(reported: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    return bool(reported["boot"] and old.get("boot") and reported["boot"] != old["boot"])


def _object(
    name: str, reported: Mapping[str, Any], old: Mapping[str, Any] | None, limits: Mapping[str, float], at: str
) -> Iterator[Row]:
    for why in reported["unread"]:
        yield Row(name, "readings", UNKNOWN, why=without_secrets(str(why)))
    old = old or {}
    restarted = _restarted(reported, old)
    counters = old.get("counters") or {}
    for reading, (kind, number) in reported["counters"].items():
        is_first = not old or (reading not in counters and bool(old.get("partly")) and not restarted)
        yield _counter(name, reading, kind, number, None if restarted else counters.get(reading), is_first, limits)
    for reading in sorted(set(counters) - set(reported["counters"])) if _was_read(reported) else ():
        yield Row(name, reading, UNKNOWN, why="The counter was there at the last check, and is missing now.")
    for reading, value in reported["states"].items():
        yield _state(name, reading, value, (old.get("states") or {}).get(reading), limits, at)


def _counter(
    name: str,
    reading: str,
    kind: str,
    number: int,
    was: int | None,
    is_first: bool,
    limits: Mapping[str, float],
) -> Row:
    if is_first:
        return Row(name, reading, HEALTHY, str(number), "The first check has nothing to compare with.", None, kind)
    # After a restart, or a reset of the counter, all its events are new.
    new = number if was is None or number < was else number - was
    if new > limits[kind]:
        why = f"{new} new {WORDS[kind]} since the last check, at most {limits[kind]:g} are healthy."
        return Row(name, reading, FAILING, str(number), why, new, kind)
    return Row(name, reading, HEALTHY, str(number), "", new, kind)


def _state(name: str, reading: str, value: Any, was: Any, limits: Mapping[str, float], at: str) -> Row:
    last = reading.rpartition(".")[2]
    shown = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    if last == "storms":
        return Row(name, reading, FAILING, shown, "The PFC watchdog blocks these queues now.")
    if last == "up":
        # A port that never had a link has no cable.
        lost = value is False and was is True
        return Row(
            name, reading, FAILING if lost else HEALTHY, shown, "The link was up at the last check." if lost else ""
        )
    if last == "expiry":
        return _expiry(name, reading, value, limits["licence_hours"], at)
    if value is None:
        return Row(name, reading, UNKNOWN, why="The guest does not report it.")
    if last == "offset_s":
        wrong = abs(float(value)) > limits["clock_s"]
        why = (
            f"The clock differs by {abs(float(value)):g} s, at most {limits['clock_s']:g} s are healthy."
            if wrong
            else ""
        )
        return Row(name, reading, FAILING if wrong else HEALTHY, shown, why)
    if last in ("synchronised", "licensed"):
        why = {"synchronised": "The clock is not synchronised.", "licensed": "The vGPU has no licence."}[last]
        return Row(name, reading, HEALTHY if value else FAILING, shown, "" if value else why)
    return Row(name, reading, FAILING if value else HEALTHY, shown, meaning(reading) if value else "")


def _expiry(name: str, reading: str, value: Any, hours: float, at: str) -> Row:
    """A licence without an end has no expiry."""
    if not value:
        return Row(name, reading, HEALTHY, "none")
    try:
        left = (_time(str(value)) - _time(at)).total_seconds() / 3600
    except ValueError:
        return Row(name, reading, UNKNOWN, str(value), f"The expiry is not understood: {value}.")
    if left < hours:
        why = f"The licence expires in {left:.1f} hours, at least {hours:g} are healthy."
        return Row(name, reading, FAILING, str(value), why if left >= 0 else f"The licence expired at {value}.")
    return Row(name, reading, HEALTHY, str(value))


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def line(row: Row) -> str:
    return f"{row.object}, {row.reading}: {row.why or row.found}"


def _text(status: str, counts: Mapping[str, int], reported: Sequence[str]) -> str:
    shown = [f"{counts[state]} {state}" for state in reversed(STATES) if counts[state]]
    more = [f"and {len(reported) - SHOWN} more"] if len(reported) > SHOWN else []
    lines = [textwrap.shorten(one, 160, placeholder=" ...") for one in reported[:SHOWN]]
    return "\n".join(
        [f"health: {status}. {', '.join(shown) or 'Nothing was read'}.", *(f"- {one}" for one in [*lines, *more])]
    )


def _table(rows: Sequence[Row]) -> list[str]:
    """One line for each reading that is not healthy, and one with the number of the others."""
    reported = [row for row in rows if row.state != HEALTHY]
    lines = [f"{len(rows) - len(reported)} readings are healthy."]
    return lines + [f"{row.state:<8} {line(row)}" for row in reported]
