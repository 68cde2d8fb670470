# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run; the documentation is in the module of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import params
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report.noun import Report, ValidationReport

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Remote, RemoteModule


class ActionModule(RemoteAction):
    """Runs on the controller, where the results, the templates and the library for plots are."""

    ARGUMENTS = params.ARGUMENTS
    # No host is contacted.
    _requires_connection = False

    def work(self, module: RemoteModule, remote: Remote) -> None:
        folder = module.params["results"]
        asked = request(params.ReportRequest, module.params)
        item: Item[params.ReportRequest, Report] = Item(folder, asked, {"name": folder})
        run(module, ValidationReport(asked, module.warn), [item], "report", single=True)
