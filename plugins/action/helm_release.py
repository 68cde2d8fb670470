# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One Helm release, with its changes in the journal; the documentation is in the module of the same name."""

from __future__ import annotations

import hashlib
import json
import shlex
from typing import TYPE_CHECKING, Any

from ansible.plugins.action import ActionBase
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.journal import Journal, Place
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure as stage_failure
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import journal

if TYPE_CHECKING:
    from collections.abc import Mapping

HELM, INFO = "kubernetes.core.helm", "kubernetes.core.helm_info"
PATH, KIND = "release", "Helm release "
# Options of kubernetes.core.helm beside the name and the namespace.
OPTIONS = ("chart_ref", "chart_repo_url", "chart_version", "release_values", "timeout")


class ActionModule(ActionBase):
    """Installs or upgrades a release with kubernetes.core.helm, or returns it to an earlier revision."""

    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        known = task_vars or {}
        try:
            args = self._task.args
            result.update((self._restore if args.get("state") == "restored" else self._install)(args, known))
            if self._task.diff and result["changed"]:
                result["diff"] = [{key: result["helm_release"][key] for key in ("before", "after")}]
        except OperatorError as error:
            result.update(failed=True, changed=False, msg=error.message, failure=error.failure)
        return stage_failure.answer(result, self._task, known, self._display.verbosity)

    def _install(self, args: Mapping[str, Any], known: dict[str, Any]) -> dict[str, Any]:
        label, before = _label(args), self._read(args, known)
        given = {key: args[key] for key in OPTIONS if args.get(key) is not None}
        # Helm removes what a failed installation left. Otherwise the next run would report it as installed.
        given.update(wait=True, atomic=True)
        planned = self._helm(given, args, known, True)
        if planned.get("failed") or not planned.get("changed") or self._task.check_mode:
            changes = [Change(PATH, before[0], given["chart_ref"])] if planned.get("changed") else []
            return _answer(label, changes, planned)
        return self._change(args, known, before, None, lambda: self._helm(given, args, known, False))

    def _restore(self, args: Mapping[str, Any], known: dict[str, Any]) -> dict[str, Any]:
        label, now, wanted = _label(args), self._read(args, known), args.get("content") or None
        changes = [Change(PATH, now[0], wanted)] if now[0] != wanted else []
        if not changes:
            return _answer(label, [], {})
        if wanted and self._of_revision(args, known) != wanted:
            raise OperatorError(
                label,
                f"cannot return to revision {args['revision']}",
                "Helm no longer has this revision with the content before the runs",
                "Check `helm history`, and set the release back by hand",
                "helm_revision_gone",
            )
        if self._task.check_mode:
            return _answer(label, changes, {})
        done = self._change(args, known, now, wanted, lambda: self._back(args, known, bool(wanted)))
        left = self._read(args, known)[0]
        if not done.get("failed") and left != wanted:
            raise not_proved(
                label, "the change had no effect", [Change(PATH, left, wanted)], "Check `helm history`", ""
            )
        return done

    def _change(
        self, args: Mapping[str, Any], known: dict[str, Any], before: tuple[Any, int], wanted: str | None, work: Any
    ) -> dict[str, Any]:
        """Do the work between the two lines of the journal."""
        ids = {"name": args["name"], "namespace": args["namespace"], "revision": before[1]}
        item: Item[None, None] = Item(_label(args), None, ids)
        item.changes = [Change(PATH, before[0], wanted)]
        place = journal.place(self, known)
        lines = Journal(Place(**json.loads(place)), _names(args), {}) if place else None
        if lines is not None:
            lines.planned([item])
        done = work()
        after = self._read(args, known)[0]
        changes = [Change(PATH, before[0], after)] if after != before[0] else []
        warning = lines.ended([(item, changes)]) if lines is not None else ""
        answer = _answer(item.label, changes, done)
        return {**answer, "warnings": [warning]} if warning else answer

    def _back(self, args: Mapping[str, Any], known: dict[str, Any], rollback: bool) -> dict[str, Any]:
        if not rollback:
            return self._helm({"release_state": "absent", "wait": True}, args, known, False)
        words = ["rollback", args["name"], str(args["revision"]), "--wait", "--timeout", args.get("timeout") or "300s"]
        status, output = self._run(words, args)
        return {"changed": True} if status == 0 else {"failed": True, "msg": f"Helm reports: {output.strip()}"}

    def _of_revision(self, args: Mapping[str, Any], known: dict[str, Any]) -> str | None:
        """The content of an earlier revision."""
        status, values = self._run(
            ["get", "values", args["name"], "--revision", str(args["revision"]), "-o", "json"], args
        )
        failed, history = self._run(["history", args["name"], "-o", "json"], args)
        if status or failed:
            return None
        charts = [one["chart"] for one in json.loads(history) if int(one["revision"]) == int(args["revision"])]
        return _content(charts[0], json.loads(values)) if charts else None

    def _run(self, words: list[str], args: Mapping[str, Any]) -> tuple[int, str]:
        where = ["--namespace", args["namespace"]]
        for option, flag in (("kubeconfig", "--kubeconfig"), ("context", "--kube-context")):
            where += [flag, args[option]] if args.get(option) else []
        done = self._low_level_execute_command(shlex.join(["helm", *words, *where]))
        return int(done["rc"]), str(done["stdout"] if done["rc"] == 0 else done["stderr"])

    def _read(self, args: Mapping[str, Any], known: dict[str, Any]) -> tuple[str | None, int]:
        """(content of the release or None, its revision)."""
        found = self._module(INFO, _connection(args), known, False)
        if found.get("failed"):
            raise OperatorError(
                _label(args),
                "cannot be read",
                str(found.get("msg") or "kubernetes.core.helm_info failed").strip().rstrip("."),
                "Check the program helm and the kubeconfig on the controller",
                "helm_not_read",
            )
        status = found.get("status") or {}
        if not status:
            return None, 0
        return _content(status["chart"], status.get("values")), int(status["revision"])

    def _helm(
        self, given: Mapping[str, Any], args: Mapping[str, Any], known: dict[str, Any], check: bool
    ) -> dict[str, Any]:
        return self._module(HELM, {**_connection(args), **given}, known, check)

    def _module(self, name: str, given: Mapping[str, Any], known: dict[str, Any], check: bool) -> dict[str, Any]:
        asked, self._task.check_mode = self._task.check_mode, check
        try:
            found: dict[str, Any] = self._execute_module(module_name=name, module_args=dict(given), task_vars=known)
        finally:
            self._task.check_mode = asked
        return found


def _connection(args: Mapping[str, Any]) -> dict[str, Any]:
    given = {"release_name": args["name"], "release_namespace": args["namespace"]}
    return {**given, **{key: args[key] for key in ("kubeconfig", "context") if args.get(key)}}


def _names(args: Mapping[str, Any]) -> dict[str, Any]:
    """What the journal keeps of the options: values of a chart may have secrets."""
    return {key: args[key] for key in ("name", "namespace")}


def _label(args: Mapping[str, Any]) -> str:
    return f"{KIND}{args['namespace']}/{args['name']}"


def _content(chart: str, values: Any) -> str:
    """The chart with its version, and a digest of the values. A rollback has the content of its revision."""
    digest = hashlib.sha256(json.dumps(values or {}, sort_keys=True).encode()).hexdigest()
    return f"{chart} {digest[:12]}"


def _answer(label: str, changes: list[Change], done: Mapping[str, Any]) -> dict[str, Any]:
    made = [one.as_result() for one in changes]
    item = {
        "name": label.removeprefix(KIND),
        "changed": bool(made),
        "before": {one["path"]: one["before"] for one in made},
        "after": {one["path"]: one["after"] for one in made},
        "changes": made,
        "pending": [],
        "failed": bool(done.get("failed")),
        "msg": str(done.get("msg") or ""),
        "failure": {},
    }
    kept = {key: done[key] for key in ("failed", "msg", "status", "exception") if key in done}
    return {**kept, "changed": bool(made), "helm_release": item}
