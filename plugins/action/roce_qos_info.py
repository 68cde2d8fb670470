# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RoCE QoS of switches; the documentation is in the module of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import params
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import read
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import as_data
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch import SwitchAction

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteModule


class ActionModule(SwitchAction):
    """Runs on the controller and uses the connection of the play to the switch."""

    ARGUMENTS = params.INFO_ARGUMENTS

    def meet(self, module: RemoteModule, platform: Platform) -> None:
        ports = params.expanded(module.params["ports"])
        switch = read(platform, self.session(platform), ports)
        missing = [name for name in ports if name not in switch.ports]
        module.exit_json(
            changed=False,
            switch=dict(
                as_data(switch, [name for name in ports if name in switch.ports] if ports else None),
                name=self.host,
                missing_ports=missing,
            ),
        )
