# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of Dell OS10 over network_cli."""

from __future__ import annotations

DOCUMENTATION = r"""
name: os10
short_description: Commands of Dell OS10
description:
  - Sends commands to switches with Dell OS10 for C(ansible.netcommon.network_cli).
  - Set C(ansible_network_os) to C(aiready.vsphere.os10) to use it.
  - OS10 is the operating system that Dell also calls SmartFabric OS10.
version_added: 0.1.0
author: the aiready.vsphere authors (@aiready)
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch_command_line import CommandLine


class Cliconf(CommandLine):
    """Dell OS10."""

    NETWORK_OS = "aiready.vsphere.os10"
    CONFIGURATIONS = {"running": "show running-configuration", "startup": "show startup-configuration"}
    INFO = {
        "network_os_version": "OS Version",
        "network_os_model": "System Type",
        "network_os_image": "Build Version",
    }
