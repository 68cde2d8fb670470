# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every module that meta/runtime.yml sends here, as Ansible does. Names the journal of changes to modules on the
controller, and shortens failures in a stage.

Ansible requires that an action plugin has the name of a module.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action.normal import ActionModule as Normal
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.journal import VARIABLE, visit
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure, journal


class ActionModule(Normal):
    """Runs the module that the task names."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        place = journal.place(self, task_vars or {})
        if place and self._connection.transport == "local":
            self._task.environment = [*(self._task.environment or []), {VARIABLE: place}]
        elif place:
            # The record of its changes is on the guest itself. The journal only notes that there is one.
            try:
                visit(place)
            except OperatorError as error:
                result = {"failed": True, "changed": False, "msg": error.message, "failure": error.failure}
                return failure.answer(result, self._task, task_vars or {}, self._display.verbosity)
        result = super().run(tmp, task_vars)
        return failure.answer(result, self._task, task_vars or {}, self._display.verbosity)
