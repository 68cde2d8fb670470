#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_shape
short_description: Manage the size and settings of training VMs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Manages all settings that training needs in a VM, except devices. It handles one VM, or a fleet of VMs in one task.
  - The settings are vCPUs and sockets, memory and reservations, the hardware version, NUMA, latency sensitivity,
    GPUDirect, the MMIO window, and a list of known advanced settings.
  - Reads all VMs at once and changes each VM with one reconfiguration. A requested hardware upgrade comes before the
    reconfiguration.
  - Does not change settings that the task does not request. O(memory_reservation) and O(mmio) are exceptions, because
    every VM with a GPU needs their defaults.
  - Rejects invalid requests before it changes any VM. Each error states the cause and the fix. Examples are vCPUs that
    do not fit on the NUMA nodes of the host, and GPUDirect over a PVRDMA adapter. Another example is a misspelt VMX
    key, which vSphere would silently accept.
  - Reads the VM again after the change and fails if it differs from the request.
notes:
  - vSphere changes reservations while a VM runs, and all other settings only while it is powered off. See O(power).
  - The module never changes the firmware of a VM, see O(firmware). It does not change EFI Secure Boot either. A guest
    with Secure Boot needs signed NVIDIA and network drivers.
  - Run the task again after you add the devices, so that it can assign their NUMA nodes. A second run with the same
    options changes nothing else.
  - The module uses only C(template) and C(host) of O(planned).
  - The page C(docs/machines.md) of this collection describes the purpose and the source of each setting.
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
      memory_reservation_mb:
        description: O(memory_reservation_mb) for this VM alone.
        type: int
        version_added: 0.2.0
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
        choices: [auto, none, ignore]
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
        description: O(advanced) for this VM, instead of the top-level O(advanced).
        type: dict
  cpus:
    description:
      - Number of vCPUs.
    type: int
  cores_per_socket:
    description:
      - Number of vCPUs per virtual socket. It must divide O(cpus).
      - With O(numa_nodes), it defaults to one socket per NUMA node. Without both options, the module leaves it
        unchanged.
    type: int
  memory_gb:
    description:
      - Memory in GB.
    type: int
  memory_reservation:
    description:
      - Memory reservation of the VM.
      - V(all) reserves and locks all memory. A VM with a vGPU or a passthrough device does not start without it.
      - V(ignore) leaves the reservation unchanged.
    type: str
    choices: [all, ignore]
    default: all
  memory_reservation_mb:
    description:
      - Memory reservation in MB. It overrides O(memory_reservation) and releases a lock on all memory. V(0) removes the
        reservation.
      - The module rejects a reservation below the whole memory for a VM with a vGPU, a passthrough device, or an SR-IOV
        or PVRDMA adapter.
    type: int
    version_added: 0.2.0
  cpu_reservation:
    description:
      - CPU reservation of the VM.
      - V(auto) reserves what high latency sensitivity needs, which is O(cpus) times the nominal frequency of the VM's
        host. A larger existing reservation remains. Without high latency sensitivity, the module leaves the reservation
        unchanged.
      - V(ignore) leaves the reservation unchanged. The module rejects high latency sensitivity if the reservation is
        too small.
    type: str
    choices: [auto, ignore]
    default: auto
  cpu_reservation_mhz:
    description:
      - CPU reservation in MHz. It overrides the computed reservation. V(0) removes the reservation.
      - Set it for a VM that must start on hosts of different frequencies.
    type: int
  hardware_version:
    description:
      - Minimum virtual hardware version of the VM, for example V(20) for C(vmx-20), which is vSphere 8.0.
      - The module raises the version only if this option requests it, and never beyond the version that the VM's host
        supports. It never lowers the version and leaves a newer version unchanged.
    type: int
  firmware:
    description:
      - Firmware that the VM must have. The module never changes the firmware, because a guest that was installed under
        BIOS does not start under EFI.
      - V(efi) rejects a VM with BIOS firmware.
      - V(ignore) accepts both. The module still rejects a VM with BIOS firmware if its GPUs need an MMIO window.
    type: str
    choices: [efi, ignore]
    default: ignore
  numa_nodes:
    description:
      - NUMA nodes of the host for the VM, counted from 0. Normally these are the nodes of its GPU and its network
        adapter.
      - Set one node for a VM that fits on it, and all nodes for a VM that uses the whole host.
      - V([]) removes the settings of both methods of O(numa_method). Without this option, the module leaves NUMA
        unchanged.
    type: list
    elements: int
  numa_method:
    description:
      - Method that assigns the VM or its devices to O(numa_nodes). The module removes the settings of the other method.
      - V(affinity) keeps the VM on the nodes with C(numa.nodeAffinity). No other method does this. Load balancing and
        vMotion become harder.
      - V(device) creates one virtual NUMA node for each entry of O(numa_nodes). It shows the guest the node of each
        vGPU and each direct network adapter with C(VirtualDevice.numaNode). ESXi still chooses the nodes of the host.
      - V(device) needs vSphere 8.0 and hardware version 20. A vGPU of a VM on several nodes gets no node, because
        vSphere chooses its GPU at power-on.
      - V(auto) selects V(affinity) for a VM with a passthrough device, because such a VM cannot move while it runs. The
        device is in the VM or announced by O(gpus), O(direct_nics) or O(gpudirect). For other VMs, V(auto) selects
        V(device) if possible, otherwise V(affinity).
    type: str
    choices: [auto, affinity, device]
    default: auto
  latency_sensitivity:
    description:
      - Latency sensitivity of the VM.
      - V(high) gives each vCPU a core of its own. It needs full memory reservation and full CPU reservation, see
        O(cpu_reservation).
      - V(ignore) leaves it unchanged.
    type: str
    choices: [low, normal, medium, high, ignore]
    default: ignore
  gpudirect:
    description:
      - GPUDirect RDMA between network adapters and GPUs of the VM.
      - V(enabled) sets C(pciPassthru.allowP2P) and C(pciPassthru.RelaxACSforP2P), so that the devices can access each
        other's memory. It needs an SR-IOV or passthrough adapter, either in the VM or announced by O(direct_nics).
      - Hardware version 22 has peer-to-peer traffic for all passthrough devices. V(enabled) sets both settings there
        too, but only while the VM is powered off. A running VM without them is not changed, because no text states
        whether it needs them [unsure].
      - V(disabled) removes both settings if they are on.
      - V(ignore) leaves both settings unchanged.
    type: str
    choices: [enabled, disabled, ignore]
    default: ignore
  mmio:
    description:
      - MMIO window of the VM.
      - V(auto) sets C(pciPassthru.use64bitMMIO), and sets C(pciPassthru.64bitMMIOSizeGB) to a size for all vGPUs,
        passthrough GPUs and direct network ports together. It counts the devices in the VM and those that O(gpus) and
        O(direct_nics) announce.
      - The module rounds the sum up to a power of two. A larger existing window remains. Without a GPU that needs a
        window, the module sets nothing.
      - V(none) removes both settings. The module rejects it for a VM with a GPU that needs a window.
      - V(ignore) leaves both settings unchanged.
    type: str
    choices: [auto, none, ignore]
    default: auto
  mmio_size_gb:
    description:
      - Size of the MMIO window in GB. It overrides the computed size. It must be a power of two and large enough for
        the GPUs.
    type: int
  gpus:
    description:
      - GPUs that the VM will have, for O(mmio) and O(numa_method). An entry is the name of a vGPU profile, such as
        V(grid_a100-40c), or the vendor and device ID of a passthrough GPU, such as V(10de:20f1).
      - This option adds no devices. See M(aiready.vsphere.vgpu_profile) and M(aiready.vsphere.passthrough_device).
    type: list
    elements: str
  direct_nics:
    description:
      - Number of network ports that the VM will have by SR-IOV or passthrough.
    type: int
  advanced:
    description:
      - Further VMX keys and their values. V(null) removes a key.
      - The module accepts only the keys that are listed here, because vSphere silently accepts unknown keys without an
        effect. It rejects keys that other options set, and names the option.
      - Known keys are C(numa.vcpu.preferHT), C(numa.vcpu.maxPerVirtualNode), C(numa.vcpu.maxPerMachineNode),
        C(numa.vcpu.maxPerClient), C(numa.vcpu.min), C(numa.vcpu.followcorespersocket), C(numa.autosize),
        C(numa.autosize.once), C(sched.mem.lpage.enable1GPage), C(pciPassthru<N>.cfg.enable_uvm),
        C(pciPassthru<N>.cfg.enable_debugging), C(pciPassthru<N>.cfg.enable_profiling),
        C(pciPassthru<N>.cfg.frame_rate_limiter), C(ethernet<N>.coalescingScheme), C(ethernet<N>.coalescingParams),
        C(ethernet<N>.pnicFeatures) and C(ethernet<N>.ctxPerDev).
      - The device with the number C(<N>) must be in the VM, or announced by O(gpus) and O(direct_nics).
      - The module leaves keys unchanged that the task does not list.
    type: dict
attributes:
  check_mode:
    details: Reports the same changes, errors and results as a real run.
  diff_mode:
    details: Returns one diff per changed VM, with every setting and the power cycle.
seealso:
  - module: aiready.vsphere.vgpu_profile
  - module: aiready.vsphere.passthrough_device
  - module: community.vmware.vmware_guest
"""

EXAMPLES = r"""
- name: Configure a VM with 16 vCPUs and 64 GB of reserved memory
  aiready.vsphere.vm_shape:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    cpus: 16
    memory_gb: 64

- name: Configure the VMs of a training cluster
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Configure NUMA affinity and GPUDirect on each training VM
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

    - name: Show the changes
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.changes | map(attribute='path') | join(', ') }}"
      loop: "{{ shapes.vms | selectattr('changed') }}"
      loop_control:
        label: "{{ item.name }}"

- name: Remove the NUMA and GPUDirect settings
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
      description: State after the change, read again from vCenter. In check mode, the predicted state.
      type: dict
      returned: always
      contains:
        cpus:
          description: Number of vCPUs.
          type: int
          returned: success
        cores_per_socket:
          description: vCPUs per virtual socket. Null if vSphere chooses at power-on.
          type: int
          returned: success
        memory_gb:
          description: Memory in GB.
          type: float
          returned: success
        memory_reservation:
          description: V(all) if all memory of the VM is reserved and locked, otherwise V(partial).
          type: str
          returned: success
        cpu_reservation_mhz:
          description: CPU reservation in MHz.
          type: int
          returned: success
        hardware_version:
          description: Virtual hardware version.
          type: int
          returned: success
        firmware:
          description: V(efi) or V(bios).
          type: str
          returned: success
        latency_sensitivity:
          description: Latency sensitivity.
          type: str
          returned: success
        numa_method:
          description: Configured method, V(affinity), V(device) or V(none).
          type: str
          returned: success
        numa_nodes:
          description: NUMA nodes of the host that V(affinity) keeps the VM on.
          type: list
          elements: int
          returned: success
        cores_per_numa_node:
          description: vCPUs per virtual NUMA node. Null if vSphere chooses.
          type: int
          returned: success
        numa_devices:
          description: Devices with a virtual NUMA node, and the number of the node.
          type: list
          elements: str
          returned: success
        gpudirect:
          description: V(enabled), V(disabled), or V(partial) if only one of its two settings is present.
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
        advanced:
          description: Known VMX keys that no other option sets, see O(advanced).
          type: dict
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
      description: Changes that the module made, or would make in check mode. One entry per setting.
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import params as shape_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.noun import VmShapes


def main() -> None:
    params.main(shape_params.ARGUMENTS, VmShapes, shape_params.check_params)


if __name__ == "__main__":
    main()
