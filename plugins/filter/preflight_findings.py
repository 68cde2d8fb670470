# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a look before a run has found."""

from __future__ import annotations

DOCUMENTATION = r"""
name: preflight_findings
short_description: What a look before a run has found
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Puts the answers of all looks into one table. What is right, what the stages will change, what cannot be told yet,
    and what blocks, with what to do.
  - One that went wrong does not hide the others.
positional: _input
options:
  _input:
    type: dict
    required: true
    description:
      - The answers. C(questions), from P(aiready.vsphere.preflight_questions#filter), and C(limits) with C(clock_s),
        C(controller_gb) and C(guest_gb) have to be there.
      - C(controller), of P(aiready.vsphere.controller_needs#filter); C(site); C(vcenter), of
        M(aiready.vsphere.vcenter_access_info); C(here), of M(aiready.vsphere.surroundings_info); C(hosts), the
        C(esxi_host_preview) of each; C(switches), the answer of M(aiready.vsphere.roce_qos) in check mode of each;
        C(problems) of what differs for single hosts, by their names,
        and C(switch_problems); C(broken), a list of C(where) and C(why) of what could not be worked out; C(machines),
        the C(training_vm_preview); and C(guests).
        Who could not be asked has an empty answer.
seealso:
  - plugin: aiready.vsphere.preflight_questions
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show what blocks
  ansible.builtin.debug:
    msg: "{{ (seen | aiready.vsphere.preflight_findings).sentence }}"
  vars:
    seen:
      questions: "{{ site | aiready.vsphere.preflight_questions }}"
      limits: {clock_s: 30, controller_gb: 1, guest_gb: 10}
"""

RETURN = r"""
_value:
  description:
    - C(findings), each with C(category), C(where), C(what), C(state) (V(ok), V(will be changed), V(open) or V(blocks)),
      C(found), C(wanted), C(todo) and C(code), the worst last; C(counts) by state; C(blocked); C(sentence), what blocks
      and what to do; and C(table), one line for each.
  type: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"preflight_findings": deferred("plugin_utils.preflight_findings", "answer")}
