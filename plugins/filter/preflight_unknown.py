# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of a site that vCenter does not know."""

from __future__ import annotations

DOCUMENTATION = r"""
name: preflight_unknown
short_description: Names of a site that vCenter does not know
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Lists the objects that the site names and vCenter does not show, each with the key to correct.
  - The template, the folder and the datastore of VMs are left out while all VMs of the site exist.
positional: _input
options:
  _input:
    type: dict
    required: true
    description:
      - C(questions), of P(aiready.vsphere.preflight_questions#filter); C(vcenter), the answer of
        M(aiready.vsphere.vcenter_access_info); and C(vms), the answer of M(aiready.vsphere.vm_guest_info).
seealso:
  - plugin: aiready.vsphere.preflight_findings
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Refuse names that vCenter does not know
  ansible.builtin.assert:
    that: seen | aiready.vsphere.preflight_unknown | length == 0
  vars:
    seen:
      questions: "{{ site | aiready.vsphere.preflight_questions }}"
"""

RETURN = r"""
_value:
  description: A sentence for each name, with what vCenter shows and the key to correct; empty if all are known.
  type: list
  elements: str
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"preflight_unknown": deferred("plugin_utils.preflight_findings", "unknown")}
