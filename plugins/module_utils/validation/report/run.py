# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The report of a run without a validation as data: its stages, failures, changes and pending settings. Pure."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import stages
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.evidence import masked
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.values import (
    entries,
    flag,
    mapping,
    number,
    text,
    texts,
)

# The state decides the colour of the page.
PASS, FAIL, OPEN = "pass", "fail", "incomplete"
DRY_RUN = "Nothing was changed. This run was in check mode."


def document(record: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a record, as plugin_utils/run/record.py writes it. Each of its values may be hostile."""
    record = {key: plain_text.shown_all(value) for key, value in record.items()}
    declared = texts(record.get("simulated_parts"))
    recorded = entries(record.get("stages"))
    checked = [dict(stage, check_mode=False) for stage in recorded if flag(stage.get("check_mode"))]
    ran = stages.stages(recorded, declared)
    failures = _failures(record, recorded)
    made, planned = stages.changes(recorded, declared), stages.changes(checked, declared)
    return {
        **_verdict(ran, failures),
        "began": text(record.get("began")),
        "ended": text(record.get("ended")),
        "seconds": stages.total(ran, text(record.get("ended"))) if ran else None,
        "check_mode": bool(ran) and all(stage["check_mode"] for stage in ran),
        "simulated": [simulated.PARTS[part] for part in simulated.among(simulated.WORDS, declared)],
        "stages": [dict(stage, planned=_planned(entry)) for stage, entry in zip(ran, recorded)],
        "failures": failures,
        "changes": made,
        "changes_count": _count(made),
        "planned": planned,
        "planned_count": _count(planned),
        "pending": [_pending(entry) for entry in entries(record.get("pending"))],
        "later": [
            dict(_later(mark), stage=text(stage.get("name")))
            for stage in recorded
            for mark in entries(stage.get("decided_later"))
        ],
        "reboots": [
            {"object": text(name), "count": many}
            for name, many in mapping(record.get("reboots")).items()
            if number(many) is not None
        ],
    }


def _verdict(ran: Sequence[Mapping[str, Any]], failures: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The state, title and sentence at the top of the page."""
    last = {(stage["name"], stage["check_mode"]): stage for stage in ran}
    failed = [stage["name"] for stage in last.values() if stage["state"] in ("failed", "open")]
    dry = bool(ran) and all(stage["check_mode"] for stage in ran)
    again = "A new run continues from the current state."
    if failed:
        sentence = f"{DRY_RUN} The plan is not complete." if dry else again
        return {"state": FAIL, "title": f"Failed in {' and '.join(dict.fromkeys(failed))}", "sentence": sentence}
    if failures:
        return {"state": FAIL, "title": "Failed outside the stages", "sentence": DRY_RUN if dry else again}
    if all(stage["state"] == "skipped" for stage in ran):
        return {"state": OPEN, "title": "Nothing to do", "sentence": "All stages were skipped."}
    if dry:
        sentence = f"{DRY_RUN} The report lists the changes that a run would make."
        return {"state": OPEN, "title": "Dry run", "sentence": sentence}
    return {"state": PASS, "title": "The stages succeeded", "sentence": "This run did not validate anything."}


def _failures(record: Mapping[str, Any], recorded: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Failures of the last run of each stage, and those outside all stages."""
    last = {(text(stage.get("name")), flag(stage.get("check_mode"))): stage for stage in recorded}
    found = [(text(stage.get("name")), one) for stage in last.values() for one in entries(stage.get("failures"))]
    found += [("", one) for one in entries(record.get("failures"))]
    return [
        {
            "stage": stage,
            **{key: masked(text(one.get(key))) for key in ("object", "task", "msg")},
            "codes": texts(one.get("codes")),
        }
        for stage, one in found
    ]


def _planned(entry: Mapping[str, Any]) -> int:
    return len(entries(entry.get("changes"))) if flag(entry.get("check_mode")) else 0


def _pending(entry: Mapping[str, Any]) -> dict[str, str]:
    found = {key: text(entry.get(key)) for key in ("stage", "object", "what", "needs")}
    return dict(found, needs=found["needs"].replace("_", " "))


def _later(mark: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: masked(text(mark.get(key))) for key in ("object", "after", "why")}
    return dict(found, what=texts(mark.get("what")))


def _count(changes: Sequence[Mapping[str, Any]]) -> int:
    return sum(len(entry["changes"]) for entry in changes)
