# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""guest_roce_info runs on the controller; the module of the same name documents it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import guest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Remote, RemoteModule


class ActionModule(RemoteAction):
    ARGUMENTS = guest.ARGUMENTS

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._host = (task_vars or {}).get("inventory_hostname") or self._play_context.remote_addr
        return super().run(tmp, task_vars)

    def work(self, module: RemoteModule, remote: Remote) -> None:
        try:
            found = guest.look(remote, self._host, module.params)
        except OperatorError as error:
            module.fail_json(msg=error.message, failure=error.failure, changed=False)
        module.exit_json(changed=False, guest=found)
