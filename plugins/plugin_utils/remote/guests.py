# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Base of the action plugins that work on many guests: parameters and interruption."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping

from ansible.errors import AnsibleError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted, interruptible
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import progress

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Remote, RemoteModule


class GuestsAction(RemoteAction):
    """Runs on the controller and works on all guests, over connections of their own. A subclass says in meet() how."""

    # The guests have their own connections.
    _requires_connection = False
    # The interrupted work, and the prefix of each progress line.
    WHAT, PREFIX = "", ""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._known = task_vars or {}
        try:
            return super().run(tmp, task_vars)
        except Interrupted as end:
            # After the cleanup, the process ends as it would have ended.
            if end.args:
                os.kill(os.getpid(), end.args[0])
            raise AnsibleError(f"{self.WHAT} interrupted.") from None

    def work(self, module: RemoteModule, remote: Remote) -> None:
        fail_if_invalid(module, self.problems(module.params), changed=False)
        try:
            with interruptible():
                self.meet(module, self._known)
        except OperatorError as trouble:
            module.fail_json(msg=trouble.message, failure=trouble.failure, changed=False)

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        """All problems of the parameters, as sentences."""
        raise NotImplementedError

    def meet(self, module: RemoteModule, task_vars: dict[str, Any]) -> None:
        """Do the work, and leave by module.exit_json or module.fail_json."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Report the progress."""
        progress.report(self._display, f"{self.PREFIX}{text}")
