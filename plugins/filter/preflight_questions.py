# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is looked at before a run."""

from __future__ import annotations

DOCUMENTATION = r"""
name: preflight_questions
short_description: What is looked at before a run
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Tells what a look before a run has to ask for, as it follows from a site. Nobody is asked by it.
positional: _input, passwords, given, groups, variables
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
  passwords:
    type: dict
    default: {}
    description:
      - Passwords of registries by their addresses. They are in RV(_value) then.
  given:
    type: dict
    default: {}
    description:
      - Which secrets there are, by the names of their variables. C(site_registry_passwords) is a list of addresses,
        and C(bmcs) tells whether there are BMCs.
  groups:
    type: dict
    default: {}
    description:
      - The names of the hosts of each group, usually C(groups). Misspelled groups are among C(problems) then.
  variables:
    type: dict
    default: {}
    description:
      - The variables of each host by its name, usually C(hostvars). Misspelled variables are among C(problems) then.
seealso:
  - plugin: aiready.vsphere.preflight_findings
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show which privileges the stages need
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.preflight_questions).privileges }}"
"""

RETURN = r"""
_value:
  description:
    - C(problems) of the site, without which there is nothing else; the C(stages) inside guests; C(datacenter);
      C(privileges), each with C(stage), C(why), C(kind), C(name) and C(privilege); C(objects), the same as
      M(aiready.vsphere.vcenter_access_info) takes it; C(addresses), C(registries) and C(paths), as
      M(aiready.vsphere.surroundings_info) takes them; C(unverified), connections whose certificate is not verified,
      each with the setting; and C(secrets), each as where, what, whether it is there, and
      what to do.
  type: dict
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"preflight_questions": deferred("plugin_utils.preflight_questions", "everything")}
