# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Training runs; the documentation is in the module of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.training import params
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.guests import GuestsAction
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import noun as training_noun
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import reach

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.plan import Plan
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteModule


class ActionModule(GuestsAction):
    """One run on all of its guests."""

    ARGUMENTS = params.ARGUMENTS
    RELATIONS = params.RELATIONS
    WHAT, PREFIX = "The training was", "training: "

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        return params.check_params(given)

    def meet(self, module: RemoteModule, task_vars: dict[str, Any]) -> None:
        label, request = training_noun.new_run(), params.request_of(module.params)
        items: list[Item[TrainingRequest, Plan]] = [Item(label, request, {"name": label})]
        with reach.opened(self, [host.name for host in request.hosts], task_vars) as guests:
            noun = training_noun.TrainingRun(request, guests, self.say, module.warn)
            run(module, noun, items, "training", single=True)
