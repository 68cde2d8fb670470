# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stage for switches gets out of a site."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_switches
short_description: What the stage for switches gets out of a site
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Works out for each switch how RoCE is treated there and which of its ports carry it, and fills in the defaults.
  - What there is for each fits the inputs of the role P(aiready.vsphere.switch#role), without the prefix of their
    names.
positional: _input, names, variables
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
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
seealso:
  - plugin: aiready.vsphere.site_switch_problems
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show which ports of a switch carry RoCE
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.site_switches(['leaf-01']))['leaf-01'].host_ports }}"
  vars:
    site:
      gpu: {mode: vgpu, profile: grid_a100-40c}
      roce: {priority: 3, dscp: 26}
      fabric:
        cables:
          - {host: esx-01.example.org, nic: vmnic2, switch: leaf-01, port: Ethernet1/1}
      vms: [{name: train-01}]
"""

RETURN = r"""
_value:
  description:
    - How RoCE is treated on each switch, where, and how the switch is treated meanwhile, by its name.
  type: dict
  sample:
    leaf-01:
      agreement: strict
      allow: []
      backup_file: ""
      cables: [{host: esx-01.example.org, nic: vmnic2, switch: leaf-01, port: Ethernet1/1}]
      config:
        bandwidth_percent: 50
        cnp_dscp: 48
        cnp_priority: 6
        dcbx: ignore
        dscp: 26
        ecn: {by_speed: [], max_kb: 1500, min_kb: 150, probability: 100, state: enabled}
        mode: lossless
        mtu: 9216
        priority: 3
        trust: dscp
        watchdog: {state: enabled}
      confirm_timeout_s: 300
      fabric_ports: []
      host_mtu: 0
      host_ports: [Ethernet1/1]
      reconnect_timeout_s: 60
      save: when_verified
      verify_timeout_s: 30
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_switches": deferred("plugin_utils.site_switches", "switches")}
