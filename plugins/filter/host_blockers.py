# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would stop the stage for hosts at a host after others were restarted."""

from __future__ import annotations

DOCUMENTATION = r"""
name: host_blockers
short_description: Find what would stop the stage for hosts at a host
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Finds what no run of the role P(aiready.vsphere.esxi_host#role) can bring about on a host, from what
    M(aiready.vsphere.esxi_host_info) returned, before any host is restarted.
  - It finds lockdown mode without an exception for the user that needs SSH, network adapters whose firmware allows
    fewer virtual functions than requested, and vGPU profiles of another GPU board than the host offers.
positional: _input, wanted
options:
  _input:
    type: dict
    required: true
    description:
      - RV(aiready.vsphere.esxi_host_info#module:host).
  wanted:
    type: dict
    required: true
    description:
      - What is requested. C(nics) and C(vfs) are the ports and the virtual functions of each. C(nic_firmware) are the
        settings of their firmware, empty where it is left alone. C(shell) names what needs SSH, and C(user) is the user
        of SSH. C(profiles) are the vGPU profiles of the VMs.
seealso:
  - module: aiready.vsphere.esxi_host_info
"""

EXAMPLES = r"""
- name: Gather facts of a host
  aiready.vsphere.esxi_host_info:
    host: esx-01.example.com
  register: esx

- name: Refuse a host that the run cannot change
  ansible.builtin.assert:
    that: blockers | length == 0
    fail_msg: "{{ blockers | map(attribute='text') | join(' ') }}"
  vars:
    blockers: "{{ esx.host | aiready.vsphere.host_blockers({'shell': ['MIG'], 'user': 'root'}) }}"
"""

RETURN = r"""
_value:
  description:
    - What stands against the run, each with C(what), C(found), C(todo), and all of it in C(text).
  type: list
  elements: dict
  sample:
    - what: lockdown mode
      found: The host is in strict lockdown mode, and MIG needs SSH. root is not an exception user.
      todo: Add root to the exception users of the host.
      text: "esx-01.example.com: The host is in strict lockdown mode, and MIG needs SSH. root is not an exception user.
        Add root to the exception users of the host."
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"host_blockers": deferred("plugin_utils.host_blockers", "blockers")}
