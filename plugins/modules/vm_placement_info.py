#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_placement_info
short_description: Gather a plan of hosts, GPUs and network ports for VMs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Plans a host for each VM of a request on the hosts of a cluster, before any VM is created.
  - The plan considers GPUs with the size that their vGPUs fixed, MIG instances, memory for a full reservation, NUMA
    nodes and PCIe roots. It also considers virtual functions, passthrough devices, PVRDMA readiness and datastore
    space.
  - Keeps valid placements. It never moves a running VM. It moves a VM that is powered off only if its host does not
    suit it, or if another VM needs the resources.
  - If not all VMs fit, returns the resource that is short, the missing amount, and what would fit. The module tries
    each alternative before it returns it.
  - Asks vCenter 9.0 and newer how many of the requested devices still fit, and compares the answer with the model of
    this collection. Where vCenter reports fewer, the plan uses the number of vCenter. RV(capacity) returns both.
  - Reads with two requests for any number of hosts and VMs, and changes nothing. With vCenter 9.0 and newer, one more
    request per cluster follows, and one per host of a cluster whose number differs. The same hosts and the same request
    give the same plan.
notes:
  - The privilege C(DirectPathProfileManager.Manage) lets the module ask vCenter 9.0 and newer for capacity. Without it,
    the model answers.
  - vSphere chooses the GPU of a vGPU, by the assignment policy of the host. The GPU in the plan is one that the host
    can assign. The plan decides the host, and with PCI passthrough also the device.
  - The memory that ESXi keeps for itself is an estimate. See O(host_overhead_gb).
  - vCenter does not report the position of running vGPUs on a GPU. For MIG and for mixed sizes, the plan assumes any
    arrangement that the rules allow.
  - A VM that is powered off and not in the request reserves nothing. If it has a GPU or a device on a planned host, the
    plan reports it, because both compete at power-on.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  datacenter:
    description:
      - Name or inventory path of the datacenter. Needed if several datacenters have clusters, VMs or port groups of the
        same name.
    type: str
  cluster:
    description: Name of the cluster whose hosts the plan uses. Defaults to all hosts of the O(datacenter).
    type: str
  policy:
    description:
      - Distribution of the VMs.
      - V(spread) distributes the VMs over the hosts as evenly as possible.
      - V(packed) uses as few hosts and GPUs as possible.
    type: str
    choices: [spread, packed]
    default: spread
  anti_affinity:
    description:
      - Whether to put the VMs of one job on different hosts. An acceptance run of the network needs this. Traffic
        between two VMs of one host never reaches the fabric.
    type: bool
    default: false
  gpudirect:
    description:
      - Whether to require a common PCIe root for GPU and port of a VM. GPUDirect RDMA needs it. Each GPU of the VM then
        has a port on its root.
      - The module rejects it with O(path=tcp) and O(path=pvrdma), because these VMs have no network adapter as a PCIe
        device.
      - vSphere selects the devices with O(path=dvx) and O(gpu_mode=dvx) when a VM starts. The plan uses only hosts that
        have free devices on a common root for all VMs. The module warns about a running VM that has devices of
        different roots.
    type: bool
    default: false
  gpu_nic_numa:
    description:
      - Requirement for a common NUMA node of GPU and port of a VM.
      - V(strict) fails if they are on different nodes. V(any) only warns, and only with O(gpudirect=true).
    type: str
    choices: [any, strict]
    default: any
  path:
    description:
      - Data path of the VMs to the training network.
      - V(tcp) is a plain adapter. V(pvrdma) is a paravirtual RDMA adapter. V(sriov) is a virtual function of a port.
        V(passthrough) is a whole port.
      - V(dvx) is a whole port in the mode C(enhanced_direct_path), which vCenter reports from vSphere 9.1 on.
    type: str
    choices: [tcp, pvrdma, sriov, passthrough, dvx]
    default: tcp
  portgroup:
    description:
      - Name of the port group of the training network. The plan does not use hosts without it.
      - O(path=pvrdma) needs it or O(switch), because all VMs of a job must be on one distributed switch.
    type: str
  switch:
    description:
      - Name of the distributed switch of the O(portgroup). Needed if several switches have a port group of this name.
    type: str
  gpu_mode:
    description:
      - Kind of GPU. V(vgpu) uses time-sliced vGPUs, V(mig) uses MIG-backed vGPUs, and V(passthrough) uses whole GPUs.
      - V(dvx) uses whole GPUs in the mode C(enhanced_direct_path), which vCenter reports from vSphere 9.1 on.
    type: str
    choices: [vgpu, mig, passthrough, dvx]
    default: vgpu
  gpu_label:
    description: Hardware label of the GPUs for O(gpu_mode=passthrough). Without it, the plan uses any GPU.
    type: str
  nic_label:
    description: Hardware label of the ports for O(path=passthrough). Without it, the plan uses any port.
    type: str
  datastore:
    description:
      - Name of the datastore for new VMs, and for VMs that move to a host that does not see their datastore. Defaults
        to the datastore of the host with the most free space, per VM.
    type: str
  max_per_vm:
    description:
      - Maximum number of vGPUs per VM in your vSphere release.
      - Defaults to 4 before vSphere 8.0, and to 8 from vSphere 8.0 on.
    type: int
  most_per_gpu:
    description:
      - Maximum number of vGPUs of a profile on one GPU, by the name of the profile. The model of this collection then
        uses it instead of its own maximum.
      - NVIDIA does not publish all maxima, so those of some boards and modes are defaults [unsure]. RV(capacity.unsure)
        lists them.
      - The profile must still fit in the memory or the MIG slices of the GPU. The number of vCenter 9.0 and newer has
        precedence.
    type: dict
    version_added: 0.2.0
  host_overhead_gb:
    description:
      - Memory of each host in GB that VMs cannot reserve, because ESXi and the running VMs need it. It is an estimate
        that depends on the host. Increase it if vSphere refuses a power-on because of memory.
    type: int
    default: 16
  leaving:
    description:
      - Managed object IDs of VMs that you will remove first, such as V(vm-42). The plan treats their resources as free.
    type: list
    elements: str
    default: []
  fit:
    description:
      - Result of the task if not all VMs fit.
      - V(fail) fails, with the shortages in the message.
      - V(report) succeeds. Evaluate RV(placement.fits) yourself.
    type: str
    choices: [fail, report]
    default: fail
  vms:
    description:
      - VMs of the request, both existing and new ones. The plan considers them together.
      - The module finds an existing VM by its name or path. The plan treats its current resources as free.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the VM. It must be unique within the O(datacenter).
        type: str
      path:
        description: Inventory path of the VM, for example V(/dc1/vm/training/train-01).
        type: str
      profiles:
        description: vGPU profiles of the VM, one entry per vGPU. All must be of one board and one series.
        type: list
        elements: str
        default: []
      gpus:
        description: Number of whole GPUs with O(gpu_mode=passthrough) or O(gpu_mode=dvx).
        type: int
        default: 0
      nics:
        description:
          - Number of ports, virtual functions or PVRDMA adapters. Defaults to none with O(path=tcp), and to one with
            the other paths.
        type: int
      memory_gb:
        description: Memory in GB, all of it reserved. Defaults to the memory of the existing VM.
        type: int
      cpus:
        description: Number of vCPUs. Defaults to the vCPUs of the existing VM.
        type: int
      disk_gb:
        description: Disk space in GB of a new VM on a datastore. Without it, the plan does not check datastores.
        type: int
      host:
        description: Name of the only allowed host, as vCenter shows it.
        type: str
      job:
        description:
          - Name of the training job of the VM, see O(anti_affinity). All VMs without this option belong to one job.
        type: str
seealso:
  - module: aiready.vsphere.esxi_host_info
  - module: aiready.vsphere.vgpu_profile
"""

EXAMPLES = r"""
- name: Plan two VMs with a whole A100 each
  aiready.vsphere.vm_placement_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    vms:
      - {name: train-01, profiles: [grid_a100-40c], memory_gb: 64, cpus: 16}
      - {name: train-02, profiles: [grid_a100-40c], memory_gb: 64, cpus: 16}

- name: Plan an acceptance run
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Plan a separate host and a virtual function for each VM
      aiready.vsphere.vm_placement_info:
        cluster: gpu
        anti_affinity: true
        gpudirect: true
        path: sriov
        portgroup: pg-sriov
        vms:
          - {name: train-01, profiles: [grid_a100-40c], memory_gb: 64, cpus: 16, disk_gb: 200}
          - {name: train-02, profiles: [grid_a100-40c], memory_gb: 64, cpus: 16, disk_gb: 200}
      register: plan

    - name: Show the plan
      ansible.builtin.debug:
        msg: "{{ plan.placement.table }}"

- name: Report shortages without a failure
  aiready.vsphere.vm_placement_info:
    policy: packed
    fit: report
    vms:
      - {name: train-01, profiles: [grid_a100-20c, grid_a100-20c, grid_a100-20c], memory_gb: 64}
"""

RETURN = r"""
placement:
  description: Plan. Also returned if the task fails because not all VMs fit.
  returned: unless the parameters or names are wrong
  type: dict
  contains:
    fits:
      description: V(true) if the plan has a host for each VM.
      type: bool
      returned: always
    vms:
      description: One entry per VM, in the order of the request.
      type: list
      elements: dict
      returned: always
      contains:
        name:
          description: Name or path of the VM, as in the request.
          type: str
          returned: always
        moid:
          description: Managed object ID of an existing VM, otherwise null.
          type: str
          returned: always
        action:
          description:
            - V(create) for a new VM, V(keep) for a VM that stays on its host, V(move) for a VM that is powered off and
              gets another host. Null for a VM that does not fit.
          type: str
          returned: always
        host:
          description: Name of the host. Null for a VM that does not fit.
          type: str
          returned: always
        datastore:
          description:
            - Name of the datastore for a new VM with O(vms[].disk_gb), and for a VM that moves to a host that does not
              see its datastore. Otherwise null.
          type: str
          returned: always
        gpus:
          description:
            - GPUs of the VM, each with C(id), C(board), C(profile) (null for a whole GPU), C(vendor_id), C(device_id),
              C(label) and C(root), its PCIe root.
          type: list
          elements: dict
          returned: always
        nics:
          description:
            - Ports of the VM, each with C(device) (null for a passthrough port), C(pci), C(vendor_id), C(device_id),
              C(label) and C(root), its PCIe root. With O(path=sriov), the port of the virtual function.
          type: list
          elements: dict
          returned: always
        numa_nodes:
          description:
            - NUMA nodes of the host for the VM. These are the nodes of its GPUs, or more if those have too little
              memory or too few cores.
          type: list
          elements: int
          returned: always
        nodes_apart:
          description: NUMA nodes of C(gpus) and C(nics), if a GPU has no port on its own node. Otherwise null.
          type: dict
          returned: always
        root:
          description: PCIe root that the GPUs and ports of the VM share. Null if they share none.
          type: str
          returned: always
        switch:
          description: Switch of the port group. Null without O(portgroup) and O(switch).
          type: str
          returned: always
        why:
          description: Reason for the host, or reason why the VM does not fit.
          type: str
          returned: always
    shortages:
      description:
        - Missing resources if not all VMs fit, each with C(resource), C(wanted), C(free), C(short) and C(would_fit).
      type: list
      elements: dict
      returned: always
    table:
      description:
        - Plan as a table for people, at most 120 columns wide. If vCenter was asked for the capacity, a line below it
          states who answered.
      type: str
      returned: always
    hosts:
      description:
        - Hosts that the plan considered, without the resources that the VMs of the request use.
        - The keys are C(name), C(moid), C(cluster), C(usable), C(why_not), C(memory_free_gb), C(gpus), C(pvrdma),
          C(vms) and C(waiting).
        - C(gpus) contains C(mode), C(carries) (the profiles on each GPU) and C(held_by). C(pvrdma) is returned with
          O(path=pvrdma), by switch. C(vms) contains the plan. C(waiting) lists the VMs that are powered off and would
          compete.
      type: list
      elements: dict
      returned: always
  sample:
    fits: true
    vms:
      - name: train-01
        moid: null
        action: create
        host: esx-01.example.com
        datastore: datastore-01
        gpus:
          - id: "0000:39:00.0"
            board: NVIDIA A100-PCIE-40GB
            profile: grid_a100-40c
            vendor_id: 10de
            device_id: 20f1
            label: null
            root: "0000:36"
        nics:
          - {device: vmnic3, pci: "0000:3a:00.1", vendor_id: 15b3, device_id: 101d, label: null, root: "0000:36"}
        numa_nodes: [0]
        nodes_apart: null
        root: "0000:36"
        switch: dvs-sriov
        why: one VM per host; GPU, NIC on one root
    shortages: []
capacity:
  description: Who answered how many GPU devices still fit. Also returned if the task fails because not all VMs fit.
  returned: unless the parameters or names are wrong
  type: dict
  contains:
    source:
      description:
        - V(server) if vCenter answered for all devices, V(model) if the model of this collection did, V(mixed) if each
          answered for a part.
      type: str
      returned: always
    why_model:
      description: Reasons why the model answered. Empty if vCenter answered for all devices.
      type: list
      elements: str
      returned: always
    checks:
      description:
        - Numbers of vCenter and of the model for each device on each cluster, and on hosts where they differ. Empty if
          vCenter was not asked.
        - The keys are C(place), C(kind) (V(cluster) or V(host)), C(device), C(source), C(server_free), C(model_free),
          C(why_model) and C(model_maximum) (V(published), V(unsure) or V(most_per_gpu)).
      type: list
      elements: dict
      returned: always
    unsure:
      description:
        - Profiles for which the model answered with a maximum that no vendor publishes. O(most_per_gpu) replaces it.
      type: list
      elements: str
      returned: always
  sample:
    source: server
    why_model: []
    checks:
      - place: gpu
        kind: cluster
        device: grid_a100-40c
        source: server
        server_free: 2
        model_free: 2
        why_model: null
        model_maximum: published
    unsure: []
msg:
  description: Result of the plan in one line.
  returned: always
  type: str
  sample: "2 VMs on 2 hosts: 2 to create."
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: does_not_fit, vms: [train-02]}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import placing
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import answer, params, plan, read


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        scope, world, present, now = read.read(vcenter, module.params)
        world, checks, capacity = placing.capacity(vcenter, scope, world, now, module.params)
        result = plan.placement(world, scope, present, module.params)
        result["table"] += placing.footer(capacity)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    for sentence in placing.warnings(checks):
        module.warn(sentence)
    if not result["fits"] and module.params["fit"] == "fail":
        refusal = plan.does_not_fit(result)
        module.fail_json(msg=refusal.message, failure=refusal.failure, placement=result, capacity=capacity)
    remote = answer.remote(result)
    if remote and module.params["gpu_nic_numa"] == "strict":
        refusal = plan.nodes_apart(remote)
        module.fail_json(msg=refusal.message, failure=refusal.failure, placement=result, capacity=capacity)
    for sentence in remote if module.params["gpudirect"] else ():
        module.warn(f"{sentence} GPUDirect crosses the link between the processors, which costs bandwidth.")
    apart = answer.apart(result) if module.params["gpudirect"] else []
    if apart:
        module.warn(plan.no_gpudirect(apart))
    module.exit_json(changed=False, msg=answer.summary(result), placement=result, capacity=capacity)


if __name__ == "__main__":
    main()
