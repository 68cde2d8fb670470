# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps switches from being treated as a site says."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_switch_problems
short_description: What keeps switches from being treated as a site says
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Compares what is different for single switches with the site, without asking them. The site itself is checked by
    P(aiready.vsphere.site_problems#filter).
positional: _input, names, variables, known
options:
  _input:
    type: dict
    required: true
    description:
      - The site.
  names:
    type: list
    elements: str
    required: true
    description:
      - The switches, by their names in the inventory.
  variables:
    type: dict
    default: {}
    description:
      - Variables of the switches by name, usually C(hostvars). C(switch_host_ports) and C(switch_fabric_ports) are the
        ports of a switch beside those of C(site.fabric.cables), C(site_switch) is what differs for it.
  known:
    type: list
    elements: str
    default: []
    description:
      - All switches of the inventory. With them, cables that end at another one are problems.
seealso:
  - plugin: aiready.vsphere.site_problems
    plugin_type: filter
  - plugin: aiready.vsphere.site_switches
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Refuse switches whose settings contradict the site
  ansible.builtin.assert:
    that: problems | length == 0
    fail_msg: "{{ problems }}"
  vars:
    problems: "{{ site | aiready.vsphere.site_switch_problems(groups['switches'], hostvars, groups['switches']) }}"
"""

RETURN = r"""
_value:
  description:
    - One text for each problem, saying what was wanted, why it cannot be, and what to do. Empty for sound switches.
  type: list
  elements: str
  sample:
    - >-
      leaf-01: site_switch.roce.dscp: it cannot differ between switches. Set site.roce.dscp for the whole way; mtu,
      bandwidth_percent, ecn, watchdog, dcbx, cable_length_m may differ.
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_switch_problems": deferred("plugin_utils.site_switches", "switch_problems")}
