# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress for the module of this name: the wait is cut into slices, and after each the operator is told."""

from __future__ import annotations

import time

from ansible.module_utils.common.validation import check_type_int
from ansible.plugins.action import ActionBase

SLICE_S = 60
DEFAULT_TIMEOUT_S = 1800


class ActionModule(ActionBase):
    """Runs the module until the host is back or the time is over."""

    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = dict(self._task.args)
        try:
            limit_s = check_type_int(args.get("timeout_s", DEFAULT_TIMEOUT_S))
        except TypeError:
            limit_s = SLICE_S  # the module says what is wrong with it
        name, reasons = args.get("host"), args.get("reasons") or []
        if reasons and args.get("state", "rebooted") == "rebooted" and not self._task.check_mode:
            self._display.display(f"{name}: restarting, because {', '.join(map(str, reasons))}.")
        began = time.monotonic()
        first = None
        while True:
            left_s = limit_s - int(time.monotonic() - began)
            answer = self._execute_module(
                module_name="aiready.vsphere.esxi_reboot",
                module_args=dict(args, timeout_s=max(1, min(SLICE_S, left_s)) if limit_s > 0 else limit_s),
                task_vars=task_vars,
            )
            first = first or answer
            waited_s = int(time.monotonic() - began)
            failure = answer.get("failure") or {}
            if failure.get("code") != "host_not_back" or waited_s >= limit_s:
                break
            self._display.display(
                f"{name}: not back after {waited_s} of {limit_s} seconds; vCenter sees it as {failure['connection']}."
            )
            args.update(state="back", booted_after=failure["later_than"])
        result.update(_whole(first, answer, limit_s))
        return result


def _whole(first, last, limit_s):
    """The last answer, with the beginning as the first slice found it."""
    if first is last:
        return last
    host = dict(last["host"], before=first["host"]["before"], changes=first["host"]["changes"])
    host["changed"] = last["changed"] = first["changed"] or last["changed"]
    return dict(last, host=host)
