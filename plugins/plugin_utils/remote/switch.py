# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Base of the action plugins for switches: the platform and the connection."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Mapping

from ansible.errors import AnsibleConnectionFailure
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch_session import session_of

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Remote, RemoteModule


class SwitchAction(RemoteAction):
    """An action plugin for one switch. A subclass does its work in work()."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        known = task_vars or {}
        self.host = known.get("inventory_hostname") or self._play_context.remote_addr
        self._network_os = self._templar.template(known.get("ansible_network_os") or "")
        try:
            return super().run(tmp, task_vars)
        except Lost as loss:
            # Nothing has changed yet; later failures are handled where they occur.
            # Without a cause, which Ansible would add in words of its own.
            raise AnsibleConnectionFailure(
                f"{self.host}: cannot run `{loss.command}` on the switch, and nothing was changed: "
                f"{loss.reason.rstrip('.')}. Check its address (ansible_host, ansible_port), ansible_user, "
                "ansible_password and host key, and that ansible_network_os "
                f"({self._network_os or 'not set'}) is the platform of the switch."
            ) from None

    def work(self, module: RemoteModule, remote: Remote) -> None:
        try:
            self.meet(module, self.platform(module))
        except OperatorError as error:
            module.fail_json(msg=error.message, failure=error.failure, changed=False)

    def meet(self, module: RemoteModule, platform: Platform) -> None:
        """Do the work with a known platform."""
        raise NotImplementedError

    def platform(self, module: RemoteModule, options: Mapping[str, Any] | None = None) -> Platform:
        """The platform of this switch."""
        return platform_of(module.params["platform"], self._network_os, options or self.options(module.params))

    def options(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Options of the platform from the parameters."""
        return {}

    def session(self, platform: Platform) -> Session:
        """The connection of the play."""
        return session_of(self, self.host, platform)


def keep(path: str, text: str) -> None:
    """Write a complete backup that only its owner can read."""
    folder, draft = os.path.dirname(os.path.abspath(path)), None
    try:
        os.makedirs(folder, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder, prefix=".backup-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text if text.endswith("\n") else f"{text}\n")
        os.replace(draft, path)
    except OSError as trouble:
        if draft is not None:
            os.unlink(draft)
        raise OperatorError(
            path,
            "cannot write the backup before the first change",
            f"The write failed: {trouble.strerror}. Nothing was changed",
            "Set another backup_file, on the controller",
            "no_backup",
        ) from trouble
