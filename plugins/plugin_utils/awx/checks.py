# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Options of the role awx that the specification accepts, and AWX rejects or changes. Pure.

The tasks with secrets print no result, so each problem is found before them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx import notifications
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.credential_types import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SITE = re.compile(r"[A-Za-z0-9_]+")
# "DTSTART required", "RRULE required", "INTERVAL required in rrule" [sure] AWX 24.6.1
_RULE = ("DTSTART", "RRULE:", "INTERVAL=")
# AWX 24.6.1 gives no answer, because it computes the next run of such a rule without an end. [sure]: run
_NO_INTERVAL = re.compile(r"INTERVAL=0+\b", re.IGNORECASE)
# python-dateutil of AWX tries each time up to the year 9999, so a rule that never fires blocks AWX. [sure]: run
# Bounds of the values, of which those of days, weeks and positions count from the end with a minus. [sure] RFC 5545
_BOUNDS = {
    "BYSECOND": (0, 60),
    "BYMINUTE": (0, 59),
    "BYHOUR": (0, 23),
    "BYMONTHDAY": (1, 31),
    "BYYEARDAY": (1, 366),
    "BYWEEKNO": (1, 53),
    "BYMONTH": (1, 12),
    "BYSETPOS": (1, 366),
}
_SIGNED = ("BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS")
_PARTS = re.compile(r"\bRRULE:(\S+)", re.IGNORECASE)
_LONGEST = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_EXAMPLE = "DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1"


def problems(options: Mapping[str, Any]) -> list[str]:
    """Cause and fix of each, of the options with their defaults."""
    return [*_of_project(options), *_of_names(options), *_of_values(options), *_of_credentials(options)]


def _of_project(options: Mapping[str, Any]) -> Iterator[str]:
    project, inventory = options["awx_project"], options["awx_inventory"]
    manual = project["scm_type"] == "manual"
    needed = "local_path" if manual else "scm_url"
    if not project[needed]:
        yield f"The project has no files. Set awx_project.{needed}."
    elif manual and (inventory["files"] or inventory["vcenter_files"]):
        # "Cannot use manual project for SCM-based inventory." [sure] AWX 24.6.1
        yield (
            "AWX reads no inventory files from a manual project. Set awx_project.scm_type to git or archive, or set "
            "awx_inventory.files and vcenter_files to [] and create the hosts on the controller."
        )


def _of_names(options: Mapping[str, Any]) -> Iterator[str]:
    given = [(name, options[name]) for name in ("awx_organization", "awx_prefix")]
    objects = ("awx_project", "awx_inventory", "awx_execution_environment")
    given += [(f"{name}.name", options[name]["name"]) for name in objects]
    given.append(("awx_execution_environment.image", options["awx_execution_environment"]["image"]))
    lists = {name: [one["name"] for one in options[name]] for name in _NAMED}
    lists["awx_labels"] = options["awx_labels"]
    lists["awx_credentials"] = [one["name"] for one in options["awx_credentials"] if one.get("name") is not None]
    lists["awx_survey"] = [key for key in map(_key, options["awx_survey"]) if key]
    for option, names in lists.items():
        given += [(f"A name in {option}", name) for name in names]
        for name in [one for one, number in Counter(names).items() if number > 1]:
            yield f"{option} has {name} twice. Remove or rename one of them."
    for option, name in given:
        # AWX removes these blanks, so awx.awx would not find the object again.
        if not name or name != name.strip():
            yield f"{option} is empty or begins or ends with a blank: {name!r}. Correct it."


_NAMED = ("awx_instance_groups", "awx_notifications", "awx_schedules")


def _of_values(options: Mapping[str, Any]) -> Iterator[str]:
    numbers = [("awx_forks", options["awx_forks"])]
    numbers.append(("awx_workflow.approval_timeout_s", options["awx_workflow"]["approval_timeout_s"]))
    for group in options["awx_instance_groups"]:
        numbers += [(f"{key} of the instance group {group['name']}", group[key]) for key in _NUMBERS]
    for option, number in numbers:
        if number < 0:
            yield f"{option} is {number}. Set it to 0 or more."
    for one in options["awx_schedules"]:
        missing = [word for word in _RULE if word not in one["rrule"].upper()]
        if missing:
            yield f"The rrule of the schedule {one['name']} lacks {' and '.join(missing)}. Write it as {_EXAMPLE}."
        elif _NO_INTERVAL.search(one["rrule"]):
            yield f"The rrule of the schedule {one['name']} has INTERVAL=0. Use 1 or more. Write it as {_EXAMPLE}."
        else:
            yield from _of_times(one)
    for name in options["awx_sites"]:
        if not _SITE.fullmatch(name):
            yield (
                f"The prepared site {name!r} cannot be a part of the variable prepared_NAME. Use letters, digits and _ "
                "in awx_sites."
            )
    if not all(map(_key, options["awx_survey"])):
        yield "An entry of awx_survey has no key. Write it as gpu.profile or as {key: gpu.per_vm, min: 1, max: 8}."
    for one in options["awx_notifications"]:
        yield from notifications.problems(one["name"], one["type"], one["configuration"])


def _of_times(schedule: Mapping[str, Any]) -> Iterator[str]:
    """Rules whose times do not exist. A list with one time that exists is no problem."""
    for rule in _PARTS.findall(schedule["rrule"].upper()):
        parts = dict(part.split("=", 1) for part in rule.split(";") if "=" in part)
        lists = {name: parts[name].split(",") for name in _BOUNDS if name in parts}
        numbers = {name: [int(one) for one in given] for name, given in lists.items() if all(map(_is_number, given))}
        months = [one for one in numbers.get("BYMONTH", ()) if 1 <= one <= 12]
        for name, given in numbers.items():
            low, high = _BOUNDS[name]
            if name == "BYMONTHDAY" and months:
                high = max(_LONGEST.get(month, high) for month in months)
            if not any(low <= (abs(one) if name in _SIGNED else one) <= high for one in given):
                of = f" in the months {parts['BYMONTH']}" if name == "BYMONTHDAY" and months else ""
                signed = f" or {-high} to {-low}" if name in _SIGNED else ""
                yield (
                    f"The rrule of the schedule {schedule['name']} never fires. {name} is {parts[name]}, which does "
                    f"not exist{of}. Use {low} to {high}{signed}."
                )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII) is not None


_NUMBERS = ("max_concurrent_jobs", "max_forks")


def _key(question: Any) -> str:
    """The key of the site of an entry of awx_survey, or an empty text."""
    key = question.get("key") if isinstance(question, dict) else question
    return key if isinstance(key, str) else ""


def _of_credentials(options: Mapping[str, Any]) -> Iterator[str]:
    for one in options["awx_credentials"]:
        kind, inputs = one["kind"], one.get("inputs") or {}
        of = f"the credential {one.get('name') or kind} (kind {kind})"
        # A newer controller can have more fields of the built-in types.
        fields = [field["id"] for field in TYPES[kind]["inputs"]["fields"]] if kind in TYPES else list(inputs)
        for name in sorted(map(str, set(inputs) - set(fields))):
            yield f"The inputs of {of} have the unknown field {name}. Use some of {', '.join(fields)}."
        for name, value in inputs.items():
            python, words = (bool, "true or false") if name == "verify_ssl" else (str, "a text")
            if name in fields and not notifications.is_a(value, python):
                yield f"The field {name} of {of} is not {words}. Correct it, and write a number in quotes."
        yield from _of_inputs(kind, of, {str(name): str(value) for name, value in inputs.items()})


def _of_inputs(kind: str, of: str, inputs: Mapping[str, str]) -> Iterator[str]:
    key, host = inputs.get("ssh_key_data", ""), inputs.get("host", "")
    if key and "-----BEGIN" not in key:
        yield (
            f"The field ssh_key_data of {of} is not a private key. Give the content of the file, such as "
            "\"{{ lookup('ansible.builtin.file', '~/.ssh/id_ed25519') }}\"."
        )
    if kind == "vcenter" and "/" in host:
        yield f"The field host of {of} is a URL. Give the host name alone, such as vcenter.example.org."
    if kind == "controller" and host and not host.startswith("https://"):
        yield f"The field host of {of} does not begin with https://, so its token could be read. Correct it."
