# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One Helm release, with its changes in the journal; the documentation is in the module of the same name."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from ansible.module_utils.common.yaml import yaml_load
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.journal import Journal, Place
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import (
        Completed,
        Remote,
        RemoteModule,
    )

HELM, INFO = "kubernetes.core.helm", "kubernetes.core.helm_info"
PATH, KIND = "release", "Helm release "
STATUS, DEPLOYED, FAILED = "status", "deployed", "failed"
# Options of kubernetes.core.helm beside the name and the namespace.
OPTIONS = ("chart_ref", "chart_repo_url", "chart_version", "release_values", "timeout")
HISTORY = "Check `helm history`"
# Without them, Helm lists only the first two. A release that was uninstalled is absent.
STATUSES = ("deployed", "failed", "pending", "uninstalling")
# A killed Helm leaves these statuses, and rejects the next change. The command removes or returns the release.
UNFINISHED = {
    "pending-install": "uninstall",
    "pending-upgrade": "rollback",
    "pending-rollback": "rollback",
    "uninstalling": "uninstall",
}


class ActionModule(RemoteAction):
    """Installs or upgrades a release with kubernetes.core.helm, or returns it to an earlier revision."""

    ARGUMENTS = {
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["present", "restored"], "default": "present"},
        "chart_ref": {"type": "path"},
        "chart_repo_url": {"type": "str"},
        "chart_version": {"type": "str"},
        "release_values": {"type": "dict"},
        "timeout": {"type": "str"},
        "content": {"type": "str"},
        "revision": {"type": "int"},
        "kubeconfig": {"type": "path"},
        "context": {"type": "str"},
    }
    # A revision without its content would uninstall the release.
    RELATIONS = {
        "required_if": [("state", "present", ("chart_ref",))],
        "required_together": [("content", "revision")],
    }

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._known = task_vars or {}
        return super().run(tmp, task_vars)

    def work(self, module: RemoteModule, remote: Remote) -> None:
        self._module, self._remote, self._args = module, remote, module.params
        self._label = f"{KIND}{self._args['namespace']}/{self._args['name']}"
        try:
            answer = self._restore() if self._args["state"] == "restored" else self._install()
        except OperatorError as error:
            module.fail_json(msg=error.message, failure=error.failure, changed=False)
        if self._task.diff and answer["changed"]:
            answer["diff"] = [{key: answer["helm_release"][key] for key in ("before", "after")}]
        module.exit_json(**answer)

    def _install(self) -> dict[str, Any]:
        before = self._read()
        given = {key: self._args[key] for key in OPTIONS if self._args[key] is not None}
        # Helm removes what a failed installation left. Otherwise the next run would report it as installed.
        given.update(wait=True, atomic=True)
        wanted = "cannot be installed or upgraded"
        planned = self._execute(HELM, given, True)
        if planned.get("failed"):
            return self._answer([], self._failure(planned, wanted))
        # Newer releases of kubernetes.core take a failed release for a change, and older ones do not.
        if before[2] == FAILED and (not planned.get("changed") or self._requested(wanted) == before[0]):
            return self._repeat(wanted)
        if not planned.get("changed"):
            return self._answer([], None)
        if self._module.check_mode:
            after = self._requested(wanted)
            return self._answer([Change(PATH, before[0], after)] if after != before[0] else [], None)
        return self._change(before, None, lambda: self._failure(self._execute(HELM, given, False), wanted))

    def _repeat(self, wanted: str) -> dict[str, Any]:
        """Install a failed release again. kubernetes.core.helm compares only its content, which is the requested one.

        The journal needs no line, because it has contents, and this one does not change.
        """
        words = ["upgrade", self._args["name"], *self._chart(), "--install", "--wait", "-f=-"]
        words += [f"--timeout={self._args['timeout']}"] if self._args["timeout"] else []

        def upgrade() -> OperatorError | None:
            # Over stdin, because values may have secrets.
            done = self._run(*words, stdin=json.dumps(self._args["release_values"] or {}))
            return self._failure({"failed": done.rc != 0, "stderr": done.stderr}, wanted)

        return self._again(upgrade)

    def _again(self, work: Callable[[], OperatorError | None]) -> dict[str, Any]:
        """Do the work on a failed release that has the requested content."""
        error, reached = None, DEPLOYED
        if not self._module.check_mode:
            error = work()
            try:
                reached = self._read()[2]
            except OperatorError as unread:
                # An error of Helm is the cause of the other one.
                raise error or unread from None
        return self._answer([Change(STATUS, FAILED, reached)] if reached != FAILED else [], error)

    def _chart(self) -> list[str]:
        words = [self._args["chart_ref"]]
        for option, flag in (("chart_repo_url", "--repo"), ("chart_version", "--version")):
            words += [f"{flag}={self._args[option]}"] if self._args[option] else []
        return words

    def _requested(self, wanted: str) -> str:
        """The content that the release would have: a plan and its run announce the same."""
        done = self._run("show", "chart", *self._chart())
        error = self._failure({"failed": done.rc != 0, "stderr": done.stderr}, wanted)
        if error:
            raise error
        chart = yaml_load(done.stdout)
        return _content(f"{chart['name']}-{chart['version']}", self._args["release_values"])

    def _restore(self) -> dict[str, Any]:
        now, wanted = self._read(), self._args["content"] or None
        if now[0] == wanted and now[2] != FAILED:
            return self._answer([], None)
        if wanted and self._of_revision() != wanted:
            raise OperatorError(
                self._label,
                f"cannot return to revision {self._args['revision']}",
                "Helm no longer has this revision with the content before the runs",
                f"{HISTORY}, and set the release back by hand",
                "helm_revision_gone",
            )
        if now[0] == wanted:
            # An earlier rollback failed. Helm gives the release the content of its target also then.
            return self._again(self._roll_back)
        if self._module.check_mode:
            return self._answer([Change(PATH, now[0], wanted)], None)
        done = self._change(now, wanted, self._roll_back if wanted else self._uninstall)
        left = done["helm_release"]["after"].get(PATH, now[0])
        if not done.get("failed") and left != wanted:
            raise not_proved(self._label, "the change had no effect", [Change(PATH, left, wanted)], HISTORY, "")
        return done

    def _change(
        self, before: tuple[str | None, int, str], wanted: str | None, work: Callable[[], OperatorError | None]
    ) -> dict[str, Any]:
        """Do the work between the two lines of the journal."""
        # The journal has no options besides: values of a chart may have secrets.
        names = {key: self._args[key] for key in ("name", "namespace")}
        item: Item[None, None] = Item(self._label, None, {**names, "revision": before[1]})
        item.changes = [Change(PATH, before[0], wanted)]
        place = self._module.journal
        lines = Journal(Place(**json.loads(place)), names, {}) if place else None
        if lines is not None:
            lines.planned([item])
        item.error = work()
        try:
            after = self._read()[0]
        except OperatorError as unread:
            # An error of Helm is the cause of the other one.
            raise item.error or unread from None
        changes = [Change(PATH, before[0], after)] if after != before[0] else []
        warning = lines.ended([(item, changes)]) if lines is not None else ""
        if warning:
            self._module.warn(warning)
        return self._answer(changes, item.error)

    def _roll_back(self) -> OperatorError | None:
        revision = str(self._args["revision"])
        done = self._run(
            "rollback", self._args["name"], revision, "--wait", "--timeout", self._args["timeout"] or "300s"
        )
        return self._failure({"failed": done.rc != 0, "stderr": done.stderr}, f"cannot return to revision {revision}")

    def _uninstall(self) -> OperatorError | None:
        given = {"release_state": "absent", "wait": True}
        return self._failure(self._execute(HELM, given, False), "cannot be uninstalled")

    def _of_revision(self) -> str | None:
        """The content of an earlier revision."""
        name, revision = self._args["name"], self._args["revision"]
        values = self._run("get", "values", name, "--revision", str(revision), "-o", "yaml")
        history = self._run("history", name, "-o", "json")
        if values.rc or history.rc:
            return None
        charts = [one["chart"] for one in json.loads(history.stdout) if int(one["revision"]) == revision]
        return _content(charts[0], yaml_load(values.stdout)) if charts else None

    def _target(self) -> str:
        """The revision that a killed rollback returns to. Without it, Helm takes the one that the rollback leaves."""
        history = self._run("history", self._args["name"], "-o", "json")
        last = json.loads(history.stdout or "[]")[-1:] if history.rc == 0 else []
        # Helm writes it when the rollback begins (pkg/action/rollback.go).
        found = re.fullmatch(r"Rollback to (\d+)", str(last[0].get("description"))) if last else None
        return found[1] if found else str(self._args["revision"] or "")

    def _run(self, *words: str, stdin: str = "") -> Completed:
        where = ["--namespace", self._args["namespace"]]
        for option, flag in (("kubeconfig", "--kubeconfig"), ("context", "--kube-context")):
            where += [flag, self._args[option]] if self._args[option] else []
        return self._remote.run(["helm", *words, *where], stdin)

    def _read(self) -> tuple[str | None, int, str]:
        """(content of the release or None, its revision, its status)."""
        found = self._execute(INFO, {"release_state": list(STATUSES)}, False)
        if found.get("failed"):
            raise OperatorError(
                self._label,
                "cannot be read",
                _reported(found),
                "Check the program helm and the kubeconfig on the controller",
                "helm_not_read",
            )
        status = found.get("status") or {}
        if not status:
            return None, 0, ""
        fix = UNFINISHED.get(status["status"])
        if fix:
            target = self._target() if status["status"] == "pending-rollback" else ""
            command = " ".join(["helm", fix, self._args["name"], *([target] if target else [])])
            command += f" --namespace {self._args['namespace']}"
            raise OperatorError(
                self._label,
                "cannot be changed",
                f"Its status is {status['status']}, because Helm still runs or was killed",
                f"If no Helm runs, run `{command}`. Then run again",
                "helm_unfinished",
            )
        return _content(status["chart"], status.get("values")), int(status["revision"]), str(status["status"])

    def _execute(self, name: str, given: Mapping[str, Any], check: bool) -> dict[str, Any]:
        release = {"release_name": self._args["name"], "release_namespace": self._args["namespace"]}
        connection = {key: self._args[key] for key in ("kubeconfig", "context") if self._args[key]}
        asked, self._task.check_mode = self._task.check_mode, check
        try:
            found: dict[str, Any] = self._execute_module(
                module_name=name, module_args={**release, **connection, **given}, task_vars=self._known
            )
        finally:
            self._task.check_mode = asked
        return found

    def _failure(self, done: Mapping[str, Any], wanted: str) -> OperatorError | None:
        if not done.get("failed"):
            return None
        fix = f"{HISTORY} and the pods of the release, correct the cause, and run again"
        return OperatorError(self._label, wanted, _reported(done), fix, "helm_failed")

    def _answer(self, changes: list[Change], error: OperatorError | None) -> dict[str, Any]:
        made = [one.as_result() for one in changes]
        failed = {"failed": True, "msg": error.message, "failure": error.failure} if error else {}
        item = {
            "name": self._label[len(KIND) :],
            "changed": bool(made),
            "before": {one["path"]: one["before"] for one in made},
            "after": {one["path"]: one["after"] for one in made},
            "changes": made,
            "pending": [],
            "failed": False,
            "msg": "",
            "failure": {},
            **failed,
        }
        return {**failed, "changed": bool(made), "helm_release": item}


def _reported(done: Mapping[str, Any]) -> str:
    return str(done.get("stderr") or done.get("msg") or "").strip() or "Helm reports no reason"


def _content(chart: str, values: Any) -> str:
    """The chart with its version, and a digest of the values. A rollback has the content of its revision."""
    digest = hashlib.sha256(json.dumps(values or {}, sort_keys=True, default=str).encode()).hexdigest()
    return f"{chart} {digest[:12]}"
