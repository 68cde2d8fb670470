# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of NVIDIA Onyx over network_cli."""

from __future__ import annotations

DOCUMENTATION = r"""
name: onyx
short_description: Commands of NVIDIA Onyx
description:
  - Sends commands to switches with NVIDIA Onyx for C(ansible.netcommon.network_cli).
  - Set C(ansible_network_os) to C(aiready.vsphere.onyx) to use it.
  - Onyx is the operating system of Spectrum switches that was called MLNX-OS before.
version_added: 0.1.0
author: the aiready.vsphere authors (@aiready)
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch_command_line import CommandLine


class Cliconf(CommandLine):
    """NVIDIA Onyx."""

    NETWORK_OS = "aiready.vsphere.onyx"
    CONFIGURATIONS = {"running": "show running-config", "startup": "show configuration"}
    LEAVE = "exit"
    JSON = "json-print"
    INFO = {
        "network_os_version": "Product release",
        "network_os_model": "Product model",
        "network_os_image": "Version summary",
    }
