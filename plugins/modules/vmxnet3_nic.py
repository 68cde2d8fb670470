#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vmxnet3_nic
short_description: Give VMs vmxnet3 adapters on the port groups of a job
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Gives one VM, or a fleet of VMs in one task, exactly the listed vmxnet3 adapters on the port groups that are named,
    or takes the adapters on them away. This is plain TCP, the baseline of every comparison.
  - Adapters on other port groups, such as that of management, and adapters of other kinds are not touched.
  - Port groups that are not there, that several switches have, that no VM can use, or that the VM's host does not reach
    are refused before anything is touched, with the reason and with what to do about it.
  - The peer M(community.vmware.vmware_guest_network) handles one adapter per task. Whether it changes one or adds one
    depends on whether the task gives a label or a MAC address.
notes:
  - vSphere adds, moves and removes these adapters while a VM runs. Only a new MAC address needs it off. See O(power).
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.vm_identity
  - aiready.vsphere.task_waiting
  - aiready.vsphere.vm_change
  - aiready.vsphere.attributes
options:
  vms:
    description:
      - The VMs of a fleet, each with one way to identify it. They are found, read and changed together.
      - What goes wrong with one VM does not keep the others from being changed. The task fails with a summary, and
        RV(vms) has the result of each.
      - Mutually exclusive with O(name), O(path), O(moid), O(instance_uuid) and O(bios_uuid).
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the VM. Has to be unique within the O(datacenter), or in the whole inventory without it.
        type: str
      path:
        description: Inventory path of the VM, for example V(/dc1/vm/training/train-01).
        type: str
      moid:
        description: Managed object ID of the VM, for example V(vm-42).
        type: str
      instance_uuid:
        description: Instance UUID of the VM, which vCenter keeps unique.
        type: str
      bios_uuid:
        description: BIOS UUID of the VM, as the guest sees it.
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
        description: The adapters of this VM. Without it, those in O(adapters) at the top.
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
          mac:
            description: See O(adapters[].mac).
            type: str
          connected:
            description: See O(adapters[].connected).
            type: bool
            default: true
  adapters:
    description:
      - The adapters that the VM has on the port groups that are named. Adapters on them that are too many are
        removed, missing ones are added, and what matches is not touched.
      - An adapter with the O(adapters[].mac) of an entry is that entry's, on whatever port group it is, and is moved.
      - Required, for each VM here or in O(vms[].adapters).
    type: list
    elements: dict
    suboptions:
      portgroup:
        description:
          - Name of the port group that the adapter is attached to.
          - It may be on a distributed or on a standard switch. The same name twice means two adapters.
        type: str
        required: true
      switch:
        description: Name of the switch, where several port groups have this name.
        type: str
      mac:
        description:
          - A MAC address that the adapter shall keep, for example V(00:50:56:01:02:03).
          - Without it, an adapter that is there keeps what it has, and vSphere chooses one for a new adapter.
          - Of V(00:50:56), the addresses up to V(00:50:56:3f:ff:ff) are for people. From the others vSphere chooses by
            itself, and starts no VM that has one of them as a fixed address.
        type: str
      connected:
        description: Whether the adapter is connected when the VM starts, and now if the VM runs.
        type: bool
        default: true
  state:
    description:
      - V(present) gives the VM exactly the O(adapters) on the port groups that they name.
      - V(absent) removes the vmxnet3 adapters on the port groups that O(adapters) name, and of those only the one
        with O(adapters[].mac) where this is set.
    type: str
    choices: [present, absent]
    default: present
attributes:
  check_mode:
    details: The changes, the refusals and the result are those of a real run.
  diff_mode:
    details: One diff per VM that changes, with every adapter and the power cycle.
seealso:
  - module: community.vmware.vmware_guest_network
"""

EXAMPLES = r"""
- name: Give a VM an adapter for its training traffic
  aiready.vsphere.vmxnet3_nic:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    adapters:
      - portgroup: pg-train

- name: Set up the network of a training job
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Every VM of the job has its adapter
      aiready.vsphere.vmxnet3_nic:
        vms:
          - name: train-01
          - name: train-02
        adapters:
          - portgroup: pg-train
        power: cycle
      register: nics

    - name: Show what a network test has to prove
      ansible.builtin.debug:
        msg: "{{ item.name }} to {{ item.expects.peers | join(', ') }} over {{ item.expects.transport }}"
      loop: "{{ nics.vms }}"
      loop_control:
        label: "{{ item.name }}"

- name: Keep an adapter with its address, and move it to the port group of the job
  aiready.vsphere.vmxnet3_nic:
    path: /dc1/vm/training/train-03
    adapters:
      - portgroup: pg-train
        switch: dvs-train
        mac: 00:50:56:01:02:03

- name: Take the adapters away again
  aiready.vsphere.vmxnet3_nic:
    vms:
      - name: train-01
      - name: train-02
    adapters:
      - portgroup: pg-train
    state: absent
"""

RETURN = r"""
vms:
  description: One result per VM, in the order of the task, also when the task fails.
  returned: unless the parameters are wrong
  type: list
  elements: dict
  contains:
    name:
      description: Name of the VM. Of a VM that was not found, only what the task said is set here and below.
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
      description: Name of the host that the VM is on, null for a VM that was not found.
      type: str
      returned: always
      sample: esx-01.example.com
    cluster:
      description:
        - Name of the host's cluster, or of the compute resource of a host without one.
        - Null for a VM that was not found.
      type: str
      returned: always
      sample: gpu
    expects:
      description:
        - What a network test of the VM has to show. Empty with O(state=absent) and for a VM that could not be read.
        - It is for C(peers) alone. Between VMs of one host, C(proves_nothing), the traffic never reaches a port.
      type: dict
      returned: always
      contains:
        path:
          description: The data path, V(tcp), V(pvrdma) or V(sriov).
          type: str
          returned: success
        adapters:
          description: How many adapters of this kind the guest has to have.
          type: int
          returned: success
        transport:
          description: What has to carry the traffic, V(rdma) or V(tcp).
          type: str
          returned: success
        fallback:
          description: What carries it without a word when the path does not work, null where nothing does.
          type: str
          returned: success
        guest_driver:
          description: The driver of the adapter in the guest, null where it depends on the port.
          type: str
          returned: success
        roce:
          description: The RoCE versions that the adapters are set to.
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
        path: tcp
        adapters: 1
        transport: tcp
        fallback: null
        guest_driver: vmxnet3
        roce: []
        peers: [train-02]
        proves_nothing: []
    changed:
      description: Whether something about this VM was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(vms[].after). Empty for a VM that could not be read.
      type: dict
      returned: always
      sample:
        adapters: []
        power: "off"
        power_on_again: false
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        adapters:
          description: The vmxnet3 adapters of the VM, those that the task does not manage too, sorted.
          type: list
          elements: dict
          returned: success
          contains:
            portgroup:
              description: Name of the port group, or its key where it is not in the VM's datacenter.
              type: str
              returned: success
            switch:
              description: Name of the switch.
              type: str
              returned: success
            mac:
              description: The MAC address where it is fixed, null where vSphere has chosen it.
              type: str
              returned: success
            connected:
              description: Whether it is connected, or will be when the VM starts.
              type: bool
              returned: success
        power:
          description: V(on), V(off) or V(suspended).
          type: str
          returned: success
        power_on_again:
          description:
            - Whether the VM is marked to be switched on by the next run with O(power=cycle). True only while a power
              cycle by this module is not finished.
          type: bool
          returned: success
      sample:
        adapters:
          - portgroup: pg-train
            switch: dvs-train
            mac: null
            connected: true
        power: "off"
        power_on_again: false
    changes:
      description: What was changed, or would be in check mode, one entry per adapter or setting of one.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: new adapter 1, before: null, after: pg-train on dvs-train, needs: null}
    pending:
      description: What waits for something before it takes effect. A VM that a killed run left off is listed here.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether this VM is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why this VM is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the VM is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: some_failed, failed: [train-02]}
"""

from ansible_collections.aiready.vsphere.plugins.module_utils.vm import params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.vmxnet3_noun import (
    ARGUMENTS,
    Vmxnet3Nics,
    check_params,
)


def main() -> None:
    params.main(ARGUMENTS, Vmxnet3Nics, check_params)


if __name__ == "__main__":
    main()
