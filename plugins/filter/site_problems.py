# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All contradictions of a site at once."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_problems
short_description: All contradictions of a site at once
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Compares the settings of a site with each other and with what is known of the GPUs, without asking vCenter.
  - The types and names of the keys are checked by the role P(aiready.vsphere.site#role), which uses this filter.
positional: _input, override
options:
  _input:
    type: dict
    required: true
    description:
      - The site.
  override:
    type: dict
    default: {}
    version_added: 0.1.0
    description:
      - What is different for one host, as its variable C(site_host) says. With it, only those problems are told that
        the site does not have without it.
seealso:
  - plugin: aiready.vsphere.site_machines
    plugin_type: filter
  - plugin: aiready.vsphere.site_connection
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Refuse a site whose settings contradict each other
  ansible.builtin.assert:
    that: problems | length == 0
    fail_msg: "{{ problems }}"
  vars:
    problems: "{{ site | aiready.vsphere.site_problems }}"
"""

RETURN = r"""
_value:
  description:
    - One text for each problem, saying what was wanted, why it cannot be, and what to do. Empty for a consistent site.
  type: list
  elements: str
  sample:
    - >-
      site.gpu: grid_a100-3-20c is a profile of MIG instances, but mode is vgpu. Set site.gpu.mode to mig, or choose a
      time-sliced profile such as grid_a100-20c.
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_problems": deferred("plugin_utils.site_checks", "problems")}
