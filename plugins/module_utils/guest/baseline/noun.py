# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""guest_baseline: record a guest before and after a stage, and restore what the stages changed."""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine, os_release
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import packages as managers
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import (
    packages,
    plan,
    put,
    read,
    record,
    table,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline.plan import Plan
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

ARGUMENTS = {
    "state": {"type": "str", "choices": ["begun", "ended", "restored"], "required": True},
    "stages": {"type": "list", "elements": "str", "choices": list(table.STAGES), "required": True},
    "users": {"type": "list", "elements": "str", "default": []},
    "interrupted": {"type": "str", "choices": ["keep", "restore"], "default": "keep"},
    "lock_wait_s": {"type": "int", "default": 300},
}
UNINSTALLER = "/usr/bin/nvidia-uninstall"
COMMAND_S = 600


@dataclass(frozen=True)
class BaselineRequest:
    """The stages whose changes are recorded or restored."""

    state: str
    stages: Sequence[str]
    users: Sequence[str]
    interrupted: str
    lock_wait_s: int


@dataclass(frozen=True)
class Baseline:
    """The record of a guest, and what restore would do with it."""

    recorded: tuple[str, ...] = ()
    interrupted: tuple[str, ...] = ()
    due: tuple[Change, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    cannot: Mapping[str, str] = field(default_factory=dict)
    # Commands that make restored files effective and have not run.
    waiting: tuple[str, ...] = ()


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters, as sentences."""
    if params["state"] != "restored" and len(params["stages"]) != 1:
        return ["`stages` names several stages. Record one stage at a time."]
    return ["`stages` is empty. Name at least one stage."] if not params["stages"] else []


class GuestBaseline(Noun[BaselineRequest, Baseline]):
    """The record of the guest on which the module runs."""

    def __init__(self, requested: BaselineRequest, commands: Commands, files: Files) -> None:
        self._requested = requested
        self._commands = commands
        self._files = files
        self._body: record.Body = record.empty()
        self._plan: Plan = plan.Plan()
        self._manager: managers.Packages

    def read(self, items: Sequence[Item[BaselineRequest, Baseline]]) -> None:
        (item,) = items
        item.ids.update(machine.ids(self._files))
        distribution = os_release.read(self._files)
        os_release.refuse_unsupported(item.label, "cannot record its state", distribution)
        self._manager = managers.of(distribution, self._commands, self._files, item.label, self._requested.lock_wait_s)
        found = record.load(self._files, item.label)
        self._body = found or record.empty()
        if self._requested.state == "restored":
            item.now = self._look(found is not None)
        else:
            item.now = self._shown(plan.Plan())

    def _shown(self, made: Plan, more: Mapping[str, str] | None = None) -> Baseline:
        return Baseline(
            recorded=tuple(self._body["stages"]),
            interrupted=tuple(sorted(self._body["open"])),
            due=tuple(plan.changes(made, self._body)),
            kept=made.kept,
            cannot={**made.cannot, **(more or {})},
            waiting=tuple(" ".join(argv) for argv in self._body.get("after", [])),
        )

    def _scan(self, keep: bool = False, more: Sequence[str] = ()) -> dict[str, Any]:
        store = (lambda mark, raw: record.keep(self._files, mark, raw)) if keep else None
        homes = [*record.made_users(self._body), *more]
        users = sorted({*self._body["users"], *self._requested.users})
        return read.scan(self._files, self._commands, self._manager, homes, users, store)

    def _look(self, known: bool) -> Baseline:
        """Scan the guest and decide on each item."""
        lost = {} if known else {"record": "the guest has none. No stage changed the guest, or the record is lost"}
        now = self._scan()
        if self._requested.interrupted == "restore":
            for stage in sorted(set(self._body["open"]) & set(self._requested.stages)):
                self._body, now = self._ended(stage, now)
        before = [one["before"] for one in self._body["items"].values()]
        marks = {one["sha256"] for one in before if isinstance(one, dict) and "sha256" in one}
        stored = [mark for mark in marks if record.content(self._files, mark) is not None]
        made = plan.decide(self._body, now, self._requested.stages, stored)
        remove, install = plan.removed(made, self._body), plan.reinstalled(made, self._body)
        if remove or install:
            kept, cannot = packages.needed(self._commands, self._manager, remove, install)
            made = plan.keep_packages(made, kept, cannot)
            made = plan.keep_run_file(made, packages.drivers(cannot))
        homes = read.home_folders(now)
        below = {user: read.below(self._files, homes.get(user)) for user in record.made_users(self._body)}
        made = plan.keep_users(made, self._body, homes, below)
        made = plan.keep_system_accounts(made, self._body)
        inside = {key: self._files.names(key.partition(":")[2]) for key in made.due if key.startswith("folder:")}
        self._plan = plan.keep_folders(made, inside)
        return self._shown(self._plan, lost)

    def want(self, item: Item[BaselineRequest, Baseline]) -> Baseline:
        now = item.now
        if self._requested.state == "restored":
            return replace(now, due=())
        return Baseline(tuple(sorted({*now.recorded, *self._requested.stages})))

    def compare(self, now: Baseline, wanted: Baseline) -> list[Change]:
        """Only the first record counts as a change: each run records its stages again."""
        if self._requested.state == "restored":
            return [change for change in now.due if change not in wanted.due]
        if self._requested.state == "ended":
            return []
        new = [stage for stage in wanted.recorded if stage not in now.recorded]
        return [Change(f"record:{stage}", None, "recorded") for stage in new]

    def keep(self, items: Sequence[Item[BaselineRequest, Baseline]]) -> None:
        """Record the stage, which changes nothing else. Restore writes what it found as before already."""
        if self._requested.state == "restored":
            self._run_left_commands()
            self._forget()
        else:
            self._record()

    def apply(self, items: Sequence[Item[BaselineRequest, Baseline]]) -> None:
        (item,) = items
        item.touched = True
        if self._requested.state == "restored":
            self._restore(item.label)
        else:
            self._record()

    def _record(self) -> None:
        (stage,) = self._requested.stages
        if self._requested.state == "begun":
            record.save(self._files, record.begin(self._body, stage, self._scan(keep=True), self._requested.users))
        elif stage in self._body["open"]:
            self._body, _now = self._ended(stage, self._scan())
            record.save(self._files, self._body)
            record.tidy(self._files, self._body, keep=True)

    def _ended(self, stage: str, now: dict[str, Any]) -> tuple[record.Body, dict[str, Any]]:
        """The record with an ended stage, and the scan with the homes of the users that it created."""
        more = record.new_users(self._body["open"][stage], now)
        now = self._scan(more=more) if more else now
        return record.end(self._body, stage, now), now

    def _restore(self, label: str) -> None:
        """Each step can be interrupted: the next run compares again and does the rest."""
        due = {kind: [key for key in self._plan.due if key.startswith(f"{kind}:")] for kind in plan.ORDER}
        items = self._body["items"]
        self._remember([key.partition(":")[2] for key in due["file"]])
        if f"file:{UNINSTALLER}" in due["file"]:
            self._commands.must(
                ["nvidia-uninstall", "--silent"],
                label,
                "cannot remove the driver that a .run file installed",
                "Check /var/log/nvidia-installer.log on the guest",
                "installer_failed",
                limit_s=managers.LIMIT_S,
            )
        if due["package"]:
            left = {key[len("file:") :]: items[key]["left"] for key in due["file"]}
            remove, install = plan.removed(self._plan, self._body), plan.reinstalled(self._plan, self._body)
            packages.change(self._commands, self._files, self._manager, remove, install, left)
            there = {key.partition(":")[2]: items[key]["before"] for key in due["package"]}
            marks = {name: one["manual"] for name, one in there.items() if one is not None}
            packages.mark(self._commands, self._manager, marks)
        for key in due["file"]:
            self._restore_file(key.partition(":")[2], items[key])
        for key in sorted(due["folder"], key=plan.order):
            self._restore_folder(key.partition(":")[2], items[key])
        self._restore_accounts({key: items[key] for key in due["account"]})
        self._run_left_commands()
        for key in due["service"]:
            self._commands.run(["systemctl", "start" if items[key]["before"] else "stop", key.partition(":")[2]])
        for key in (*due["mtu"], *due["addresses"]):
            self._restore_adapter(key, items[key])

    def _remember(self, paths: Sequence[str]) -> None:
        """Save the commands that make these files effective, before the first file changes."""
        then = [list(argv) for row in table.ROWS for argv in row.then if _one_of(paths, row.paths)]
        saved = self._body.get("after", [])
        self._body = dict(self._body, after=saved + [argv for argv in then if argv not in saved])
        record.save(self._files, self._body)

    def _run_left_commands(self) -> None:
        """Run them once each. A guest without the program or the unit needs none of it."""
        if "after" not in self._body:
            return
        # A restart of an engine ends its containers.
        busy = [argv for argv in self._body["after"] if packages.containers(self._commands, argv[-1])]
        for argv in self._body["after"]:
            if argv not in busy and self._commands.find(argv[0]) is not None:
                self._commands.run(argv, limit_s=COMMAND_S)
        self._body = {key: value for key, value in self._body.items() if key != "after"}
        if busy:
            self._body["after"] = busy
        record.save(self._files, self._body)

    def _restore_file(self, path: str, item: Mapping[str, Any]) -> None:
        before, now = item["before"], read.entry(self._files, path)
        # Between the scan and now, a package or somebody else may have changed it.
        if now == before or now not in (item["left"], None):
            return
        if before is None:
            self._files.remove(path)
        else:
            put.back(self._files, path, before, record.content(self._files, before.get("sha256", "")))
            if self._commands.find("restorecon") is not None:
                self._commands.run(["restorecon", path])

    def _restore_folder(self, path: str, item: Mapping[str, Any]) -> None:
        if item["before"] is None:
            # One with files of others stays.
            with contextlib.suppress(OSError):
                os.rmdir(self._files.at(path))
        else:
            os.makedirs(self._files.at(path), mode=0o755, exist_ok=True)

    def _restore_accounts(self, due: Mapping[str, Mapping[str, Any]]) -> None:
        for path in table.ACCOUNTS:
            prefix = f"account:{path}:"
            back = {key[len(prefix) :]: item for key, item in due.items() if key.startswith(prefix)}
            entry, text = read.entry(self._files, path), self._files.text(path)
            if back and entry is not None and text is not None:
                with locked(self._files):
                    put.file(self._files, path, plan.merged(text, back).encode(), entry)

    def _restore_adapter(self, key: str, item: Mapping[str, Any]) -> None:
        kind, _colon, name = key.partition(":")
        if kind == "mtu":
            self._commands.run(["ip", "link", "set", "dev", name, "mtu", str(item["before"])])
            return
        for address in item["left"] or []:
            if address not in item["before"]:
                self._commands.run(["ip", "addr", "del", address, "dev", name])
        for address in item["before"]:
            if address not in (item["left"] or []):
                self._commands.run(["ip", "addr", "add", address, "dev", name])

    def prove(self, items: Sequence[Item[BaselineRequest, Baseline]]) -> None:
        (item,) = items
        if self._requested.state != "restored":
            item.proved = self._shown(plan.Plan())
            return
        made, planned = self._plan, item.changes
        item.proved = self._look(True)
        left = [key for key in self._plan.due if key in made.due]
        self._forget()
        if left and item.error is None:
            item.error = OperatorError(
                item.label,
                "is not in its former state after the restore",
                f"Still different: {', '.join(left)}",
                "Check whether another program changes it, then run the task again",
                "not_proved",
                left=left,
                changes=[change.path for change in planned],
            )

    def _forget(self) -> None:
        """Drop the items that are as before from the record."""
        gone = self._plan.done
        if gone or not self._body["items"]:
            items = {key: one for key, one in self._body["items"].items() if key not in gone}
            self._body = dict(self._body, items=items)
            if self._files.exists(record.FILE):
                record.save(self._files, self._body)
        record.tidy(self._files, self._body)

    def project(self, state: Baseline) -> dict[str, Any]:
        return {
            "recorded": list(state.recorded),
            "interrupted": list(state.interrupted),
            "due": [change.path for change in state.due],
            "kept": [{"what": key, "why": why} for key, why in sorted(state.kept.items())],
            "cannot": [{"what": key, "why": why} for key, why in sorted(state.cannot.items())],
        }

    def pending(self, state: Baseline) -> list[dict[str, object]]:
        modules: list[dict[str, object]] = [
            {"what": key, "needs": "reboot"} for key in state.cannot if key.startswith("module:")
        ]
        return modules + [{"what": command, "needs": "service_restart"} for command in state.waiting]


def _one_of(paths: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(
        fnmatch.fnmatchcase(path, f"*{pattern[1:]}" if pattern.startswith("~") else pattern)
        for path in paths
        for pattern in patterns
    )


@contextlib.contextmanager
def locked(files: Files) -> Iterator[None]:
    """Hold the lock that useradd and passwd take."""
    with open(files.at("/etc/.pwd.lock"), "a", encoding="ascii") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        yield
