# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who the guests of a site are, and what each of them gets."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_guests
short_description: Who the guests of a site are, and what each of them gets
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Tells what M(aiready.vsphere.vm_guest_info) has to be asked. With its answer, puts together what the site says and
    what vCenter tells. Addresses, the adapter of the training, GPUs and the driver of the host.
  - What there is for each guest fits the inputs of the role P(aiready.vsphere.guest_vm#role), without the prefix of
    their names. Secrets are not among it.
positional: _input, seen, names, variables, token, without
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
  seen:
    type: dict
    description:
      - What M(aiready.vsphere.vm_guest_info) has answered.
  names:
    type: list
    elements: str
    default: []
    description:
      - The hosts that the inventory has in its group C(training_guests). Where there are any, these are the guests,
        each by the name of its VM.
  variables:
    type: dict
    default: {}
    description:
      - Variables of these hosts by name, usually C(hostvars). C(ansible_host) and C(ansible_user) are kept as they are,
        and C(data_mac) is the MAC address of the adapter of the training, where vCenter does not know it.
  token:
    type: bool
    description:
      - Whether there is a licence token beside the site. Left out, nobody looks for one.
  without:
    type: list
    elements: str
    default: []
    description:
      - Stages that are left out, whatever the site says of them.
seealso:
  - module: aiready.vsphere.vm_guest_info
  - plugin: aiready.vsphere.site_problems
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show whom vCenter is asked for
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.site_guests).look.vms }}"
  vars:
    site:
      gpu: {mode: vgpu, profile: grid_a100-40c}
      guests: {user: ops}
      vms: [{prefix: train-, count: 2}]
"""

RETURN = r"""
_value:
  description:
    - The stages inside the guests of which the site says something, the options of M(aiready.vsphere.vm_guest_info),
      and with its answer the guests by their names in the inventory, VMs that are not there yet, those that
      are not there or have no address yet, what does not fit, and what could be safer, as sentences.
  type: dict
  sample:
    stages: [guests]
    look:
      vms: [{name: train-01}]
      host_driver: true
    guests:
      train-01:
        vm: /DC1/vm/training/train-01
        connection: {ansible_host: 192.0.2.11, ansible_user: ops}
        address: 192.0.2.11
        addresses: [192.0.2.11, 198.51.100.11]
        data_path: pvrdma
        data_interface: {mac: "00:50:56:a1:00:02", mtu: 9000}
        data_address: 198.51.100.11
        gpu: true
        gpus: 1
        host: esx-01.example.org
        host_driver: 550.54.16
        peers:
          - {name: train-01, addresses: [192.0.2.11, 198.51.100.11]}
    problems: []
    notes: []
    waiting: []
    later: []
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_guests": deferred("plugin_utils.site_guests", "guests")}
