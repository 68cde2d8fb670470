# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A switch in a capture; the documentation is in the module of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import add
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import captured
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch import SwitchAction

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteModule


class ActionModule(SwitchAction):
    """Runs on the controller and uses the connection of the play to the switch."""

    ARGUMENTS = captured.ARGUMENTS

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._names = [str(name) for name in (task_vars or {}).get("ansible_play_hosts_all") or ()]
        return super().run(tmp, task_vars)

    def meet(self, module: RemoteModule, platform: Platform) -> None:
        requested = request(captured.SwitchCaptureRequest, module.params)
        keep_names = "names" in requested.keep
        outputs = captured.read(platform, self.session(platform))
        made = add.add(
            requested.dest,
            keep_names,
            lambda table: captured.addition(platform, self.host, self._names, outputs, table, keep_names),
        )
        if outputs.lost is not None:
            raise outputs.lost
        answered = sum(1 for one in made.coverage.values() if one["answered"])
        module.exit_json(
            changed=False,
            dest=requested.dest,
            secret=f"{requested.dest}.secret.json",
            source=made.source,
            anonymised=not keep_names,
            sources={"answered": answered, "unread": len(made.coverage) - answered},
            refused={name: one["refused"] for name, one in made.coverage.items() if one["refused"]},
            texts=dict(made.texts),
            dropped=dict(made.dropped),
        )
