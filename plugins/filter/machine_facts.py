# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stages that follow have to know of each training VM."""

from __future__ import annotations

DOCUMENTATION = r"""
name: machine_facts
short_description: What the stages that follow have to know of each training VM
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Makes the fact C(training_vm_machines) of the role P(aiready.vsphere.training_vm#role).
positional: _input, seen, placement, inputs
options:
  _input:
    type: dict
    required: true
    description:
      - The steps, as P(aiready.vsphere.machine_steps#filter) gives them.
  seen:
    type: dict
    required: true
    description:
      - What the module of each step answered last, entry by entry.
  placement:
    type: dict
    required: true
    description:
      - Where the VMs go, as M(aiready.vsphere.vm_placement_info) says. Empty where nothing was placed.
  inputs:
    type: dict
    required: true
    description:
      - The inputs of the role, under their names without its prefix.
seealso:
  - plugin: aiready.vsphere.machine_steps
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show which network test each VM has to pass
  ansible.builtin.debug:
    msg: "{{ training_vm_machines | items2dict(key_name='name', value_name='expects') }}"
"""

RETURN = r"""
_value:
  description:
    - Name, ids, host, power, addresses, GPUs, adapters, NUMA nodes and data path (C(path)) of each VM, and what the
      test of its network has to show (C(expects)).
  type: list
  elements: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"machine_facts": deferred("plugin_utils.machine_facts", "facts")}
