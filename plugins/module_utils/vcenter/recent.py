# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Running tasks of an object by other clients: their owners, and a wait for their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Ref, vim
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_UNENDED = ("queued", "running")


def await_unended(
    vcenter: VCenter, ref: Ref, label: str, is_meant: Callable[[vim.TaskInfo], bool], timeout_s: int
) -> bool:
    """Wait for the tasks of an object for which is_meant(info) is true; whether there were any."""
    rows = retrieve(
        vcenter,
        {ref._wsdlName: ("recentTask",), "Task": ("info",)},
        [ref],
        [(ref._wsdlName, "recentTask")],
        skip_gone=True,
    )
    infos = [(row.ref, row.get("info")) for row in rows if row.kind == "Task"]
    unended = [ref for ref, info in infos if info is not None and str(info.state) in _UNENDED and is_meant(info)]
    jobs = [tasks.Job(label, cast("Callable[[], Ref]", lambda ref=ref: ref)) for ref in unended]
    if jobs:
        tasks.run_tasks(vcenter, jobs, limit=len(jobs), timeout_s=timeout_s)
    return bool(jobs)
