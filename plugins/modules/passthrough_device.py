#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: passthrough_device
short_description: Give VMs exactly the PCI passthrough devices they shall have
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Gives one VM, or a fleet of VMs in one task, exactly the whole GPUs and network ports that are listed, by
    DirectPath I/O, or takes all of them away.
  - A device is a fixed one at an address of the host, one of a kind that vSphere chooses at power-on (Dynamic
    DirectPath I/O, with or without a hardware label), or a group of devices that their vendor has put together.
  - Looks at the VM's host before anything is touched. A device that is not there, that is not active for passthrough,
    that a running VM holds or that two VMs of the task ask for, a label that no device has, a port that carries
    traffic of the host and a GPU that is set up for vGPU are refused, with the reason and with what to do about it.
  - Tells which GPU of the VM hangs off the same PCIe root as which network port, which GPUDirect RDMA needs, in
    RV(vms[].after.pairs), and warns where a port has none.
  - The peer M(community.vmware.vmware_host_passthrough) prepares hosts, as M(aiready.vsphere.pci_passthrough) does. No
    module of that collection gives the devices to VMs.
notes:
  - vSphere changes passthrough devices only while a VM is off. See O(power).
  - A VM with such a device has no vMotion, no snapshots and no suspending, and all of its memory is reserved. A static
    device also binds it to one slot of one host, so that HA does not restart it elsewhere; a dynamic device does not.
    For maintenance of the host the VM has to be powered off.
  - vGPUs belong to M(aiready.vsphere.vgpu_profile), virtual functions to M(aiready.vsphere.sriov_nic), reservation,
    hardware version, MMIO window and the settings for GPUDirect to M(aiready.vsphere.vm_shape). All are left as they
    are, and a VM may have a vGPU and a passthrough port together.
  - A static device is recorded with the host and the kind of card that it was added on. One that was recorded
    elsewhere, because the VM was moved or the card in the slot was exchanged, would not start and is added anew.
  - Devices that are in a device group belong to the group, whatever they are. They come and go with it.
  - How vSphere takes a VM's last device group away is not documented in detail. The VM is read again afterwards, and
    the module fails if the group is still there.
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
      devices:
        description: The passthrough devices of this VM. Without it, those in O(devices) at the top.
        type: list
        elements: dict
        suboptions:
          kind:
            description: See O(devices[].kind).
            type: str
            required: true
            choices: [static, dynamic, group]
          id:
            description: See O(devices[].id).
            type: str
          allowed:
            description: See O(devices[].allowed).
            type: list
            elements: str
          label:
            description: See O(devices[].label).
            type: str
          group:
            description: See O(devices[].group).
            type: str
          numa_node:
            description: See O(devices[].numa_node).
            type: int
  devices:
    description:
      - The passthrough devices that the VM has besides its vGPUs.
      - The list is exact. Devices that are not in it are removed, missing ones are added, and what matches is not
        touched. The order does not matter. A kind that is listed twice means two devices.
      - Required with O(state=present), for each VM here or in O(vms[].devices). Not regarded with O(state=absent).
    type: list
    elements: dict
    suboptions:
      kind:
        description:
          - V(static) is the device at one address of the host that the VM is on.
          - V(dynamic) is a device of a kind, which vSphere chooses among the free ones at each power-on. The VM needs
            hardware version 17.
          - V(group) is a group of devices that belong together, such as GPUs with NVLink between them, or a GPU with a
            network adapter behind one switch. It needs vSphere 8.0 and hardware version 20.
        type: str
        required: true
        choices: [static, dynamic, group]
      id:
        description: PCI address of a static device, for example V(0000:3b:00.0).
        type: str
      allowed:
        description:
          - Vendor and device IDs of the kinds that a dynamic device may be of, for example V(10de:20f1) for an A100
            with 40 GB and V(15b3:101d) for a ConnectX-6 Dx.
        type: list
        elements: str
      label:
        description:
          - The hardware label that a dynamic device has to have, as M(aiready.vsphere.pci_passthrough) sets it.
          - Without it, any free device of the kind is taken. Labels keep apart what looks alike, such as the ports of
            two fabrics, or the devices of two PCIe roots.
        type: str
      group:
        description: Name of a device group as the host offers it, for example V(Nvidia:2@grid_a100x-40c%NVLink).
        type: str
      numa_node:
        description:
          - The virtual NUMA node that the device is shown in, counted from 0. It needs vSphere 8.0.
          - V(-1) takes the node of a device away. Without this option, it stays as it is.
        type: int
  state:
    description:
      - V(present) gives the VM exactly the O(devices).
      - V(absent) removes all passthrough devices except vGPUs.
    type: str
    choices: [present, absent]
    default: present
  placement:
    description:
      - Which host has to have a dynamic device.
      - V(host) is the one that the VM is on. It is also checked that all VMs of the task find enough devices there.
      - V(cluster) is any host of its cluster, for VMs that DRS places when they are switched on. Whether enough devices
        are free is then left to the start of the VM.
      - Static devices and groups always have to be on the VM's own host.
    type: str
    choices: [host, cluster]
    default: host
  mixed:
    description:
      - Whether a VM may have a static device beside dynamic ones of the same kind. It is not documented whether vSphere
        keeps the static device back when it chooses the dynamic one at power-on.
    type: str
    choices: [refuse, allow]
    default: refuse
  max_per_vm:
    description:
      - The largest number of passthrough devices that your vSphere release takes in one VM.
      - Without it, 16, and 32 from hardware version 20 on.
    type: int
attributes:
  check_mode:
    details: The changes, the refusals and the result are those of a real run.
  diff_mode:
    details: One diff per VM that changes, with its devices and the power cycle.
seealso:
  - module: aiready.vsphere.pci_passthrough
  - module: aiready.vsphere.vgpu_profile
  - module: aiready.vsphere.sriov_nic
  - module: aiready.vsphere.vm_shape
"""

EXAMPLES = r"""
- name: Give a VM the network port at an address of its host
  aiready.vsphere.passthrough_device:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    devices:
      - kind: static
        id: "0000:3b:00.0"

- name: Set up the direct devices of a training cluster
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Every training VM has an A100 and a port of the fabric, wherever it starts
      aiready.vsphere.passthrough_device:
        vms:
          - name: train-02
          - name: train-03
        devices:
          - kind: dynamic
            allowed: ["10de:20f1"]
          - kind: dynamic
            allowed: ["15b3:101d"]
            label: fabric
        power: cycle
      register: direct

    - name: Show which GPU and port are near each other
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.after.pairs }}"
      loop: "{{ direct.vms }}"
      loop_control:
        label: "{{ item.name }}"

- name: Give a VM a GPU and a network adapter that hang off one switch, as a unit
  aiready.vsphere.passthrough_device:
    path: /dc1/vm/training/train-04
    devices:
      - kind: group
        group: "Nvidia:1@grid_a100-40c%MT2892 Family [ConnectX-6 Dx]"

- name: Take all direct devices away again
  aiready.vsphere.passthrough_device:
    vms:
      - name: train-01
      - name: train-02
      - name: train-03
      - path: /dc1/vm/training/train-04
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
    changed:
      description: Whether something about this VM was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description:
        - What was found, in the same terms as RV(vms[].after). Empty for a VM that could not be read.
      type: dict
      returned: always
      sample:
        devices: []
        pairs: []
        power: "off"
        power_on_again: false
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        devices:
          description: The passthrough devices besides vGPUs, sorted.
          type: list
          elements: dict
          returned: success
          contains:
            kind:
              description: V(static), V(dynamic) or V(group).
              type: str
              returned: always
            id:
              description: PCI address of a static device.
              type: str
              returned: always
            allowed:
              description: Vendor and device IDs of the kinds that a dynamic device may be of.
              type: list
              elements: str
              returned: always
            label:
              description: The hardware label that a dynamic device has to have.
              type: str
              returned: always
            group:
              description: Name of the device group.
              type: str
              returned: always
            numa_node:
              description: The virtual NUMA node of the device, null for none.
              type: int
              returned: always
        pairs:
          description:
            - Each GPU of the VM, vGPUs included, with each network port by passthrough, with C(gpu), C(nic) and
              C(same_root), which is V(true) where both hang off one PCIe root, and null where that is decided by what
              vSphere chooses at power-on.
          type: list
          elements: dict
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
        devices:
          - {kind: static, id: "0000:3b:00.0", allowed: [], label: null, group: null, numa_node: null}
        pairs: []
        power: "off"
        power_on_again: false
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: devices, before: [], after: ["static 0000:3b:00.0"], needs: null}
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import params as pci_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.noun import PassthroughDevices


def main() -> None:
    params.main(pci_params.ARGUMENTS, PassthroughDevices, pci_params.check_params)


if __name__ == "__main__":
    main()
