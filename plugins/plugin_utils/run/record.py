# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The record of a run, stages.json in its folder: its path, its format, and the data of earlier ones."""

from __future__ import annotations

import json
import os
import secrets
import statistics
import time
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import files, stages
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import SKIPPED
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.results import is_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.course import Course

NAME, FORMAT = "stages.json", 1
RESULTS = "~/aiready/results"


def named(began: time.struct_time, environment: Mapping[str, str]) -> str:
    """The name of a run: its time, and the ID of its job in AWX or a random number.

    Runs may start in the same second. Ansible has the same process ID in each container.
    """
    job = environment.get("JOB_ID", "") if "AWX_HOST" in environment else ""
    return time.strftime("%Y%m%d-%H%M%S", began) + (f"-job{job}" if job.isdecimal() else f"-{secrets.token_hex(4)}")


# All callbacks of a process share one run.
RUN, OWNER = named(time.gmtime(), os.environ), os.getpid()
# Usual times come from the newest COUNTED runs among LOOKED_AT records.
LOOKED_AT, COUNTED = 30, 5
# Writing may use this share of the duration of a run, so that a long record is written less often.
SHARE = 0.02
_KEPT = ("format", "began", "ended", "stages", "reboots", "pending", "failures", "simulated_parts", "inputs")


class Folder:
    """The folder of this run. An option takes precedence over a variable, and a variable over the default."""

    def __init__(self, run_folder: str | None = "", results: str | None = "") -> None:
        self._option, self._results_option = run_folder or "", results or ""
        self._said = self._results_said = ""

    def heard(self, run_folder: str = "", results: str = "") -> None:
        """Note the values of variables or of a task. Later values replace earlier ones."""
        self._said = run_folder or self._said
        self._results_said = results or self._results_said

    @property
    def path(self) -> str:
        given = self._option or self._said
        return _full(given) if given else os.path.join(self.results, RUN)

    @property
    def results(self) -> str:
        """The folder with the results of all runs of the site."""
        given = self._option or self._said
        if given and not self._results_option:
            return os.path.dirname(_full(given))
        return _full(self._results_option or self._results_said or RESULTS)


class Record:
    """The file with the stages of earlier playbooks of the run, which are kept, and those of this one."""

    def __init__(self, warn: Callable[[str], object], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._warn, self._monotonic = warn, monotonic
        self._earlier: dict[str, Any] | None
        self._path, self._earlier = "", {}
        self.last: dict[str, Any] = {"stages": []}  # the record, also if it cannot be written
        self._not_before = 0.0
        self._silent = False
        self.is_behind = False  # the file lacks the latest changes
        self.is_lost = False  # the last attempt to write failed, with a warning

    def write(self, folder: str, reported: dict[str, Any], at_once: bool = True) -> None:
        """Write the record of this playbook, but not too often. An error here does not end the run."""
        began = self._monotonic()
        self.is_behind = not at_once and began < self._not_before
        if self.is_behind:
            return
        path = os.path.join(folder, NAME)
        try:
            if path != self._path:
                self._move(path)
            self.last = joined(self._earlier, reported)
            files.replace(path, json.dumps(self.last, indent=1, ensure_ascii=False) + "\n", at_once)
            self.is_lost = False
        except OSError as error:
            if not self._silent:
                why = error.strerror or error
                self._warn(
                    f"Cannot write the record of this run to {path}. {why}. Check the folder and its free space."
                )
            self._silent = self.is_lost = True
        now = self._monotonic()
        self._not_before = now + (now - began) / SHARE

    def _move(self, path: str) -> None:
        """Move the record to the folder of the run, which may become known late."""
        before, ours = self._path, not self._earlier
        self._path, self._earlier = path, {}
        if os.path.exists(path):
            self._earlier = read(path)
            if self._earlier is None:
                os.replace(path, f"{path}.damaged")
                self._warn(f"{path} is not a record of a run. It was saved as {NAME}.damaged.")
                self._earlier = {}
        if before and ours and os.path.exists(before):
            os.unlink(before)
            if not os.listdir(os.path.dirname(before)):
                os.rmdir(os.path.dirname(before))


def joined(earlier: Mapping[str, Any] | None, reported: dict[str, Any]) -> dict[str, Any]:
    """Two records of one run, in their order."""
    if not earlier:
        return reported
    reboots = dict(earlier.get("reboots") or {})
    for name, many in reported["reboots"].items():
        reboots[name] = reboots.get(name, 0) + many
    rest = {key: value for key, value in earlier.items() if key not in _KEPT}
    return {
        **rest,
        **reported,
        "began": earlier.get("began") or reported["began"],
        "stages": [*earlier["stages"], *reported["stages"]],
        "reboots": reboots,
        "pending": [*_still_pending(earlier, reported), *reported.get("pending", [])],
        "simulated_parts": reported.get("simulated_parts") or earlier.get("simulated_parts") or [],
        # A run may have the folder of its plan.
        "inputs": reported.get("inputs") or earlier.get("inputs") or {},
    }


def _still_pending(earlier: Mapping[str, Any], reported: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an earlier playbook of the run left pending, without restarted objects and stages that ran again."""
    ran = [one for one in reported["stages"] if one.get("state") != SKIPPED and not one.get("check_mode")]
    again = {stage.get("name") for stage in ran}
    known = {(entry["object"], entry["what"]) for entry in reported.get("pending", [])}
    waiting = earlier["pending"] if isinstance(earlier.get("pending"), list) else []
    return [
        entry
        for entry in waiting
        if isinstance(entry, dict)
        and entry.get("stage") not in again
        and (entry.get("object"), entry.get("what")) not in known
        and not is_part(str(entry.get("object")), reported["reboots"])
    ]


def reported(
    course: Course,
    began: str,
    ended: str | None,
    simulated: Iterable[str] = (),
    inputs: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The record of a course; simulated are the parts that the site declares so, and inputs those of a plan."""
    return {
        "format": FORMAT,
        "began": began,
        "ended": ended,
        "stages": [stage.as_result() for stage in course.stages],
        "reboots": course.restarts(),
        "pending": course.pending(),
        # Of plays before, between and after the stages.
        "failures": [failure.as_result() for failure in course.outside],
        "simulated_parts": list(simulated),
        "inputs": dict(inputs or {}),
    }


def read(path: str) -> dict[str, Any] | None:
    """Return a record, or None if the file has no valid record."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    known = isinstance(found, dict) and found.get("format") == FORMAT and isinstance(found.get("stages"), list)
    return found if known and all(isinstance(stage, dict) for stage in found["stages"]) else None


def of_folder(folder: str) -> dict[str, Any] | None:
    """The record in the folder of a run, or None."""
    return read(os.path.join(_full(folder), NAME))


class Usual:
    """Usual durations of stages and tasks, from the records of earlier runs."""

    def __init__(self, records: Iterable[Mapping[str, Any]] = (), check: bool = False) -> None:
        self._stages: dict[str, list[float]]
        self._tasks: dict[str, list[float]]
        self._stages, self._tasks, self._check = {}, {}, check
        for record in records:
            for stage in record["stages"]:
                if bool(stage.get("check_mode")) is bool(check) and stage.get("state") == "ok":
                    self._learn(stage)

    def _learn(self, stage: Mapping[str, Any]) -> None:
        if isinstance(stage.get("seconds"), (int, float)):
            self._stages.setdefault(str(stage.get("name")), []).append(float(stage["seconds"]))
        tasks = stage.get("tasks")
        for task in tasks if isinstance(tasks, list) else []:
            if isinstance(task, dict) and isinstance(task.get("seconds"), (int, float)):
                self._tasks.setdefault(str(task.get("task")), []).append(float(task["seconds"]))

    def stage(self, name: str) -> tuple[float, float] | None:
        """(at least, at most) seconds, or None if unknown."""
        found = self._stages.get(name, [])[:COUNTED]
        if found:
            return min(found), max(found)
        # There are no estimates for check mode.
        return None if self._check else stages.USUAL.get(name)

    def task(self, name: str) -> float | None:
        """Seconds, or None."""
        found = self._tasks.get(name, [])[: COUNTED * 4]
        return statistics.median(found) if found else None


def earlier(results: str) -> list[dict[str, Any]]:
    """Records of earlier runs below a folder of results, the newest first."""
    try:
        with os.scandir(results) as entries:
            paths = [os.path.join(entry.path, NAME) for entry in entries if entry.is_dir()]
    except OSError:
        return []
    dated = []
    for path in paths:
        try:
            dated.append((os.stat(path).st_mtime, path))
        except OSError:
            continue
    found = (read(path) for _when, path in sorted(dated, reverse=True)[:LOOKED_AT])
    return [record for record in found if record is not None]


def _full(path: str) -> str:
    return os.path.abspath(os.path.expanduser(os.path.expandvars(path)))
