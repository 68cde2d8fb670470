#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vgpu_profile
short_description: Manage the NVIDIA vGPU profiles of VMs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Manages the complete list of vGPU profiles of one VM, or of a fleet of VMs in one task. It can also remove all
    vGPUs.
  - Configures everything that a vGPU needs to work. This is full memory reservation, the 64-bit MMIO window of the VM,
    and CUDA unified memory. The diff shows each setting, and an option disables each of them.
  - Rejects invalid requests before it changes any VM. Each error states the cause and the fix. Examples are a profile
    that the VM's host does not offer, vGPUs of several boards in one VM, and BIOS firmware.
  - Reads the VM again after the change and fails if it differs from the request.
  - The peer M(community.vmware.vmware_guest_vgpu) handles one profile per VM and compares only the first vGPU. Use this
    module for several vGPUs, for check mode and diff, and for many VMs at once.
notes:
  - vSphere changes vGPUs only while a VM is powered off. See O(power).
  - The hosts define which profiles exist. The module compares the names in O(profiles) with the names that the hosts of
    the VM's cluster report. It never constructs a profile name.
  - The module does not change PCI passthrough devices other than vGPUs. The computed MMIO size includes those that the
    VM has. M(aiready.vsphere.vm_shape) computes the size in advance for devices that are added later.
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
      profiles:
        description: vGPU profiles of this VM. Defaults to O(profiles).
        type: list
        elements: str
      memory_reservation:
        description: O(memory_reservation) for this VM alone.
        type: str
        choices: [all, ignore]
      mmio:
        description: O(mmio) for this VM alone.
        type: str
        choices: [auto, ignore]
      mmio_size_gb:
        description: O(mmio_size_gb) for this VM alone.
        type: int
      unified_memory:
        description: O(unified_memory) for this VM alone.
        type: str
        choices: [enabled, disabled, ignore]
  profiles:
    description:
      - vGPU profiles of the VM, with the names that its hosts report. V(grid_a100-40c) is a whole A100 with 40 GB,
        V(grid_a100-3-20c) is a MIG instance.
      - The list is exact. The module removes vGPUs that are not listed, adds missing ones and does not touch matching
        ones. A profile that is listed twice requests two vGPUs. The order has no effect.
      - Required with O(state=present), either here or in O(vms[].profiles) of each VM. Ignored with O(state=absent).
    type: list
    elements: str
  state:
    description:
      - Desired state of the vGPUs.
      - V(present) configures exactly the O(profiles).
      - V(absent) removes all vGPUs and their unified memory settings. Memory reservation and MMIO window remain,
        because other devices of the VM may need them. Both are harmless without a vGPU.
    type: str
    choices: [present, absent]
    default: present
  memory_reservation:
    description:
      - Memory reservation of the VM.
      - V(all) reserves and locks all memory. A VM with a vGPU does not start without it.
      - V(ignore) leaves the reservation unchanged.
    type: str
    choices: [all, ignore]
    default: all
  mmio:
    description:
      - MMIO window of the VM.
      - V(auto) sets C(pciPassthru.use64bitMMIO), and sets C(pciPassthru.64bitMMIOSizeGB) to a size for all vGPUs and
        passthrough devices of the VM together. A larger existing window remains.
      - The size is the sum of the sizes that the boards need, plus 1 GB for each network port, rounded up to a power of
        two. For example, one A100 with 40 GB needs 128 GB, and two of them need 256 GB.
      - V(ignore) leaves both settings unchanged.
    type: str
    choices: [auto, ignore]
    default: auto
  mmio_size_gb:
    description:
      - Size of the MMIO window in GB. It overrides the computed size and must be a power of two.
      - Increase it for a VM that gets a passthrough network adapter later.
    type: int
  unified_memory:
    description:
      - CUDA unified memory of the vGPUs.
      - V(enabled) enables it for each vGPU with C(pciPassthru<N>.cfg.enable_uvm). NCCL needs it from release 2.23 on.
        vMotion cannot move a VM with unified memory.
      - V(disabled) disables it, which is the vSphere default for a new vGPU.
      - V(ignore) leaves the settings unchanged.
    type: str
    choices: [enabled, disabled, ignore]
    default: enabled
  max_per_vm:
    description:
      - Maximum number of vGPUs per VM in your vSphere release.
      - Defaults to 4 before vSphere 8.0, and to 8 from vSphere 8.0 on.
    type: int
attributes:
  check_mode:
    details: Reports the same changes, errors and results as a real run.
  diff_mode:
    details: Returns one diff per changed VM, with every setting and the power cycle.
seealso:
  - module: community.vmware.vmware_guest_vgpu
  - module: community.vmware.vmware_host_graphics
"""

EXAMPLES = r"""
- name: Configure a whole A100 for a VM
  aiready.vsphere.vgpu_profile:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    profiles:
      - grid_a100-40c

- name: Configure the GPUs of a training cluster
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Configure one vGPU for each training VM
      aiready.vsphere.vgpu_profile:
        vms:
          - name: train-01
            profiles: [grid_a100-40c]
          - name: train-02
            profiles: [grid_a100-40c]
        power: cycle
      register: gpus

    - name: Show the changes
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.changes | map(attribute='path') | join(', ') }}"
      loop: "{{ gpus.vms | selectattr('changed') }}"
      loop_control:
        label: "{{ item.name }}"

- name: Configure two vGPU sizes and a larger MMIO window
  aiready.vsphere.vgpu_profile:
    path: /dc1/vm/training/train-03
    profiles:
      - grid_a100-20c
      - grid_a100-10c
    mmio_size_gb: 512

- name: Remove all vGPUs
  aiready.vsphere.vgpu_profile:
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
        profiles: []
        memory_reservation: partial
        mmio_64bit: false
        mmio_size_gb: null
        unified_memory: []
        power: "off"
        power_on_again: false
    after:
      description: State after the change, read again from vCenter. In check mode, the predicted state.
      type: dict
      returned: always
      contains:
        profiles:
          description: vGPU profiles, sorted.
          type: list
          elements: str
          returned: success
        memory_reservation:
          description: V(all) if all memory is reserved and locked, otherwise V(partial).
          type: str
          returned: success
        mmio_64bit:
          description: V(true) if devices may use memory windows above 4 GB.
          type: bool
          returned: success
        mmio_size_gb:
          description: Size of the MMIO window in GB. Null if it is not set.
          type: int
          returned: success
        unified_memory:
          description: Devices with CUDA unified memory enabled, by their names in the advanced settings of the VM.
          type: list
          elements: str
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
        profiles: [grid_a100-40c]
        memory_reservation: all
        mmio_64bit: true
        mmio_size_gb: 128
        unified_memory: [pciPassthru0]
        power: "off"
        power_on_again: false
    changes:
      description: Changes that the module made, or would make in check mode. One entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: profiles, before: [], after: [grid_a100-40c], needs: null}
        - {path: memory_reservation, before: partial, after: all, needs: null}
        - {path: pciPassthru.64bitMMIOSizeGB, before: null, after: "128", needs: null}
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import params as vgpu_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.noun import VgpuProfiles


def main() -> None:
    params.main(vgpu_params.ARGUMENTS, VgpuProfiles, vgpu_params.check_params)


if __name__ == "__main__":
    main()
