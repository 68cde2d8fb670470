# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Docker's daemon: its running configuration, and the containers that a restart would stop."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.runtime_state import RuntimeState


class Docker:
    """The daemon, asked by its command line."""

    def __init__(self, label: str, commands: Commands) -> None:
        self._label = label
        self._commands = commands

    def info(self) -> dict[str, Any]:
        done = self._commands.run(["docker", "info", "--format", "{{json .}}"])
        try:
            info = json.loads(done.stdout)
        except ValueError:
            info = None
        info = info if isinstance(info, dict) else {}
        # Without a daemon, some versions print the data of the client and exit with 0.
        if not done.ok or not info.get("ServerVersion"):
            raise OperatorError(
                self._label,
                "does not answer",
                f"Its service is active. {done.outcome}",
                "Check `journalctl -u docker`, and run the task as root (`become: true`).",
                "engine_silent",
            )
        return info

    def containers(self) -> tuple[str, ...]:
        """Names of running containers that end when the daemon does."""
        if self.info().get("LiveRestoreEnabled"):
            return ()
        return tuple(sorted(self._commands.run(["docker", "ps", "--format", "{{.Names}}"]).stdout.split()))

    def complete(self, state: RuntimeState) -> RuntimeState:
        """Return the state with the daemon's own report."""
        info = self.info()
        runtime = state.runtime
        known = (info.get("Runtimes") or {}).get(state.name) or {}
        loaded = (known.get("path") or "") == runtime.path
        loaded = loaded and (info.get("DefaultRuntime") == state.name) == runtime.default
        # Older daemons do not report it.
        if runtime.cdi and "CDISpecDirs" in info:
            loaded = loaded and bool(info["CDISpecDirs"])
        return replace(state, loaded=loaded, version=info["ServerVersion"], containers=self.containers())
