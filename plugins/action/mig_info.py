# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""mig_info stays on the controller, see the documentation of the module of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import info, params
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Remote, RemoteModule


class ActionModule(RemoteAction):
    ARGUMENTS = params.INFO_ARGUMENTS

    def work(self, module: RemoteModule, remote: Remote) -> None:
        try:
            gpus, missing, sentence = info.look(remote, module.params["gpus"])
        except OperatorError as error:
            module.fail_json(msg=error.message, failure=error.failure, changed=False, gpus=[], missing=[])
        if sentence:
            module.warn(f"{sentence}.")
        module.exit_json(changed=False, gpus=gpus, missing=missing)
