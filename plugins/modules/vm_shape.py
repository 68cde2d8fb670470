#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_shape
short_description: Give VMs the size and the settings that training needs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets everything in the configuration of a VM that training needs besides its devices, for one VM or a fleet in one
    task. These are vCPUs and sockets, memory and reservations, the hardware version, NUMA, latency sensitivity,
    GPUDirect, the MMIO window and a list of known advanced settings.
  - All of it is read at once and changed by one reconfiguration per VM, after a hardware upgrade where one is asked
    for. What is not asked for is not touched, with the exception of O(memory_reservation) and O(mmio), whose defaults
    are what every VM with a GPU needs.
  - Refuses what cannot work before anything is touched, with the reason and with what to do about it. Examples are
    vCPUs that do not fit onto the NUMA nodes of the host, GPUDirect over a PVRDMA adapter, or a misspelt VMX key, which
    vSphere itself would keep without a word.
  - Reads the VM again after the change and fails if it is not as wanted.
notes:
  - vSphere changes reservations while a VM runs, everything else only while it is off. See O(power).
  - The firmware of a VM is never changed, see O(firmware). EFI Secure Boot is left as it is too; a guest that uses it
    needs signed NVIDIA and network drivers.
  - Run the task again after the devices were added, where it can then give them their NUMA nodes. A second run with the
    same options changes nothing else.
  - In O(planned), only C(template) and C(host) matter to this module.
  - What each setting is for, and where that is written, is told in the guide about machines of this collection.
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
      cpus:
        description: O(cpus) for this VM alone.
        type: int
      cores_per_socket:
        description: O(cores_per_socket) for this VM alone.
        type: int
      memory_gb:
        description: O(memory_gb) for this VM alone.
        type: int
      memory_reservation:
        description: O(memory_reservation) for this VM alone.
        type: str
        choices: [all, ignore]
      cpu_reservation:
        description: O(cpu_reservation) for this VM alone.
        type: str
        choices: [auto, ignore]
      cpu_reservation_mhz:
        description: O(cpu_reservation_mhz) for this VM alone.
        type: int
      hardware_version:
        description: O(hardware_version) for this VM alone.
        type: int
      firmware:
        description: O(firmware) for this VM alone.
        type: str
        choices: [efi, ignore]
      numa_nodes:
        description: O(numa_nodes) for this VM alone.
        type: list
        elements: int
      numa_method:
        description: O(numa_method) for this VM alone.
        type: str
        choices: [auto, affinity, device]
      latency_sensitivity:
        description: O(latency_sensitivity) for this VM alone.
        type: str
        choices: [low, normal, medium, high, ignore]
      gpudirect:
        description: O(gpudirect) for this VM alone.
        type: str
        choices: [enabled, disabled, ignore]
      mmio:
        description: O(mmio) for this VM alone.
        type: str
        choices: [auto, ignore]
      mmio_size_gb:
        description: O(mmio_size_gb) for this VM alone.
        type: int
      gpus:
        description: O(gpus) for this VM alone.
        type: list
        elements: str
      direct_nics:
        description: O(direct_nics) for this VM alone.
        type: int
      advanced:
        description: O(advanced) for this VM alone, instead of those at the top.
        type: dict
  cpus:
    description:
      - Number of vCPUs.
    type: int
  cores_per_socket:
    description:
      - How many vCPUs share a virtual socket. Has to divide O(cpus).
      - Without it, and with O(numa_nodes), one socket per NUMA node. Without both it is left as it is.
    type: int
  memory_gb:
    description:
      - Memory in GB.
    type: int
  memory_reservation:
    description:
      - V(all) reserves and locks all memory, without which a VM with a vGPU or a passed-through device does not start.
      - V(ignore) leaves the reservation as it is.
    type: str
    choices: [all, ignore]
    default: all
  cpu_reservation:
    description:
      - V(auto) reserves as much of the processors as high latency sensitivity needs, which is O(cpus) times the
        nominal frequency of the VM's host. A larger reservation is kept, and without high latency sensitivity it is
        left as it is.
      - V(ignore) leaves the reservation as it is, and high latency sensitivity is refused where it is too small.
    type: str
    choices: [auto, ignore]
    default: auto
  cpu_reservation_mhz:
    description:
      - The reservation in MHz instead of the computed one. V(0) gives it back.
      - Set it where a VM has to start on hosts of different frequencies.
    type: int
  hardware_version:
    description:
      - The virtual hardware version that the VM has at least, for example V(20) for C(vmx-20), which is
        vSphere 8.0.
      - It is raised only if it is asked for here, never beyond what the VM's host knows, and never lowered. A VM with a
        newer version is left alone.
    type: int
  firmware:
    description:
      - V(efi) refuses a VM with BIOS firmware. The firmware itself is never changed, because a guest that was installed
        under BIOS does not start under EFI.
      - V(ignore) asks for nothing, but a VM under BIOS is refused all the same if its GPUs need a memory window.
    type: str
    choices: [efi, ignore]
    default: ignore
  numa_nodes:
    description:
      - The NUMA nodes of the host that the VM is placed near to, counted from 0. Usually those of its GPU and its
        network adapter.
      - One node for a VM that fits into it, all nodes for a VM that takes the whole host.
      - V([]) takes away what either O(numa_method) has set. Without the option, NUMA is left as it is.
    type: list
    elements: int
  numa_method:
    description:
      - V(affinity) holds the VM at the nodes by C(numa.nodeAffinity). This is the only way to hold it there. It makes
        load balancing and vMotion harder.
      - V(device) makes as many virtual NUMA nodes as there are O(numa_nodes), and tells the guest by
        C(VirtualDevice.numaNode) which of them each vGPU and each direct network adapter belongs to. On which node of
        the host they are scheduled remains the choice of ESXi. Needs vSphere 8.0 and hardware version 20. A vGPU of a
        VM over several nodes gets none, because its GPU is chosen only when the VM starts.
      - V(auto) is V(affinity) for a VM that has, or by O(gpus), O(direct_nics) or O(gpudirect) will have, a
        passed-through device, since such a VM cannot be moved while it runs anyway. For others it is V(device) where
        that is possible, else V(affinity).
      - What the other method left behind is removed.
    type: str
    choices: [auto, affinity, device]
    default: auto
  latency_sensitivity:
    description:
      - How much delay of its vCPUs the VM tolerates. V(high) gives every vCPU a core of its own, and needs all memory
        and the processors reserved, see O(cpu_reservation).
      - V(ignore) leaves it as it is.
    type: str
    choices: [low, normal, medium, high, ignore]
    default: ignore
  gpudirect:
    description:
      - V(enabled) lets network adapters and GPUs of the VM reach each other's memory, by C(pciPassthru.allowP2P) and
        C(pciPassthru.RelaxACSforP2P). Needs an adapter by SR-IOV or passthrough, in the VM or announced by
        O(direct_nics).
      - V(disabled) removes both settings where they are on.
      - V(ignore) leaves them as they are.
    type: str
    choices: [enabled, disabled, ignore]
    default: ignore
  mmio:
    description:
      - V(auto) sets C(pciPassthru.use64bitMMIO) and makes C(pciPassthru.64bitMMIOSizeGB) large enough for all vGPUs,
        passed-through GPUs and direct network ports of the VM together, those in the VM and those that O(gpus) and
        O(direct_nics) announce. The sum is rounded up to a power of two. A larger window that is there already is kept.
        Without a GPU that needs a window nothing is set.
      - V(ignore) leaves both settings as they are.
    type: str
    choices: [auto, ignore]
    default: auto
  mmio_size_gb:
    description:
      - Size of the MMIO window in GB instead of the computed one. Has to be a power of two, and enough for the GPUs.
    type: int
  gpus:
    description:
      - The GPUs that the VM is going to have, for O(mmio) and O(numa_method). An entry is the name of a vGPU profile,
        such as V(grid_a100-40c), or the vendor and device id of a GPU that will be passed through, such as
        V(10de:20f1).
      - This module adds no devices. See M(aiready.vsphere.vgpu_profile) and M(aiready.vsphere.passthrough_device).
    type: list
    elements: str
  direct_nics:
    description:
      - How many ports of network adapters the VM is going to have by SR-IOV or passthrough.
    type: int
  advanced:
    description:
      - Further settings of the VMX file, as keys and values. A value of V(null) removes the key.
      - Only keys that are known to this module are taken, because vSphere keeps any other without a word and without an
        effect. Keys that other options set are refused with the name of the option.
      - Known are C(numa.vcpu.preferHT), C(numa.vcpu.maxPerVirtualNode), C(numa.vcpu.maxPerMachineNode),
        C(numa.vcpu.maxPerClient), C(numa.vcpu.min), C(numa.vcpu.followcorespersocket), C(numa.autosize),
        C(numa.autosize.once), C(sched.mem.lpage.enable1GPage), C(pciPassthru<N>.cfg.enable_uvm),
        C(pciPassthru<N>.cfg.enable_debugging), C(pciPassthru<N>.cfg.enable_profiling),
        C(pciPassthru<N>.cfg.frame_rate_limiter), C(ethernet<N>.coalescingScheme), C(ethernet<N>.coalescingParams),
        C(ethernet<N>.pnicFeatures) and C(ethernet<N>.ctxPerDev). The device with the number C(<N>) has to be there, or
        announced by O(gpus) and O(direct_nics).
      - Keys that are not listed here are left as they are.
    type: dict
attributes:
  check_mode:
    details: The changes, the refusals and the result are those of a real run.
  diff_mode:
    details: One diff per VM that changes, with every setting and the power cycle.
seealso:
  - module: aiready.vsphere.vgpu_profile
  - module: aiready.vsphere.passthrough_device
  - module: community.vmware.vmware_guest
"""

EXAMPLES = r"""
- name: Give a VM 16 vCPUs and 64 GB, all of it reserved
  aiready.vsphere.vm_shape:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    cpus: 16
    memory_gb: 64

- name: Shape the VMs of a training cluster
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Every training VM is near its GPU and reaches it from the network
      aiready.vsphere.vm_shape:
        vms:
          - name: train-01
            numa_nodes: [0]
          - name: train-02
            numa_nodes: [1]
        cpus: 16
        memory_gb: 64
        hardware_version: 20
        firmware: efi
        gpus: [grid_a100-40c]
        direct_nics: 1
        gpudirect: enabled
        advanced:
          numa.vcpu.preferHT: true
        power: cycle
      register: shapes

    - name: Show what was changed
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.changes | map(attribute='path') | join(', ') }}"
      loop: "{{ shapes.vms | selectattr('changed') }}"
      loop_control:
        label: "{{ item.name }}"

- name: Take away what was set for NUMA and GPUDirect
  aiready.vsphere.vm_shape:
    vms:
      - name: train-01
      - name: train-02
    numa_nodes: []
    gpudirect: disabled
    advanced:
      numa.vcpu.preferHT: null
    power: cycle
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
        cpus: 4
        cores_per_socket: 1
        memory_gb: 16
        memory_reservation: partial
        cpu_reservation_mhz: 0
        hardware_version: 21
        firmware: efi
        latency_sensitivity: normal
        numa_method: none
        numa_nodes: []
        cores_per_numa_node: null
        numa_devices: []
        gpudirect: disabled
        mmio_64bit: false
        mmio_size_gb: null
        advanced: {}
        power: "off"
        power_on_again: false
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        cpus:
          description: Number of vCPUs.
          type: int
          returned: success
        cores_per_socket:
          description: vCPUs per virtual socket, null where vSphere chooses at power-on.
          type: int
          returned: success
        memory_gb:
          description: Memory in GB.
          type: float
          returned: success
        memory_reservation:
          description: V(all) when all memory of the VM is reserved and locked, else V(partial).
          type: str
          returned: success
        cpu_reservation_mhz:
          description: Reservation of processors in MHz.
          type: int
          returned: success
        hardware_version:
          description: The virtual hardware version.
          type: int
          returned: success
        firmware:
          description: V(efi) or V(bios).
          type: str
          returned: success
        latency_sensitivity:
          description: The latency sensitivity.
          type: str
          returned: success
        numa_method:
          description: V(affinity), V(device) or V(none), by what is set.
          type: str
          returned: success
        numa_nodes:
          description: The NUMA nodes of the host that the VM is held at, with V(affinity).
          type: list
          elements: int
          returned: success
        cores_per_numa_node:
          description: vCPUs per virtual NUMA node, null where vSphere chooses.
          type: int
          returned: success
        numa_devices:
          description: The devices with a virtual NUMA node, and its number.
          type: list
          elements: str
          returned: success
        gpudirect:
          description: V(enabled), V(disabled), or V(partial) when only one of its two settings is there.
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
        advanced:
          description: The known keys of the VMX file that no other option sets, see O(advanced).
          type: dict
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
        cpus: 16
        cores_per_socket: 16
        memory_gb: 64
        memory_reservation: all
        cpu_reservation_mhz: 0
        hardware_version: 21
        firmware: efi
        latency_sensitivity: normal
        numa_method: affinity
        numa_nodes: [0]
        cores_per_numa_node: null
        numa_devices: []
        gpudirect: enabled
        mmio_64bit: true
        mmio_size_gb: 256
        advanced: {}
        power: "off"
        power_on_again: false
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: cpus, before: 4, after: 16, needs: null}
        - {path: cores_per_socket, before: 1, after: 16, needs: null}
        - {path: memory_gb, before: 16, after: 64, needs: null}
        - {path: memory_reservation, before: partial, after: all, needs: null}
        - {path: numa.nodeAffinity, before: null, after: "0", needs: null}
        - {path: pciPassthru.64bitMMIOSizeGB, before: null, after: "256", needs: null}
        - {path: pciPassthru.RelaxACSforP2P, before: null, after: "TRUE", needs: null}
        - {path: pciPassthru.allowP2P, before: null, after: "TRUE", needs: null}
        - {path: pciPassthru.use64bitMMIO, before: null, after: "TRUE", needs: null}
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import params as shape_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.noun import VmShapes


def main() -> None:
    params.main(shape_params.ARGUMENTS, VmShapes, shape_params.check_params)


if __name__ == "__main__":
    main()
