# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every module that meta/runtime.yml sends here, as Ansible does, and shortens its failure in a stage.

Ansible requires that an action plugin has the name of a module.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action.normal import ActionModule as Normal
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure


class ActionModule(Normal):
    """Runs the module that the task names."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        return failure.answer(result, self._task, task_vars or {}, self._display.verbosity)
