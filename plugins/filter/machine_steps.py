# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each module of the stage for VMs is asked for, VM by VM."""

from __future__ import annotations

DOCUMENTATION = r"""
name: machine_steps
short_description: What each module of the stage for VMs is asked for, VM by VM
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Puts together what is wished for each VM and where it shall go, and gives the C(vms) of each module of the role
    P(aiready.vsphere.training_vm#role). A module that nothing is wished of gets none.
positional: _input, inputs, placement, clones, undecided
options:
  _input:
    type: list
    elements: dict
    required: true
    description:
      - The VMs, as the role's input C(training_vm_vms) has them.
  inputs:
    type: dict
    required: true
    description:
      - The other inputs of the role, under their names without its prefix.
  placement:
    type: dict
    default: {}
    description:
      - Where the VMs go, as M(aiready.vsphere.vm_placement_info) says. Empty where nothing was placed.
  clones:
    type: list
    elements: dict
    default: []
    description:
      - What M(aiready.vsphere.vm_clone) would do. VMs that are missing and have no template, but an item of a library,
        are left out of all other steps, since nobody knows what they will be.
  undecided:
    type: bool
    default: false
    description:
      - Hosts are not yet what they shall be. Then nothing is asked that depends on the host of a VM.
seealso:
  - plugin: aiready.vsphere.machine_due
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show which VM gets which vGPU profiles
  ansible.builtin.debug:
    msg: "{{ (training_vm_vms | aiready.vsphere.machine_steps(inputs, plan.placement)).vgpu }}"
"""

RETURN = r"""
_value:
  description:
    - A list for each of C(clone), C(shape), C(vgpu), C(direct), C(vmxnet3), C(pvrdma), C(sriov) and C(power).
  type: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"machine_steps": deferred("plugin_utils.machine_steps", "steps")}
