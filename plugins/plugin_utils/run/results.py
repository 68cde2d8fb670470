# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The objects in the result of a task: changes, restarts, reasons of failures. No secret passes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import logins
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import SECRET, SECRET_VALUE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure as run_failure
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.keys import in_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ansible.executor.task_result import TaskResult

OWN = "aiready.vsphere."
HIDDEN = logins.HIDDEN
# Longer values do not help a reader of a report.
LONGEST = 400
# Messages of these actions are for operators. Other modules may return the output of any command.
_SHOWN = ("ansible.builtin.assert", "ansible.builtin.fail")
# Keys of results of this collection, see runner.run: objects with a name of their own wherever the task runs,
_NAMED = ("vms", "cluster", "restored")
# and parts of the host that the task is about. All others are that host itself.
_PARTS = ("interface", "roce", "gpus", "devices")
# These modules make no permanent change, and other output shows their work.
_PASSING = ("pair_test", "training_run", "validation_report", "validation_result")
_CONTROLLER = ("localhost", "127.0.0.1", "::1")
# Changes that are a restart, by module of this collection.
_RESTARTS = {"esxi_reboot": ("boot_time", None), "bmc_power": ("power", "on")}
_POWER_CYCLE = "power_cycle"


@dataclass(frozen=True)
class Seen:
    """A result with the same fields on every release of ansible-core."""

    host: str
    action: str  # with its collection
    task: str
    data: dict[str, Any]
    check: bool = False
    delegate: str = ""
    hidden: bool = False
    failed: bool = False

    @property
    def own(self) -> str:
        """Name of the module in this collection; empty for other modules."""
        return self.action[len(OWN) :] if self.action.startswith(OWN) else ""


def seen(result: TaskResult) -> Seen:
    """Read a result that Ansible passes to callbacks."""
    # ansible-core has public names since 2.19. Earlier releases have only these.
    task, host = result._task, result._host
    data = result.result if hasattr(result, "result") else result._result
    fields = result._task_fields or {}
    name = str(fields.get("name") or "").strip() or task.get_name().strip()
    delegate = fields.get("delegate_to") or ""
    return Seen(
        host=host.get_name(),
        action=task.resolved_action or task.action,
        task=short(name),
        data=data if isinstance(data, dict) else {},
        check=bool(fields.get("check_mode", task.check_mode)),
        delegate=delegate if isinstance(delegate, str) and "{{" not in delegate else "",
        hidden=task.no_log is True or bool(data.get("_ansible_no_log")) or "censored" in data,
        failed=bool(result.is_failed()),
    )


def short(name: str) -> str:
    """The name of a task without that of its role in front of it."""
    role, colon, rest = name.partition(" : ")
    return rest if colon and " " not in role else name


def changes(seen: Seen) -> list[dict[str, Any]]:
    """Return the changes as [{object, what, before, after, task}]. In check mode, they are planned."""
    found: list[dict[str, Any]] = []
    if seen.own in _PASSING:
        return found
    for data in _items(seen.data):
        # Changed entries of a loop without details count as one change.
        found += [change for change in _of(seen, data) if change["before"] != change["after"] or change not in found]
    return found


def _items(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a loop, or the one result."""
    if isinstance(data.get("results"), list) and "changes" not in data:
        return [item for item in data["results"] if isinstance(item, dict)]
    return [data]


def _of(seen: Seen, data: dict[str, Any]) -> list[dict[str, Any]]:
    if not data.get("changed"):
        return []
    hidden = seen.hidden or bool(data.get("_ansible_no_log"))
    objects = [] if hidden or not seen.own else list(_objects(data))
    if not objects:
        if seen.failed or data.get("failed"):
            return []
        what = seen.own or seen.action.rpartition(".")[2]
        return [_entry(_object_of(seen, "", {}), what, None, None, seen.task)]
    return [
        dict(_entry(of or _object_of(seen, key, item), path, before, after, seen.task), **needs)
        for key, item in objects
        for path, before, after, needs, of in _made(item)
    ]


def _objects(data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, object) of a result of runner.run."""
    for key, value in data.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict) and {"changed", "before", "after", "changes"} <= set(item):
                yield key, item


def _made(item: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any, dict[str, str], str]]:
    if not item["changed"]:
        return
    if item.get("failed"):
        # For an object that failed after some changes, its two states show them, not the plan.
        before, after = item["before"] or {}, item["after"] or {}
        for path in sorted(set(before) | set(after)):
            if before.get(path) != after.get(path):
                yield path, before.get(path), after.get(path), {}, ""
        return
    for change in item["changes"]:
        if isinstance(change, dict):
            needs = {"needs": str(change["needs"])} if change.get("needs") else {}
            of = str(change.get("of") or "")
            yield str(change.get("path")), change.get("before"), change.get("after"), needs, of


def _object_of(seen: Seen, key: str, item: Mapping[str, Any]) -> str:
    name = str(item.get("name") or "")
    host = seen.delegate or seen.host
    if key in _NAMED:
        return name or key
    if seen.own:
        # Modules of this collection run on the controller and manage the host of the play.
        host = seen.host
        if host in _CONTROLLER:
            return name or host
    if key in _PARTS and name:
        place = str(item.get("pci") or "")
        return f"{host} {name}" + (f" at {place}" if place and place not in name else "")
    return host


def _entry(thing: str, what: str, before: Any, after: Any, task: str) -> dict[str, Any]:
    return {"object": thing, "what": what, "before": safe(what, before), "after": safe(what, after), "task": task}


def safe(name: str, value: Any) -> Any:
    """Return a value without secrets, for a file that anybody may read."""
    if value is None or isinstance(value, (bool, int)):
        return HIDDEN if value and SECRET.search(name) else value
    if isinstance(value, dict):
        value = {str(key): safe(str(key), entry) for key, entry in value.items()}
        return HIDDEN if SECRET.search(name) else _whole(value)
    if isinstance(value, (list, tuple)):
        return HIDDEN if value and SECRET.search(name) else _whole([safe(name, entry) for entry in value])
    text = str(value)
    if text and (SECRET.search(name) or SECRET_VALUE.search(text) or logins.is_in(text)):
        return HIDDEN
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} [...]"


def _whole(value: Any) -> Any:
    return value if len(json.dumps(value)) <= LONGEST else f"{json.dumps(value, sort_keys=True)[:LONGEST]} [...]"


def restarts(seen: Seen) -> dict[str, int]:
    """Return {object: number of its restarts} of this task."""
    found: dict[str, int] = {}
    if seen.check:
        return found
    if seen.action == "ansible.builtin.reboot":
        for data in _items(seen.data):
            if data.get("rebooted"):
                found[seen.delegate or seen.host] = found.get(seen.delegate or seen.host, 0) + 1
        return found
    path, to = _RESTARTS.get(seen.own, (_POWER_CYCLE, None))
    for change in changes(seen):
        if change["what"] == path and (to is None or change["after"] == to):
            found[change["object"]] = found.get(change["object"], 0) + 1
    return found


def pending(seen: Seen) -> dict[str, list[dict[str, str]]]:
    """{object: [{what, needs}]}: settings that are set and not yet effective; empty for objects without any.

    In check mode, the pending settings of an object with changes are a plan, so such objects are left out.
    """
    found: dict[str, list[dict[str, str]]] = {}
    for data in _items(seen.data) if seen.own and not seen.hidden else []:
        for key, item in _objects(data):
            # A short result of a failed task has no list.
            if not isinstance(item.get("pending"), list) or (seen.check and item["changed"]):
                continue
            entries = found.setdefault(_object_of(seen, key, item), [])
            for one in item["pending"]:
                if isinstance(one, dict):
                    entries.append({"what": str(one.get("what") or ""), "needs": str(one.get("needs") or "")})
    return found


def is_part(name: str, names: Iterable[str]) -> bool:
    """Whether an object is one of these or a part of one, such as a GPU of a host."""
    return any(name == one or name.startswith(f"{one} ") for one in names)


def message(seen: Seen) -> str:
    """Return the message of a failure if it is meant for operators, else an empty text. The output has all messages."""
    if seen.hidden:
        return "Its output is hidden (no_log)."
    if not (seen.own or seen.action in _SHOWN or seen.data.get("unreachable")):
        return ""
    of_items = [item for item in _items(seen.data) if item is not seen.data and item.get("failed")]
    said = [str(data["msg"]).strip() for data in of_items or [seen.data] if data.get("msg")]
    return without_secrets(in_site("\n".join(dict.fromkeys(said))))


def without_secrets(text: str) -> str:
    """A message without passwords of addresses. One with another secret is hidden as a whole."""
    text = logins.hidden(text)
    return HIDDEN if SECRET_VALUE.search(text.replace(f":{HIDDEN}@", "")) else text


def codes(seen: Seen) -> list[str]:
    """The failure codes of a module of this collection, each once."""
    if seen.hidden or not seen.own:
        return []
    failed = [item for item in _items(seen.data) if item.get("failed")] or [seen.data]
    return list(dict.fromkeys(code for data in failed for code in run_failure.codes(data)))
