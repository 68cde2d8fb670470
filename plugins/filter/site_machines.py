# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stage for training VMs gets out of a site."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_machines
short_description: What the stage for training VMs gets out of a site
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Writes out rows of VMs, gives each VM its profiles and fills in the defaults.
  - The result fits the inputs of the role P(aiready.vsphere.training_vm#role).
positional: _input
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
seealso:
  - plugin: aiready.vsphere.site_problems
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show which VM gets which profiles
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.site_machines).vms }}"
  vars:
    site:
      gpu: {mode: vgpu, profile: grid_a100-20c, per_vm: 2}
      vms:
        - prefix: train-
          count: 2
        - path: /DC1/vm/evaluation/eval
          profiles: [grid_a100-40c]
"""

RETURN = r"""
_value:
  description:
    - The datacenter, the VMs with their profiles, and how they are treated.
  type: dict
  sample:
    cluster: ""
    datacenter: ""
    guest_shutdown_timeout_s: 300
    max_per_vm: 0
    memory_reservation: all
    mmio: auto
    mmio_size_gb: 0
    power: refuse
    unified_memory: enabled
    vms:
      - name: train-01
        profiles: [grid_a100-20c, grid_a100-20c]
      - name: train-02
        profiles: [grid_a100-20c, grid_a100-20c]
      - path: /DC1/vm/evaluation/eval
        profiles: [grid_a100-40c]
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_machines": deferred("plugin_utils.site_machines", "machines")}
