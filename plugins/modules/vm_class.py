#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_class
short_description: Manage a VM class with GPUs of the Supervisor
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Manages one VM class of vCenter with its vGPUs or dynamic DirectPath devices, its reservations, its MMIO window and
    its firmware. The Supervisor creates VMs and the nodes of VKS clusters from VM classes.
  - Can offer the class in namespaces of the Supervisor. A class is visible to a cluster only in these namespaces.
  - Changes only the settings that the task names. The module keeps other parts of the C(config_spec) of the class.
  - Writes devices into C(config_spec) from vCenter 8.0 Update 2 on. The VM Operator ignores the older lists of devices
    if C(config_spec) is not empty, and they cannot hold two equal vGPUs in a namespace. On an older vCenter, the module
    writes the older lists.
  - The collections community.vmware, vmware.vmware and vmware.vmware_rest have no module for VM classes.
notes:
  - vCenter does not change existing VMs with the class. A node of a VKS cluster gets the new settings when the cluster
    replaces it.
  - Needs the privilege C(VirtualMachineClasses.Manage), and C(Namespaces.Configure) for O(namespaces).
  - Two equal vGPUs in one class are valid for the API, but were not tried on a real vCenter [unsure].
  - The VM Operator takes the firmware of the image instead of O(firmware) if the image has one.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
options:
  name:
    description: Name of the class. Use lower-case letters, digits and C(-).
    type: str
    required: true
  state:
    description: V(absent) removes a class that no VM and no other namespace than those of O(withdraw_from) uses.
    type: str
    choices: [present, absent]
    default: present
  description:
    description: Description of the class.
    type: str
  cpus:
    description: Number of virtual CPUs. Required for a new class.
    type: int
  memory_mb:
    description: Memory in MB, a multiple of 4. Required for a new class.
    type: int
  cpu_reservation:
    description: Reserved part of the CPUs in percent.
    type: int
  memory_reservation:
    description:
      - Reserved part of the memory in percent. Defaults to V(100) for a class with a vGPU or a DirectPath device.
    type: int
  vgpu_profiles:
    description: Profiles of the vGPUs, one entry for each vGPU. An empty list removes all.
    type: list
    elements: str
  devices:
    description:
      - Types of PCI devices, one entry for each device. vSphere chooses a free device at power-on (Dynamic DirectPath
        I/O). An empty list removes all.
    type: list
    elements: dict
    suboptions:
      vendor_id:
        description: PCI vendor, for example V(0x10de).
        type: str
        required: true
      device_id:
        description: PCI device, for example V(0x20b5).
        type: str
        required: true
      label:
        description: Hardware label of the devices.
        type: str
  mmio_gb:
    description:
      - Size of the 64-bit MMIO window in GB. If unset, the VM Operator uses 512 GB for a class with devices.
      - Needs vCenter 8.0 Update 2.
    type: int
  firmware:
    description: Firmware of the VMs. V(none) removes the setting. The others need vCenter 8.0 Update 2.
    type: str
    choices: [bios, efi, none]
  extra_config:
    description:
      - Advanced settings of the VMs by name, for example C(pciPassthru.allowP2P). Null removes a setting.
      - Needs vCenter 8.0 Update 2.
    type: dict
    default: {}
  namespaces:
    description:
      - Namespaces of the Supervisor in which the class must be available. The module adds the class to them.
    type: list
    elements: str
    default: []
  withdraw_from:
    description:
      - Namespaces of the Supervisor in which the class must not be available. The module removes the class from them.
        It fails if a VM was created from the class.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    details: Reads the class and the namespaces, and returns the changes of a run.
  diff_mode:
    details: The settings of the class before and after the task.
seealso:
  - module: aiready.vsphere.vgpu_profile
  - module: aiready.vsphere.passthrough_device
"""

EXAMPLES = r"""
- name: Create a class with two equal vGPUs
  aiready.vsphere.vm_class:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: gpu-2x40c
    cpus: 16
    memory_mb: 131072
    vgpu_profiles: [grid_a100-40c, grid_a100-40c]
    mmio_gb: 256
    firmware: efi

- name: Create a class with a whole GPU and a network port
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Create the class for GPUDirect RDMA
      aiready.vsphere.vm_class:
        name: gpu-rdma
        cpus: 32
        memory_mb: 262144
        devices:
          - {vendor_id: "0x10de", device_id: "0x20b5"}
          - {vendor_id: "0x15b3", device_id: "0x1021", label: rail-1}
        extra_config: {pciPassthru.allowP2P: true, pciPassthru.RelaxACSforP2P: true}

- name: Remove the class
  aiready.vsphere.vm_class:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: gpu-rdma
    state: absent
    withdraw_from: [training]
"""

RETURN = r"""
vm_class:
  description: Result for the class, also if the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the class, as in O(name).
      type: str
      returned: always
      sample: gpu-2x40c
    changed:
      description: True if the task changed the class, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(vm_class.after). Empty if the class was not read.
      type: dict
      returned: always
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        exists:
          description: Whether vCenter has the class. Without it, only RV(vm_class.after.namespaces) is returned too.
          type: bool
          returned: success
        cpus:
          description: Number of virtual CPUs.
          type: int
          returned: if the class exists
        memory_mb:
          description: Memory in MB.
          type: int
          returned: if the class exists
        description:
          description: Description of the class.
          type: str
          returned: if the class exists
        cpu_reservation:
          description: Reserved part of the CPUs in percent. Null if vCenter has none.
          type: int
          returned: if the class exists
        memory_reservation:
          description: Reserved part of the memory in percent. Null if vCenter has none.
          type: int
          returned: if the class exists
        vgpu_profiles:
          description: Profiles of the vGPUs, sorted.
          type: list
          elements: str
          returned: if the class exists
        devices:
          description: Types of DirectPath devices, with the label in parentheses.
          type: list
          elements: str
          returned: if the class exists
        firmware:
          description: Firmware of the VMs. Null if the class does not set it.
          type: str
          returned: if the class exists
        extra_config:
          description: Advanced settings of the VMs, including the MMIO window.
          type: dict
          returned: if the class exists
        namespaces:
          description: Namespaces of the Supervisor that offer the class.
          type: list
          elements: str
          returned: success
        vms:
          description: Number of VMs that were created from the class.
          type: int
          returned: if the class exists
      sample:
        exists: true
        cpus: 16
        memory_mb: 131072
        description: ""
        cpu_reservation: null
        memory_reservation: 100
        vgpu_profiles: [grid_a100-40c, grid_a100-40c]
        devices: []
        firmware: efi
        extra_config: {pciPassthru.64bitMMIOSizeGB: "256", pciPassthru.use64bitMMIO: "TRUE"}
        namespaces: []
        vms: 0
    changes:
      description: Changes of the task, one entry for each setting. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: memory_reservation, before: null, after: 100, needs: null}
    pending:
      description: Always empty. A class takes effect for new VMs.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: True if the class is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the class is not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the class is in the desired state.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: vm_class_in_use, namespaces: [training], vms: []}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.supervisor import vm_class
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.supervisor.noun import VmClasses


def main() -> None:
    module = AnsibleModule(argument_spec=vm_class.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, vm_class.check_params(module.params))
    requested = vm_class.request_of(module.params)
    item: Item[vm_class.ClassRequest, vm_class.VmClass] = Item(
        f"VM class {requested.name}", requested, {"name": requested.name}
    )
    noun = VmClasses(module.params, module.warn)
    try:
        run(module, noun, [item], "vm_class", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
