# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The differences that the verification of a role found."""

from __future__ import annotations

DOCUMENTATION = r"""
name: proof_gaps
short_description: Gather the differences that a verification found
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Gathers the differences between requested and found values from modules that ran in check mode after the work was
    done.
  - A read that was requested and did not take place is a difference too, since it verifies nothing.
positional: _input
options:
  _input:
    type: list
    elements: dict
    required: true
    description:
      - The proofs. C(step) is a name for what is verified, and C(answer) is the registered result of the module.
      - C(asked) is whether anything was requested, or the list of objects that were requested. The default is V(true).
      - C(object) is the name of the object, where the name in the result is not to be shown.
      - C(requested) and C(found) may take the place of C(answer), as values by their paths, for what no
        module here reads.
      - C(pending) is whether a value that waits for a restart is a difference. The default is V(false).
seealso:
  - plugin: aiready.vsphere.host_gaps
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Read the VMs again
  aiready.vsphere.vm_shape:
    vms: [{name: train-01, cpus: 16}]
  check_mode: true
  register: proof

- name: Refuse VMs that differ from the request
  ansible.builtin.assert:
    that: gaps | length == 0
    fail_msg: "{{ gaps | map(attribute='text') | join('; ') }}"
  vars:
    gaps: "{{ [{'step': 'shape', 'asked': ['train-01'], 'answer': proof}] | aiready.vsphere.proof_gaps }}"
"""

RETURN = r"""
_value:
  description:
    - The differences, each with C(step), C(object), C(path), C(requested), C(found) and C(text).
  type: list
  elements: dict
  sample:
    - step: shape
      object: /lab/vm/train-01
      path: cpus
      requested: "16"
      found: "4"
      text: "/lab/vm/train-01: cpus: requested 16, found 4"
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"proof_gaps": deferred("plugin_utils.proof_gaps", "gaps")}
