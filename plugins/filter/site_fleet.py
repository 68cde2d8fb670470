# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which the VMs of a site are stopped or started."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_fleet
short_description: Determine the order in which the VMs of a site are stopped or started
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Entries of C(site.vms) start from the first to the last and stop from the last to the first.
  - The VMs of one entry are one wave.
  - Power is cut only with C(site.power=cycle), and only of a guest that is not down in time.
positional: _input, action
options:
  _input:
    type: dict
    required: true
    description:
      - The site.
  action:
    type: str
    choices: [stop, start]
    required: true
    description:
      - Whether the VMs are stopped or started.
seealso:
  - module: aiready.vsphere.vm_power
"""

EXAMPLES = r"""
- name: Show the VMs that start first
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.site_fleet('start')).waves | first }}"
  vars:
    site:
      gpu: {mode: vgpu, profile: grid_a100-40c}
      vms: [{name: head-01}, {prefix: job-, count: 2}]
"""

RETURN = r"""
_value:
  description:
    - C(waves), a list of VMs for each entry of the site in their order, and the options of
      M(aiready.vsphere.vm_power) for each wave.
  type: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_fleet": deferred("plugin_utils.site_machines", "fleet")}
