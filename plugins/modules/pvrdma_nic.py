#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: pvrdma_nic
short_description: Manage the PVRDMA adapters of VMs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Manages the complete list of paravirtual RDMA adapters of one VM, or of a fleet of VMs in one task. It can also
    remove all of them. It does not touch adapters of other kinds.
  - If a requirement of PVRDMA is missing, vSphere silently falls back to TCP, and a job runs at a fraction of its
    speed. The module therefore rejects a request that cannot give RDMA, before it changes any VM. Each error states the
    cause and the fix.
  - It rejects a standard switch, a second uplink, and a port without an RDMA device. It rejects a host without the tag
    C(Net.PVRDMAVmknic) or with a closed firewall. It also rejects VMs of one job on different switches, an old hardware
    version, and memory that is not fully reserved.
  - Returns the expected result of a network test in RV(vms[].expects), because the presence of an adapter proves
    nothing.
  - The peer M(community.vmware.vmware_guest_network) handles one adapter per task, checks neither host nor switch, and
    does not read the VM again.
notes:
  - As far as known, vSphere adds, moves and removes these adapters only while a VM is powered off. It connects and
    disconnects them while the VM runs. See O(power).
  - The module cannot convert an adapter of another kind into a PVRDMA adapter. That adapter remains, and the module
    adds a new one.
  - M(aiready.vsphere.pvrdma_host) prepares the hosts. M(aiready.vsphere.vm_shape) reserves the memory and raises the
    hardware version.
  - Three rules are not fully documented. These are the full memory reservation, the exclusion of GPUDirect RDMA, and
    the guests without the driver. Each rule has an option that disables it.
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
          protocol:
            description: See O(adapters[].protocol).
            type: str
            choices: [rocev1, rocev2]
          mac:
            description: See O(adapters[].mac).
            type: str
          connected:
            description: See O(adapters[].connected).
            type: bool
            default: true
  adapters:
    description:
      - PVRDMA adapters of the VM.
      - The list is exact. The module removes PVRDMA adapters that are not listed, adds missing ones and does not touch
        matching ones. It matches adapters by MAC address, then by port group. It moves a remaining adapter before it
        adds a new one.
      - Required with O(state=present), either here or in O(vms[].adapters) of each VM. Ignored with O(state=absent).
    type: list
    elements: dict
    suboptions:
      portgroup:
        description:
          - Name of the port group of the adapter.
          - It must be on a distributed switch whose only uplink on the VM's host is the RDMA port.
        type: str
        required: true
      switch:
        description: Name of the switch. Needed if several port groups have this name.
        type: str
      protocol:
        description:
          - RoCE version of the adapter. Only hardware versions 14 to 19 have a choice.
          - Without this option, an existing adapter keeps its version, and a new adapter gets V(rocev2).
          - At other hardware versions vSphere accepts no protocol, so omit this option. From version 20 on, the module
            accepts V(rocev2) and does not send it.
        type: str
        choices: [rocev1, rocev2]
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
      - V(absent) removes all PVRDMA adapters.
    type: str
    choices: [present, absent]
    default: present
  same_switch:
    description:
      - Whether to require the same distributed switch and the same RoCE version for all VMs of the task.
      - Peers that differ in either fall back to TCP. The VMs of one job therefore need V(true).
    type: bool
    default: true
  host_path:
    description:
      - Reaction to a host that is not ready for PVRDMA because of its tag, firewall, uplinks or RDMA device.
      - V(refuse) fails for this VM, even if its adapters match the request, because its traffic uses TCP.
      - V(warn) continues with a warning. Use it for hosts that you prepare later.
    type: str
    choices: [refuse, warn]
    default: refuse
  unreserved_memory:
    description: Reaction to a VM without full memory reservation. V(refuse) fails for this VM.
    type: str
    choices: [refuse, allow]
    default: refuse
  gpudirect:
    description:
      - Reaction to GPUDirect RDMA, which PVRDMA does not support.
      - V(detect) rejects VMs whose settings allow it (C(pciPassthru.allowP2P) or C(pciPassthru.RelaxACSforP2P)).
      - V(wanted) declares that the job requests it, and rejects all VMs.
      - V(ignore) skips the check.
    type: str
    choices: [detect, wanted, ignore]
    default: detect
  guest_os:
    description:
      - Check of the guest operating system.
      - V(check) rejects VMs whose guest operating system is not a 64-bit Linux. It warns if the guest probably lacks
        the driver, as in Red Hat Enterprise Linux 10.
      - V(ignore) skips the check.
    type: str
    choices: [check, ignore]
    default: check
  max_adapters:
    description:
      - Maximum number of PVRDMA adapters per VM. Defaults to the number that the hosts report for the hardware version
        of the VM.
    type: int
attributes:
  check_mode:
    details: Reports the same changes, errors and results as a real run.
  diff_mode:
    details: Returns one diff per changed VM, with every adapter and the power cycle.
seealso:
  - module: aiready.vsphere.pvrdma_host
  - module: aiready.vsphere.vm_shape
  - module: community.vmware.vmware_guest_network
"""

EXAMPLES = r"""
- name: Add a PVRDMA adapter to a VM
  aiready.vsphere.pvrdma_nic:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    adapters:
      - portgroup: pg-rdma

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
      aiready.vsphere.pvrdma_nic:
        vms:
          - name: train-01
          - name: train-02
        adapters:
          - portgroup: pg-rdma
        power: cycle
      register: nics

    - name: Show the expected result of a network test
      ansible.builtin.debug:
        msg: "{{ item.name }} to {{ item.expects.peers | join(', ') }} over {{ item.expects.transport }}"
      loop: "{{ nics.vms }}"
      loop_control:
        label: "{{ item.name }}"

- name: Add a VM to a job before its host is ready
  aiready.vsphere.pvrdma_nic:
    path: /dc1/vm/training/train-03
    adapters:
      - portgroup: pg-rdma
        switch: dvs-rdma
        mac: 00:50:56:01:02:03
    host_path: warn

- name: Remove the adapters
  aiready.vsphere.pvrdma_nic:
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
        path: pvrdma
        adapters: 1
        transport: rdma
        fallback: tcp
        guest_driver: vmw_pvrdma
        roce: [rocev2]
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
          description: PVRDMA adapters of the VM, sorted.
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
            protocol:
              description: RoCE version. Null at hardware versions without a choice.
              type: str
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
          - portgroup: pg-rdma
            switch: dvs-rdma
            mac: null
            connected: true
            protocol: rocev2
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
        - {path: new adapter 1, before: null, after: "pg-rdma on dvs-rdma, rocev2", needs: null}
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.pvrdma_noun import (
    ARGUMENTS,
    PvrdmaNics,
    check_params,
)


def main() -> None:
    params.main(ARGUMENTS, PvrdmaNics, check_params)


if __name__ == "__main__":
    main()
