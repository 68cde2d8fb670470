# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What check mode cannot know of objects, in the words that the record of a run understands."""

from __future__ import annotations

DOCUMENTATION = r"""
name: decided_later
short_description: What check mode cannot know of objects, in the words that the record of a run understands
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Makes a sentence for each object that says what of it will be decided after something that check mode does not do.
  - Shown by M(ansible.builtin.debug) in check mode, such a sentence also stands in C(decided_later) of the record that
    P(aiready.vsphere.record#callback) writes.
positional: _input, after, why, what
options:
  _input:
    type: list
    elements: str
    required: true
    description:
      - The objects, such as hosts or VMs, by their names; a text is one of them.
  after:
    type: str
    required: true
    description:
      - What has to be done first, such as the name of a stage.
  why:
    type: str
    default: ""
    description:
      - What is missing until then.
  what:
    type: list
    elements: str
    default: []
    description:
      - The settings that are left open, by their names in results, by the parts of them before a dot, or by patterns
        with V(*). Empty for everything that the stage does to the objects.
seealso:
  - plugin: aiready.vsphere.record
    plugin_type: callback
"""

EXAMPLES = r"""
- name: Tell what is left open
  ansible.builtin.debug:
    msg: "{{ ['job-01', 'job-02'] | aiready.vsphere.decided_later('machines', 'the VM is not there yet') }}"
  when: ansible_check_mode
"""

RETURN = r"""
_value:
  description:
    - One sentence for each object.
  type: list
  elements: str
  sample:
    - "job-01: everything will be decided after machines: the VM is not there yet."
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"decided_later": deferred("plugin_utils.run_plan", "later")}
