# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""mig_partition stays on the controller, see the documentation of the module of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import planned, run
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import params
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.partition import MigPartitions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Remote, RemoteModule


class ActionModule(RemoteAction):
    ARGUMENTS = params.ARGUMENTS

    def work(self, module: RemoteModule, remote: Remote) -> None:
        fail_if_invalid(module, params.check_params(module.params))
        try:
            noun = MigPartitions(module.params, remote, module.warn, planned(module, module.params["model"]))
            items = noun.items()
        except OperatorError as error:
            module.fail_json(msg=error.message, failure=error.failure, changed=False, gpus=[])
        run(module, noun, items, "gpus")
