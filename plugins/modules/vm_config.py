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
  - Each part has the options, the rules and the results of its own module, and is planned for the state that the other
    parts produce. A new device gets its NUMA node, and the MMIO window includes it. A passthrough device is accepted if
    the same task reserves the memory.
  - Reports the problems of all parts at once, before it changes anything.
  - Reads the VM again after the change and fails if it differs from the request.
notes:
  - A part that is not requested is left as it is.
  - vSphere has a separate task for the hardware version. If O(shape.hardware_version) raises it, the upgrade comes
    before the reconfiguration, in the same power cycle.
  - vSphere chooses the key of a new device, and settings such as C(pciPassthru0.cfg.enable_uvm) are numbered by it. If
    a device gets another key than expected, the module corrects the setting with a second reconfiguration.
  - The module never moves a VM. M(aiready.vsphere.vm_clone) creates and places VMs.
  - In O(planned), C(template) and C(host) matter to this module. O(shape) replaces the other two.
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
      shape:
        description: O(shape) for this VM alone, instead of that at the top.
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
            choices: [auto, ignore]
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
        description: O(vgpu) for this VM alone, instead of that at the top.
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
        description: O(passthrough) for this VM alone, instead of that at the top.
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
                choices: [static, dynamic, group]
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
        description: O(vmxnet3) for this VM alone, instead of that at the top.
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
        description: O(pvrdma) for this VM alone, instead of that at the top.
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
        description: O(sriov) for this VM alone, instead of that at the top.
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
      - Size and settings of the VM, with the options of M(aiready.vsphere.vm_shape). Without it, they are left as
        they are.
      - NUMA nodes and the MMIO window include the devices that the same task adds.
    type: dict
    suboptions:
      cpus:
        description:
          - Number of vCPUs.
        type: int
      cores_per_socket:
        description:
          - How many vCPUs share a virtual socket. Has to divide O(shape.cpus).
          - Without it, and with O(shape.numa_nodes), one socket per NUMA node. Without both it is left as it is.
        type: int
      memory_gb:
        description:
          - Memory in GB.
        type: int
      memory_reservation:
        description:
          - V(all) reserves and locks all memory, without which a VM with a vGPU or a passed-through device does not
            start.
          - V(ignore) leaves the reservation as it is.
        type: str
        choices: [all, ignore]
        default: all
      cpu_reservation:
        description:
          - V(auto) reserves as much of the processors as high latency sensitivity needs, which is O(shape.cpus) times
            the nominal frequency of the VM's host. A larger reservation is kept, and without high latency sensitivity
            it is left as it is.
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
          - The virtual hardware version that the VM has at least, for example V(20) for C(vmx-20), which is vSphere
            8.0.
          - It is raised only if it is asked for here, never beyond what the VM's host knows, and never lowered. A VM
            with a newer version is left alone.
        type: int
      firmware:
        description:
          - V(efi) refuses a VM with BIOS firmware. The firmware itself is never changed, because a guest that was
            installed under BIOS does not start under EFI.
          - V(ignore) asks for nothing, but a VM under BIOS is refused all the same if its GPUs need a memory window.
        type: str
        choices: [efi, ignore]
        default: ignore
      numa_nodes:
        description:
          - The NUMA nodes of the host that the VM is placed near to, counted from 0. Usually those of its GPU and its
            network adapter.
          - One node for a VM that fits into it, all nodes for a VM that takes the whole host.
          - V([]) takes away what either O(shape.numa_method) has set. Without the option, NUMA is left as it is.
        type: list
        elements: int
      numa_method:
        description:
          - V(affinity) holds the VM at the nodes by C(numa.nodeAffinity). This is the only way to hold it there. It
            makes load balancing and vMotion harder.
          - V(device) makes as many virtual NUMA nodes as there are O(shape.numa_nodes), and tells the guest by
            C(VirtualDevice.numaNode) which of them each vGPU and each direct network adapter belongs to. On which
            node of the host they are scheduled remains the choice of ESXi. Needs vSphere 8.0 and hardware version 20.
            A vGPU of a VM over several nodes gets none, because its GPU is chosen only when the VM starts.
          - V(auto) is V(affinity) for a VM that has, or by O(shape.gpus), O(shape.direct_nics) or O(shape.gpudirect)
            will have, a passed-through device, since such a VM cannot be moved while it runs anyway. For others it is
            V(device) where that is possible, else V(affinity).
          - What the other method left behind is removed.
        type: str
        choices: [auto, affinity, device]
        default: auto
      latency_sensitivity:
        description:
          - How much delay of its vCPUs the VM tolerates. V(high) gives every vCPU a core of its own, and needs all
            memory and the processors reserved, see O(shape.cpu_reservation).
          - V(ignore) leaves it as it is.
        type: str
        choices: [low, normal, medium, high, ignore]
        default: ignore
      gpudirect:
        description:
          - V(enabled) lets network adapters and GPUs of the VM reach each other's memory, by C(pciPassthru.allowP2P)
            and C(pciPassthru.RelaxACSforP2P). Needs an adapter by SR-IOV or passthrough, in the VM or announced by
            O(shape.direct_nics).
          - V(disabled) removes both settings where they are on.
          - V(ignore) leaves them as they are.
        type: str
        choices: [enabled, disabled, ignore]
        default: ignore
      mmio:
        description:
          - V(auto) sets C(pciPassthru.use64bitMMIO) and makes C(pciPassthru.64bitMMIOSizeGB) large enough for all
            vGPUs, passed-through GPUs and direct network ports of the VM together, those in the VM and those that
            O(shape.gpus) and O(shape.direct_nics) announce. The sum is rounded up to a power of two. A larger window
            that is there already is kept. Without a GPU that needs a window nothing is set.
          - V(ignore) leaves both settings as they are.
        type: str
        choices: [auto, ignore]
        default: auto
      mmio_size_gb:
        description:
          - Size of the MMIO window in GB instead of the computed one. Has to be a power of two, and enough for the
            GPUs.
        type: int
      gpus:
        description:
          - The GPUs that the VM is going to have, for O(shape.mmio) and O(shape.numa_method). An entry is the name of
            a vGPU profile, such as V(grid_a100-40c), or the vendor and device id of a GPU that will be passed
            through, such as V(10de:20f1).
          - This module adds no devices. See M(aiready.vsphere.vgpu_profile) and
            M(aiready.vsphere.passthrough_device).
        type: list
        elements: str
      direct_nics:
        description:
          - How many ports of network adapters the VM is going to have by SR-IOV or passthrough.
        type: int
      advanced:
        description:
          - Further settings of the VMX file, as keys and values. A value of V(null) removes the key.
          - Only keys that are known to this module are taken, because vSphere keeps any other without a word and
            without an effect. Keys that other options set are refused with the name of the option.
          - Known are C(numa.vcpu.preferHT), C(numa.vcpu.maxPerVirtualNode), C(numa.vcpu.maxPerMachineNode),
            C(numa.vcpu.maxPerClient), C(numa.vcpu.min), C(numa.vcpu.followcorespersocket), C(numa.autosize),
            C(numa.autosize.once), C(sched.mem.lpage.enable1GPage), C(pciPassthru<N>.cfg.enable_uvm),
            C(pciPassthru<N>.cfg.enable_debugging), C(pciPassthru<N>.cfg.enable_profiling),
            C(pciPassthru<N>.cfg.frame_rate_limiter), C(ethernet<N>.coalescingScheme),
            C(ethernet<N>.coalescingParams), C(ethernet<N>.pnicFeatures) and C(ethernet<N>.ctxPerDev). The device with
            the number C(<N>) has to be there, or announced by O(shape.gpus) and O(shape.direct_nics).
          - Keys that are not listed here are left as they are.
        type: dict
  vgpu:
    description:
      - vGPUs of the VM, with the options of M(aiready.vsphere.vgpu_profile). Without it, they are left as they are.
      - Memory reservation and MMIO window belong to O(shape).
    type: dict
    suboptions:
      profiles:
        description:
          - The vGPU profiles that the VM has, as its hosts name them, for example V(grid_a100-40c) for a whole A100
            with 40 GB or V(grid_a100-3-20c) for one that lives in a MIG instance.
          - The list is exact. vGPUs that are not in it are removed, missing ones are added, and what matches is not
            touched. A profile that is listed twice means two vGPUs. The order does not matter.
          - Required with O(vgpu.state=present), for each VM here or in O(vms[].vgpu.profiles). Not regarded with
            O(vgpu.state=absent).
        type: list
        elements: str
      unified_memory:
        description:
          - V(enabled) switches CUDA unified memory on for each vGPU by C(pciPassthru<N>.cfg.enable_uvm). NCCL needs
            it from release 2.23 on. A VM with it cannot be moved by vMotion.
          - V(disabled) switches it off, which is how vSphere sets up a new vGPU.
          - V(ignore) leaves the settings as they are.
        type: str
        choices: [enabled, disabled, ignore]
        default: enabled
      state:
        description:
          - V(present) gives the VM exactly the O(vgpu.profiles).
          - V(absent) removes all vGPUs, and the unified memory settings that belonged to them. Memory reservation and
            MMIO window stay, because other devices of the VM may need them and they do no harm without a vGPU.
        type: str
        choices: [present, absent]
        default: present
      max_per_vm:
        description:
          - The largest number of vGPUs that your vSphere release takes in one VM.
          - Without it, 4 before vSphere 8.0 and 8 from 8.0 on.
        type: int
  passthrough:
    description:
      - PCI passthrough devices of the VM, with the options of M(aiready.vsphere.passthrough_device). Without it, they
        are left as they are.
      - Every device has to be on the host that the VM is on.
    type: dict
    suboptions:
      devices:
        description:
          - The passthrough devices that the VM has besides its vGPUs.
          - The list is exact. Devices that are not in it are removed, missing ones are added, and what matches is not
            touched. The order does not matter. A kind that is listed twice means two devices.
          - Required with O(passthrough.state=present), for each VM here or in O(vms[].passthrough.devices). Not
            regarded with O(passthrough.state=absent).
        type: list
        elements: dict
        suboptions:
          kind:
            description:
              - V(static) is the device at one address of the host that the VM is on.
              - V(dynamic) is a device of a kind, which vSphere chooses among the free ones at each power-on. The VM
                needs hardware version 17.
              - V(group) is a group of devices that belong together, such as GPUs with NVLink between them, or a GPU
                with a network adapter behind one switch. It needs vSphere 8.0 and hardware version 20.
            type: str
            required: true
            choices: [static, dynamic, group]
          id:
            description:
              - PCI address of a static device, for example V(0000:3b:00.0).
            type: str
          allowed:
            description:
              - Vendor and device IDs of the kinds that a dynamic device may be of, for example V(10de:20f1) for an
                A100 with 40 GB and V(15b3:101d) for a ConnectX-6 Dx.
            type: list
            elements: str
          label:
            description:
              - The hardware label that a dynamic device has to have, as M(aiready.vsphere.pci_passthrough) sets it.
              - Without it, any free device of the kind is taken. Labels keep apart what looks alike, such as the
                ports of two fabrics, or the devices of two PCIe roots.
            type: str
          group:
            description:
              - Name of a device group as the host offers it, for example V(Nvidia:2@grid_a100x-40c%NVLink).
            type: str
          numa_node:
            description:
              - The virtual NUMA node that the device is shown in, counted from 0. It needs vSphere 8.0.
              - V(-1) takes the node of a device away. Without this option, it stays as it is.
            type: int
      state:
        description:
          - V(present) gives the VM exactly the O(passthrough.devices).
          - V(absent) removes all passthrough devices except vGPUs.
        type: str
        choices: [present, absent]
        default: present
      mixed:
        description:
          - Whether a VM may have a static device beside dynamic ones of the same kind. It is not documented whether
            vSphere keeps the static device back when it chooses the dynamic one at power-on.
        type: str
        choices: [refuse, allow]
        default: refuse
      max_per_vm:
        description:
          - The largest number of passthrough devices that your vSphere release takes in one VM.
          - Without it, 16, and 32 from hardware version 20 on.
        type: int
  vmxnet3:
    description:
      - vmxnet3 adapters of the VM, with the options of M(aiready.vsphere.vmxnet3_nic). Without it, they are left as
        they are.
    type: dict
    suboptions:
      adapters:
        description:
          - The adapters that the VM has on the port groups that are named. Adapters on them that are too many are
            removed, missing ones are added, and what matches is not touched.
          - An adapter with the O(vmxnet3.adapters[].mac) of an entry is that entry's, on whatever port group it is,
            and is moved.
          - Required, for each VM here or in O(vms[].vmxnet3.adapters).
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
            description:
              - Name of the switch, where several port groups have this name.
            type: str
          mac:
            description:
              - A MAC address that the adapter keeps, for example V(00:50:56:01:02:03).
              - Without it, an adapter that is there keeps what it has, and vSphere chooses one for a new adapter.
              - Of V(00:50:56), the addresses up to V(00:50:56:3f:ff:ff) are for people. From the others vSphere
                chooses by itself, and starts no VM that has one of them as a fixed address.
            type: str
          connected:
            description:
              - Whether the adapter is connected when the VM starts, and now if the VM runs.
            type: bool
            default: true
      state:
        description:
          - V(present) gives the VM exactly the O(vmxnet3.adapters) on the port groups that they name.
          - V(absent) removes the vmxnet3 adapters on the port groups that O(vmxnet3.adapters) name, and of those only
            the one with O(vmxnet3.adapters[].mac) where this is set.
        type: str
        choices: [present, absent]
        default: present
  pvrdma:
    description:
      - PVRDMA adapters of the VM, with the options of M(aiready.vsphere.pvrdma_nic). Without it, they are left as
        they are.
    type: dict
    suboptions:
      adapters:
        description:
          - The PVRDMA adapters that the VM has.
          - The list is exact. PVRDMA adapters that are not in it are removed, missing ones are added, and what
            matches is not touched. Adapters are matched by MAC address, then by port group, and one that is left over
            is moved before another one is added.
          - Required with O(pvrdma.state=present), for each VM here or in O(vms[].pvrdma.adapters). Not regarded with
            O(pvrdma.state=absent).
        type: list
        elements: dict
        suboptions:
          portgroup:
            description:
              - Name of the port group that the adapter is attached to.
              - It has to be on a distributed switch whose only uplink on the VM's host is the RDMA port.
            type: str
            required: true
          switch:
            description:
              - Name of the switch, where several port groups have this name.
            type: str
          mac:
            description:
              - A MAC address that the adapter keeps, for example V(00:50:56:01:02:03).
              - Without it, an adapter that is there keeps what it has, and vSphere chooses one for a new adapter.
              - Of V(00:50:56), the addresses up to V(00:50:56:3f:ff:ff) are for people. From the others vSphere
                chooses by itself, and starts no VM that has one of them as a fixed address.
            type: str
          connected:
            description:
              - Whether the adapter is connected when the VM starts, and now if the VM runs.
            type: bool
            default: true
          protocol:
            description:
              - The RoCE version of the adapter, where the VM's hardware version has a choice, which is from 14 to 19.
              - Without it, an adapter that is there keeps its version, and a new one gets V(rocev2).
              - At other hardware versions vSphere takes no protocol, so leave it out. From 20 on V(rocev2) is
                accepted and not sent.
            type: str
            choices: [rocev1, rocev2]
      state:
        description:
          - V(present) gives the VM exactly the O(pvrdma.adapters).
          - V(absent) removes all PVRDMA adapters.
        type: str
        choices: [present, absent]
        default: present
      same_switch:
        description:
          - Whether all VMs of the task have to be on the same distributed switch and to speak the same RoCE version.
            Peers that differ in this fall back to TCP, so that it is right for the VMs of one job.
        type: bool
        default: true
      host_path:
        description:
          - What to do when the VM's host is not ready for PVRDMA, for its tag, its firewall, its uplinks or its RDMA
            device.
          - V(refuse) fails for this VM, also when its adapters are as wanted, since its traffic uses TCP.
          - V(warn) goes on with a warning, for hosts that are prepared later.
        type: str
        choices: [refuse, warn]
        default: refuse
      unreserved_memory:
        description:
          - Whether to refuse VMs whose memory is not reserved in full.
        type: str
        choices: [refuse, allow]
        default: refuse
      gpudirect:
        description:
          - What to do about GPUDirect RDMA, which PVRDMA cannot do.
          - V(detect) refuses VMs whose settings allow it (C(pciPassthru.allowP2P) or C(pciPassthru.RelaxACSforP2P)).
          - V(wanted) says that the job wants it, and refuses all of them.
          - V(ignore) does not look.
        type: str
        choices: [detect, wanted, ignore]
        default: detect
      guest_os:
        description:
          - V(check) refuses VMs whose guest operating system is no 64-bit Linux, and warns where the driver is likely
            missing, as in Red Hat Enterprise Linux 10.
          - V(ignore) does not look at it.
        type: str
        choices: [check, ignore]
        default: check
      max_adapters:
        description:
          - The largest number of PVRDMA adapters that a VM takes. Without it, what the hosts report for the VM's
            hardware version.
        type: int
  sriov:
    description:
      - SR-IOV adapters of the VM, with the options of M(aiready.vsphere.sriov_nic). Without it, they are left as they
        are.
    type: dict
    suboptions:
      adapters:
        description:
          - The SR-IOV adapters that the VM has.
          - The list is exact. SR-IOV adapters that are not in it are removed, missing ones are added, and what
            matches is not touched. Adapters are matched by MAC address, then by port group, and one that is left over
            is moved before another one is added.
          - Required with O(sriov.state=present), for each VM here or in O(vms[].sriov.adapters). Not regarded with
            O(sriov.state=absent).
        type: list
        elements: dict
        suboptions:
          portgroup:
            description:
              - Name of the port group that the adapter is attached to.
              - It may be on a distributed or on a standard switch. VLAN and MTU of the function come from it.
            type: str
            required: true
          switch:
            description:
              - Name of the switch, where several port groups have this name.
            type: str
          mac:
            description:
              - A MAC address that the adapter keeps, for example V(00:50:56:01:02:03).
              - Without it, an adapter that is there keeps what it has, and vSphere chooses one for a new adapter.
              - Of V(00:50:56), the addresses up to V(00:50:56:3f:ff:ff) are for people. From the others vSphere
                chooses by itself, and starts no VM that has one of them as a fixed address.
            type: str
          connected:
            description:
              - Whether the adapter is connected when the VM starts, and now if the VM runs.
            type: bool
            default: true
          physical_function:
            description:
              - The port that the virtual function is of, as the host calls it, for example V(vmnic3), or by its PCI
                address.
              - Without it, the host chooses among the uplinks of the port group's switch, and an adapter that is
                there keeps its port.
            type: str
          guest_mtu_change:
            description:
              - Whether the guest may change the MTU of its function. Without it, an adapter that is there is left as
                it is, and a new one does not allow it.
            type: bool
      state:
        description:
          - V(present) gives the VM exactly the O(sriov.adapters).
          - V(absent) removes all SR-IOV adapters.
        type: str
        choices: [present, absent]
        default: present
      port_off_switch:
        description:
          - What to do when O(sriov.adapters[].physical_function) is no uplink of the port group's switch. That
            vSphere does not serve such an adapter is expected and not documented.
        type: str
        choices: [refuse, allow]
        default: refuse
attributes:
  check_mode:
    details: The changes, the refusals and the result are those of a real run.
  diff_mode:
    details: One diff per VM that changes, with every setting and the power cycle.
seealso:
  - module: aiready.vsphere.vm_shape
  - module: aiready.vsphere.vgpu_profile
  - module: aiready.vsphere.passthrough_device
  - module: aiready.vsphere.vmxnet3_nic
  - module: aiready.vsphere.pvrdma_nic
  - module: aiready.vsphere.sriov_nic
"""

EXAMPLES = r"""
- name: Configure a VM with a whole A100 and an adapter for training traffic
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

    - name: Show what was changed
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.changes | map(attribute='path') | join(', ') }}"
      loop: "{{ configured.vms | selectattr('changed') }}"
      loop_control:
        label: "{{ item.name }}"

- name: Remove the vGPU and the adapter again
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
        - What a network test of the VM has to show, for each requested kind of adapters.
        - The keys C(vmxnet3), C(pvrdma) and C(sriov) have the C(expects) of their modules, for example
          M(aiready.vsphere.pvrdma_nic). Empty without adapters and for a VM that could not be read.
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
        vgpu:
          profiles: []
          unified_memory: []
        power: "off"
        power_on_again: false
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        shape:
          description: What O(shape) manages.
          type: dict
          returned: where the task manages this part
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
              description: The known keys of the VMX file that no other option sets, see O(shape.advanced).
              type: dict
              returned: success
        vgpu:
          description: What O(vgpu) manages.
          type: dict
          returned: where the task manages this part
          contains:
            profiles:
              description: The vGPU profiles, sorted.
              type: list
              elements: str
              returned: success
            unified_memory:
              description:
                - The devices for which CUDA unified memory is switched on, by their names in the VM's settings.
              type: list
              elements: str
              returned: success
        passthrough:
          description: What O(passthrough) manages.
          type: dict
          returned: where the task manages this part
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
                  C(same_root), which is V(true) where both hang off one PCIe root, and null where that is decided by
                  what vSphere chooses at power-on.
              type: list
              elements: dict
              returned: success
        vmxnet3:
          description: What O(vmxnet3) manages.
          type: dict
          returned: where the task manages this part
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
        pvrdma:
          description: What O(pvrdma) manages.
          type: dict
          returned: where the task manages this part
          contains:
            adapters:
              description: The PVRDMA adapters of the VM, sorted.
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
                protocol:
                  description: The RoCE version, null at hardware versions that have no choice.
                  type: str
                  returned: success
        sriov:
          description: What O(sriov) manages.
          type: dict
          returned: where the task manages this part
          contains:
            adapters:
              description: The SR-IOV adapters of the VM, sorted.
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
                physical_function:
                  description: PCI address of the port, null where the host chooses.
                  type: str
                  returned: success
                guest_mtu_change:
                  description: Whether the guest may change the MTU.
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
        vgpu:
          profiles: [grid_a100-40c]
          unified_memory: [pciPassthru0]
        power: "off"
        power_on_again: false
    changes:
      description: What was changed, or would be in check mode, one entry per setting of any part.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: memory_reservation, before: partial, after: all, needs: null}
        - {path: profiles, before: [], after: [grid_a100-40c], needs: null}
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config import params as config_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config.noun import VmConfigs


def main() -> None:
    params.main(config_params.ARGUMENTS, VmConfigs, config_params.check_params)


if __name__ == "__main__":
    main()
