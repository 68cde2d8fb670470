# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The file of the journal of changes for a task: one folder per site, one file per run."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from ansible.utils.vars import get_unique_id
from ansible_collections.aiready.vsphere.plugins.module_utils.core.journal import Place
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import record, stages
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.failure import of_stage

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19 every text was a template

    def trust_as_template(text: str) -> str:
        return text


if TYPE_CHECKING:
    from collections.abc import Mapping

    from ansible.plugins.action import ActionBase

# The folder of the journal of a site, as a variable and as an environment variable.
FOLDER, ENVIRONMENT = "aiready_journal", "AIREADY_JOURNAL"
SUFFIX = ".jsonl"
# These change nothing that lasts.
PASSING = ("pair_test", "training_run", "validation_report", "validation_result")
_FOLDER = "{{ (site | default({}, true)) | aiready.vsphere.journal_folder(aiready_journal | default('', true), aiready_results | default('', true)) }}"  # noqa: E501
_RUN_FOLDER = "{{ ((hostvars | default({})).localhost | default({})).aiready_run_folder | default(aiready_run_folder | default('', true), true) }}"  # noqa: E501


def folder(site: Mapping[str, Any], given: str = "", results: str = "") -> str:
    """The folder of the journal of a site; empty without a site and without the variable."""
    given = given or os.environ.get(ENVIRONMENT, "")
    if given:
        return _full(given)
    if not site:
        return ""
    # A credential of AWX sets the environment variable.
    vcenter = str((site.get("vcenter") or {}).get("hostname") or os.environ.get("VMWARE_HOST") or "")
    reported = (site.get("validation") or {}).get("result_dir") or (site.get("training") or {}).get("result_dir")
    whole = os.environ.get("AIREADY_RESULTS") or results or reported or record.RESULTS
    name = "_".join(part for part in (vcenter, str(site.get("cluster") or "")) if part) or "site"
    return os.path.join(_full(str(whole)), "journal", re.sub(r"[^A-Za-z0-9._-]+", "-", name))


def place(action: ActionBase, task_vars: Mapping[str, Any]) -> str:
    """The place for the lines of a task as text; empty for a task that changes nothing or has no journal."""
    task = action._task
    name = task.action.rpartition(".")[2]
    if task.check_mode or name.endswith("_info") or name in PASSING:
        return ""
    if not (of_stage(task.get_path()) or FOLDER in task_vars):
        return ""
    where = str(action._templar.template(trust_as_template(_FOLDER)) or "")
    if not where:
        return ""
    run = os.path.basename(str(action._templar.template(trust_as_template(_RUN_FOLDER)) or "").rstrip(os.sep)) or _run()
    host = str(task_vars.get("inventory_hostname") or "")
    return Place(os.path.join(where, f"{run}{SUFFIX}"), run, _stage(task), name, host).as_text()


def _run() -> str:
    """The name of the run: that of its record, which the callback plugin made before the fork, or one of its own."""
    if os.getppid() == record.OWNER:
        return record.RUN
    return _shared()


def _shared() -> str:
    """A name that is the same in all forks of a run."""
    # The address of the machine, and a random number of the process.
    return f"run-{get_unique_id()[:23]}"


def names(folder: str) -> set[str]:
    """The names that the journal of the run with this folder may have."""
    return {os.path.basename(folder), record.RUN, _shared()}


def _stage(task: Any) -> str:
    role = task._role.get_name() if task._role is not None else ""
    return stages.of_role(role) or stages.of_play(task.get_path() or "", {})[0] or ""


def _full(path: str) -> str:
    return os.path.abspath(os.path.expanduser(os.path.expandvars(path)))
