#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: sriov_nic
short_description: Manage the SR-IOV network adapters of VMs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Manages the complete list of SR-IOV network adapters (virtual functions) of one VM, or of a fleet of VMs in one
    task. It can also remove all of them. It does not touch adapters of other kinds.
  - Checks the VM's host before it changes any VM. Each error states the cause and the fix.
  - It rejects a port without virtual functions, functions that need a host restart, and a port in passthrough mode. It
    rejects a port without a free function, and names the VMs that need the functions.
  - It also rejects a port that is no uplink of the port group's switch, memory that is not fully reserved, and a VM
    with snapshots.
  - The peer M(community.vmware.vmware_guest_network) handles one adapter per task and does not check the functions of
    the port. A missing function then shows only when a VM does not start.
notes:
  - vSphere adds, moves and removes these adapters only while a VM is powered off. It connects and disconnects them
    while the VM runs. See O(power).
  - A VM with such an adapter has no vMotion, no HA restart, no DRS placement, no snapshots and no suspend. All of its
    memory is reserved. Power it off for maintenance of its host.
  - M(aiready.vsphere.pci_passthrough) and M(aiready.vsphere.nic_firmware) enable the virtual functions of a port.
  - A VM occupies its functions from power-on. The module counts the functions of running VMs and of all VMs of the
    task.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.vm_identity
  - aiready.vsphere.task_waiting
  - aiready.vsphere.vm_change
  - aiready.vsphere.attributes
options:
  vms:
    description:
      - List of VMs. Each entry identifies one VM by one key.
      - The module finds, reads and changes all VMs together. A failure of one VM does not prevent the changes of the
        others.
      - If a VM fails, the task fails with a summary. RV(vms) contains the result of each VM.
      - Mutually exclusive with O(name), O(path), O(moid), O(instance_uuid) and O(bios_uuid).
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - Name of the VM. It must be unique within the O(datacenter), or in the whole inventory without O(datacenter).
        type: str
      path:
        description: Inventory path of the VM, for example V(/dc1/vm/training/train-01).
        type: str
      moid:
        description: Managed object ID of the VM, for example V(vm-42).
        type: str
      instance_uuid:
        description: Instance UUID of the VM, which is unique in vCenter.
        type: str
      bios_uuid:
        description: BIOS UUID of the VM, as the guest reports it.
        type: str
      planned:
        description: O(planned) for this VM alone.
        type: dict
        suboptions:
          template:
            description: See O(planned.template).
            type: str
          host:
            description: See O(planned.host).
            type: str
          hardware_version:
            description: See O(planned.hardware_version).
            type: int
          memory_reservation:
            description: See O(planned.memory_reservation).
            type: str
            choices: [all]
      adapters:
        description: Adapters of this VM. Defaults to O(adapters).
        type: list
        elements: dict
        suboptions:
          portgroup:
            description: See O(adapters[].portgroup).
            type: str
            required: true
          switch:
            description: See O(adapters[].switch).
            type: str
          physical_function:
            description: See O(adapters[].physical_function).
            type: str
          guest_mtu_change:
            description: See O(adapters[].guest_mtu_change).
            type: bool
          mac:
            description: See O(adapters[].mac).
            type: str
          connected:
            description: See O(adapters[].connected).
            type: bool
            default: true
  adapters:
    description:
      - SR-IOV adapters of the VM.
      - The list is exact. The module removes SR-IOV adapters that are not listed, adds missing ones and does not touch
        matching ones. It matches adapters by MAC address, then by port group. It moves a remaining adapter before it
        adds a new one.
      - Required with O(state=present), either here or in O(vms[].adapters) of each VM. Ignored with O(state=absent).
    type: list
    elements: dict
    suboptions:
      portgroup:
        description:
          - Name of the port group of the adapter.
          - It can be on a distributed or a standard switch. It defines VLAN and MTU of the function.
        type: str
        required: true
      switch:
        description: Name of the switch. Needed if several port groups have this name.
        type: str
      physical_function:
        description:
          - Port of the virtual function, by the name that the host reports, for example V(vmnic3), or by its PCI
            address.
          - Without this option, an existing adapter keeps its port. For a new adapter, the host chooses among the
            uplinks of the port group's switch.
        type: str
      guest_mtu_change:
        description:
          - Whether to let the guest change the MTU of its function. Without this option, an existing adapter keeps its
            setting, and a new adapter does not allow the change.
        type: bool
      mac:
        description:
          - Fixed MAC address of the adapter, for example V(00:50:56:01:02:03).
          - Without this option, an existing adapter keeps its address, and vSphere chooses the address of a new
            adapter.
          - Within V(00:50:56), use addresses up to V(00:50:56:3f:ff:ff). vSphere assigns the others automatically, and
            does not start a VM that has one of them as a fixed address.
        type: str
      connected:
        description: Whether to connect the adapter at power-on, and immediately if the VM runs.
        type: bool
        default: true
  state:
    description:
      - Desired state of the adapters.
      - V(present) configures exactly the O(adapters).
      - V(absent) removes all SR-IOV adapters.
    type: str
    choices: [present, absent]
    default: present
  port_off_switch:
    description:
      - Reaction to an O(adapters[].physical_function) that is no uplink of the port group's switch.
      - vSphere is not expected to serve such an adapter, but this is not documented.
    type: str
    choices: [refuse, allow]
    default: refuse
attributes:
  check_mode:
    details: Reports the same changes, errors and results as a real run.
  diff_mode:
    details: Returns one diff per changed VM, with every adapter and the power cycle.
seealso:
  - module: aiready.vsphere.pci_passthrough
  - module: aiready.vsphere.vm_shape
  - module: community.vmware.vmware_guest_network
"""

EXAMPLES = r"""
- name: Add a virtual function to a VM
  aiready.vsphere.sriov_nic:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    adapters:
      - portgroup: pg-sriov

- name: Configure the network of a training job
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Configure the adapter of each VM of the job
      aiready.vsphere.sriov_nic:
        vms:
          - name: train-01
          - name: train-02
        adapters:
          - portgroup: pg-sriov
        power: cycle
      register: nics

    - name: Show the expected result of a network test
      ansible.builtin.debug:
        msg: "{{ item.name }} to {{ item.expects.peers | join(', ') }} over {{ item.expects.transport }}"
      loop: "{{ nics.vms }}"
      loop_control:
        label: "{{ item.name }}"

- name: Use a port near the GPU and allow jumbo frames
  aiready.vsphere.sriov_nic:
    path: /dc1/vm/training/train-03
    adapters:
      - portgroup: pg-sriov
        switch: dvs-sriov
        physical_function: vmnic3
        guest_mtu_change: true

- name: Remove the adapters
  aiready.vsphere.sriov_nic:
    vms:
      - name: train-01
      - name: train-02
    state: absent
"""

RETURN = r"""
vms:
  description: One result per VM, in the order of the task. Also returned if the task fails.
  returned: unless the parameters are wrong
  type: list
  elements: dict
  contains:
    name:
      description: Name of the VM. If the VM was not found, this and the next keys contain only the values of the task.
      type: str
      returned: always
      sample: train-01
    moid:
      description: Managed object ID of the VM.
      type: str
      returned: always
      sample: vm-42
    instance_uuid:
      description: Instance UUID of the VM.
      type: str
      returned: always
      sample: 52b6d2a1-8c0f-4c5e-9a39-3f1f0c9f3a11
    path:
      description: Inventory path of the VM.
      type: str
      returned: always
      sample: /dc1/vm/training/train-01
    host:
      description: Name of the host of the VM. Null if the VM was not found.
      type: str
      returned: always
      sample: esx-01.example.com
    cluster:
      description:
        - Name of the cluster of the host. For a standalone host, name of its compute resource.
        - Null if the VM was not found.
      type: str
      returned: always
      sample: gpu
    expects:
      description:
        - Expected result of a network test of the VM. Empty with O(state=absent), and if the VM could not be read.
        - It applies only to C(peers). Traffic between VMs of one host, C(proves_nothing), never reaches a port.
      type: dict
      returned: always
      contains:
        path:
          description: Data path, V(tcp), V(pvrdma) or V(sriov).
          type: str
          returned: success
        adapters:
          description: Number of adapters of this kind that the guest must have.
          type: int
          returned: success
        transport:
          description: Transport that must carry the traffic, V(rdma) or V(tcp).
          type: str
          returned: success
        fallback:
          description: Transport that silently carries the traffic if the path does not work. Null if there is none.
          type: str
          returned: success
        guest_driver:
          description: Driver of the adapter in the guest. Null if it depends on the port.
          type: str
          returned: success
        roce:
          description: Configured RoCE versions of the adapters.
          type: list
          elements: str
          returned: success
        peers:
          description: Names of the other VMs of the task on other hosts.
          type: list
          elements: str
          returned: success
        proves_nothing:
          description: Names of the other VMs of the task on the same host.
          type: list
          elements: str
          returned: success
      sample:
        path: sriov
        adapters: 1
        transport: rdma
        fallback: null
        guest_driver: mlx5_core
        roce: []
        peers: [train-02]
        proves_nothing: []
    changed:
      description: V(true) if the module changed this VM, or would change it in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description:
        - State before the change, with the same keys as RV(vms[].after). Empty if the VM could not be read.
      type: dict
      returned: always
      sample:
        adapters: []
        power: "off"
        power_on_again: false
    after:
      description: State after the change, read again from vCenter. In check mode, the predicted state.
      type: dict
      returned: always
      contains:
        adapters:
          description: SR-IOV adapters of the VM, sorted.
          type: list
          elements: dict
          returned: success
          contains:
            portgroup:
              description: Name of the port group. Its key if it is not in the datacenter of the VM.
              type: str
              returned: success
            switch:
              description: Name of the switch.
              type: str
              returned: success
            mac:
              description: Fixed MAC address. Null if vSphere chose the address.
              type: str
              returned: success
            connected:
              description: V(true) if the adapter is connected, or will be when the VM starts.
              type: bool
              returned: success
            physical_function:
              description: PCI address of the port. Null if the host chooses.
              type: str
              returned: success
            guest_mtu_change:
              description: V(true) if the guest may change the MTU.
              type: bool
              returned: success
        power:
          description: V(on), V(off) or V(suspended).
          type: str
          returned: success
        power_on_again:
          description:
            - V(true) if the next run with O(power=cycle) will power on the VM. This is the case only while a power
              cycle of this module is not finished.
          type: bool
          returned: success
      sample:
        adapters:
          - portgroup: pg-sriov
            switch: dvs-sriov
            mac: null
            connected: true
            physical_function: null
            guest_mtu_change: false
        power: "off"
        power_on_again: false
    changes:
      description:
        - Changes that the module made, or would make in check mode. One entry per adapter, or per setting of an
          adapter.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: new adapter 1, before: null, after: pg-sriov on dvs-sriov, needs: null}
    pending:
      description: Changes that are not effective yet. A VM that a killed run left powered off is listed here.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if this VM differs from the request.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause of the failure of this VM, and the fix. Empty if the VM matches the request.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the VM matches the request.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: some_failed, failed: [train-02]}
"""

from ansible_collections.aiready.vsphere.plugins.module_utils.vm import params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.sriov_noun import (
    ARGUMENTS,
    SriovNics,
    check_params,
)


def main() -> None:
    params.main(ARGUMENTS, SriovNics, check_params)


if __name__ == "__main__":
    main()
