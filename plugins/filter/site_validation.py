# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stage for validation gets out of a site and its guests."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_validation
short_description: What the stage for validation gets out of a site and its guests
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Works out which checks there are, between which guests, with what they are judged, and how it is trained for them.
  - The result fits the inputs of the role P(aiready.vsphere.validation#role), without the prefix of their names.
positional: _input, guests, host_ports, surroundings
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
  guests:
    type: list
    elements: dict
    default: []
    description:
      - Variables of the guests, as C(hostvars) has them. C(aiready_guest) is what the filter
        P(aiready.vsphere.site_guests#filter) tells of each. Adapters and addresses are taken from the facts of the
        network.
  host_ports:
    type: list
    elements: dict
    default: []
    description:
      - RV(aiready.vsphere.esxi_roce_info#module:hosts). Where the site does not say the speed of the line, it is that
        of the fastest of the ports that the site names for its data path.
  surroundings:
    type: dict
    default: {}
    description:
      - Settings that are not in the site and can be less strict than the defaults. C(hosts) has the variables of the
        hosts of the groups C(esxi_hosts), C(switches) and C(training_guests), C(host_key_checking) is the one of
        Ansible's configuration, and C(environment) has the variables of the environment that replace keys of the site.
      - C(owners) are the VMs of the cluster, as M(aiready.vsphere.vm_owner_info) returns them.
seealso:
  - plugin: aiready.vsphere.site_training
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show what is measured between two guests
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.site_validation).pairs.checks }}"
  vars:
    site:
      gpu: {mode: vgpu, profile: grid_a100-40c}
      network: {path: pvrdma, portgroup: RoCE}
      validation: {seconds: 10}
      vms: [{prefix: train-, count: 2}]
"""

RETURN = r"""
_value:
  description:
    - The guests, options of the modules that measure, and the intent that results are held to. C(problems)
      tells what is wrong with the guests, and C(relaxed) lists each setting that is less strict than its default.
  type: dict
  sample:
    guests:
      - {name: train-01, address: 198.51.100.11, interface: ens224, host: esx-01, gpu: 1}
    pairs: {checks: [pair.ping_mtu, pair.rping, pair.write_lat, pair.write_bw], seconds: 10, mtu: 9000}
    intent: {guests: [train-01], data_path: pvrdma, mtu: 9000}
    trainings: []
    fail_on: fail
    problems: []
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_validation": deferred("plugin_utils.site_validation", "validation")}
