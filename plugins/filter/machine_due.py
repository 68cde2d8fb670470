# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left to do for each VM after a look at all of them."""

from __future__ import annotations

DOCUMENTATION = r"""
name: machine_due
short_description: What is left to do for each VM after a look at all of them
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Takes out of the steps of the role P(aiready.vsphere.training_vm#role) what is as it shall be already, so that a
    module is asked only for VMs that change.
  - A VM of which several modules change something is powered off once, before the first of them, and on again after the
    last. Where it is one module alone, that one does it, and puts the VM back when it does not start.
positional: _input, looks, power, start, wait_for
options:
  _input:
    type: dict
    required: true
    description:
      - The steps, as P(aiready.vsphere.machine_steps#filter) gives them.
  looks:
    type: dict
    required: true
    description:
      - What the module of each step answered in check mode, entry by entry. A step without an answer is due whole.
  power:
    type: str
    choices: [refuse, cycle]
    default: refuse
    description:
      - Whether running VMs may be powered off.
  start:
    type: str
    choices: [all, ignore]
    default: ignore
    description:
      - Whether all VMs run in the end, or those that ran before.
  wait_for:
    type: str
    choices: [none, tools, address]
    default: none
    description:
      - What is waited for after VMs were powered on.
seealso:
  - plugin: aiready.vsphere.machine_steps
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show which running VMs have to be powered off
  ansible.builtin.debug:
    msg: "{{ (steps | aiready.vsphere.machine_due({'shape': look.vms})).running }}"
"""

RETURN = r"""
_value:
  description:
    - The steps with only those entries that change; C(running), the names of running VMs that have to be off for that;
      C(off) and C(on), the VMs to power off before and on afterwards; C(again), the VMs whose devices are bound to NUMA
      nodes in the end; C(power), what the modules may do with running VMs; and C(anything), whether something is to be
      done at all.
  type: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"machine_due": deferred("plugin_utils.machine_due", "due")}
