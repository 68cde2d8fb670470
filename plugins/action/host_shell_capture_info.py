# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shell of a host in a capture; the documentation is in the module of the same name."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import shell
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.shell_capture import ShellCaptureAction


class ActionModule(ShellCaptureAction):
    """Runs on the controller and uses the connection of the play."""

    ARGUMENTS = shell.HOST_ARGUMENTS
    KIND = shell.HOST
