# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Training runs; the documentation stands in the module of the same name."""

from __future__ import annotations

import os

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible_collections.aiready.vsphere.plugins.module_utils.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import ARGUMENTS, RELATIONS, check_params
from ansible_collections.aiready.vsphere.plugins.plugin_utils import progress, training_noun, training_reach
from ansible_collections.aiready.vsphere.plugins.plugin_utils.interruption import Interrupted, interruptible
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote import Left, RemoteModule


class ActionModule(ActionBase):
    """Runs on the controller and works on all guests of the run, over their own connections."""

    TRANSFERS_FILES = False
    # The guests are reached by connections of their own.
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        try:
            module = RemoteModule(self, ARGUMENTS, RELATIONS)
            problems = check_params(module.params)
            if problems:
                failure = {"code": "invalid_parameters", "problems": problems}
                module.fail_json(msg=" ".join(problems), failure=failure, changed=False)
            with interruptible():
                self._work(module, task_vars or {})
        except Left as end:
            result.update(end.answer)
        except Interrupted as end:
            # Tidied up; now it ends as it would have.
            if end.args:
                os.kill(os.getpid(), end.args[0])
            raise AnsibleError("The training was interrupted.") from None
        return result

    def _work(self, module, task_vars):
        params = module.params
        label = training_noun.new_run()
        items = [Item(label, params, {"name": label})]
        try:
            with training_reach.opened(self, [host["name"] for host in params["hosts"]], task_vars) as guests:
                noun = training_noun.TrainingRun(params, guests, self._say, module.warn)
                run(module, noun, items, "training", single=True)
        except OperatorError as trouble:
            module.fail_json(msg=trouble.message, failure=trouble.failure, changed=False)

    def _say(self, text):
        progress.tell(self._display, f"training: {text}")
