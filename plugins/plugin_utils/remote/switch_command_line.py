# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Base of the cliconf and terminal plugins of switches."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.common.text.converters import to_text
from ansible.plugins.cliconf import CliconfBase, enable_mode
from ansible.plugins.terminal import TerminalBase

# Operations that the operating system, or this plugin, does not support, for modules that ask.
OPERATIONS = (
    "supports_commit",
    "supports_commit_comment",
    "supports_commit_label",
    "supports_config_replace",
    "supports_defaults",
    "supports_diff_ignore_lines",
    "supports_diff_match",
    "supports_diff_replace",
    "supports_generate_diff",
    "supports_multiline_delimiter",
    "supports_onbox_diff",
    "supports_replace",
    "supports_rollback",
)


class CommandLine(CliconfBase):
    """A switch as modules see it. A platform defines its commands."""

    NETWORK_OS = ""
    CONFIGURATIONS: dict[str, str] = {}
    LEAVE = "end"  # ends configuration mode
    JSON = ""  # what makes an output JSON, where there is such
    INFO: dict[str, str] = {}  # {key of the device info: label in `show version`}

    __rpc__ = [*CliconfBase.__rpc__, "run_commands"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._device_info: dict[str, str] = {}

    def get_device_info(self) -> dict[str, str]:
        """Data of the switch; read once per session."""
        if not self._device_info:
            self._device_info = dict(self._read_device_info(), network_os=self.NETWORK_OS)
        return self._device_info

    @enable_mode
    def get_config(
        self,
        source: str = "running",
        flags: str | list[str] | None = None,
        format: str | None = None,  # noqa: A002  the name is ansible's
    ) -> str:
        """The running or the startup configuration; flags are words that follow the command."""
        if source not in self.CONFIGURATIONS:
            raise ValueError(f"Cannot read the configuration {source}. Use one of {', '.join(self.CONFIGURATIONS)}.")
        return self.send_command(" ".join([self.CONFIGURATIONS[source], *to_list(flags)]))

    @enable_mode
    def edit_config(
        self,
        candidate: str | list[str | dict[str, Any]] | None = None,
        commit: bool = True,
        replace: str | None = None,
        diff: bool = False,
        comment: str | None = None,
    ) -> dict[str, list[str]]:
        """Send lines in configuration mode, which is left again whatever happens."""
        if not commit or replace:
            raise ValueError("Cannot edit a candidate configuration. The switch has only a running configuration.")
        sent, answers = [], []
        self.send_command("configure terminal")
        try:
            for line in to_list(candidate):
                given = dict(line) if isinstance(line, Mapping) else {"command": line}
                sent.append(given["command"])
                answers.append(self.send_command(**given))
        finally:
            self.send_command(self.LEAVE)
        return {"request": sent, "response": answers}

    def get(
        self,
        command: str | None = None,
        prompt: str | list[str] | None = None,
        answer: str | list[str] | None = None,
        sendonly: bool = False,
        newline: bool = True,
        output: str | None = None,
        check_all: bool = False,
    ) -> str:
        """The output of one command; output json asks for JSON, where the switch has it."""
        if command is None:
            raise ValueError("The command is missing. Set a command, or an empty text to read the prompt.")
        return self.send_command(
            command=self._with_output(command, output),
            prompt=prompt,
            answer=answer,
            sendonly=sendonly,
            newline=newline,
            check_all=check_all,
        )

    def run_commands(
        self, commands: str | list[str | dict[str, Any]] | None = None, check_rc: bool = True
    ) -> list[str]:
        """The outputs of several commands; without check_rc, a rejection is an output too."""
        if commands is None:
            raise ValueError("The commands are missing. Set at least one command.")
        answers = []
        for command in to_list(commands):
            given = dict(command) if isinstance(command, Mapping) else {"command": command}
            try:
                answers.append(self.get(**given))
            except AnsibleConnectionFailure as refused:
                if check_rc:
                    raise
                answers.append(to_text(getattr(refused, "err", refused)))
        return answers

    def get_device_operations(self) -> dict[str, bool]:
        """The operations that modules may use."""
        return dict.fromkeys(OPERATIONS, False)

    def get_capabilities(self) -> str:
        """All capabilities, as JSON."""
        found = super().get_capabilities()
        found["device_operations"] = self.get_device_operations()
        outputs = ["text", "json"] if self.JSON else ["text"]
        found.update(format=["text"], output=outputs, diff_match=[], diff_replace=[])
        return json.dumps(found)

    def _read_device_info(self) -> dict[str, str]:
        text = self.get("show version")
        reported = {key: re.search(rf"(?m)^{label}:\s*(\S.*?)\s*$", text) for key, label in self.INFO.items()}
        found = {key: match.group(1) for key, match in reported.items() if match}
        # The prompt begins with the name of the switch, which saves a command.
        name = re.match(r"[^\s(#>]+", to_text(self._connection.get_prompt() or b"").strip())
        return dict(found, network_os_hostname=name.group()) if name else found

    def _with_output(self, command: str, output: str | None) -> str:
        if output in (None, "text") or (output == "json" and self.JSON and self.JSON in command):
            return command
        if output != "json" or not self.JSON:
            raise ValueError(f"Cannot get the output as {output}. Use text{', or json' if self.JSON else ''}.")
        return f"{command} | {self.JSON}"


class Terminal(TerminalBase):
    """A switch at a terminal. A platform defines its prompts and errors."""

    NO_PAGES = b""
    LEAVE = b"end"  # ends configuration mode
    terminal_config_prompt = re.compile(r"^.*\(conf.*\) ?#$")

    def on_open_shell(self) -> None:
        """Turn paging of outputs off."""
        try:
            self._exec_cli_command(self.NO_PAGES)
        except AnsibleConnectionFailure as refused:
            raise AnsibleConnectionFailure(f"Cannot turn off paging of the terminal: {refused}") from refused

    def on_become(self, passwd: str | None = None) -> None:
        """Enter the privileged mode; sends a password if the switch asks for it."""
        if self._prompt().endswith(b"#"):
            return
        command: dict[str, str | bool] = {"command": "enable"}
        if passwd:
            command.update(prompt=r"[Pp]assword: ?$", answer=passwd, prompt_retry_check=True)
        try:
            self._exec_cli_command(json.dumps(command).encode())
        except AnsibleConnectionFailure as refused:
            raise AnsibleConnectionFailure(f"The switch rejected enable mode: {refused}") from refused
        if not self._prompt().endswith(b"#"):
            raise AnsibleConnectionFailure(f"The switch is not in enable mode, but at the prompt {self._prompt()!r}")

    def on_unbecome(self) -> None:
        """Return to the unprivileged mode."""
        prompt = self._prompt()
        if b"(conf" in prompt:
            self._exec_cli_command(self.LEAVE)
        if prompt.endswith(b"#"):
            self._exec_cli_command(b"disable")

    def _prompt(self) -> bytes:
        """The text before the cursor, or nothing if the switch waits for an answer."""
        return (self._get_prompt() or b"").strip()


def to_list(value: Any) -> list[Any]:
    """A list of one or of many."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple, set)) else [value]
