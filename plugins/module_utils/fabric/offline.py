# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""States without a connection to a switch: parse outputs, and render an intent into commands. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import complaint
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.params import roles_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import unknown_switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import brief
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import as_data
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.transcript import heard, sections

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.transcript import Section


def parsed(platform: Platform, outputs: str | dict[str, object]) -> dict[str, object]:
    """The normalised state in outputs: one text, or {command: output}."""
    if isinstance(outputs, dict):
        parts = [part for command, text in outputs.items() for part in sections(platform, str(command), str(text))]
    else:
        parts = sections(platform, None, str(outputs))
        if not any(known for _typed, known, _output in parts):
            raise _unknown(platform, parts)
    return as_data(heard(platform, parts))


def rendered(platform: Platform, params: Mapping[str, Any]) -> list[str]:
    """The commands that change ports from factory defaults to the intent."""
    requested = intent(params["config"] or {})
    platform.check(requested, platform.title)
    switch = unknown_switch(platform)
    switch.version = params["version"]
    roles = roles_of(params)
    for name in roles:
        switch.ports[name] = platform.blank(switch, name)
    wants = {name: compare.wanted(requested, platform, role) for name, role in roles.items()}
    return list(platform.render(switch, wants, requested).commands)


def _unknown(platform: Platform, parts: Sequence[Section]) -> OperatorError:
    typed = [brief(one) for one, _known, _output in parts if one]
    refused = next(filter(None, (complaint(output) for _typed, _known, output in parts)), None)
    cause = "The text is not the output of a supported command"
    if refused:
        cause = f"The switch rejected the command: {refused}"
    elif typed:
        cause = f"The module does not read `{typed[0]}` on this platform"
    return OperatorError(
        platform.title,
        "cannot read the text",
        cause,
        f"Give a dictionary of commands and outputs. docs/switches/{platform.name}.md lists the commands",
        "unknown_text",
    )
