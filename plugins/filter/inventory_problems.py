# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All mistakes of a site and of its inventory at once."""

from __future__ import annotations

DOCUMENTATION = r"""
name: inventory_problems
short_description: All mistakes of a site and of its inventory at once
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Checks a site as P(aiready.vsphere.site_problems#filter) does, what differs for single hosts and switches, and the
    names of groups and variables. It asks no vCenter, host or switch.
  - A file of hosts that Ansible could not read, and only warned of, is a problem too.
  - The role P(aiready.vsphere.site#role), with which each stage begins, uses this filter.
positional: _input, groups, variables
options:
  _input:
    type: dict
    required: true
    description:
      - The site.
  groups:
    type: dict
    default: {}
    description:
      - The names of the hosts of each group, usually C(groups). Used are C(esxi_hosts) and C(switches).
  variables:
    type: dict
    default: {}
    description:
      - The variables of each host by its name, usually C(hostvars). C(site_host) is what differs for an ESXi host; for
        those of switches see P(aiready.vsphere.site_switch_problems#filter).
seealso:
  - plugin: aiready.vsphere.site_problems
    plugin_type: filter
  - plugin: aiready.vsphere.site_switch_problems
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Refuse a site or an inventory that contradicts itself
  ansible.builtin.assert:
    that: problems | length == 0
    fail_msg: "{{ problems }}"
  vars:
    problems: "{{ site | aiready.vsphere.inventory_problems(groups, hostvars) }}"
"""

RETURN = r"""
_value:
  description:
    - One text for each problem with the file and line of its key, as far as Ansible knows them. Empty where nothing is
      wrong.
  type: list
  elements: str
  sample:
    - >-
      site.gpu.per_vm: 0 is no number of GPUs. Use at least 1, and take the VMs that shall have none out of site.vms.
      (group_vars/all/site.yml, line 12)
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"inventory_problems": deferred("plugin_utils.inventory_checks", "problems")}
