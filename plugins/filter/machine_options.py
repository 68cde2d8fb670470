# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each module of the stage for VMs is asked for, once for all VMs."""

from __future__ import annotations

DOCUMENTATION = r"""
name: machine_options
short_description: What each module of the stage for VMs is asked for, once for all VMs
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Used by the role P(aiready.vsphere.training_vm#role) for the defaults of its modules. What nobody set is left out.
positional: _input, inputs
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
seealso:
  - plugin: aiready.vsphere.machine_steps
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show what vm_shape is asked for
  ansible.builtin.debug:
    msg: "{{ (training_vm_vms | aiready.vsphere.machine_options(inputs)).shape }}"
"""

RETURN = r"""
_value:
  description:
    - Options by what they are for, such as C(clone), C(shape) and C(fleet).
  type: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"machine_options": deferred("plugin_utils.machine_options", "options")}
