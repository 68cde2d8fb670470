# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one restart that settles everything that waits."""

from __future__ import annotations

DOCUMENTATION = r"""
name: host_restart
short_description: The one restart that settles everything that waits
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Gathers what modules report as pending, and says which single restart of the host settles all of it.
  - Results of tasks that were skipped or looped are understood.
positional: _input
options:
  _input:
    type: list
    elements: dict
    required: true
    description:
      - Registered results of modules of this collection, from check mode or not.
seealso:
  - module: aiready.vsphere.esxi_reboot
"""

EXAMPLES = r"""
- name: Plan a setting
  aiready.vsphere.esxi_kernel_setting:
    host: esx-01.example.com
    settings: {atsSupport: true}
  register: kernel

- name: Restart the host for it
  aiready.vsphere.esxi_reboot:
    host: esx-01.example.com
    reasons: "{{ restart.reasons }}"
  when: restart.reboot
  vars:
    restart: "{{ [kernel] | aiready.vsphere.host_restart }}"
"""

RETURN = r"""
_value:
  description:
    - C(kind) is V(none), V(xorg), V(warm) or V(cold). C(reboot) tells whether the host has to be restarted. C(reasons)
      are what waits for it, C(cold_reasons) those of them that a warm restart does not settle.
  type: dict
  sample:
    kind: warm
    reboot: true
    reasons: [driver, kernel.atsSupport]
    cold_reasons: []
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"host_restart": deferred("plugin_utils.host_restart", "restart")}
