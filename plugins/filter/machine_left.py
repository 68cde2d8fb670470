# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs that left a site, and which of them are removed."""

from __future__ import annotations

DOCUMENTATION = r"""
name: machine_left
short_description: Determine which VMs left a site, and which of them are removed
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Compares the VMs on the hosts of a cluster with those that a site lists.
  - VMs that the site created and that are not listed left the site. Only VMs with the mark of
    M(aiready.vsphere.vm_clone) are removed.
positional: _input, vms, inputs
options:
  _input:
    type: list
    elements: dict
    required: true
    description:
      - The VMs, as M(aiready.vsphere.vm_owner_info) returns them.
  vms:
    type: list
    elements: dict
    required: true
    description:
      - The VMs of the site, each with C(name) or C(path).
  inputs:
    type: dict
    required: true
    description:
      - C(owner) is the name of the site, C(absent) are names of VMs to remove, and C(prune) is what happens to others
        that left, V(report), V(refuse) or V(delete).
seealso:
  - module: aiready.vsphere.vm_owner_info
"""

EXAMPLES = r"""
- name: Show which VMs left the site
  ansible.builtin.debug:
    msg: "{{ (there.vms | aiready.vsphere.machine_left([{'name': 'job-01'}], inputs)).told }}"
  vars:
    inputs: {owner: lab, absent: [], prune: report}
"""

RETURN = r"""
_value:
  description:
    - C(left) are the VMs that left and stay, and C(others) VMs of others that hold GPUs.
    - C(remove) are the entries for M(aiready.vsphere.vm_clone), C(leaving) their managed object IDs, and C(off) and
      C(running) those of them that run.
    - C(problems) are reasons to refuse, each with C(found) and C(todo). C(told) are lines for the operator, and
      C(holding) says which VMs hold GPUs.
  type: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"machine_left": deferred("plugin_utils.machine_left", "left")}
