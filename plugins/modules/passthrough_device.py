#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: passthrough_device
short_description: Manage the PCI passthrough devices of VMs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Manages the complete list of whole GPUs and network ports (DirectPath I/O) of one VM, or of a fleet of VMs in one
    task. It can also remove all of them.
  - Supports static devices, dynamic devices and device groups. A static device is at one PCI address of the host.
    vSphere chooses a dynamic device at power-on (Dynamic DirectPath I/O, with or without a hardware label). The vendor
    defines a device group.
  - Also supports devices of Enhanced DirectPath I/O (DVX), by the device class that the vendor's software defines.
  - Checks the VM's host before it changes any VM. Each error states the cause and the fix.
  - It rejects a missing device, and a device that is not active for passthrough. It rejects a device that a running VM
    holds, or that two VMs of the task request.
  - It also rejects a label that no device has, a port that carries traffic of the host, and a GPU that is configured
    for vGPU.
  - Returns in RV(vms[].after.pairs) which GPU and which network port of the VM share a PCIe root, as GPUDirect RDMA
    needs. It warns about a port that shares no root with a GPU.
  - The peer M(community.vmware.vmware_host_passthrough) prepares hosts, as M(aiready.vsphere.pci_passthrough) does.
    That collection has no module that assigns the devices to VMs.
notes:
  - vSphere changes passthrough devices only while a VM is powered off. See O(power).
  - A VM with such a device has no vMotion, no snapshots and no suspend, and all of its memory is reserved. Power it off
    for maintenance of its host.
  - Enhanced DirectPath I/O is the exception. It supports vMotion where the host reports C(checkpointSupported) of the
    device class. RV(vms[].after.devices[].vmotion) is V(true) then.
  - A static device also binds the VM to one slot of one host, so that HA does not restart the VM on another host. A
    dynamic device does not.
  - M(aiready.vsphere.vgpu_profile) manages vGPUs, and M(aiready.vsphere.sriov_nic) manages virtual functions.
    M(aiready.vsphere.vm_shape) manages memory reservation, hardware version, MMIO window and GPUDirect settings. This
    module changes none of them. A VM can have a vGPU and a passthrough port together.
  - vSphere records a static device with its host and card type. A record of another host or card does not start, for
    example after the VM was moved or the card was replaced. The module then adds the device again.
  - Devices of a device group belong to the group. The module adds and removes them together with the group.
  - The removal of the last device group of a VM is not documented in detail. The module reads the VM again and fails if
    the group is still present.
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
      devices:
        description: Passthrough devices of this VM. Defaults to O(devices).
        type: list
        elements: dict
        suboptions:
          kind:
            description: See O(devices[].kind).
            type: str
            required: true
            choices: [static, dynamic, group, dvx]
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
          device_class:
            description: See O(devices[].device_class).
            type: str
            version_added: 0.2.0
          numa_node:
            description: See O(devices[].numa_node).
            type: int
  devices:
    description:
      - Passthrough devices of the VM, without vGPUs.
      - The list is exact. The module removes devices that are not listed, adds missing ones and does not touch matching
        ones. The order has no effect. An entry that is listed twice requests two devices.
      - Required with O(state=present), either here or in O(vms[].devices) of each VM. Ignored with O(state=absent).
    type: list
    elements: dict
    suboptions:
      kind:
        description:
          - Kind of the device.
          - V(static) is the device at one PCI address of the VM's host.
          - V(dynamic) is any free device of the allowed types. vSphere chooses it at each power-on. The VM needs
            hardware version 17.
          - V(group) is a group of devices that belong together, such as GPUs with NVLink, or a GPU and a network
            adapter behind one PCIe switch. It needs vSphere 8.0 and hardware version 20.
          - V(dvx) is a device of a class that the vendor's software on the host defines (Enhanced DirectPath I/O). It
            needs vSphere 8.0 and hardware version 20.
        type: str
        required: true
        choices: [static, dynamic, group, dvx]
      id:
        description: PCI address of a static device, for example V(0000:3b:00.0).
        type: str
      allowed:
        description:
          - Vendor and device IDs of the allowed types of a dynamic device, for example V(10de:20f1) for an A100 with 40
            GB and V(15b3:101d) for a ConnectX-6 Dx.
        type: list
        elements: str
      label:
        description:
          - Hardware label of a dynamic device. M(aiready.vsphere.pci_passthrough) sets it.
          - Without a label, vSphere uses any free device of the type. Labels distinguish devices of the same type, such
            as the ports of two fabrics or the devices of two PCIe roots.
        type: str
      group:
        description: Name of a device group, as the host reports it, for example V(Nvidia:2@grid_a100x-40c%NVLink).
        type: str
      device_class:
        description:
          - Device class of Enhanced DirectPath I/O. M(aiready.vsphere.esxi_host_info) returns the classes of a host.
          - The module rejects a class that the host does not have, and one of which the host offers no device.
        type: str
        version_added: 0.2.0
      numa_node:
        description:
          - Virtual NUMA node of the device, counted from 0. It needs vSphere 8.0.
          - V(-1) removes the node of a device. Without this option, the module leaves it unchanged.
        type: int
  state:
    description:
      - Desired state of the devices.
      - V(present) configures exactly the O(devices).
      - V(absent) removes all passthrough devices except vGPUs.
    type: str
    choices: [present, absent]
    default: present
  placement:
    description:
      - Hosts that must have the dynamic devices.
      - V(host) is the host of the VM. The module also checks that it has enough devices for all VMs of the task.
      - V(cluster) is any host of the cluster, for VMs that DRS places at power-on. The module does not check whether
        enough devices are free. The power-on of the VM fails if they are not.
      - Static devices and groups must always be on the VM's own host.
    type: str
    choices: [host, cluster]
    default: host
  mixed:
    description:
      - Reaction to a VM with static and dynamic devices of the same type.
      - It is not documented whether vSphere keeps the static device free when it chooses the dynamic one at power-on.
    type: str
    choices: [refuse, allow]
    default: refuse
  max_per_vm:
    description:
      - Maximum number of passthrough devices per VM in your vSphere release.
      - Defaults to 16, and to 32 from hardware version 20 on.
    type: int
attributes:
  check_mode:
    details: Reports the same changes, errors and results as a real run.
  diff_mode:
    details: Returns one diff per changed VM, with its devices and the power cycle.
seealso:
  - module: aiready.vsphere.pci_passthrough
  - module: aiready.vsphere.vgpu_profile
  - module: aiready.vsphere.sriov_nic
  - module: aiready.vsphere.vm_shape
"""

EXAMPLES = r"""
- name: Add the network port at a PCI address of the host to a VM
  aiready.vsphere.passthrough_device:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    devices:
      - kind: static
        id: "0000:3b:00.0"

- name: Configure the direct devices of a training cluster
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Configure an A100 and a fabric port for each training VM
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

    - name: Show the GPUs and ports that share a PCIe root
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.after.pairs }}"
      loop: "{{ direct.vms }}"
      loop_control:
        label: "{{ item.name }}"

- name: Add a device group of a GPU and a network adapter
  aiready.vsphere.passthrough_device:
    path: /dc1/vm/training/train-04
    devices:
      - kind: group
        group: "Nvidia:1@grid_a100-40c%MT2892 Family [ConnectX-6 Dx]"

- name: Add a GPU by Enhanced DirectPath I/O to a VM
  aiready.vsphere.passthrough_device:
    name: train-05
    devices:
      - kind: dvx
        device_class: com.example.gpu

- name: Remove all direct devices
  aiready.vsphere.passthrough_device:
    vms:
      - name: train-01
      - name: train-02
      - name: train-03
      - path: /dc1/vm/training/train-04
      - name: train-05
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
        devices: []
        pairs: []
        power: "off"
        power_on_again: false
    after:
      description: State after the change, read again from vCenter. In check mode, the predicted state.
      type: dict
      returned: always
      contains:
        devices:
          description: Passthrough devices of the VM without vGPUs, sorted.
          type: list
          elements: dict
          returned: success
          contains:
            kind:
              description: V(static), V(dynamic), V(group) or V(dvx).
              type: str
              returned: always
            id:
              description: PCI address of a static device.
              type: str
              returned: always
            allowed:
              description: Vendor and device IDs of the allowed types of a dynamic device.
              type: list
              elements: str
              returned: always
            label:
              description: Hardware label of a dynamic device.
              type: str
              returned: always
            group:
              description: Name of the device group.
              type: str
              returned: always
            device_class:
              description: Device class of Enhanced DirectPath I/O.
              type: str
              returned: always
            numa_node:
              description: Virtual NUMA node of the device. Null if it has none.
              type: int
              returned: always
            vmotion:
              description:
                - Whether the VM can move with this device while it runs.
                - V(true) only for a device class whose C(checkpointSupported) the VM's host reports as true. Null if
                  the host does not report the class.
              type: bool
              returned: always
        pairs:
          description:
            - Each GPU of the VM, including vGPUs, combined with each passthrough network port. The keys are C(gpu),
              C(nic) and C(same_root).
            - C(same_root) is V(true) if both share a PCIe root. It is null if the result depends on the device that
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
            - V(true) if the next run with O(power=cycle) will power on the VM. This is the case only while a power
              cycle of this module is not finished.
          type: bool
          returned: success
      sample:
        devices:
          - kind: static
            id: "0000:3b:00.0"
            allowed: []
            label: null
            group: null
            device_class: null
            numa_node: null
            vmotion: false
        pairs: []
        power: "off"
        power_on_again: false
    changes:
      description: Changes that the module made, or would make in check mode. One entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: devices, before: [], after: ["static 0000:3b:00.0"], needs: null}
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import params as pci_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.noun import PassthroughDevices


def main() -> None:
    params.main(pci_params.ARGUMENTS, PassthroughDevices, pci_params.check_params)


if __name__ == "__main__":
    main()
