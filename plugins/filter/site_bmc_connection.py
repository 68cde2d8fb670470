# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the modules reach the BMC of a host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_bmc_connection
short_description: How the modules reach the BMC of a host
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - The options of the modules that talk to a BMC, for C(module_defaults). What the site leaves out is left out here
    too, so that the modules take it from the environment.
positional: _input, address, password
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
  address:
    type: str
    default: ""
    description:
      - Address of the BMC. Empty for a host without one.
  password:
    type: str
    default: ""
    description:
      - Password of the BMC's user. Empty means that it is taken from the environment.
seealso:
  - plugin: aiready.vsphere.site_connection
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Use the BMC of each host in all tasks of a play
  hosts: esxi_hosts
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.bmc: "{{ site | aiready.vsphere.site_bmc_connection(bmc_address, site_bmc_password) }}"
  tasks:
    - name: Stage SR-IOV
      aiready.vsphere.bios_settings:
        functions: {sriov: enabled}
      delegate_to: localhost
"""

RETURN = r"""
_value:
  description:
    - Connection options of the modules of this collection.
  type: dict
  sample:
    bmc_address: bmc-01.example.org
    bmc_username: automation
    bmc_timeout_s: 60
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_bmc_connection": deferred("plugin_utils.site_hosts", "bmc_connection")}
