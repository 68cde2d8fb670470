# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Dell OS10 talks at a terminal."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch_command_line import Terminal


class TerminalModule(Terminal):
    """Dell OS10: its prompts and complaints."""

    NO_PAGES = b"terminal length 0"
    terminal_stdout_re = [
        # OS10(conf-if-eth1/1/1)#
        re.compile(rb"(?:\A|[\r\n])[\w.:@/-]+(?:\([^)\r\n]+\))*[#>] ?\Z"),
    ]
    terminal_stderr_re = [
        re.compile(rb"[\r\n]\s*% ?(?:Error|Bad secret|Incomplete|Invalid|Ambiguous|Unrecognized)", re.IGNORECASE),
        re.compile(rb"[\r\n]\s*(?:Syntax error|invalid input|(?:incomplete|ambiguous) command)", re.IGNORECASE),
    ]
