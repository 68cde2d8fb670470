# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How NVIDIA Onyx talks at a terminal."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch_command_line import Terminal


class TerminalModule(Terminal):
    """NVIDIA Onyx: its prompts and complaints."""

    NO_PAGES = b"no cli session paging enable"
    LEAVE = b"no configure"
    terminal_stdout_re = [
        # leaf-03 [standalone: master] (config interface ethernet 1/1) #
        re.compile(rb"(?:\A|[\r\n])[\w.-]+(?: \[[^\]\r\n]+\])?(?: \([^)\r\n]+\))? [>#] \Z"),
    ]
    terminal_stderr_re = [
        # A complaint is a sentence behind % at the start of a line. Tables have columns, two blanks apart.
        re.compile(rb"[\r\n]% ?[A-Za-z](?![^\r\n]*(?:  |\|))"),
    ]
