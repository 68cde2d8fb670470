# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests between pairs of guests; the documentation stands in the module of the same name."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible_collections.aiready.vsphere.plugins.module_utils.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.pairs.params import ARGUMENTS, RELATIONS, check_params
from ansible_collections.aiready.vsphere.plugins.module_utils.validation import rounds
from ansible_collections.aiready.vsphere.plugins.plugin_utils import progress, training_reach
from ansible_collections.aiready.vsphere.plugins.plugin_utils.interruption import Interrupted, interruptible
from ansible_collections.aiready.vsphere.plugins.plugin_utils.pair_steps import PairSteps
from ansible_collections.aiready.vsphere.plugins.plugin_utils.pair_watch import PairWatch
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote import Left, RemoteModule
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training_noun import new_run

EVIDENCE = "evidence"


class ActionModule(ActionBase):
    """Runs on the controller and works on all guests, over connections of their own."""

    TRANSFERS_FILES = False
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
            raise AnsibleError("The tests were interrupted.") from None
        return result

    def _work(self, module, task_vars):
        params = module.params
        names = [guest["name"] for guest in params["guests"]]
        evidence = Evidence(params["result_dir"], module.warn)
        try:
            reach = training_reach.opened(self, names, task_vars), training_reach.opened(self, names, task_vars)
            with reach[0] as guests, reach[1] as control:
                watch = PairWatch(params, guests, control, PairSteps(params, new_run()), self._say, evidence.keep)
                watch.look()
                if not module.check_mode:
                    watch.run()
        except OperatorError as trouble:
            module.fail_json(msg=trouble.message, failure=trouble.failure, changed=False)
        for name in watch.not_tidied:
            module.warn(f"{name} could not be tidied up. Programs of the tests end there by themselves.")
        module.exit_json(changed=False, **answer(watch, names, params["rounds"]))

    def _say(self, text):
        progress.tell(self._display, f"pairs: {text}")


def answer(watch, names, most):
    """The result, with the same keys in check mode."""
    return {
        "measurements": watch.measurements,
        "planned": watch.planned(),
        "rounds": [[list(pair) for pair in pairs] for pairs in rounds.rounds(names, most)],
        "lost": dict(watch.lost),
        "out": dict(watch.out),
    }


class Evidence:
    """Files with all that was printed. A full disk on the controller does not end a test."""

    def __init__(self, folder, warn):
        self._folder = Path(os.path.expanduser(folder)) if folder else None
        self._warn, self._warned = warn, False

    def keep(self, name, text):
        """Write one, and tell where it is in the folder of results; an empty text where it is not."""
        if self._folder is None:
            return ""
        place = f"{EVIDENCE}/{re.sub(r'[^A-Za-z0-9._-]', '_', name)}.txt"
        try:
            path = self._folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as trouble:
            if not self._warned:
                self._warn(f"Evidence could not be written to {self._folder}: {trouble.strerror}.")
            self._warned = True
            return ""
        return place
