#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_guest_info
short_description: Gather addresses, adapters and GPUs of VM guests
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns vCenter's data about the guests of a fleet of VMs.
  - The data are the power state, VMware Tools, the host name, and the adapters with kind, network, MAC address and
    addresses. They also contain the vGPU profiles, and the host with its driver.
  - Selects the best address to reach each guest, so that a play can continue inside the guests. See RV(vms).
  - Finds all VMs with one request and reads them with another, for any number of VMs. It sends no request to the
    guests.
notes:
  - VMware Tools report the addresses, shortly after the guest booted. M(aiready.vsphere.vm_power) waits for them.
  - vCenter does not report the MAC address of a port in passthrough mode. The module returns it only if it can identify
    the adapter. For this, the guest must report as many additional adapters with a vendor MAC address as the VM has
    such ports.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  datacenter:
    description:
      - Name or inventory path of the datacenter to search. Defaults to all datacenters of vCenter.
    type: str
  vms:
    description: List of VMs. Each entry identifies one VM by one key.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the VM. If several VMs have this name, the task fails and lists their paths.
        type: str
      path:
        description: Inventory path of the VM, such as V(/Frankfurt/vm/training/node-01).
        type: str
      moid:
        description: Managed object ID of the VM, such as V(vm-1042).
        type: str
      instance_uuid:
        description: Instance UUID of the VM, which is unique in vCenter.
        type: str
      bios_uuid:
        description: BIOS UUID of the VM. If several VMs have this UUID, the task fails.
        type: str
  address_network:
    description:
      - Name of the port group whose adapter gives the address of the guest.
      - Without this option, RV(vms) contains the first address on an adapter that does not carry training traffic.
        PVRDMA adapters, virtual functions, passthrough ports and adapters on O(data_network) carry training traffic. If
        a VM has only such adapters, the module returns their first address.
    type: str
  data_network:
    description: Name of the port group of the training network, if plain adapters carry the training traffic.
    type: str
  host_driver:
    description:
      - Whether to return the NVIDIA host driver of each VM's host. This needs one more request to each host.
      - The module returns the installed driver. M(aiready.vsphere.nvaie_driver_info) returns whether the host runs it.
    type: bool
    default: false
  missing:
    description:
      - Reaction to a missing VM. With V(report), RV(missing) contains its name.
      - A name that several VMs have is always an error.
    type: str
    choices: [fail, report]
    default: fail
seealso:
  - module: aiready.vsphere.vm_power
  - module: aiready.vsphere.nvaie_driver_info
"""

EXAMPLES = r"""
- name: Read the addresses of two guests
  aiready.vsphere.vm_guest_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    vms:
      - name: train-01
      - name: train-02
  register: seen

- name: Continue inside the guests
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Read the VMs
      aiready.vsphere.vm_guest_info:
        vms:
          - name: train-01
          - name: train-02
        address_network: VM Network
        missing: report
      register: seen

    - name: Add the guests that have an address to the inventory
      ansible.builtin.add_host:
        name: "{{ item.name }}"
        groups: training_guests
        ansible_host: "{{ item.address }}"
      changed_when: false
      loop: "{{ seen.vms | selectattr('address') }}"
      loop_control:
        label: "{{ item.name }}"
"""

RETURN = r"""
vms:
  description: One entry per existing VM, in the order of the request.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    moid:
      description: Managed object ID of the VM.
      type: str
      returned: always
    path:
      description: Inventory path of the VM.
      type: str
      returned: always
    instance_uuid:
      description: Instance UUID of the VM.
      type: str
      returned: always
    power:
      description: V(on), V(off) or V(suspended).
      type: str
      returned: always
    tools:
      description: V(true) if VMware Tools run in the guest.
      type: bool
      returned: always
    guest_name:
      description: Host name that the guest reports. Null if the guest reports none.
      type: str
      returned: always
    guest_os:
      description: Operating system that VMware Tools report. Null if VMware Tools do not run.
      type: str
      returned: always
    address:
      description: Address to reach the guest. Null if there is none. See O(address_network).
      type: str
      returned: always
    why_no_address:
      description: Reason for a missing RV(vms[].address), as sentences. Empty if the VM has an address.
      type: str
      returned: always
    adapters:
      description:
        - Network adapters, in the order of the VM's devices. The keys are C(label), C(kind), C(mac), C(network),
          C(connected) and C(addresses).
        - C(kind) is V(vmxnet3), V(pvrdma), V(sriov), V(passthrough) or V(other). C(network) is the port group.
          C(connected) is null while the VM is powered off. C(addresses) lists IPv4 first, without link-local addresses.
        - C(mac) and C(network) are null for a passthrough port that the module cannot identify.
      type: list
      elements: dict
      returned: always
    profiles:
      description: vGPU profiles of the VM, one entry per vGPU.
      type: list
      elements: str
      returned: always
    gpus:
      description: Number of GPUs of the VM, both vGPUs and passthrough boards.
      type: int
      returned: always
    host:
      description:
        - Host of the VM, with C(name), C(moid), C(connection) and C(driver).
        - C(driver) contains C(family) (V(nvaie), V(graphics) or V(none)) and C(version). It is null without
          O(host_driver), and if the host does not answer.
      type: dict
      returned: always
  sample:
    - name: train-01
      moid: vm-1042
      path: /Frankfurt/vm/training/train-01
      instance_uuid: 52b6d2a1-8c0f-4c5e-9a39-3f1f0c9f3a11
      power: "on"
      tools: true
      guest_name: train-01
      guest_os: Ubuntu Linux (64-bit)
      address: 192.0.2.11
      why_no_address: ""
      adapters:
        - label: Network adapter 1
          kind: vmxnet3
          mac: 00:50:56:a1:00:01
          network: VM Network
          connected: true
          addresses: [192.0.2.11]
        - label: Network adapter 2
          kind: pvrdma
          mac: 00:50:56:a1:00:02
          network: pg-rdma
          connected: true
          addresses: [198.51.100.11]
      profiles: [grid_a100-40c]
      gpus: 1
      host:
        name: esx-01.example.com
        moid: host-12
        connection: connected
        driver: {family: nvaie, version: 550.54.16}
missing:
  description: Names or paths of missing VMs, with O(missing=report).
  returned: success
  type: list
  elements: str
  sample: []
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: vm_not_found, near: [train-01]}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.info import params, read


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        vms, missing = read.read(vcenter, module.params, module.warn)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, vms=vms, missing=missing)


if __name__ == "__main__":
    main()
