# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Training VMs as a table that a person reads."""

from __future__ import annotations

DOCUMENTATION = r"""
name: machine_table
short_description: Training VMs as a table that a person reads
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - One line for each VM, with its host, address, GPUs, adapters and NUMA nodes.
positional: _input
options:
  _input:
    type: list
    elements: dict
    required: true
    description:
      - The VMs, as P(aiready.vsphere.machine_facts#filter) gives them.
seealso:
  - plugin: aiready.vsphere.machine_facts
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show the training VMs
  ansible.builtin.debug:
    msg: "{{ training_vm_machines | aiready.vsphere.machine_table }}"
"""

RETURN = r"""
_value:
  description:
    - The lines of the table, its head first.
  type: list
  elements: str
  sample:
    - "VM        host                 address    GPU            adapter          NUMA"
    - "train-01  esx-01.example.org   10.0.0.11  grid_a100-40c  pvrdma: pg-rdma  0"
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"machine_table": deferred("plugin_utils.machine_facts", "table")}
