# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stage for ESXi hosts gets out of a site."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_hosts
short_description: What the stage for ESXi hosts gets out of a site
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Works out what priority and DSCP of RoCE mean to the network driver, which profiles hosts have to offer, and fills
    in the defaults.
  - The result fits the inputs of the role P(aiready.vsphere.esxi_host#role), without the prefix of their names.
positional: _input, override
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
  override:
    type: dict
    default: {}
    description:
      - Keys of the site that are different for this host, at any depth.
seealso:
  - plugin: aiready.vsphere.site_problems
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show which options the network driver of a host gets
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.site_hosts({'network': {'nics': ['vmnic4']}})).module_options }}"
  vars:
    site:
      gpu: {mode: vgpu, profile: grid_a100-40c}
      network: {path: pvrdma, nics: [vmnic2], vmknic: vmk1}
      roce: {priority: 3, dscp: 26}
      vms: [{name: train-01}]
"""

RETURN = r"""
_value:
  description:
    - What the hosts have to be, and how they are treated meanwhile.
  type: dict
  sample:
    graphics_type: shared_direct
    kernel_settings: {atsSupport: true}
    mig: disabled
    module_options:
      nmlx5_core: {pfctx: "0x08", pfcrx: "0x08", trust_state: "2"}
      nmlx5_rdma: {dscp_force: "26"}
    mtu: 9000
    nics: [vmnic4]
    profiles: [grid_a100-40c]
    pvrdma: true
    vmknic: vmk1
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_hosts": deferred("plugin_utils.site_hosts", "hosts")}
