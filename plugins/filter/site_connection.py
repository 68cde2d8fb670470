# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the modules reach the vCenter of a site."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_connection
short_description: How the modules reach the vCenter of a site
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - The connection options that a site sets, for C(module_defaults). What the site leaves out is left out here too, so
    that the modules take it from the environment.
positional: _input, password
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
  password:
    type: str
    default: ""
    description:
      - Password of the vCenter user. Empty means that it is taken from the environment.
seealso:
  - plugin: aiready.vsphere.site_problems
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Use the vCenter of the site in all tasks of a play
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter: "{{ site | aiready.vsphere.site_connection(site_vcenter_password) }}"
  tasks:
    - name: Give one VM a whole A100
      aiready.vsphere.vgpu_profile:
        name: train-01
        profiles: [grid_a100-40c]
"""

RETURN = r"""
_value:
  description:
    - Connection options of the modules of this collection.
  type: dict
  sample:
    hostname: vcenter.example.org
    username: automation@vsphere.local
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_connection": deferred("plugin_utils.site", "connection")}
