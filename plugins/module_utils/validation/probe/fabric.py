# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Measurements of the fabric: the settings of all ends, and the counters of switch ports. Pure."""

from __future__ import annotations

import json
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core import evidence
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import listing, mapping
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.measured import SKIPPED, measurement
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import counters

# Text in evidence for an empty output.
NOTHING = "(no output)"


def of(seen: Mapping[str, Any], files: dict[str, str]) -> list[dict[str, Any]]:
    """Settings of all ends, and counters of ports."""
    return [*_of_agreement(seen, files), *_of_switches(seen, files)]


def _of_agreement(seen: Mapping[str, Any], files: dict[str, str]) -> list[dict[str, Any]]:
    reported = mapping(seen.get("agreement"))
    subject = {"guests": list(mapping(seen.get("guests")))}
    if "disagreements" in reported:
        keys = ("disagreements", "not_known", "paths", "agreed", "ends")
        place = evidence.place("fabric.settings", kind="json")
        files[place] = json.dumps({key: reported[key] for key in (*keys, "wanted") if key in reported}, indent=1) + "\n"
        readings_of = {key: reported[key] for key in keys if key in reported}
        about: dict[str, Any] = {"command": ["aiready.vsphere.roce_agreement_info"], "evidence": place}
        return [measurement("fabric.settings", subject, readings=readings_of, **about)]
    if reported.get("why"):
        return [measurement("fabric.settings", subject, SKIPPED, reported["why"])]
    return []


def _of_switches(seen: Mapping[str, Any], files: dict[str, str]) -> list[dict[str, Any]]:
    """The difference of the counters of switch ports between both readings."""
    looks = mapping(seen.get("switches"))
    before, after = ({one["name"]: one for one in listing(looks.get(phase))} for phase in ("before", "after"))
    found = []
    for name, switch in after.items():
        was = mapping(before.get(name))
        about = _raw(name, {"before": was, "after": switch}, files)
        for port in mapping(switch.get("ports")):
            then, now = (_counters_of(one, port) for one in (was, switch))
            subject = {"switch": name, "port": port}
            if not then or not now:
                silent = {"silent": f"{name} reports no counters of this port."}
                found.append(measurement("fabric.counters", subject, readings=silent, **about))
                continue
            place = evidence.place("fabric.counters", name, port)
            raw = "".join(f"### Raw output: {_raw_place(name, phase)}\n" for phase in ("before", "after"))
            files[place] = f"{raw}### {name} {port}: name, before, after\n{counters.table(then, now)}"
            delta = counters.delta(then, now)
            found.append(measurement("fabric.counters", subject, readings=delta, **dict(about, evidence=place)))
    return found


def _counters_of(switch: Mapping[str, Any], port: str) -> dict[str, int]:
    return flat(mapping(mapping(mapping(switch.get("ports")).get(port)).get("running")))


def _raw_place(switch: str, phase: str) -> str:
    return evidence.place("fabric.counters", switch, phase)


def _raw(name: str, looks: Mapping[str, Mapping[str, Any]], files: dict[str, str]) -> dict[str, Any]:
    """Keep the counter output of a switch. Returns the command of the rows."""
    commands: list[str] = []
    for phase, switch in looks.items():
        printed = mapping(switch.get("counted"))
        files[_raw_place(name, phase)] = (
            "".join(f"### {name}: {command}\n{text.rstrip() or NOTHING}\n" for command, text in printed.items())
            or f"### {name}: no output.\n"
        )
        commands = list(printed) or commands
    return {"command": commands[:1] if len(commands) == 1 else commands}


def flat(running: Mapping[str, Any]) -> dict[str, int]:
    """{name: number} of a port's counters, with the names of adapters for those of each priority."""
    found = {}
    for name, value in mapping(running.get("counters")).items():
        way = {"pauses_received": "rx", "pauses_sent": "tx"}.get(name)
        for priority, count in mapping(value).items():
            if way and isinstance(count, int):
                found[f"{way}_prio{priority}_pause"] = count
        if isinstance(value, int) and not isinstance(value, bool):
            found[name] = value
    return found
