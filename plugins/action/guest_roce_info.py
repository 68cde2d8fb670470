# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""guest_roce_info stays on the controller, see the documentation of the module of the same name."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import guest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction


class ActionModule(RemoteAction):
    ARGUMENTS = guest.ARGUMENTS

    def run(self, tmp=None, task_vars=None):
        self._host = (task_vars or {}).get("inventory_hostname") or self._play_context.remote_addr
        return super().run(tmp, task_vars)

    def work(self, module, remote):
        try:
            found = guest.look(remote, self._host, module.params)
        except OperatorError as error:
            module.fail_json(msg=error.message, failure=error.failure, changed=False)
        module.exit_json(changed=False, guest=found)
