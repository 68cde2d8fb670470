# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What restore does with each recorded item of a guest: nothing, restore, keep, or report that it cannot. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import record

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline.read import State
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline.record import Body

CHANGED = "changed since by another"
# The driver of a .run file.
RUN_FILE = "file:/usr/bin/nvidia-uninstall"


@dataclass(frozen=True)
class Plan:
    """The items to restore, those that stay with the reason, and those that are as before already."""

    due: tuple[str, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    cannot: Mapping[str, str] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    # Items of stages that the task does not restore.
    others: tuple[str, ...] = ()


def decide(body: Body, now: State, stages: Sequence[str], stored: Iterable[str]) -> Plan:
    """Decide on each item. stored: the hashes of the contents that are available."""
    have = set(stored)
    due, kept, cannot, done, others = [], {}, {}, [], []
    for key, item in sorted(body["items"].items()):
        if not set(item["stages"]) <= set(stages):
            others.append(key)
        elif now.get(key) == item["before"]:
            done.append(key)
        elif _upgraded(key, item):
            cannot[key] = f"upgraded in place from {item['before']['version']} to {item['left']['version']}"
        elif item["other"] or not record.is_left(key, item, now.get(key)):
            kept[key] = CHANGED
        else:
            why = _impossible(key, item, have)
            if why:
                cannot[key] = why
            else:
                due.append(key)
    for stage in body["open"]:
        if stage in stages:
            cannot[f"stage:{stage}"] = (
                "its last run was killed, so its changes are unknown. Run it again, or set `interrupted: restore`"
            )
    return Plan(tuple(due), kept, cannot, tuple(done), tuple(others))


def _upgraded(key: str, item: Mapping[str, Any]) -> bool:
    before, left = item["before"], item["left"]
    both = key.startswith("package:") and before is not None and left is not None
    return both and bool(before["version"] != left["version"])


def _impossible(key: str, item: Mapping[str, Any], stored: set[str]) -> str:
    kind = key.partition(":")[0]
    before = item["before"]
    if key == RUN_FILE and before is not None:
        return "the run file replaced another driver. Install the earlier driver with vgpu_guest_driver"
    if kind == "module":
        return "the kernel keeps its modules until the guest restarts"
    if kind == "file" and before is not None and "link" not in before:
        if "sha256" not in before:
            return "the file was too large to record its content"
        if before["sha256"] not in stored:
            return "its recorded content is missing or damaged"
    return ""


def keep_users(plan: Plan, body: Body, homes: Mapping[str, str], below: Mapping[str, Sequence[str]]) -> Plan:
    """Keep the users whose home has files of others. below: {user: the files of the home}."""
    due, kept = list(plan.due), dict(plan.kept)
    for user in record.made_users(body):
        home = homes.get(user)
        if home is None:
            continue
        others = [path for path in below.get(user, ()) if f"file:{path}" not in due]
        if not others:
            continue
        why = f"the home of {user} has files of others, such as {others[0]}"
        for key in [key for key in due if _of_user(key, user, home)]:
            due.remove(key)
            kept[key] = why
    return Plan(tuple(due), kept, plan.cannot, plan.done, plan.others)


def _of_user(key: str, user: str, home: str) -> bool:
    kind, _colon, name = key.partition(":")
    if kind == "account":
        return name.rpartition(":")[2] == user
    inside = name == home or name.startswith(f"{home}/")
    # The keys of the guests go, because they open a login.
    return inside and not name.startswith(f"{home}/.ssh")


def keep_system_accounts(plan: Plan, body: Body) -> Plan:
    """Keep the accounts of packages that stay installed."""
    if not any(key.startswith("package:") for key in (*plan.kept, *plan.others)):
        return plan
    users = record.made_users(body)
    system = [
        key
        for key in plan.due
        if key.startswith("account:")
        and body["items"][key]["before"] is None
        and not (key.rpartition(":")[2] in users and _number(body["items"], key.rpartition(":")[2]) >= 1000)
    ]
    kept = dict(plan.kept, **dict.fromkeys(system, "its package stays installed"))
    return Plan(tuple(key for key in plan.due if key not in kept), kept, plan.cannot, plan.done, plan.others)


def _number(items: Mapping[str, Any], user: str) -> int:
    fields = str(items[f"account:/etc/passwd:{user}"]["left"]).split(":")
    return int(fields[2]) if len(fields) > 2 and fields[2].isdecimal() else 0


def keep_folders(plan: Plan, inside: Mapping[str, Sequence[str]]) -> Plan:
    """Keep the folders that something else remains in. inside: {key of a folder: names in it}.

    The removal of a package empties its folders, so this expects nothing while packages are due.
    """
    if any(key.startswith("package:") for key in plan.due):
        return plan
    due = set(plan.due)
    kept = dict(plan.kept)
    for key in sorted(inside, key=order):
        path = key.partition(":")[2]
        others = [one for one in inside[key] if not {f"file:{path}/{one}", f"folder:{path}/{one}"} & due]
        if others:
            due.remove(key)
            kept[key] = f"it has files of others, such as {others[0]}"
    return Plan(tuple(key for key in plan.due if key in due), kept, plan.cannot, plan.done, plan.others)


def keep_packages(plan: Plan, why: Mapping[str, str], missing: Mapping[str, str]) -> Plan:
    """Keep packages that others need, and give up those that cannot be installed again. Both: {package: reason}."""
    kept = dict(plan.kept, **{f"package:{name}": reason for name, reason in why.items()})
    cannot = dict(plan.cannot, **{f"package:{name}": reason for name, reason in missing.items()})
    due = tuple(key for key in plan.due if key not in kept and key not in cannot)
    return Plan(due, kept, cannot, plan.done, plan.others)


def replaced(lost: Iterable[str]) -> str:
    """Why a driver stays."""
    return f"it replaced {', '.join(lost)}, which cannot be installed again"


def keep_run_file(plan: Plan, lost: Sequence[str]) -> Plan:
    """Keep the driver of a .run file that replaced these packages, which cannot be installed again."""
    if not lost or RUN_FILE not in plan.due:
        return plan
    due = tuple(key for key in plan.due if key != RUN_FILE)
    return Plan(due, {**plan.kept, RUN_FILE: replaced(lost)}, plan.cannot, plan.done, plan.others)


def removed(plan: Plan, body: Body) -> list[str]:
    """The packages to remove."""
    return [name for name, item in _packages(plan, body) if item["before"] is None]


def reinstalled(plan: Plan, body: Body) -> dict[str, str]:
    """{package: version} of packages to install again, because a stage replaced them."""
    return {name: item["before"]["version"] for name, item in _packages(plan, body) if item["left"] is None}


def _packages(plan: Plan, body: Body) -> list[tuple[str, Any]]:
    keys = [key for key in plan.due if key.startswith("package:")]
    return [(key[len("package:") :], body["items"][key]) for key in keys]


def needed(
    ours: Iterable[str], needs: Mapping[str, Sequence[str]], provides: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """{package of ours: a package of others that needs it}. Alternatives of a dependency all count as needed.

    needs: {package: names in its dependencies}; provides: {virtual name: packages}.
    """
    mine = set(ours)
    found: dict[str, str] = {}
    todo = sorted(set(needs) - mine)
    while todo:
        one = todo.pop()
        for name in needs.get(one, ()):
            for package in (name, *provides.get(name, ())):
                if package in mine and package not in found:
                    found[package] = found.get(one, one)
                    todo.append(package)
    return found


def dependencies(text: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """(needs, provides) in lines of dpkg-query: package, state, dependencies and provided names between tabs."""
    needs: dict[str, list[str]] = {}
    provides: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, state, depends, given = (*line.split("\t"), "", "", "", "")[:4]
        if not state.startswith(("ii", "hi")):
            continue
        needs.setdefault(name, []).extend(_names(depends))
        for virtual in _names(given):
            provides.setdefault(virtual, []).append(name)
    return needs, provides


def _names(text: str) -> list[str]:
    words = [re.split(r"[\s(:]", part.strip(), maxsplit=1)[0] for part in re.split(r"[,|]", text)]
    return [word for word in words if word]


def changes(plan: Plan, body: Body) -> list[Change]:
    """The changes of the plan, without any content."""
    return [_change(key, body["items"][key]) for key in sorted(plan.due, key=order)]


def _change(key: str, item: Mapping[str, Any]) -> Change:
    before, left = item["before"], item["left"]
    stages = " and ".join(item["stages"])
    kind = key.partition(":")[0]
    if kind in ("mtu", "addresses", "service"):
        return Change(key, left, before)
    if kind == "package":
        return Change(key, _package(left), _package(before))
    return Change(key, _shown(left, f"changed by {stages}"), _shown(before, f"as before {stages}"))


def _package(value: Any) -> str | None:
    if value is None:
        return None
    return f"{value['version']}, marked as manually installed" if value["manual"] else str(value["version"])


def _shown(value: Any, which: str) -> str | None:
    """A file or account: content stays secret, because it may be a token or a password."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return which
    if "link" in value:
        return f"link to {value['link']}"
    return f"{which}, mode {value['mode']:04o}, owner {value['uid']}:{value['gid']}"


ORDER = ("package", "file", "folder", "account", "service", "mtu", "addresses")


def order(key: str) -> tuple[int, int, str]:
    """Packages first, then files, then what needs them. The deepest folder comes first."""
    kind, _colon, name = key.partition(":")
    depth = -name.count("/") if kind == "folder" else 0
    return ORDER.index(kind), depth, name


def merged(text: str, back: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a file of accounts with lines restored. back: {account: item}."""
    lines = []
    for line in text.splitlines():
        name = line.split(":", 1)[0]
        item = back.get(name)
        if item is None or line not in str(item["left"] or "").splitlines():
            lines.append(line)
        elif item["before"] is not None and line == str(item["left"]).splitlines()[0]:
            lines += str(item["before"]).splitlines()
    missing = [str(one["before"]) for one in back.values() if one["left"] is None and one["before"] is not None]
    return "".join(f"{line}\n" for line in [*lines, *missing])
