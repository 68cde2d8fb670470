# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a site cannot be worked out."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_unresolved
short_description: Explain why a site cannot be worked out
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Names the variable that a site uses and that is not defined. Ansible's own message names parts of the role that
    read it.
positional: _input
options:
  _input:
    type: str
    required: true
    description:
      - The message of the task that failed.
seealso:
  - plugin: aiready.vsphere.inventory_problems
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Refuse a site that cannot be worked out
  ansible.builtin.fail:
    msg: "{{ ansible_failed_result.msg | aiready.vsphere.site_unresolved }}"
"""

RETURN = r"""
_value:
  description:
    - The problem and its fix.
  type: str
  sample: >-
    site: It cannot be worked out. The variable my_profile is not defined. Set my_profile in group_vars or in a vault,
    or correct its name where the site uses it.
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_unresolved": deferred("plugin_utils.inventory_checks", "unresolved")}
