# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of restore; the documentation is in the module of the same name."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ansible.plugins.action import ActionBase
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import (
    adapters,
    clusters,
    drivers,
    hosts,
    judge,
    machines,
    plan,
    table,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure as stage_failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COLLECTION = "aiready.vsphere."
# Runs modules without an action plugin of their own.
ANY = COLLECTION + "vcenter_access_info"
GONE = "The host does not list the device now. If it is only away, such as in passthrough mode, restore again later."


class ActionModule(ActionBase):
    """Runs the module of a step in check mode, and then for the settings that are as we left them."""

    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        step, known = self._task.args["step"], task_vars or {}
        try:
            result.update(self._restore(step, known))
        except OperatorError as error:
            result.update(failed=True, changed=False, msg=error.message, failure=error.failure)
        return stage_failure.answer(result, self._task, known, self._display.verbosity)

    def _restore(self, step: Mapping[str, Any], known: dict[str, Any]) -> dict[str, Any]:
        seen = self._module(step["module"], step["args"], known, True)
        if seen.get("failed"):
            rows = _of_others(step, seen)
            if not rows:
                return self._failed(step, seen)
            impossible = {row.setting for row in rows if row.state == judge.CANNOT}
            rest = plan.narrowed(step, set(step["back"]) - impossible) if impossible else None
            if rest is None:
                return self._answer(step, rows, [], [])
            fewer = self._restore({**step, "args": rest.args, "back": rest.back, "left": rest.left}, known)
            return fewer if fewer.get("failed") else {**fewer, "rows": [*fewer["rows"], *self._rows(step, rows)]}
        item = _item(seen, step)
        rows = judge.judge(step, item["changes"])
        due = [row.setting for row in rows if row.state == judge.DUE]
        kept = {row.setting for row in rows if row.state == judge.KEPT}
        pending = [one for one in item["pending"] if one["what"] not in kept]
        if due and (len(due) < len(rows) or judge.beside(step, item["changes"])):
            args, rows, due = self._fewer(step, rows, due, known)
        else:
            args = step["args"]
        if due and not self._task.check_mode:
            done = self._module(step["module"], args, known, False)
            if done.get("failed"):
                rows = _of_others(step, done)
                return self._answer(step, rows, [], pending) if rows else self._failed(step, done)
            item = _item(done, step)
            pending = [one for one in item["pending"] if one["what"] not in kept]
        made = [change for change in item["changes"] if change["path"] in due]
        if not self._task.check_mode:
            rows = [
                judge.Row(row.setting, judge.RESTORED, row.back, row.left, row.found) if row.setting in due else row
                for row in rows
            ]
        return self._answer(step, rows, made, pending)

    def _fewer(
        self, step: Mapping[str, Any], rows: list[judge.Row], due: list[str], known: dict[str, Any]
    ) -> tuple[Mapping[str, Any], list[judge.Row], list[str]]:
        """Arguments for the due settings alone. If the module cannot leave out the others, nothing is due."""
        one = plan.narrowed(step, due)
        if one is not None:
            seen = self._module(step["module"], one.args, known, True)
            would = _item(seen, step)["changes"]
            # The module may not accept these values beside those that somebody changed.
            if not seen.get("failed") and not judge.beside({"back": one.back, "follows": one.follows}, would):
                return one.args, rows, due
        kept = [judge.Row(row.setting, judge.KEPT, row.back, row.left, row.found) for row in rows]
        return step["args"], kept, []

    def _module(self, name: str, args: Mapping[str, Any], known: dict[str, Any], check: bool) -> dict[str, Any]:
        """The result of a module of this collection, with the connections of the task."""
        whole = COLLECTION + name
        task = self._task.copy()
        task.action = whole
        task.check_mode = check
        task.args = {**self._connections(name), **args, **(self._task.args.get("options") or {})}
        loader = self._shared_loader_obj.action_loader
        action = loader.get(
            whole if loader.has_plugin(whole) else ANY,
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        found: dict[str, Any] = action.run(task_vars=known)
        return found

    def _connections(self, name: str) -> dict[str, Any]:
        """The connection options of the task that this module has."""
        if name in (*table.ON_HOST, *table.OF_CLUSTER):
            return {}
        given = {key: value for key, value in self._task.args.items() if key not in ("step", "options")}
        return {key: value for key, value in given.items() if (key in BMC) == (name in table.OF_BMC)}

    @staticmethod
    def _failed(step: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
        kept = {key: answer[key] for key in ("msg", "failure", "exception") if key in answer}
        return dict(kept, failed=True, changed=bool(answer.get("changed")), rows=[], step=step["object"])

    def _answer(
        self,
        step: Mapping[str, Any],
        rows: list[judge.Row],
        made: list[dict[str, Any]],
        pending: list[dict[str, Any]],
    ) -> dict[str, Any]:
        item = {
            "name": step["object"],
            "moid": step["entries"][-1]["ids"].get("moid"),
            "changed": bool(made),
            "before": {change["path"]: change["before"] for change in made},
            "after": {change["path"]: change["after"] for change in made},
            "changes": made,
            "pending": pending,
            "failed": False,
            "msg": "",
            "failure": {},
        }
        answer: dict[str, Any] = {"changed": bool(made), "restored": item, "rows": self._rows(step, rows)}
        if self._task.diff and made:
            header = f"{step['object']} ({step['stage']})"
            answer["diff"] = [
                {
                    "before_header": header,
                    "after_header": header,
                    "before": item["before"],
                    "after": item["after"],
                }
            ]
        return answer

    @staticmethod
    def _rows(step: Mapping[str, Any], rows: list[judge.Row]) -> list[dict[str, Any]]:
        return [dict(asdict(row), stage=step["stage"], host=step["host"], object=step["object"]) for row in rows]


def _of_others(step: Mapping[str, Any], seen: Mapping[str, Any]) -> list[judge.Row]:
    """Rows for settings that the module cannot restore, or for an object that is gone; empty for any other failure."""
    code = (seen.get("failure") or {}).get("code")
    if code == hosts.MODE_LOST:
        modes = [path for path in step["back"] if path.endswith(hosts.MODE)]
        lost = [str(one.get("device")) for one in seen["failure"].get("devices") or []]
        # The name of a device begins with its address, which is part of the path. Other devices get their mode.
        of_lost = [path for path in modes if any(hosts.device_of(path) == name.split(" ")[0] for name in lost)]
        return _cannot(step, of_lost or modes, str(seen.get("msg") or code))
    gone = hosts.of_gone(step, seen.get("failure") or {})
    if gone:
        return _cannot(step, gone, GONE)
    if step["module"] == drivers.MODULE and code in drivers.OF_PACKAGE:
        return _cannot(step, step["back"], drivers.advice(step, str(seen.get("msg") or code)))
    if step["module"] == clusters.HELM and code in (clusters.GONE, clusters.UNFINISHED):
        return _cannot(step, step["back"], str(seen.get("msg") or code))
    if step["module"] in clusters.INVERSE and code in clusters.OF_OTHERS:
        found = str(seen.get("msg") or code)
        return [judge.Row(path, judge.KEPT, back, step["left"][path], found) for path, back in step["back"].items()]
    if step["module"] not in machines.OF_VMS:
        return []
    if code == machines.GONE and step.get("whole"):
        return [judge.Row(path, judge.ALREADY, back, step["left"][path], back) for path, back in step["back"].items()]
    if code == machines.GONE:
        found = "the VM does not exist"
    elif step.get("whole") and code in machines.OF_OTHERS:
        found = str(seen.get("msg") or code)
    else:
        return []
    return [judge.Row(path, judge.KEPT, back, step["left"][path], found) for path, back in step["back"].items()]


def _cannot(step: Mapping[str, Any], paths: Iterable[str], why: str) -> list[judge.Row]:
    return [judge.Row(path, judge.CANNOT, step["back"][path], step["left"][path], None, why) for path in paths]


def _item(answer: Mapping[str, Any], step: Mapping[str, Any]) -> dict[str, Any]:
    """The one object in the result of a module. A fleet of one is a list of one."""
    found = _object(answer)
    if step["module"] in machines.WITH_ADAPTERS:
        # The power cycle of a running VM is no setting of a step.
        lasting = [change for change in found["changes"] if change["path"] not in machines.PASSING]
        found["changes"] = adapters.lasting(lasting)
    return found


def _object(answer: Mapping[str, Any]) -> dict[str, Any]:
    for value in answer.values():
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(one, dict) and {"changes", "before", "after"} <= set(one):
            return dict({"pending": []}, **one)
    return {"changes": [], "pending": []}
