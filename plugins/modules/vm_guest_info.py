#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_guest_info
short_description: Tell how the guests of VMs are reached, and what each has of GPUs and network
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Tells for a fleet of VMs what vCenter knows of their guests. Power, VMware Tools, host name, the adapters with kind,
    network, MAC address and addresses, the vGPU profiles, and the host with its driver.
  - Chooses the address by which a guest is best reached, so that a play can go on inside the guests. See RV(vms).
  - Finds all VMs with one request and reads them with another, however many there are. Nothing is asked of the guests
    themselves.
notes:
  - Addresses are those that VMware Tools tell, so that they are there a moment after the guest has booted.
    M(aiready.vsphere.vm_power) waits for them.
  - Of a port that was passed through, vCenter does not know the MAC address. It is told where the guest has as many
    adapters that are none of the VM's cards, and whose MAC addresses are a maker's, as the VM has such ports.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  datacenter:
    description:
      - The name or inventory path of the datacenter to search in. Without it all of vCenter is searched.
    type: str
  vms:
    description: The VMs, each with one way to identify it.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: The name of the VM. A name that several VMs have is an error that lists their paths.
        type: str
      path:
        description: The inventory path of the VM, such as V(/Frankfurt/vm/training/node-01).
        type: str
      moid:
        description: The managed object ID of the VM, such as V(vm-1042).
        type: str
      instance_uuid:
        description: The instance UUID of the VM, which vCenter keeps unique.
        type: str
      bios_uuid:
        description: The BIOS UUID of the VM. Several VMs can have the same one, which is an error.
        type: str
  address_network:
    description:
      - The port group by whose adapter the guests are reached.
      - Without it, RV(vms) tells the first address on an adapter that does not carry the training. Adapters for PVRDMA,
        virtual functions, ports that were passed through and adapters on O(data_network) carry it. Where a VM has no
        other adapter, it is the first address on these.
    type: str
  data_network:
    description: The port group that the training uses, where plain adapters do.
    type: str
  host_driver:
    description:
      - Whether the NVIDIA host driver of each VM's host is told. This is one more request to each host.
      - What is told is the driver that is installed. M(aiready.vsphere.nvaie_driver_info) tells whether the host runs
        it.
    type: bool
    default: false
  missing:
    description:
      - What happens to a VM that is not there. With V(report), RV(missing) names it.
      - A name that several VMs have is an error in any case.
    type: str
    choices: [fail, report]
    default: fail
seealso:
  - module: aiready.vsphere.vm_power
  - module: aiready.vsphere.nvaie_driver_info
"""

EXAMPLES = r"""
- name: How are these guests reached?
  aiready.vsphere.vm_guest_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    vms:
      - name: train-01
      - name: train-02
  register: seen

- name: Go on inside the guests
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Look at the VMs
      aiready.vsphere.vm_guest_info:
        vms:
          - name: train-01
          - name: train-02
        address_network: VM Network
        missing: report
      register: seen

    - name: Know the guests that have an address
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
  description: One entry per VM that is there, in the order of the request.
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
      description: Whether VMware Tools run in the guest.
      type: bool
      returned: always
    guest_name:
      description: What the guest calls itself, null where it has not told.
      type: str
      returned: always
    guest_os:
      description: The operating system that VMware Tools tell, null where they do not run.
      type: str
      returned: always
    address:
      description: The address to reach the guest by, null where there is none. See O(address_network).
      type: str
      returned: always
    why_no_address:
      description: Why there is no RV(vms[].address), as sentences; empty where there is one.
      type: str
      returned: always
    adapters:
      description:
        - The network adapters in the order of the VM's devices, each with C(label), C(kind) (V(vmxnet3), V(pvrdma),
          V(sriov), V(passthrough) or V(other)), C(mac), C(network) (the port group), C(connected) (null while the VM is
          off) and C(addresses) (IPv4 first, without link-local ones).
        - C(mac) and C(network) are null for a port that was passed through and cannot be told from the others.
      type: list
      elements: dict
      returned: always
    profiles:
      description: Its vGPU profiles, one entry per vGPU.
      type: list
      elements: str
      returned: always
    gpus:
      description: How many GPUs it has, vGPUs and boards that were passed through.
      type: int
      returned: always
    host:
      description: The host that it is on, with C(name), C(moid), C(connection) and C(driver). The latter has C(family)
        (V(nvaie), V(graphics) or V(none)) and C(version), and is null without O(host_driver) and where the host does
        not answer.
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
  description: Names or paths of VMs that are not there, with O(missing=report).
  returned: success
  type: list
  elements: str
  sample: []
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
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
