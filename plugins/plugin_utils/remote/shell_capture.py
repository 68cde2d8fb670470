# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Base of the action plugins that add a host or guest to a capture, over the connection of the play."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Iterable

from ansible.errors import AnsibleConnectionFailure
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import add, shell
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import (
        Completed,
        Remote,
        RemoteModule,
    )


class ShellCaptureAction(RemoteAction):
    """A subclass names its kind and its arguments."""

    KIND: shell.Kind

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        known = task_vars or {}
        self._names = [str(known.get(name) or "") for name in ("inventory_hostname", "ansible_host")]
        return super().run(tmp, task_vars)

    def work(self, module: RemoteModule, remote: Remote) -> None:
        requested = request(shell.ShellCaptureRequest, module.params)
        keep_names = "names" in requested.keep

        def run(words: Iterable[str]) -> Completed:
            try:
                return remote.run_limited(words, shell.LARGEST)
            except AnsibleConnectionFailure as error:
                raise shell.Unreachable from error

        try:
            outputs = shell.read(self.KIND, run, requested.esxcli)
            names = [name for name in self._names if name] or ["localhost"]
            made = add.add(
                requested.dest, keep_names, functools.partial(shell.addition, self.KIND, names, outputs, keep_names)
            )
        except OperatorError as error:
            module.fail_json(msg=error.message, failure=error.failure, changed=False)
        module.exit_json(changed=False, unreached=outputs.lost, **shell.result(requested.dest, made, keep_names))
