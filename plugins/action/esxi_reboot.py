# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress for the module of this name: the wait is cut into slices, and the plugin reports after each slice."""

from __future__ import annotations

import time
from typing import Any, Callable, Mapping

from ansible.module_utils.common.validation import check_type_int
from ansible.plugins.action import ActionBase
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure as stage_failure
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import progress

MODULE = "aiready.vsphere.esxi_reboot"
SLICE_S = 60
DEFAULT_TIMEOUT_S = 1800


class ActionModule(ActionBase):
    """Runs the module until the host is back or the time is over."""

    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        args = dict(self._task.args)
        reasons = ", ".join(map(str, args.get("reasons") or []))
        if reasons and not self._task.check_mode:
            self._display.v(f"{args.get('host')}: restarting, because of {reasons}.")

        def run(given: dict[str, Any]) -> dict[str, Any]:
            return self._execute_module(module_name=MODULE, module_args=given, task_vars=task_vars)

        def report(text: str) -> None:
            progress.report(self._display, text)

        result.update(follow(args, run, report))
        return stage_failure.answer(result, self._task, task_vars or {}, self._display.verbosity)


def follow(
    args: dict[str, Any],
    run: Callable[[dict[str, Any]], dict[str, Any]],
    report: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """The answer of the module to a whole wait, which run does slice by slice."""
    limit_s = _limit(args)
    if limit_s is None or limit_s <= SLICE_S:
        return run(args)
    began, first, args = now(), None, dict(args)
    while True:
        slice_s = max(1, min(SLICE_S, limit_s - int(now() - began)))
        answer = run(dict(args, timeout_s=slice_s))
        waited_s = int(now() - began)
        failure = answer.get("failure") or {}
        if failure.get("code") != "host_not_back" or waited_s >= limit_s:
            answer = _limited(answer, slice_s, limit_s)
            return answer if first is None else _whole(first, answer)
        report(
            f"{args['host']}: not back after {waited_s} of {limit_s} seconds; "
            f"vCenter reports the connection state {failure['connection']}."
        )
        first = first or answer
        args.update(state="back", booted_after=failure["later_than"])


def _limit(args: Mapping[str, Any]) -> int | None:
    """The limit in seconds; None for one that the module rejects."""
    try:
        return check_type_int(args.get("timeout_s", DEFAULT_TIMEOUT_S))
    except TypeError:
        return None


def _limited(answer: dict[str, Any], slice_s: int, limit_s: int) -> dict[str, Any]:
    """The answer with the limit of the task instead of that of the last slice."""
    if not answer.get("failed") or "msg" not in answer:
        return answer
    msg = answer["msg"].replace(f"within {slice_s} seconds", f"within {limit_s} seconds")
    return dict(answer, msg=msg, host=dict(answer["host"], msg=msg)) if "host" in answer else dict(answer, msg=msg)


def _whole(first: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """The last answer, with what the first slice found and changed; the last one may be a failure before any look."""
    changed = first["changed"] or last.get("changed", False)
    host = dict(last.get("host", first["host"]), before=first["host"]["before"], changes=first["host"]["changes"])
    return dict(last, host=dict(host, changed=changed), changed=changed)
