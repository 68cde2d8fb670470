#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vgpu_profile
short_description: Give VMs exactly the NVIDIA vGPUs they shall have
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Gives one VM, or a fleet of VMs in one task, exactly the vGPU profiles that are listed, or takes all vGPUs away.
  - Brings along what a vGPU needs to work, full memory reservation, the 64-bit MMIO window for the whole VM, and CUDA
    unified memory. Each of these shows in the diff and can be left to you.
  - Refuses what cannot work before anything is touched, with the reason and with what to do about it. Examples are a
    profile that the VM's host does not offer, vGPUs of several boards in one VM, or BIOS firmware.
  - Reads the VM again after the change and fails if it is not as wanted.
  - The peer M(community.vmware.vmware_guest_vgpu) handles one profile per VM and compares only the first vGPU. Use this
    module for several vGPUs, for check mode and diff, and for many VMs at once.
notes:
  - vSphere changes vGPUs only while a VM is off. See O(power).
  - Which profiles exist is decided by the hosts. This module never makes up the name of a profile, it compares the
    names in O(profiles) with those that the hosts of the VM's cluster report.
  - PCI passthrough devices other than vGPUs are left as they are. Those that the VM has are part of the computed MMIO
    size. For those that come later, M(aiready.vsphere.vm_shape) computes it in advance.
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
      profiles:
        description: The vGPU profiles of this VM. Without it, those in O(profiles) at the top.
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
      - The vGPU profiles that the VM has, as its hosts name them, for example V(grid_a100-40c) for a whole A100
        with 40 GB or V(grid_a100-3-20c) for one that lives in a MIG instance.
      - The list is exact. vGPUs that are not in it are removed, missing ones are added, and what matches is not
        touched. A profile that is listed twice means two vGPUs. The order does not matter.
      - Required with O(state=present), for each VM here or in O(vms[].profiles). Not regarded with O(state=absent).
    type: list
    elements: str
  state:
    description:
      - V(present) gives the VM exactly the O(profiles).
      - V(absent) removes all vGPUs, and the unified memory settings that belonged to them. Memory reservation and MMIO
        window stay, because other devices of the VM may need them and they do no harm without a vGPU.
    type: str
    choices: [present, absent]
    default: present
  memory_reservation:
    description:
      - V(all) reserves and locks all memory of the VM, without which a VM with a vGPU does not start.
      - V(ignore) leaves the reservation as it is.
    type: str
    choices: [all, ignore]
    default: all
  mmio:
    description:
      - V(auto) sets C(pciPassthru.use64bitMMIO) and makes C(pciPassthru.64bitMMIOSizeGB) large enough for all vGPUs and
        passthrough devices of the VM together. The size is the sum of what the boards need, and 1 GB for each network
        port, rounded up to a power of two. For example, one A100 with 40 GB needs 128, and two of them 256. A larger
        window that is there already is kept.
      - V(ignore) leaves both settings as they are.
    type: str
    choices: [auto, ignore]
    default: auto
  mmio_size_gb:
    description:
      - Size of the MMIO window in GB instead of the computed one. Has to be a power of two.
      - Raise it for a VM that gets a network adapter by passthrough later.
    type: int
  unified_memory:
    description:
      - V(enabled) switches CUDA unified memory on for each vGPU by C(pciPassthru<N>.cfg.enable_uvm). NCCL needs it from
        release 2.23 on. A VM with it cannot be moved by vMotion.
      - V(disabled) switches it off, which is how vSphere sets up a new vGPU.
      - V(ignore) leaves the settings as they are.
    type: str
    choices: [enabled, disabled, ignore]
    default: enabled
  max_per_vm:
    description:
      - The largest number of vGPUs that your vSphere release takes in one VM.
      - Without it, 4 before vSphere 8.0 and 8 from 8.0 on.
    type: int
attributes:
  check_mode:
    details: The changes, the refusals and the result are those of a real run.
  diff_mode:
    details: One diff per VM that changes, with every setting and the power cycle.
seealso:
  - module: community.vmware.vmware_guest_vgpu
  - module: community.vmware.vmware_host_graphics
"""

EXAMPLES = r"""
- name: Give a VM a whole A100
  aiready.vsphere.vgpu_profile:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    profiles:
      - grid_a100-40c

- name: Set up the GPUs of a training cluster
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Every training VM has its vGPU
      aiready.vsphere.vgpu_profile:
        vms:
          - name: train-01
            profiles: [grid_a100-40c]
          - name: train-02
            profiles: [grid_a100-40c]
        power: cycle
      register: gpus

    - name: Show what was changed
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.changes | map(attribute='path') | join(', ') }}"
      loop: "{{ gpus.vms | selectattr('changed') }}"
      loop_control:
        label: "{{ item.name }}"

- name: Give a VM two vGPUs of different size, and room for a network adapter by passthrough
  aiready.vsphere.vgpu_profile:
    path: /dc1/vm/training/train-03
    profiles:
      - grid_a100-20c
      - grid_a100-10c
    mmio_size_gb: 512

- name: Take all vGPUs away again
  aiready.vsphere.vgpu_profile:
    vms:
      - name: train-01
      - name: train-02
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
        profiles: []
        memory_reservation: partial
        mmio_64bit: false
        mmio_size_gb: null
        unified_memory: []
        power: "off"
        power_on_again: false
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        profiles:
          description: The vGPU profiles, sorted.
          type: list
          elements: str
          returned: success
        memory_reservation:
          description: V(all) when all memory is reserved and locked, else V(partial).
          type: str
          returned: success
        mmio_64bit:
          description: Whether devices may use memory windows above 4 GB.
          type: bool
          returned: success
        mmio_size_gb:
          description: Size of the MMIO window, null where it is not set.
          type: int
          returned: success
        unified_memory:
          description: The devices for which CUDA unified memory is switched on, by their names in the VM's settings.
          type: list
          elements: str
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
        profiles: [grid_a100-40c]
        memory_reservation: all
        mmio_64bit: true
        mmio_size_gb: 128
        unified_memory: [pciPassthru0]
        power: "off"
        power_on_again: false
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: profiles, before: [], after: [grid_a100-40c], needs: null}
        - {path: memory_reservation, before: partial, after: all, needs: null}
        - {path: pciPassthru.64bitMMIOSizeGB, before: null, after: "128", needs: null}
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import params as vgpu_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.noun import VgpuProfiles


def main() -> None:
    params.main(vgpu_params.ARGUMENTS, VgpuProfiles, vgpu_params.check_params)


if __name__ == "__main__":
    main()
