# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Ansible's events for callbacks, forwarded to the course of a run and the folder of its results."""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING

from ansible import context
from ansible.errors import AnsibleError
from ansible.template import Templar
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import results as run_results
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import Course
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.record import Folder
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import unreadable_files
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansible.executor.stats import AggregateStats
    from ansible.executor.task_result import TaskResult
    from ansible.inventory.host import Host
    from ansible.playbook import Playbook
    from ansible.playbook.play import Play
    from ansible.playbook.task import Task
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import Stage
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.results import Seen

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19 every text was a template

    def trust_as_template(text: str) -> str:
        return text


# Variables of the folders, from the inventory, a play or the command line.
_RUN_FOLDER = "{{ aiready_run_folder | default('', true) }}"
_PLAN = "{{ aiready_plan | default('', true) }}"
_TARGET = "{{ aiready_results_target | default('', true) }}"
# The folder of the journal of the site.
_JOURNAL = """{{ (site | default({}, true))
| aiready.vsphere.journal_folder(aiready_journal | default('', true), aiready_results | default('', true)) }}"""
_RESULTS = """{{ aiready_results if aiready_results is defined
else ((site | default({}, true)).validation | default({}, true)).result_dir
| default(((site | default({}, true)).training | default({}, true)).result_dir | default('')) }}"""
_INPUTS = "{{ site | default({}, true) | aiready.vsphere.plan_inputs(groups, hostvars) }}"
# Simulated parts of the site. The report labels them.
_SIMULATED = (
    "{{ ((site | default({}, true)).validation | default({}, true)).simulated | default([], true) | join(' ') }}"
)


class Listener:
    """One for each callback plugin, which forwards its events."""

    def __init__(self, run_folder: str = "", results: str = "", course: Course | None = None) -> None:
        self.course = course or Course()
        self.folder = Folder(run_folder, results)
        self.simulated: list[str] = []
        self.inputs: dict[str, str] = {}  # in check mode, the digests of what the plan was made from
        self.plan = ""  # the folder of the run that planned this one in check mode
        self.target = ""  # where the results of this run are copied to
        self.journal = ""  # the folder of the journal of the site
        self._asks = not run_folder
        self._play: Play | None = None
        self._asked = False

    def playbook_begins(self, playbook: Playbook) -> None:
        plays = [(play._uuid, play.get_path(), play.vars) for play in playbook.get_plays()]
        self.course.playbook_begins(plays, context.CLIARGS.get("check"), context.CLIARGS.get("tags") or ())

    def play_begins(self, play: Play) -> tuple[Stage | None, Stage | None]:
        self._play, self._asked = play, False
        return self.course.play_begins(play._uuid, play.get_path(), play.vars)

    def task_begins(self, task: Task) -> tuple[Stage | None, Stage | None]:
        role = task._role.get_name() if task._role is not None else ""
        return self.course.task_begins(role)

    def starts(self, host: Host, task: Task) -> None:
        self.course.starts(host.get_name(), task._uuid, run_results.short(task.get_name().strip()))
        self._ask(host, task)

    def ended(self, result: TaskResult, **how: bool) -> tuple[Seen, float]:
        """Return (the result, the duration of its task in seconds)."""
        seen = run_results.seen(result)
        seconds = self.course.ended(seen, result._task, **how)
        self.folder.heard(run_folder=self.course.folder)
        return seen, seconds

    def ends(self, stats: AggregateStats) -> Stage | None:
        reported = {name: stats.summarize(name) for name in stats.processed}
        lost = {name for name, counts in reported.items() if counts["failures"] or counts["unreachable"]}
        return self.course.ends(lost)

    def unreadable(self) -> list[str]:
        """Return sentences about files of variables that Ansible cannot read."""
        folders = [self._play.get_loader().get_basedir()] if self._play is not None else []
        return unreadable_files.unreadable(context.CLIARGS.get("inventory") or (), folders)

    def _ask(self, host: Host, task: Task) -> None:
        """Read the folders of results and plan from variables, once in a play, since this takes milliseconds."""
        if self._asked or self._play is None or self.course.now is None:
            return
        self._asked = True
        try:
            variables = self._play.get_variable_manager().get_vars(play=self._play, host=host, task=task)
            templar = Templar(loader=self._play.get_loader(), variables=variables)
            self.plan = self._said(templar, _PLAN) or self.plan
            self.target = self._said(templar, _TARGET) or self.target
            self.simulated = self._said(templar, _SIMULATED).split() or self.simulated
            for key, template in (("run_folder", _RUN_FOLDER), ("results", _RESULTS)) if self._asks else ():
                self.folder.heard(**{key: self._said(templar, template)})
            self.journal = self._said(templar, _JOURNAL) or self.journal
            if self.course.check and not self.inputs:
                found = plain(templar.template(trust_as_template(_INPUTS)))
                self.inputs = found if isinstance(found, dict) else {}
        except AnsibleError:
            # An undefined variable fails the task that needs it, with an error there.
            return

    @staticmethod
    def _said(templar: Templar, template: str) -> str:
        found = templar.template(trust_as_template(template))
        return found.strip() if isinstance(found, str) else ""


def at_exit(work: Callable[[], object]) -> Callable[[], None]:
    """Call work when the process ends. An interrupted run has no event for its end."""
    owner = os.getpid()

    def ending() -> None:
        if os.getpid() == owner:
            work()

    atexit.register(ending)
    return ending
