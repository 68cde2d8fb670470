# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an ESXi host was promised to be and is not."""

from __future__ import annotations

DOCUMENTATION = r"""
name: host_gaps
short_description: What an ESXi host was promised to be and is not
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Compares what M(aiready.vsphere.esxi_host_info) tells of a host with what it shall be, and returns one entry for
    each thing that is missing. Each names the thing, and the step of the role P(aiready.vsphere.esxi_host#role) that
    brings it.
  - Whether a profile is offered is looked at when nothing else is missing, since all else is there for it.
positional: _input, wanted, answers
options:
  _input:
    type: dict
    required: true
    description:
      - RV(aiready.vsphere.esxi_host_info#module:host).
  wanted:
    type: dict
    required: true
    description:
      - What the host shall be, with the keys C(driver), C(kernel_settings), C(module_options), C(graphics_type),
        C(mig), C(pvrdma), C(vmknic), C(mtu), C(gpu_passthrough), C(nics), C(vfs), C(profiles) and C(in_service). Each
        may be left out.
  answers:
    type: list
    elements: list
    default: []
    description:
      - Pairs of a step and the result of a module that was run in check mode, for what the host itself does not tell,
        such as its BIOS.
      - A third element says whether the module had to be run. If it is true and the result is missing or skipped, that
        is an entry of its own, since nothing was verified.
seealso:
  - module: aiready.vsphere.esxi_host_info
"""

EXAMPLES = r"""
- name: Look at a host
  aiready.vsphere.esxi_host_info:
    host: esx-01.example.com
  register: esx

- name: The host can offer vGPUs
  ansible.builtin.assert:
    that: gaps | length == 0
    fail_msg: "{{ gaps | map(attribute='text') | join(', ') }}"
  vars:
    gaps: "{{ esx.host | aiready.vsphere.host_gaps({'driver': {'family': 'nvaie'}}) }}"
"""

RETURN = r"""
_value:
  description:
    - What is missing, each with C(step), C(text), C(path), C(requested) and C(found), which
      C(differs) has in one text.
  type: list
  elements: dict
  sample:
    - step: driver
      text: the driver 550.54.16 is installed and not loaded; a restart is missing
      path: driver.loaded
      requested: "true"
      found: "false"
      differs: "driver.loaded: requested true, found false"
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"host_gaps": deferred("plugin_utils.host_promises", "gaps")}
