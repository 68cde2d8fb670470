#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_config
short_description: Manage size, settings, devices and adapters of VMs together
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Configures several parts of one VM, or of a fleet of VMs in one task. The parts are size and settings, vGPUs, PCI
    passthrough devices and network adapters.
  - Reads each VM once, sends one reconfiguration for all parts and power cycles a running VM at most once. The modules
    of the single parts need one reconfiguration each.
  - Each part has the options, the rules and the results of its own module. The module plans each part for the state
    that the other parts produce. A new device gets its NUMA node, and the MMIO window includes it. The module accepts a
    passthrough device if the same task reserves the memory.
  - Reports the problems of all parts at once, before it changes anything.
  - Reads the VM again after the change and fails if it differs from the request.
notes:
  - The module leaves parts unchanged that the task does not request.
  - vSphere has a separate task for the hardware version. If O(shape.hardware_version) raises it, the upgrade comes
    before the reconfiguration, in the same power cycle.
  - vSphere chooses the key of a new device, and settings such as C(pciPassthru0.cfg.enable_uvm) are numbered by it. If
    a device gets another key than expected, the module corrects the setting with a second reconfiguration.
  - The module never moves a VM. M(aiready.vsphere.vm_clone) creates and places VMs.
  - The module uses only C(template) and C(host) of O(planned). O(shape) replaces the other two.
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
      shape:
        description: O(shape) for this VM, instead of the top-level O(shape).
        type: dict
        suboptions:
          cpus:
            description: See O(shape.cpus).
            type: int
          cores_per_socket:
            description: See O(shape.cores_per_socket).
            type: int
          memory_gb:
            description: See O(shape.memory_gb).
            type: int
          memory_reservation:
            description: See O(shape.memory_reservation).
            type: str
            choices: [all, ignore]
            default: all
          memory_reservation_mb:
            description: See O(shape.memory_reservation_mb).
            type: int
            version_added: 0.2.0
          cpu_reservation:
            description: See O(shape.cpu_reservation).
            type: str
            choices: [auto, ignore]
            default: auto
          cpu_reservation_mhz:
            description: See O(shape.cpu_reservation_mhz).
            type: int
          hardware_version:
            description: See O(shape.hardware_version).
            type: int
          firmware:
            description: See O(shape.firmware).
            type: str
            choices: [efi, ignore]
            default: ignore
          numa_nodes:
            description: See O(shape.numa_nodes).
            type: list
            elements: int
          numa_method:
            description: See O(shape.numa_method).
            type: str
            choices: [auto, affinity, device]
            default: auto
          latency_sensitivity:
            description: See O(shape.latency_sensitivity).
            type: str
            choices: [low, normal, medium, high, ignore]
            default: ignore
          gpudirect:
            description: See O(shape.gpudirect).
            type: str
            choices: [enabled, disabled, ignore]
            default: ignore
          mmio:
            description: See O(shape.mmio).
            type: str
            choices: [auto, none, ignore]
            default: auto
          mmio_size_gb:
            description: See O(shape.mmio_size_gb).
            type: int
          gpus:
            description: See O(shape.gpus).
            type: list
            elements: str
          direct_nics:
            description: See O(shape.direct_nics).
            type: int
          advanced:
            description: See O(shape.advanced).
            type: dict
      vgpu:
        description: O(vgpu) for this VM, instead of the top-level O(vgpu).
        type: dict
        suboptions:
          profiles:
            description: See O(vgpu.profiles).
            type: list
            elements: str
          unified_memory:
            description: See O(vgpu.unified_memory).
            type: str
            choices: [enabled, disabled, ignore]
            default: enabled
          state:
            description: See O(vgpu.state).
            type: str
            choices: [present, absent]
            default: present
          max_per_vm:
            description: See O(vgpu.max_per_vm).
            type: int
      passthrough:
        description: O(passthrough) for this VM, instead of the top-level O(passthrough).
        type: dict
        suboptions:
          devices:
            description: See O(passthrough.devices).
            type: list
            elements: dict
            suboptions:
              kind:
                description: See O(passthrough.devices[].kind).
                type: str
                required: true
                choices: [static, dynamic, group, dvx]
              id:
                description: See O(passthrough.devices[].id).
                type: str
              allowed:
                description: See O(passthrough.devices[].allowed).
                type: list
                elements: str
              label:
                description: See O(passthrough.devices[].label).
                type: str
              group:
                description: See O(passthrough.devices[].group).
                type: str
              device_class:
                description: See O(passthrough.devices[].device_class).
                type: str
                version_added: 0.2.0
              numa_node:
                description: See O(passthrough.devices[].numa_node).
                type: int
          state:
            description: See O(passthrough.state).
            type: str
            choices: [present, absent]
            default: present
          mixed:
            description: See O(passthrough.mixed).
            type: str
            choices: [refuse, allow]
            default: refuse
          max_per_vm:
            description: See O(passthrough.max_per_vm).
            type: int
      vmxnet3:
        description: O(vmxnet3) for this VM, instead of the top-level O(vmxnet3).
        type: dict
        suboptions:
          adapters:
            description: See O(vmxnet3.adapters).
            type: list
            elements: dict
            suboptions:
              portgroup:
                description: See O(vmxnet3.adapters[].portgroup).
                type: str
                required: true
              switch:
                description: See O(vmxnet3.adapters[].switch).
                type: str
              mac:
                description: See O(vmxnet3.adapters[].mac).
                type: str
              connected:
                description: See O(vmxnet3.adapters[].connected).
                type: bool
                default: true
          state:
            description: See O(vmxnet3.state).
            type: str
            choices: [present, absent]
            default: present
      pvrdma:
        description: O(pvrdma) for this VM, instead of the top-level O(pvrdma).
        type: dict
        suboptions:
          adapters:
            description: See O(pvrdma.adapters).
            type: list
            elements: dict
            suboptions:
              portgroup:
                description: See O(pvrdma.adapters[].portgroup).
                type: str
                required: true
              switch:
                description: See O(pvrdma.adapters[].switch).
                type: str
              mac:
                description: See O(pvrdma.adapters[].mac).
                type: str
              connected:
                description: See O(pvrdma.adapters[].connected).
                type: bool
                default: true
              protocol:
                description: See O(pvrdma.adapters[].protocol).
                type: str
                choices: [rocev1, rocev2]
          state:
            description: See O(pvrdma.state).
            type: str
            choices: [present, absent]
            default: present
          same_switch:
            description: See O(pvrdma.same_switch).
            type: bool
            default: true
          host_path:
            description: See O(pvrdma.host_path).
            type: str
            choices: [refuse, warn]
            default: refuse
          unreserved_memory:
            description: See O(pvrdma.unreserved_memory).
            type: str
            choices: [refuse, allow]
            default: refuse
          gpudirect:
            description: See O(pvrdma.gpudirect).
            type: str
            choices: [detect, wanted, ignore]
            default: detect
          guest_os:
            description: See O(pvrdma.guest_os).
            type: str
            choices: [check, ignore]
            default: check
          max_adapters:
            description: See O(pvrdma.max_adapters).
            type: int
      sriov:
        description: O(sriov) for this VM, instead of the top-level O(sriov).
        type: dict
        suboptions:
          adapters:
            description: See O(sriov.adapters).
            type: list
            elements: dict
            suboptions:
              portgroup:
                description: See O(sriov.adapters[].portgroup).
                type: str
                required: true
              switch:
                description: See O(sriov.adapters[].switch).
                type: str
              mac:
                description: See O(sriov.adapters[].mac).
                type: str
              connected:
                description: See O(sriov.adapters[].connected).
                type: bool
                default: true
              physical_function:
                description: See O(sriov.adapters[].physical_function).
                type: str
              guest_mtu_change:
                description: See O(sriov.adapters[].guest_mtu_change).
                type: bool
          state:
            description: See O(sriov.state).
            type: str
            choices: [present, absent]
            default: present
          port_off_switch:
            description: See O(sriov.port_off_switch).
            type: str
            choices: [refuse, allow]
            default: refuse
  shape:
    description:
      - Size and settings of the VM, with the options of M(aiready.vsphere.vm_shape). Without this option, the module
        leaves them unchanged.
      - NUMA nodes and the MMIO window include the devices that the same task adds.
    type: dict
    suboptions:
      cpus:
        description:
          - Number of vCPUs.
        type: int
      cores_per_socket:
        description:
          - Number of vCPUs per virtual socket. It must divide O(shape.cpus).
          - With O(shape.numa_nodes), it defaults to one socket per NUMA node. Without both options, the module leaves
            it unchanged.
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
          - Memory reservation in MB. It overrides O(shape.memory_reservation) and releases a lock on all memory. V(0)
            removes the reservation.
          - The module rejects a reservation below the whole memory for a VM with a vGPU, a passthrough device, or an
            SR-IOV or PVRDMA adapter.
        type: int
        version_added: 0.2.0
      cpu_reservation:
        description:
          - CPU reservation of the VM.
          - V(auto) reserves what high latency sensitivity needs, which is O(shape.cpus) times the nominal frequency of
            the VM's host. A larger existing reservation remains. Without high latency sensitivity, the module leaves
            the reservation unchanged.
          - V(ignore) leaves the reservation unchanged. The module rejects high latency sensitivity if the reservation
            is too small.
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
          - The module raises the version only if this option requests it, and never beyond the version that the VM's
            host supports. It never lowers the version and leaves a newer version unchanged.
        type: int
      firmware:
        description:
          - Firmware that the VM must have. The module never changes the firmware, because a guest that was installed
            under BIOS does not start under EFI.
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
          - V([]) removes the settings of both methods of O(shape.numa_method). Without this option, the module leaves
            NUMA unchanged.
        type: list
        elements: int
      numa_method:
        description:
          - Method that assigns the VM or its devices to O(shape.numa_nodes). The module removes the settings of the
            other method.
          - V(affinity) keeps the VM on the nodes with C(numa.nodeAffinity). No other method does this. Load balancing
            and vMotion become harder.
          - V(device) creates one virtual NUMA node for each entry of O(shape.numa_nodes). It shows the guest the node
            of each vGPU and each direct network adapter with C(VirtualDevice.numaNode). ESXi still chooses the nodes of
            the host.
          - V(device) needs vSphere 8.0 and hardware version 20. A vGPU of a VM on several nodes gets no node, because
            vSphere chooses its GPU at power-on.
          - V(auto) selects V(affinity) for a VM with a passthrough device, because such a VM cannot move while it runs.
            The device is in the VM or announced by O(shape.gpus), O(shape.direct_nics) or O(shape.gpudirect). For other
            VMs, V(auto) selects V(device) if possible, otherwise V(affinity).
        type: str
        choices: [auto, affinity, device]
        default: auto
      latency_sensitivity:
        description:
          - Latency sensitivity of the VM.
          - V(high) gives each vCPU a core of its own. It needs full memory reservation and full CPU reservation, see
            O(shape.cpu_reservation).
          - V(ignore) leaves it unchanged.
        type: str
        choices: [low, normal, medium, high, ignore]
        default: ignore
      gpudirect:
        description:
          - GPUDirect RDMA between network adapters and GPUs of the VM.
          - V(enabled) sets C(pciPassthru.allowP2P) and C(pciPassthru.RelaxACSforP2P), so that the devices can access
            each other's memory. It needs an SR-IOV or passthrough adapter, either in the VM or announced by
            O(shape.direct_nics).
          - Hardware version 22 has peer-to-peer traffic for all passthrough devices. V(enabled) sets both settings
            there too, but only while the VM is powered off. A running VM without them is not changed, because no text
            states whether it needs them [unsure].
          - V(disabled) removes both settings if they are on.
          - V(ignore) leaves both settings unchanged.
        type: str
        choices: [enabled, disabled, ignore]
        default: ignore
      mmio:
        description:
          - MMIO window of the VM.
          - V(auto) sets C(pciPassthru.use64bitMMIO), and sets C(pciPassthru.64bitMMIOSizeGB) to a size for all vGPUs,
            passthrough GPUs and direct network ports together. It counts the devices in the VM and those that
            O(shape.gpus) and O(shape.direct_nics) announce.
          - The module rounds the sum up to a power of two. A larger existing window remains. Without a GPU that needs a
            window, the module sets nothing.
          - V(none) removes both settings. The module rejects it for a VM with a GPU that needs a window.
          - V(ignore) leaves both settings unchanged.
        type: str
        choices: [auto, none, ignore]
        default: auto
      mmio_size_gb:
        description:
          - Size of the MMIO window in GB. It overrides the computed size. It must be a power of two and large enough
            for the GPUs.
        type: int
      gpus:
        description:
          - GPUs that the VM will have, for O(shape.mmio) and O(shape.numa_method). An entry is the name of a vGPU
            profile, such as V(grid_a100-40c), or the vendor and device ID of a passthrough GPU, such as V(10de:20f1).
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
          - The module accepts only the keys that are listed here, because vSphere silently accepts unknown keys without
            an effect. It rejects keys that other options set, and names the option.
          - Known keys are C(numa.vcpu.preferHT), C(numa.vcpu.maxPerVirtualNode), C(numa.vcpu.maxPerMachineNode),
            C(numa.vcpu.maxPerClient), C(numa.vcpu.min), C(numa.vcpu.followcorespersocket), C(numa.autosize),
            C(numa.autosize.once), C(sched.mem.lpage.enable1GPage), C(pciPassthru<N>.cfg.enable_uvm),
            C(pciPassthru<N>.cfg.enable_debugging), C(pciPassthru<N>.cfg.enable_profiling),
            C(pciPassthru<N>.cfg.frame_rate_limiter), C(ethernet<N>.coalescingScheme), C(ethernet<N>.coalescingParams),
            C(ethernet<N>.pnicFeatures) and C(ethernet<N>.ctxPerDev).
          - The device with the number C(<N>) must be in the VM, or announced by O(shape.gpus) and O(shape.direct_nics).
          - The module leaves keys unchanged that the task does not list.
        type: dict
  vgpu:
    description:
      - vGPUs of the VM, with the options of M(aiready.vsphere.vgpu_profile). Without this option, the module leaves
        them unchanged.
      - O(shape) manages memory reservation and MMIO window.
    type: dict
    suboptions:
      profiles:
        description:
          - vGPU profiles of the VM, with the names that its hosts report. V(grid_a100-40c) is a whole A100 with 40 GB,
            V(grid_a100-3-20c) is a MIG instance.
          - The list is exact. The module removes vGPUs that are not listed, adds missing ones and does not touch
            matching ones. A profile that is listed twice requests two vGPUs. The order has no effect.
          - Required with O(vgpu.state=present), either here or in O(vms[].vgpu.profiles) of each VM. Ignored with
            O(vgpu.state=absent).
        type: list
        elements: str
      unified_memory:
        description:
          - CUDA unified memory of the vGPUs.
          - V(enabled) enables it for each vGPU with C(pciPassthru<N>.cfg.enable_uvm). NCCL needs it from release 2.23
            on. vMotion cannot move a VM with unified memory.
          - V(disabled) disables it, which is the vSphere default for a new vGPU.
          - V(ignore) leaves the settings unchanged.
        type: str
        choices: [enabled, disabled, ignore]
        default: enabled
      state:
        description:
          - Desired state of the vGPUs.
          - V(present) configures exactly the O(vgpu.profiles).
          - V(absent) removes all vGPUs and their unified memory settings. Memory reservation and MMIO window remain,
            because other devices of the VM may need them. Both are harmless without a vGPU.
        type: str
        choices: [present, absent]
        default: present
      max_per_vm:
        description:
          - Maximum number of vGPUs per VM in your vSphere release.
          - Defaults to 4 before vSphere 8.0, and to 8 from vSphere 8.0 on.
        type: int
  passthrough:
    description:
      - PCI passthrough devices of the VM, with the options of M(aiready.vsphere.passthrough_device). Without this
        option, the module leaves them unchanged.
      - Every device must be on the host of the VM.
    type: dict
    suboptions:
      devices:
        description:
          - Passthrough devices of the VM, without vGPUs.
          - The list is exact. The module removes devices that are not listed, adds missing ones and does not touch
            matching ones. The order has no effect. An entry that is listed twice requests two devices.
          - Required with O(passthrough.state=present), either here or in O(vms[].passthrough.devices) of each VM.
            Ignored with O(passthrough.state=absent).
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
              - V(dvx) is a device of a class that the vendor's software on the host defines (Enhanced DirectPath I/O).
                It needs vSphere 8.0 and hardware version 20.
            type: str
            required: true
            choices: [static, dynamic, group, dvx]
          id:
            description:
              - PCI address of a static device, for example V(0000:3b:00.0).
            type: str
          allowed:
            description:
              - Vendor and device IDs of the allowed types of a dynamic device, for example V(10de:20f1) for an A100
                with 40 GB and V(15b3:101d) for a ConnectX-6 Dx.
            type: list
            elements: str
          label:
            description:
              - Hardware label of a dynamic device. M(aiready.vsphere.pci_passthrough) sets it.
              - Without a label, vSphere uses any free device of the type. Labels distinguish devices of the same type,
                such as the ports of two fabrics or the devices of two PCIe roots.
            type: str
          group:
            description:
              - Name of a device group, as the host reports it, for example V(Nvidia:2@grid_a100x-40c%NVLink).
            type: str
          device_class:
            description:
              - Device class of Enhanced DirectPath I/O. M(aiready.vsphere.esxi_host_info) returns the classes of a
                host.
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
          - V(present) configures exactly the O(passthrough.devices).
          - V(absent) removes all passthrough devices except vGPUs.
        type: str
        choices: [present, absent]
        default: present
      mixed:
        description:
          - Reaction to a VM with static and dynamic devices of the same type.
          - It is not documented whether vSphere keeps the static device free when it chooses the dynamic one at
            power-on.
        type: str
        choices: [refuse, allow]
        default: refuse
      max_per_vm:
        description:
          - Maximum number of passthrough devices per VM in your vSphere release.
          - Defaults to 16, and to 32 from hardware version 20 on.
        type: int
  vmxnet3:
    description:
      - vmxnet3 adapters of the VM, with the options of M(aiready.vsphere.vmxnet3_nic). Without this option, the module
        leaves them unchanged.
    type: dict
    suboptions:
      adapters:
        description:
          - Adapters of the VM on the given port groups. The module removes excess adapters on them, adds missing ones
            and does not touch matching ones.
          - An adapter with the O(vmxnet3.adapters[].mac) of an entry belongs to this entry. The module moves it from
            any other port group.
          - Required, either here or in O(vms[].vmxnet3.adapters) of each VM.
        type: list
        elements: dict
        suboptions:
          portgroup:
            description:
              - Name of the port group of the adapter.
              - It can be on a distributed or a standard switch. A port group that is listed twice requests two
                adapters.
            type: str
            required: true
          switch:
            description:
              - Name of the switch. Needed if several port groups have this name.
            type: str
          mac:
            description:
              - Fixed MAC address of the adapter, for example V(00:50:56:01:02:03).
              - Without this option, an existing adapter keeps its address, and vSphere chooses the address of a new
                adapter.
              - Within V(00:50:56), use addresses up to V(00:50:56:3f:ff:ff). vSphere assigns the others automatically,
                and does not start a VM that has one of them as a fixed address.
            type: str
          connected:
            description:
              - Whether to connect the adapter at power-on, and immediately if the VM runs.
            type: bool
            default: true
      state:
        description:
          - Desired state of the adapters.
          - V(present) configures exactly the O(vmxnet3.adapters) on their port groups.
          - V(absent) removes the vmxnet3 adapters on the port groups of O(vmxnet3.adapters). If
            O(vmxnet3.adapters[].mac) is set, it removes only the adapter with this address.
        type: str
        choices: [present, absent]
        default: present
  pvrdma:
    description:
      - PVRDMA adapters of the VM, with the options of M(aiready.vsphere.pvrdma_nic). Without this option, the module
        leaves them unchanged.
    type: dict
    suboptions:
      adapters:
        description:
          - PVRDMA adapters of the VM.
          - The list is exact. The module removes PVRDMA adapters that are not listed, adds missing ones and does not
            touch matching ones. It matches adapters by MAC address, then by port group. It moves a remaining adapter
            before it adds a new one.
          - Required with O(pvrdma.state=present), either here or in O(vms[].pvrdma.adapters) of each VM. Ignored with
            O(pvrdma.state=absent).
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
            description:
              - Name of the switch. Needed if several port groups have this name.
            type: str
          mac:
            description:
              - Fixed MAC address of the adapter, for example V(00:50:56:01:02:03).
              - Without this option, an existing adapter keeps its address, and vSphere chooses the address of a new
                adapter.
              - Within V(00:50:56), use addresses up to V(00:50:56:3f:ff:ff). vSphere assigns the others automatically,
                and does not start a VM that has one of them as a fixed address.
            type: str
          connected:
            description:
              - Whether to connect the adapter at power-on, and immediately if the VM runs.
            type: bool
            default: true
          protocol:
            description:
              - RoCE version of the adapter. Only hardware versions 14 to 19 have a choice.
              - Without this option, an existing adapter keeps its version, and a new adapter gets V(rocev2).
              - At other hardware versions vSphere accepts no protocol, so omit this option. From version 20 on, the
                module accepts V(rocev2) and does not send it.
            type: str
            choices: [rocev1, rocev2]
      state:
        description:
          - Desired state of the adapters.
          - V(present) configures exactly the O(pvrdma.adapters).
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
        description:
          - Reaction to a VM without full memory reservation. V(refuse) fails for this VM.
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
          - V(check) rejects VMs whose guest operating system is not a 64-bit Linux. It warns if the guest probably
            lacks the driver, as in Red Hat Enterprise Linux 10.
          - V(ignore) skips the check.
        type: str
        choices: [check, ignore]
        default: check
      max_adapters:
        description:
          - Maximum number of PVRDMA adapters per VM. Defaults to the number that the hosts report for the hardware
            version of the VM.
        type: int
  sriov:
    description:
      - SR-IOV adapters of the VM, with the options of M(aiready.vsphere.sriov_nic). Without this option, the module
        leaves them unchanged.
    type: dict
    suboptions:
      adapters:
        description:
          - SR-IOV adapters of the VM.
          - The list is exact. The module removes SR-IOV adapters that are not listed, adds missing ones and does not
            touch matching ones. It matches adapters by MAC address, then by port group. It moves a remaining adapter
            before it adds a new one.
          - Required with O(sriov.state=present), either here or in O(vms[].sriov.adapters) of each VM. Ignored with
            O(sriov.state=absent).
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
            description:
              - Name of the switch. Needed if several port groups have this name.
            type: str
          mac:
            description:
              - Fixed MAC address of the adapter, for example V(00:50:56:01:02:03).
              - Without this option, an existing adapter keeps its address, and vSphere chooses the address of a new
                adapter.
              - Within V(00:50:56), use addresses up to V(00:50:56:3f:ff:ff). vSphere assigns the others automatically,
                and does not start a VM that has one of them as a fixed address.
            type: str
          connected:
            description:
              - Whether to connect the adapter at power-on, and immediately if the VM runs.
            type: bool
            default: true
          physical_function:
            description:
              - Port of the virtual function, by the name that the host reports, for example V(vmnic3), or by its PCI
                address.
              - Without this option, an existing adapter keeps its port. For a new adapter, the host chooses among the
                uplinks of the port group's switch.
            type: str
          guest_mtu_change:
            description:
              - Whether to let the guest change the MTU of its function. Without this option, an existing adapter keeps
                its setting, and a new adapter does not allow the change.
            type: bool
      state:
        description:
          - Desired state of the adapters.
          - V(present) configures exactly the O(sriov.adapters).
          - V(absent) removes all SR-IOV adapters.
        type: str
        choices: [present, absent]
        default: present
      port_off_switch:
        description:
          - Reaction to an O(sriov.adapters[].physical_function) that is no uplink of the port group's switch.
          - vSphere is not expected to serve such an adapter, but this is not documented.
        type: str
        choices: [refuse, allow]
        default: refuse
attributes:
  check_mode:
    details: Reports the same changes, errors and results as a real run.
  diff_mode:
    details: Returns one diff per changed VM, with every setting and the power cycle.
seealso:
  - module: aiready.vsphere.vm_shape
  - module: aiready.vsphere.vgpu_profile
  - module: aiready.vsphere.passthrough_device
  - module: aiready.vsphere.vmxnet3_nic
  - module: aiready.vsphere.pvrdma_nic
  - module: aiready.vsphere.sriov_nic
"""

EXAMPLES = r"""
- name: Configure a VM with an A100 and a training adapter
  aiready.vsphere.vm_config:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    shape:
      cpus: 16
      memory_gb: 64
      numa_nodes: [0]
    vgpu:
      profiles: [grid_a100-40c]
    vmxnet3:
      adapters:
        - portgroup: pg-train

- name: Configure the VMs of a training cluster
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Configure every training VM with one power cycle at most
      aiready.vsphere.vm_config:
        vms:
          - name: train-02
            vgpu:
              profiles: [grid_a100-20c]
          - name: train-03
            vgpu:
              profiles: [grid_a100-20c]
        shape:
          cpus: 8
          memory_gb: 32
        vmxnet3:
          adapters:
            - portgroup: pg-train
        power: cycle
      register: configured

    - name: Show the changes
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.changes | map(attribute='path') | join(', ') }}"
      loop: "{{ configured.vms | selectattr('changed') }}"
      loop_control:
        label: "{{ item.name }}"

- name: Remove the vGPU and the adapter
  aiready.vsphere.vm_config:
    name: train-01
    vgpu:
      state: absent
    vmxnet3:
      state: absent
      adapters:
        - portgroup: pg-train
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
        - Expected result of a network test of the VM, for each requested kind of adapters.
        - The keys C(vmxnet3), C(pvrdma) and C(sriov) contain the C(expects) of their modules, for example
          M(aiready.vsphere.pvrdma_nic). Empty without adapters, and if the VM could not be read.
      type: dict
      returned: always
      sample:
        vmxnet3:
          path: tcp
          adapters: 1
          transport: tcp
          fallback: null
          guest_driver: vmxnet3
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
        vgpu:
          profiles: []
          unified_memory: []
        power: "off"
        power_on_again: false
    after:
      description: State after the change, read again from vCenter. In check mode, the predicted state.
      type: dict
      returned: always
      contains:
        shape:
          description: State of the part O(shape).
          type: dict
          returned: where the task manages this part
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
              description: Known VMX keys that no other option sets, see O(shape.advanced).
              type: dict
              returned: success
        vgpu:
          description: State of the part O(vgpu).
          type: dict
          returned: where the task manages this part
          contains:
            profiles:
              description: vGPU profiles, sorted.
              type: list
              elements: str
              returned: success
            unified_memory:
              description:
                - Devices with CUDA unified memory enabled, by their names in the advanced settings of the VM.
              type: list
              elements: str
              returned: success
        passthrough:
          description: State of the part O(passthrough).
          type: dict
          returned: where the task manages this part
          contains:
            devices:
              description: Passthrough devices of the VM without vGPUs, sorted.
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
                numa_node:
                  description: Virtual NUMA node of the device. Null if it has none.
                  type: int
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
        vmxnet3:
          description: State of the part O(vmxnet3).
          type: dict
          returned: where the task manages this part
          contains:
            adapters:
              description: vmxnet3 adapters of the VM, sorted. Includes adapters that the task does not manage.
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
        pvrdma:
          description: State of the part O(pvrdma).
          type: dict
          returned: where the task manages this part
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
        sriov:
          description: State of the part O(sriov).
          type: dict
          returned: where the task manages this part
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
        vgpu:
          profiles: [grid_a100-40c]
          unified_memory: [pciPassthru0]
        power: "off"
        power_on_again: false
    changes:
      description: Changes that the module made, or would make in check mode. One entry per setting of any part.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: memory_reservation, before: partial, after: all, needs: null}
        - {path: profiles, before: [], after: [grid_a100-40c], needs: null}
        - {path: new adapter 1, before: null, after: pg-train on dvs-train, needs: null}
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config import params as config_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config.noun import VmConfigs


def main() -> None:
    params.main(config_params.ARGUMENTS, VmConfigs, config_params.check_params)


if __name__ == "__main__":
    main()
