# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What can be said without a switch: what texts tell, and which commands an intent becomes. Pure."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.roce import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.intent import intent
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.lines import complaint
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.params import expanded
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.platform import unknown_switch
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.session import Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.roce.state import as_data


def parsed(platform, outputs):
    """The normalised state that outputs tell of: one text, or {command: output}; without those that were refused."""
    texts = outputs if isinstance(outputs, dict) else {_command_of(platform, outputs): outputs}
    texts = {str(command): str(text) for command, text in texts.items()}
    refused = {command: complaint(text) for command, text in texts.items()}
    switch = platform.parse({command: text for command, text in texts.items() if refused[command] is None})
    switch.unread += [str(Refused(command, why)) for command, why in refused.items() if why is not None]
    return as_data(switch)


def rendered(platform, params):
    """The commands that bring ports from the factory's state to the intent's."""
    wish = intent(params["config"] or {})
    platform.check(wish, platform.title)
    switch = unknown_switch(platform)
    switch.version = params["version"]
    roles = dict.fromkeys(expanded(params["fabric_ports"]), "fabric")
    roles.update((name, "host") for name in expanded(params["host_ports"]))
    for name in roles:
        switch.ports[name] = platform.blank(switch, name)
    wants = {name: compare.wanted(wish, platform, role) for name, role in roles.items()}
    return list(platform.render(switch, wants, wish).commands)


def _command_of(platform, text):
    command = platform.command_of(text)
    if command is None:
        raise OperatorError(
            platform.title,
            "a text was to be read",
            "It is not the output of a command that is read on this platform",
            f"Give a dictionary of commands and outputs, with {', '.join(platform.reads([]))}",
            "unknown_text",
        )
    return command
