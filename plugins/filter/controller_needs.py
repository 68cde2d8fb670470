# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller lacks for the hosts of an inventory."""

from __future__ import annotations

DOCUMENTATION = r"""
name: controller_needs
short_description: Gather what the controller lacks for the hosts of an inventory
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Returns the Python libraries, the collections and the variables of connections that are missing on the controller,
    each with the command that installs it. No host is asked.
  - Collections follow from C(ansible_connection), C(ansible_network_os) and C(ansible_become_method) of the hosts.
positional: _input, variables, here
options:
  _input:
    type: list
    elements: str
    required: true
    description:
      - Names of hosts in the inventory.
  variables:
    type: dict
    required: true
    description:
      - C(hostvars), which holds the variables of each host by its name.
  here:
    type: dict
    default: {}
    description:
      - Variables of C(localhost). Where C(ansible_python_interpreter) is another Python than that of Ansible, its
        libraries are not checked.
seealso:
  - plugin: aiready.vsphere.preflight_findings
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show what is missing on this machine for the switches
  ansible.builtin.debug:
    msg: "{{ groups['switches'] | default([]) | aiready.vsphere.controller_needs(hostvars) }}"
"""

RETURN = r"""
_value:
  description:
    - One entry for each missing item, with C(what) it is, C(found), C(todo) with the command, and C(blocks), whether a
      run fails without it.
  type: list
  elements: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"controller_needs": deferred("plugin_utils.controller_needs", "needs")}
