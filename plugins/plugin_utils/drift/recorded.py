# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What earlier runs applied, from their records. Pure, except of_results, the one function that reads files."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.row import CHANGED, NOT_APPLIED, Row, alike
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.seen import STAGES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import record
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STAMP = "%Y-%m-%dT%H:%M:%SZ"


def of_results(results: str) -> dict[str, Any]:
    """What the runs below a folder of results applied; see known()."""
    folder = os.path.abspath(os.path.expanduser(os.path.expandvars(results)))
    try:
        with os.scandir(folder) as entries:
            paths = [os.path.join(entry.path, record.NAME) for entry in entries if entry.is_dir()]
    except OSError:
        paths = []
    dated = []
    for path in paths:
        try:
            dated.append((os.stat(path).st_mtime, path))
        except OSError:
            continue
    read = ((os.path.basename(os.path.dirname(path)), record.read(path)) for _when, path in sorted(dated, reverse=True))
    applying = ((run, one) for run, one in read if one is not None and _applies(one))
    return known(itertools.islice(applying, record.LOOKED_AT))


def _applies(reported: Mapping[str, Any]) -> bool:
    """Whether a run applied settings. Many trainings, validations and dry runs must not hide the last one that did."""
    return any(
        stage.get("name") in STAGES and stage.get("state") != SKIPPED and not stage.get("check_mode")
        for stage in reported["stages"]
    )


def known(records: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """{runs, values, stages} of (name of the run, its record), the newest first.

    values: {object: {setting: [value that was set, run, time]}}. stages: {stage: {host: [run, time]}}, successful only.
    """
    runs: list[str] = []
    values: dict[str, dict[str, list[Any]]] = {}
    stages: dict[str, dict[str, list[str]]] = {}
    for run, reported in records:
        made = [stage for stage in reported["stages"] if not stage.get("check_mode")]
        if any(stage.get("state") != "skipped" for stage in made):
            runs.append(run)
        for stage in reversed(made):
            ended = _ended(stage)
            if stage.get("state") == "ok":
                hosts = stage.get("hosts")
                for host in hosts if isinstance(hosts, list) else []:
                    stages.setdefault(str(stage.get("name")), {}).setdefault(str(host), [run, ended])
            changes = stage.get("changes")
            # A damaged record counts as far as it is readable.
            for change in reversed(changes if isinstance(changes, list) else []):
                if not isinstance(change, dict):
                    continue
                of_object = values.setdefault(str(change.get("object")), {})
                of_object.setdefault(str(change.get("what")), [change.get("after"), run, ended])
    return {"runs": runs, "values": values, "stages": stages}


def _ended(stage: Mapping[str, Any]) -> str:
    """The time when a stage ended, or an empty text."""
    try:
        began = datetime.strptime(str(stage.get("began")), STAMP)
        return (began + timedelta(seconds=float(stage.get("seconds") or 0))).strftime(STAMP)
    except (TypeError, ValueError, OverflowError):
        return ""


def dated(row: Row, runs: Mapping[str, Any]) -> Row:
    """A difference with the run that applied the setting; without such a run, it is not applied."""
    if row.state != CHANGED:
        return row
    value = _value(row, runs.get("values") or {})
    if value is not None and alike(value[0], row.found):
        why = f"The run {value[1]} set this value. The site requests another one since."
        return replace(row, state=NOT_APPLIED, run=value[1], since=value[2], why=row.why or why)
    ran = value[1:] if value is not None else _ran(row, (runs.get("stages") or {}).get(row.stage) or {})
    if ran is None:
        why = f"No record has a successful run of the stage {row.stage} for it."
        return replace(row, state=NOT_APPLIED, why=row.why or why)
    return replace(row, run=ran[0], since=ran[1])


def _value(row: Row, values: Mapping[str, Mapping[str, Any]]) -> Any:
    """What a run set; records name VMs without their path, objects without their kind, settings without their group."""
    own = row.object.rpartition("/")[2]
    for name in (row.object, own.rpartition(" ")[2] if row.stage == "kubernetes" else own):
        for setting, value in (values.get(name) or {}).items():
            if row.setting == setting or row.setting.endswith(f".{setting}"):
                return value
    return None


def _ran(row: Row, hosts: Mapping[str, Any]) -> Any:
    """The last successful run of the stage for an object; the controller runs the stages of VMs."""
    return hosts.get(row.object) or hosts.get("localhost")
