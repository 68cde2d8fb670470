# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a job of AWX or automation controller changes in a run: results, slices and output."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import BLOCKS, OPEN, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

# AWX sets both for every job, and no credential can set them. [sure]
OF_JOBS = ("AWX_HOST", "JOB_ID")
# The private data folder of ansible-runner is a mount, and AWX removes it after the job. [sure]
REMOVED = ("/", "/runner")
# AWX writes the variables of credentials and of the launch there, readable for the user of the job only. [sure]
VARIABLES = "/runner/env/"
CALLBACK, OUTPUT = "aiready.vsphere.stages", "ORIGINAL_STDOUT_CALLBACK"
SETTING = "Settings, Jobs, Extra Environment Variables"


def is_job(environment: Mapping[str, str]) -> bool:
    """Whether AWX runs this process."""
    return all(environment.get(name) for name in OF_JOBS)


def pitfalls(
    given: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    is_mount: Callable[[str], bool] = os.path.ismount,
) -> list[list[str]]:
    """[[what, found, fix]] for a job; empty at a shell. given: folder of the run, names of template and workflow."""
    environment = os.environ if environment is None else environment
    if not is_job(environment):
        return []
    return [
        *_results(given.get("folder") or "", is_mount),
        *_slices(given.get("template"), given.get("workflow")),
        *_output(environment),
    ]


def plain(found: Iterable[list[str]], environment: Mapping[str, str] | None = None) -> list[list[str]]:
    """[[name, file and line]] without the files that AWX writes: nobody can encrypt them, and they are removed."""
    of_awx = is_job(os.environ if environment is None else environment)
    return [one for one in found if not (of_awx and one[1].startswith(VARIABLES))]


def _results(folder: str, is_mount: Callable[[str], bool]) -> Iterator[list[str]]:
    if not folder or _mount(folder, is_mount) not in REMOVED:
        return
    yield [
        "results",
        f"The folder {folder} is inside the container of the job. AWX removes the container after the job, with the "
        "results, the report and the journal that restore needs.",
        "Mount a folder of the execution node with the setting Paths to expose to isolated jobs, and set "
        f"AIREADY_RESULTS to it under {SETTING}.",
    ]


def _mount(folder: str, is_mount: Callable[[str], bool]) -> str:
    """The nearest mount above a folder that may not exist yet."""
    path = os.path.abspath(os.path.expanduser(folder))
    while path != "/" and not is_mount(path):
        path = os.path.dirname(path)
    return path


def _slices(template: str | None, workflow: str | None) -> Iterator[list[str]]:
    """A slice is a job of a workflow job with the name of its own template. [unsure: not run on a controller]"""
    if not template or template != workflow:
        return
    yield [
        "slices",
        f"The job is a slice of the job template {template}. Each slice sees a part of the hosts and switches, and "
        "runs all plays on localhost, so several slices change vCenter at the same time.",
        f"Set job_slice_count of {template} to 1, and raise its forks instead.",
    ]


def _output(environment: Mapping[str, str]) -> Iterator[list[str]]:
    if environment.get(OUTPUT) == CALLBACK:
        return
    yield [
        "output",
        f"The job does not use the callback {CALLBACK}, so its output has no lines of progress and verdict. AWX "
        "ignores stdout_callback in ansible.cfg.",
        f"Set ANSIBLE_STDOUT_CALLBACK to {CALLBACK} under {SETTING}.",
    ]


def findings(rows: Iterable[Sequence[str]]) -> Iterator[Finding]:
    """Findings on these pitfalls. None of them blocks: the run itself is correct or says what it misses."""
    for what, found, todo in rows:
        yield Finding("controller", "this job", what, OPEN, found, todo=todo)


def target(problem: str) -> Iterator[Finding]:
    """The finding on a target of the results that accepts no files. restore would miss the journal of the run."""
    found, dot, todo = problem.strip().partition(". ")
    if found:
        yield Finding("controller", "this machine", "results target", BLOCKS, f"{found}{dot.strip()}", todo=todo)
