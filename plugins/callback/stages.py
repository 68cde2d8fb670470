# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of a run for an operator: its stages, changes and failures."""

from __future__ import annotations

DOCUMENTATION = r"""
name: stages
type: stdout
short_description: Render the output of a run by its stages, with changes and failures
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Shows the current stage of the collection with its hosts, its elapsed time and its usual time. Also shows all
    changes and the progress of long tasks. The last lines have the verdict and the path of the report.
  - Hides tasks without a change and skipped tasks. Always shows failures, unreachable hosts, warnings, deprecations,
    retries, differences (C(--diff)) and messages of M(ansible.builtin.debug), in the format of the callback
    P(ansible.builtin.default#callback).
  - With C(-v) or more, and for playbooks without a stage of this collection, the output is that of the default
    callback.
  - On a terminal, some lines at the bottom change in place. Without a terminal, and in automation controller, the
    output has plain lines.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
  - aiready.vsphere.run_record
requirements:
  - set as C(stdout_callback)
options:
  show:
    description:
      - Amount of output. V(changes) hides tasks without a change and skipped tasks. V(all) shows everything. With
        V(all), C(display_ok_hosts) and C(display_skipped_hosts) apply as with Ansible's own callback.
    type: str
    choices: [changes, all]
    default: changes
    env:
      - name: AIREADY_STAGES_SHOW
    ini:
      - section: aiready_vsphere
        key: stages_show
  live:
    description:
      - Whether to change lines in place. V(auto) does so on a terminal that supports it, unless E(CI) is set.
      - Set V(never) if C(ssh) or a plugin asks questions on the terminal by itself.
    type: str
    choices: [auto, never]
    default: auto
    env:
      - name: AIREADY_STAGES_LIVE
    ini:
      - section: aiready_vsphere
        key: stages_live
  still_s:
    description:
      - Seconds between two lines that name the tasks in progress, if no lines change in place. 0 prints no such line.
    type: int
    default: 60
    env:
      - name: AIREADY_STAGES_STILL_S
    ini:
      - section: aiready_vsphere
        key: stages_still_s
seealso:
  - plugin: aiready.vsphere.record
    plugin_type: callback
"""

import os
from typing import TYPE_CHECKING, Any, Iterable

from ansible import constants as C
from ansible.plugins.callback.default import CallbackModule as Default
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import record, results, screen, watch
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import LONG_S, NOT_ENDED
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.listener import Listener, at_exit

if TYPE_CHECKING:
    from ansible.executor.stats import AggregateStats
    from ansible.executor.task_result import TaskResult
    from ansible.inventory.host import Host
    from ansible.playbook import Playbook
    from ansible.playbook.included_file import IncludedFile
    from ansible.playbook.play import Play
    from ansible.playbook.task import Task
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import Stage

NAME = "aiready.vsphere.stages"
RECORD = "aiready.vsphere.record"
# Automation controller derives its own callback from this one, without the options. The environment sets them there.
_ALONE = {
    "show": ("AIREADY_STAGES_SHOW", "changes"),
    "live": ("AIREADY_STAGES_LIVE", "auto"),
    "still_s": ("AIREADY_STAGES_STILL_S", 60),
    "run_folder": ("AIREADY_RUN_FOLDER", None),
    "results": ("AIREADY_RESULTS", None),
}
_LEFT_OUT = ("display_ok_hosts", "display_skipped_hosts")
_PAUSES = ("ansible.builtin.pause", "pause")


class CallbackModule(Default):
    """Ansible's own output with stages, without tasks that need no attention."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = NAME

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._listener: Listener
        self._watch: watch.Watch
        self._listener = self._watch = None  # type: ignore[assignment]
        self._brief = False  # whether tasks that need no attention are hidden
        self._shown = False  # whether the current result is shown nevertheless
        self._open = False

    def get_option(self, k: str, hostvars: dict[str, Any] | None = None) -> Any:
        if k in _LEFT_OUT and self._brief:
            return self._shown
        try:
            return super().get_option(k)
        except KeyError:
            if k not in _ALONE:
                raise
        name, default = _ALONE[k]
        return os.environ.get(name) or default

    # The run

    def v2_playbook_on_start(self, playbook: Playbook) -> None:
        self._listen()
        self._listener.playbook_begins(playbook)
        super().v2_playbook_on_start(playbook)

    def v2_playbook_on_vars_prompt(self, *arguments: Any, **options: Any) -> None:
        super().v2_playbook_on_vars_prompt(*arguments, **options)
        self._watch.hide()

    def v2_playbook_on_play_start(self, play: Play) -> None:
        self._listen()  # consoles have plays without playbooks
        self._watch.hide(False)
        self._turned(self._listener.play_begins(play))
        super().v2_playbook_on_play_start(play)

    def v2_playbook_on_task_start(self, task: Task, is_conditional: bool) -> None:
        self._begun(task)
        super().v2_playbook_on_task_start(task, is_conditional)

    def v2_playbook_on_handler_task_start(self, task: Task) -> None:
        self._begun(task)
        super().v2_playbook_on_handler_task_start(task)

    def v2_runner_on_start(self, host: Host, task: Task) -> None:
        self._listener.starts(host, task)
        super().v2_runner_on_start(host, task)

    def v2_playbook_on_stats(self, stats: AggregateStats) -> None:
        self._watch.stop()
        self._open = False
        ended = self._listener.ends(stats)
        if ended is not None:
            self._watch.say(*screen.ends(ended, self._watch.usually(ended.name)))
        super().v2_playbook_on_stats(stats)
        course = self._listener.course
        if course.stages:
            self._say_all(screen.last(course, screen.report_of(course.report), self._record()))

    def _listen(self) -> None:
        if self._listener is None:
            self._listener = Listener(self.get_option("run_folder"), self.get_option("results"))
            self._watch = watch.Watch(self._display, self._listener)
            at_exit(self._broken_off)
        self._open = True

    def _broken_off(self) -> None:
        if not self._open:
            return
        self._watch.stop()
        self._listener.course.ends(why=NOT_ENDED)
        self._say_all((text, screen.BAD) for text in self._listener.unreadable())
        self._say_all(screen.broken_off(self._listener.course, self._record()))

    # Results of tasks

    def v2_runner_on_ok(self, result: TaskResult) -> None:
        seen, seconds = self._ended(result)
        if not self._brief or self._run_is_verbose(result):
            self._whole("v2_runner_on_ok", result)
            return
        self._report_trouble(result, seen)
        if seen.data.get("changed") and not (result._task.loop and "results" in seen.data):
            self._report_change(result, seen, "" if seconds < LONG_S else f" ({screen.duration(seconds)})")

    def v2_runner_on_skipped(self, result: TaskResult) -> None:
        seen, _seconds = self._ended(result, skipped=True)
        if self._brief:
            self._report_trouble(result, seen)
        super().v2_runner_on_skipped(result)

    def v2_runner_on_failed(self, result: TaskResult, ignore_errors: bool = False) -> None:
        self._ended(result, failed=True, ignored=bool(ignore_errors))
        self._whole("v2_runner_on_failed", result, ignore_errors)

    def v2_runner_on_unreachable(self, result: TaskResult) -> None:
        self._ended(result, unreachable=True, ignored=bool(result._task.ignore_unreachable))
        self._whole("v2_runner_on_unreachable", result)

    def v2_runner_item_on_ok(self, result: TaskResult) -> None:
        if not self._brief or self._run_is_verbose(result):
            self._whole("v2_runner_item_on_ok", result)
            return
        seen = results.seen(result)
        self._report_trouble(result, seen)
        if seen.data.get("changed"):
            self._report_change(result, seen, f" (item={self._get_item_label(seen.data)})")

    def v2_runner_item_on_skipped(self, result: TaskResult) -> None:
        if self._brief:
            self._report_trouble(result, results.seen(result))
        super().v2_runner_item_on_skipped(result)

    def v2_playbook_on_include(self, included_file: IncludedFile) -> None:
        if not self._brief:
            super().v2_playbook_on_include(included_file)

    def _whole(self, method: str, *arguments: Any) -> None:
        """Show a result in Ansible's own format."""
        self._shown = True
        try:
            getattr(super(), method)(*arguments)
        finally:
            self._shown = False

    def _report_trouble(self, result: TaskResult, seen: results.Seen) -> None:
        """Show warnings, deprecations and errors of a hidden result."""
        if not any(seen.data.get(key) for key in ("warnings", "deprecations", "exception")):
            return
        if self._last_task_banner != result._task._uuid:
            self._print_task_banner(result._task)
        if hasattr(self, "_handle_warnings_and_exception"):  # from ansible-core 2.19 on
            self._handle_warnings_and_exception(result)
        else:
            self._handle_warnings(seen.data)

    def _report_change(self, result: TaskResult, seen: results.Seen, more: str) -> None:
        how = "would change" if seen.check else "changed"
        self._display.display(f"{how}: [{self.host_label(result)}] {seen.task}{more}", color=C.COLOR_CHANGED)

    def _ended(self, result: TaskResult, **how: bool) -> tuple[results.Seen, float]:
        ended = self._listener.ended(result, **how)
        self._watch.forget(result._host.get_name())
        return ended

    # Stages

    def _begun(self, task: Task) -> None:
        self._watch.forget()
        self._turned(self._listener.task_begins(task))
        # This task may wait for input.
        self._watch.hide(task.resolved_action in _PAUSES or task.action in _PAUSES or bool(task.debugger))

    def _turned(self, turn: tuple[Stage | None, Stage | None]) -> None:
        ended, begun = turn
        course = self._listener.course
        if ended is not None:
            self._watch.say(*screen.ends(ended, self._watch.usually(ended.name)))
        shows = self._display.verbosity == 0 and self.get_option("show") == "changes"
        self._brief = shows and bool(course.now or course.ahead)
        if begun is None:
            return
        # Automation controller derives its own callback from this one, on a hidden terminal.
        if self.CALLBACK_NAME == NAME:
            live = self.get_option("live") == "auto" and watch.can_be_live()
            self._watch.start(live, int(self.get_option("still_s")))
        if not self._watch.is_live:
            self._watch.say(screen.begins(begun, course, self._watch.usually(begun.name)), screen.PLAIN)

    def _record(self) -> str:
        return os.path.join(self._listener.folder.path, record.NAME) if RECORD in C.CALLBACKS_ENABLED else ""

    def _say_all(self, lines: Iterable[tuple[str, str]]) -> None:
        for text, kind in lines:
            self._watch.say(text, kind)
