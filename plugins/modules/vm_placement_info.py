#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_placement_info
short_description: Plan on which host each training VM goes, with which GPU and network port
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Works out a place for each VM of a request on the hosts of a cluster, before anything is created. GPUs with the size
    that their vGPUs have fixed, MIG instances, memory for a full reservation, NUMA nodes, PCIe roots, virtual
    functions, passed-through devices, readiness for PVRDMA and space on datastores are looked at together.
  - Keeps what is placed right. A VM that runs is never moved, one that is off is moved only when its place does not
    suit it or is needed otherwise.
  - If not all VMs fit, tells which resource is short, by how much, and what would fit. What it tells was tried.
  - Reads with two requests however many hosts and VMs there are, and changes nothing. The same hosts and the same
    request give the same plan.
notes:
  - vSphere itself chooses the GPU for a vGPU, by the host's assignment policy. The GPU in the plan is one that the host
    is able to give. The host, and with PCI passthrough the device, are what a plan decides.
  - How much memory ESXi keeps for itself is an estimate. See O(host_overhead_gb).
  - vCenter does not tell in which places of a GPU the running vGPUs are. For MIG and for mixed sizes a plan counts on
    any arrangement that the rules allow.
  - A VM that is off and not in the request reserves nothing. Where one with a GPU or a device is on a planned host, the
    plan says so, since both compete when they are started.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  datacenter:
    description:
      - The datacenter, by name or inventory path. Needed where names of clusters, VMs or port groups are in several.
    type: str
  cluster:
    description: The cluster whose hosts are used. Without it, all hosts of the O(datacenter).
    type: str
  policy:
    description:
      - V(spread) puts VMs on the hosts as evenly as possible.
      - V(packed) uses as few hosts and GPUs as possible.
    type: str
    choices: [spread, packed]
    default: spread
  anti_affinity:
    description:
      - Whether the VMs of one job go on different hosts, which an acceptance run of the network needs. Traffic between
        two VMs of one host never reaches the fabric.
    type: bool
    default: false
  gpudirect:
    description:
      - Whether GPU and port of a VM have to hang off one PCIe root, without which GPUDirect RDMA does not work. Each
        GPU of the VM then has a port on its root.
      - Refused with O(path=tcp) and O(path=pvrdma), which have no network adapter in the VM as a PCIe device.
    type: bool
    default: false
  gpu_nic_numa:
    description:
      - Whether GPU and port of a VM have to be on one NUMA node of the host.
      - With V(strict), a plan in which they are not is an error. With V(any), it is a warning where O(gpudirect=true).
    type: str
    choices: [any, strict]
    default: any
  path:
    description:
      - How the VMs reach the network of the training.
      - V(tcp) is a plain adapter, V(pvrdma) a paravirtual RDMA adapter, V(sriov) a virtual function of a port, and
        V(passthrough) a whole port.
    type: str
    choices: [tcp, pvrdma, sriov, passthrough]
    default: tcp
  portgroup:
    description:
      - The port group of the training network. Hosts without it are not used.
      - O(path=pvrdma) needs it or O(switch), since all VMs of a job have to be on one distributed switch.
    type: str
  switch:
    description: The distributed switch of the O(portgroup). Needed where several switches have one of that name.
    type: str
  gpu_mode:
    description:
      - V(vgpu) for time-sliced vGPUs, V(mig) for MIG-backed ones, V(passthrough) for whole GPUs.
    type: str
    choices: [vgpu, mig, passthrough]
    default: vgpu
  gpu_label:
    description: The hardware label of the GPUs to use with O(gpu_mode=passthrough). Without it, any.
    type: str
  nic_label:
    description: The hardware label of the ports to use with O(path=passthrough). Without it, any.
    type: str
  datastore:
    description:
      - The datastore for new VMs, and for those that move to a host which does not see theirs. Without it, for each VM
        the one of its host's with the most space.
    type: str
  max_per_vm:
    description:
      - The largest number of vGPUs that your vSphere release takes in one VM.
      - Without it, 4 before vSphere 8.0 and 8 from 8.0 on.
    type: int
  host_overhead_gb:
    description:
      - Memory of each host that no VM can reserve, because ESXi and the running VMs need it. An estimate that depends
        on the host, so raise it when a power-on is refused for memory.
    type: int
    default: 16
  leaving:
    description:
      - Managed object IDs of VMs that will be removed before, such as V(vm-42). What they use is taken for free.
    type: list
    elements: str
    default: []
  fit:
    description:
      - V(fail) fails when not all VMs fit, with the shortages in the message.
      - V(report) succeeds and leaves it to you to look at RV(placement.fits).
    type: str
    choices: [fail, report]
    default: fail
  vms:
    description:
      - The VMs of the request, those that are there and those that shall be created. The plan regards them together.
      - A VM that is there is found by its name or path. What it uses now is taken for free while its place is planned.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the VM. Has to be unique within the O(datacenter).
        type: str
      path:
        description: Inventory path of the VM, for example V(/dc1/vm/training/train-01).
        type: str
      profiles:
        description: Its vGPU profiles, one entry per vGPU. All of one board and one series.
        type: list
        elements: str
        default: []
      gpus:
        description: How many whole GPUs it gets with O(gpu_mode=passthrough).
        type: int
        default: 0
      nics:
        description:
          - How many ports, virtual functions or PVRDMA adapters it gets. Without it, none with O(path=tcp) and one with
            the others.
        type: int
      memory_gb:
        description: Its memory, all of which is reserved. Without it, that of a VM that is there.
        type: int
      cpus:
        description: Its virtual CPUs. Without it, those of a VM that is there.
        type: int
      disk_gb:
        description: Space that a new VM takes on a datastore. Without it, datastores are not looked at.
        type: int
      host:
        description: The only host that it may be on, by its name in vCenter.
        type: str
      job:
        description: The training job that it belongs to, see O(anti_affinity). VMs without one are of one job.
        type: str
seealso:
  - module: aiready.vsphere.esxi_host_info
  - module: aiready.vsphere.vgpu_profile
"""

EXAMPLES = r"""
- name: Where would two VMs with a whole A100 each go?
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
    - name: Each VM has a host of its own, with a virtual function beside its GPU
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

- name: See what is short instead of failing
  aiready.vsphere.vm_placement_info:
    policy: packed
    fit: report
    vms:
      - {name: train-01, profiles: [grid_a100-20c, grid_a100-20c, grid_a100-20c], memory_gb: 64}
"""

RETURN = r"""
placement:
  description: The plan. Also there when the task fails because not all VMs fit.
  returned: unless the parameters or names are wrong
  type: dict
  contains:
    fits:
      description: Whether each VM has a place.
      type: bool
      returned: always
    vms:
      description: One entry per VM, in the order of the request.
      type: list
      elements: dict
      returned: always
      contains:
        name:
          description: Its name or path, as in the request.
          type: str
          returned: always
        moid:
          description: Managed object ID of a VM that is there, else null.
          type: str
          returned: always
        action:
          description:
            - V(create) for a VM that is not there, V(keep) for one that stays on its host, V(move) for one that is off
              and goes to another host. Null for one without a place.
          type: str
          returned: always
        host:
          description: Name of its host, null for a VM without a place.
          type: str
          returned: always
        datastore:
          description:
            - Name of the datastore for a new VM whose O(vms[].disk_gb) is set, and for one that moves to a host which
              does not see its own. Else null.
          type: str
          returned: always
        gpus:
          description: Its GPUs, each with C(id), C(board), C(profile) (null for a whole GPU), C(vendor_id),
            C(device_id) and C(label).
          type: list
          elements: dict
          returned: always
        nics:
          description:
            - Its ports, each with C(device) (null for one that is passed through), C(pci), C(vendor_id), C(device_id)
              and C(label). With O(path=sriov) the port whose virtual function it gets.
          type: list
          elements: dict
          returned: always
        numa_nodes:
          description: The NUMA nodes of its host that it should be on. Those of its GPUs, or more if these have too
            little memory or too few cores.
          type: list
          elements: int
          returned: always
        nodes_apart:
          description: C(gpus) and C(nics), the NUMA nodes of each, where a GPU has no port on its own node.
            Otherwise null.
          type: dict
          returned: always
        root:
          description: The PCIe root that its GPUs and ports have in common, null where they have none in common.
          type: str
          returned: always
        switch:
          description: The switch of the port group, null without O(portgroup) and O(switch).
          type: str
          returned: always
        why:
          description: Why it goes there, or what keeps it from going anywhere.
          type: str
          returned: always
    shortages:
      description: What is short when not all VMs fit, each with C(resource), C(wanted), C(free), C(short) and
        C(would_fit).
      type: list
      elements: dict
      returned: always
    table:
      description: The plan as a table for people, 120 columns wide at most.
      type: str
      returned: always
    hosts:
      description:
        - The hosts that were looked at, without what the VMs of the request use. Each with C(name), C(moid),
          C(cluster), C(usable), C(why_not), C(memory_free_gb), C(gpus) (with C(mode), what each C(carries), and
          C(held_by)), C(pvrdma) (with O(path=pvrdma), by switch), C(vms) (the plan), and C(waiting), the VMs that are
          off and would compete.
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
        nics:
          - {device: vmnic3, pci: "0000:3a:00.1", vendor_id: 15b3, device_id: 101d, label: null}
        numa_nodes: [0]
        nodes_apart: null
        root: "0000:36"
        switch: dvs-sriov
        why: one VM per host; GPU, NIC on one root
    shortages: []
msg:
  description: What the plan comes to, in one line.
  returned: always
  type: str
  sample: "2 VMs on 2 hosts: 2 to create."
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: does_not_fit, vms: [train-02]}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import answer, params, plan, read


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        scope, world, present = read.read(vcenter, module.params)
        result = plan.placement(world, scope, present, module.params)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    if not result["fits"] and module.params["fit"] == "fail":
        refusal = plan.does_not_fit(result)
        module.fail_json(msg=refusal.message, failure=refusal.failure, placement=result)
    remote = answer.remote(result)
    if remote and module.params["gpu_nic_numa"] == "strict":
        refusal = plan.nodes_apart(remote)
        module.fail_json(msg=refusal.message, failure=refusal.failure, placement=result)
    for sentence in remote if module.params["gpudirect"] else ():
        module.warn(f"{sentence} GPUDirect crosses the link between the processors, which costs bandwidth.")
    apart = answer.apart(result) if module.params["gpudirect"] else []
    if apart:
        module.warn(plan.no_gpudirect(apart))
    module.exit_json(changed=False, msg=answer.summary(result), placement=result)


if __name__ == "__main__":
    main()
