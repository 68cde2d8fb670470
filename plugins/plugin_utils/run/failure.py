# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The short result of a failed task of a stage, with keys of the site. Ansible's own callbacks print whole results."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.keys import in_site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ansible.playbook.task import Task

_ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, os.pardir))
_STAGES = tuple(os.path.join(_ROOT, folder) + os.sep for folder in ("roles", "playbooks"))
# Lists and dictionaries that Ansible itself handles.
_ANSIBLES = ("warnings", "deprecations", "diff", "invocation", "exception")
_STATES = ("changed", "before", "after", "changes")
# Playbook preflight sets this variable. Its table has a row for every failure.
LOOKS = "__preflight_looks"
MORE = "Run with -v to see the whole result."
# The code of a task with several failed objects, each of which has a code of its own; see module_utils/core/runner.py.
SEVERAL = "some_failed"
_CODE = re.compile(r"[a-z0-9_]{1,80}")


def answer(result: dict[str, Any], task: Task, variables: Mapping[str, Any], verbosity: int) -> dict[str, Any]:
    """Return the result of a task. Playbooks of users get the whole result of a module."""
    if not result.get("failed") or not of_stage(task.get_path()):
        return result
    if result.get("failure"):
        # An expected failure. From ansible-core 2.19 on, Ansible prints its trace, which repeats the message.
        result = {key: value for key, value in result.items() if key != "exception"}
    if task.ignore_errors:
        # Preflight shows expected failures as rows of its table, not as errors.
        return dict(result, failed=False) if variables.get(LOOKS) and result.get("failure") else result
    result = dict(result, msg=in_site(str(result.get("msg", ""))))
    # A later task reads the result of a task that never fails.
    return result if verbosity or False in (task.failed_when or ()) else short(result)


def codes(result: Mapping[str, Any]) -> list[str]:
    """The failure codes of a result, each once; if several objects failed, those of the objects."""
    failure = result.get("failure")
    failure = failure if isinstance(failure, dict) else {}
    found = [failure.get("code"), *(one.get("code") for one in _dicts(failure.get("problems")))]
    if found == [SEVERAL]:
        objects = [item for value in result.values() for item in _dicts(value) if item.get("failed")]
        found = [code for item in objects for code in codes(item)]
    found += failure["codes"] if isinstance(failure.get("codes"), list) else []
    return list(dict.fromkeys(code for code in found if isinstance(code, str) and _CODE.fullmatch(code)))


def of_stage(path: str | None) -> bool:
    """Whether a task, by its file and line, belongs to a role or playbook of this collection."""
    return os.path.realpath(str(path or "").rpartition(":")[0]).startswith(_STAGES)


def short(result: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the message, the code, and the changes made before the failure, which the record of the run needs."""
    kept: dict[str, Any] = {}
    for key, value in result.items():
        if key == "failure" and isinstance(value, dict):
            kept[key] = {name: value[name] for name in ("code", "subject", "next") if name in value}
            every = codes(result)
            if every != [value.get("code")]:
                kept[key]["codes"] = every
        elif not isinstance(value, (dict, list)) or key in _ANSIBLES or key.startswith("_ansible"):
            kept[key] = value
        elif isinstance(value, list):
            changed = [_changed(item) for item in value if _is_changed(item)]
            kept.update({key: changed} if changed else {})
        elif _is_changed(value):
            kept[key] = _changed(value)
    return dict(kept, details=MORE) if kept != result else kept


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_changed(item: Any) -> bool:
    return isinstance(item, dict) and set(_STATES) <= set(item) and bool(item["changed"])


def _changed(item: Mapping[str, Any]) -> dict[str, Any]:
    """A changed object with its changes. An object that failed after some changes has its two states."""
    found = {key: value for key, value in item.items() if not isinstance(value, (dict, list)) and key != "msg"}
    before, after = item["before"] or {}, item["after"] or {}
    differ = [key for key in {**before, **after} if item.get("failed") and before.get(key) != after.get(key)]
    return dict(
        found,
        before={key: before[key] for key in differ if key in before},
        after={key: after[key] for key in differ if key in after},
        changes=[] if item.get("failed") else item["changes"],
    )
