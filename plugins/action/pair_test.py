# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests between pairs of guests; the documentation is in the module of the same name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core import evidence
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params, rounds
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.guests import GuestsAction
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import reach as training_reach
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.noun import new_run
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.pair_steps import PairSteps
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.pair_watch import PairWatch

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteModule


class ActionModule(GuestsAction):
    """Tests between all pairs of guests."""

    ARGUMENTS = params.ARGUMENTS
    RELATIONS = params.RELATIONS
    WHAT, PREFIX = "The tests were", "pairs: "

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        return params.check_params(given)

    def meet(self, module: RemoteModule, task_vars: dict[str, Any]) -> None:
        request = params.request_of(module.params)
        names = [guest.name for guest in request.guests]
        kept = Evidence(request.result_dir, module.warn)
        reach = training_reach.opened(self, names, task_vars), training_reach.opened(self, names, task_vars)
        with reach[0] as guests, reach[1] as control:
            watch = PairWatch(request, guests, control, PairSteps(request, new_run()), self.say, kept.keep)
            watch.look()
            if not module.check_mode:
                watch.run()
        for name in watch.not_tidied:
            module.warn(f"Cannot clean up {name}. The test programs on it end by themselves.")
        module.exit_json(changed=False, **answer(watch, names, request.rounds))


def answer(watch: PairWatch, names: Sequence[str], most: int | None) -> dict[str, Any]:
    """The result, with the same keys in check mode."""
    return {
        "measurements": watch.measurements,
        "planned": watch.planned(),
        "rounds": [[list(pair) for pair in pairs] for pairs in rounds.rounds(names, most)],
        "lost": dict(watch.lost),
        "out": dict(watch.out),
    }


class Evidence:
    """Files with all output. A full disk on the controller does not stop a test."""

    def __init__(self, folder: str | None, warn: Callable[[str], None]) -> None:
        self._folder = os.path.expanduser(folder) if folder else None
        self._warn, self._warned = warn, False

    def keep(self, words: Sequence[str], text: str) -> str:
        """Write one file; returns its path in the result folder, or an empty text if it was not written."""
        if self._folder is None:
            return ""
        place = evidence.place(*words)
        try:
            evidence.write(self._folder, place, text)
        except OSError as trouble:
            if not self._warned:
                self._warn(f"Cannot write evidence to {self._folder}: {trouble.strerror}.")
            self._warned = True
            return ""
        return place
