# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RoCE QoS of switches; the documentation is in the module of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline, params
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import RoceQos, check_ports, read
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import as_data
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo.switch import Undo
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch import SwitchAction, keep

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteModule


class ActionModule(SwitchAction):
    """Runs on the controller and uses the connection of the play to the switch."""

    ARGUMENTS = params.ARGUMENTS
    RELATIONS = params.RELATIONS

    def meet(self, module: RemoteModule, platform: Platform) -> None:
        requested = module.params
        fail_if_invalid(module, params.check_params(requested))
        ports = params.expanded([*requested["host_ports"], *requested["fabric_ports"]])
        if requested["state"] == "parsed":
            module.exit_json(changed=False, parsed=offline.parsed(platform, requested["outputs"]))
        if requested["state"] == "rendered":
            module.exit_json(changed=False, rendered=offline.rendered(platform, requested))
        session = self.session(platform)
        if requested["state"] == "gathered":
            switch = read(platform, session, ports)
            check_ports(self.host, switch, ports)
            module.exit_json(changed=False, gathered=as_data(switch, ports or None))
        # The check before the change and the change itself have the same warnings, which are shown once.
        warn = (lambda message: None) if module.check_mode else module.warn
        request = params.request_of(requested)
        noun = (Undo if requested["state"] == params.RESTORED else RoceQos)(
            request, platform, session, lambda text: keep(requested["backup_file"], text), warn, module.check_mode
        )
        run(module, noun, [Item(self.host, request)], "switch", single=True)

    def options(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "version": params["version"],
            "allow": params["allow"],
            "confirm_s": params["confirm_timeout_s"],
            "transaction": params["transaction"],
        }
