# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""esxcli of one host, through the ssh program: the fallback, with the same interface as through vCenter."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import (
    HANGS,
    Esxcli,
    is_read,
    refusal,
    spelled,
    typed,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Host
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

# Flags without a value on the command line; all other arguments take one.
_FLAGS = frozenset(("dry_run", "rebooting_image", "apply_now"))
_CONNECT_S = 15
# Exit status of ssh itself if it could not run the command.
_NO_CONNECTION = 255


class SshEsxcli:
    """Runs commands such as software.vib.list in the shell of a host."""

    def __init__(
        self,
        host: Host,
        params: Mapping[str, Any],
        run: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run,
    ) -> None:
        self._host = host
        self._params = params
        self._run = run

    def call(self, command: str, **arguments: object) -> Any:
        """The answer of a command, as from Esxcli.call."""
        line = shlex.join(["esxcli", "--formatter=json", *command.split("."), *_options(arguments)])
        done = self._ssh(command, line)
        if done.returncode == _NO_CONNECTION:
            raise self._unreachable(done.stderr.strip().splitlines()[-1:])
        if done.returncode != 0:
            raise refusal(self._host.name, command, (done.stdout + "\n" + done.stderr).splitlines())
        return _decode(done.stdout)

    def _ssh(self, command: str, line: str) -> subprocess.CompletedProcess[str]:
        params = self._params
        limit_s = params["esxcli_timeout_s"]
        if is_read(command):
            limit_s = min(limit_s, params["request_timeout_s"])
        argv = ["ssh", "-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"]
        argv += ["-o", f"ConnectTimeout={_CONNECT_S}", "-p", str(params["ssh_port"])]
        if params.get("ssh_known_hosts_file"):
            argv += ["-o", f"UserKnownHostsFile={params['ssh_known_hosts_file']}"]
        if params.get("ssh_key_file"):
            argv += ["-o", "IdentitiesOnly=yes", "-i", params["ssh_key_file"]]
        argv += ["-l", params["ssh_user"], "--", params.get("ssh_host") or self._host.name, line]
        try:
            return self._run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise OperatorError(
                f"Host {self._host.name}",
                f"esxcli {command.replace('.', ' ')} got no answer",
                f"No answer came within {limit_s} seconds",
                HANGS if is_read(command) else "Check whether the host executed it before you repeat it",
                "fate_unknown",
                command=command,
            ) from error
        except OSError as error:
            raise self._unreachable([str(error)]) from error

    def _unreachable(self, said: Sequence[str]) -> OperatorError:
        return OperatorError(
            f"Host {self._host.name}",
            "esxcli over SSH failed",
            f"The ssh program cannot reach the host: {' '.join(said) or 'it gave no reason'}",
            "Check that the SSH service of the host runs, that `ssh_known_hosts_file` has its host key, and that your "
            "key is in its authorized keys. Or use esxcli_transport=vcenter",
            "ssh_failed",
        )


def open_esxcli(vcenter: VCenter, host: Host, params: Mapping[str, Any]) -> Esxcli | SshEsxcli:
    """esxcli of a host over the transport of the parameters (args.ESXCLI_TRANSPORT)."""
    if params["esxcli_transport"] == "ssh":
        return SshEsxcli(host, params)
    return Esxcli(vcenter, host, params["esxcli_timeout_s"])


def _options(arguments: Mapping[str, object]) -> list[str]:
    options: list[str] = []
    for name, value in arguments.items():
        dashed = "--" + name.replace("_", "-")
        if name in _FLAGS:
            options += [dashed] if value else []
        else:
            options += [f"{dashed}={text}" for text in spelled(value)]
    return options


def _decode(text: str) -> Any:
    """Return the JSON formatter's output; other text is the plain output of a command without fields."""
    text = text.strip()
    if not text:
        return None
    try:
        return _retyped("", json.loads(text))
    except ValueError:
        return typed("", text)


def _retyped(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_retyped(name, entry) for entry in value]
    if isinstance(value, dict):
        return {key: _retyped(key, entry) for key, entry in value.items()}
    return typed(name, value)
