#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: gpu_capacity_info
short_description: Gather how many GPU devices still fit on hosts and clusters
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns how many vGPUs, MIG-backed vGPUs and whole GPUs still fit, for each host and cluster, by board, mode and
    profile. Each row has the causes that block the rest, and their fixes.
  - Asks vCenter 9.0 and newer. The model of this collection answers on earlier releases, without the privilege, and
    where vCenter does not know the number. RV(capacity.source) returns which one answered.
  - Compares both numbers. A difference is a warning.
  - Returns a table for people, data for Kueue, and metrics for dashboards.
  - Reads with two requests for any number of hosts and VMs, and changes nothing. With vCenter 9.0 and newer, one more
    request per host and per cluster follows. O(stun_estimates) adds one request, and one per cluster.
notes:
  - The privilege C(DirectPathProfileManager.Manage) lets the module ask vCenter 9.0 and newer. [unsure] The description
    of the API names no privilege for this request.
  - Profiles of one board share its GPUs. The rows of a host are therefore alternatives. Do not add them up.
  - With O(source=model), and before vSphere 9.0, MIG instances that C(nvidia-smi) created on a host are invisible, and
    any position of vGPUs in mixed-size mode counts as possible.
  - A VM that is powered off uses nothing.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  datacenter:
    description:
      - Name or inventory path of the datacenter. Needed if several datacenters have a cluster of this name.
    type: str
  cluster:
    description: Name of the cluster. Defaults to all hosts of the O(datacenter).
    type: str
  modes:
    description:
      - Modes of GPUs in the result. V(time_sliced) and V(mig) are vGPUs. V(passthrough) is a whole GPU.
    type: list
    elements: str
    choices: [time_sliced, mig, passthrough]
    default: [time_sliced, mig, passthrough]
  profiles:
    description:
      - vGPU profiles in the result. Whole GPUs are then not in the result.
      - Defaults to the profiles that at least one host offers for the board. If no host offers one, the profile of the
        whole board shows the cause.
    type: list
    elements: str
    default: []
  gpu_label:
    description: Hardware label of whole GPUs. Without it, all of them count.
    type: str
  memory_gb:
    description:
      - Memory of one VM in GB, all of it reserved, for VMs with one device each. RV(capacity.hosts[].fits) then
        considers the free memory of the host.
    type: int
  most_per_gpu:
    description:
      - Maximum number of vGPUs of a profile on one GPU, by the name of the profile. The model of this collection then
        uses it instead of its own maximum.
      - NVIDIA does not publish all maxima, so those of some boards and modes are defaults [unsure]. The
        row then has V(unsure) in RV(capacity.hosts[].model_maximum).
      - The profile must still fit in the memory or the MIG slices of the GPU. The number of vCenter 9.0 and newer has
        precedence.
    type: dict
  host_overhead_gb:
    description:
      - Memory of each host in GB that VMs cannot reserve, because ESXi and the running VMs need it. It is an estimate.
    type: int
    default: 16
  source:
    description:
      - Source of the numbers. V(auto) asks vCenter where it can answer. V(model) never asks it.
    type: str
    choices: [auto, model]
    default: auto
  kueue:
    description: Names and numbers in RV(capacity.kueue).
    type: dict
    suboptions:
      label:
        description:
          - Key of the label that selects the nodes of a flavor. Its value is the name of the flavor. Label the nodes
            accordingly.
        type: str
        default: aiready.vsphere/gpu
      resource:
        description: Name of the resource that the pods request, such as V(nvidia.com/mig-1g.10gb) with mixed MIG.
        type: str
        default: nvidia.com/gpu
      quota:
        description:
          - Number in the quota. V(total) is the sum of the devices that fit and of those in use, for a Kubernetes
            cluster whose nodes use the devices. V(free) is what fits now, for devices that others use.
        type: str
        choices: [total, free]
        default: total
  stun_estimates:
    description:
      - Whether to read how long a VM with a vGPU stops at the end of its migration, as vCenter estimates it.
      - vSphere 8.0 Update 2 and newer estimate it, for vGPUs of the types C and Q.
    type: bool
    default: false
seealso:
  - module: aiready.vsphere.vm_placement_info
  - module: aiready.vsphere.vm_owner_info
  - module: aiready.vsphere.esxi_host_info
"""

EXAMPLES = r"""
- name: Read the free GPU capacity of a cluster
  aiready.vsphere.gpu_capacity_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    cluster: gpu

- name: Report the free GPU capacity
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Read how many VMs with a whole A100 and 64 GB fit
      aiready.vsphere.gpu_capacity_info:
        cluster: gpu
        profiles: [grid_a100-40c]
        memory_gb: 64
      register: gpus

    - name: Show the table
      ansible.builtin.debug:
        msg: "{{ gpus.capacity.table }}"

    - name: Show the resource group of a ClusterQueue
      ansible.builtin.debug:
        var: gpus.capacity.kueue.resource_groups
"""

RETURN = r"""
capacity:
  description: Capacity of the hosts and clusters.
  returned: success
  type: dict
  contains:
    source:
      description:
        - V(server) if vCenter answered for all rows, V(model) if the model of this collection did, V(mixed) if each
          answered for a part.
      type: str
      returned: always
    why_model:
      description: Reasons why the model answered. Empty if vCenter answered for all rows.
      type: list
      elements: str
      returned: always
    hosts:
      description: One row per host and device, the largest profile of each board first.
      type: list
      elements: dict
      returned: always
      contains:
        host:
          description: Name of the host.
          type: str
          returned: always
        moid:
          description: Managed object ID of the host.
          type: str
          returned: always
        cluster:
          description: Name of the cluster of the host. For a standalone host, the name of its compute resource.
          type: str
          returned: always
        board:
          description: Name of the board.
          type: str
          returned: always
        mode:
          description: V(time_sliced), V(mig) or V(passthrough).
          type: str
          returned: always
        profile:
          description: vGPU profile. Null for whole GPUs.
          type: str
          returned: always
        device_id:
          description: PCI vendor and device of whole GPUs. Null for a profile.
          type: str
          returned: always
        label:
          description: Hardware label of the request. Null without one.
          type: str
          returned: always
        fits:
          description: Devices that fit now, with O(memory_gb) at most as many as the memory of the host allows.
          type: int
          returned: always
        free:
          description: Devices that fit now, without regard to memory.
          type: int
          returned: always
        in_use:
          description: Devices of running VMs.
          type: int
          returned: always
        max:
          description: Devices that fit in the present modes of the GPUs if none is in use.
          type: int
          returned: always
        reserved:
          description: Devices that vCenter reserves and no VM uses. 0 if the model answered.
          type: int
          returned: always
        source:
          description: V(server) or V(model).
          type: str
          returned: always
        server_free:
          description: Number of vCenter for C(free). Null if it has none.
          type: int
          returned: always
        model_free:
          description: Number of the model for C(free).
          type: int
          returned: always
        why_model:
          description: Reason why the model answered. Null if vCenter answered.
          type: str
          returned: always
        model_maximum:
          description:
            - Origin of the maximum that the model used. V(published) is a document of NVIDIA, V(unsure) a default
              without one, V(most_per_gpu) the option.
          type: str
          returned: always
        blocked:
          description:
            - Causes that make devices unavailable. Each has C(cause), C(lost) (number of devices), C(gpus) (addresses),
              C(detail) and C(fix).
            - Causes are V(host_out_of_use), V(driver_missing), V(graphics_type), V(in_passthrough),
              V(not_in_passthrough), V(mig_off), V(mig_on), V(not_offered), V(in_use), V(other_size), V(mixed_memory),
              V(mig_slices) and V(memory).
          type: list
          elements: dict
          returned: always
    clusters:
      description:
        - The same per cluster, with the keys of RV(capacity.hosts) except C(host) and C(moid). C(blocked) has the sums
          of the hosts, without C(gpus) and C(detail).
      type: list
      elements: dict
      returned: always
    gpus:
      description:
        - All GPUs, each with C(host), C(id), C(board), C(mode), C(carries) (the profiles of running VMs), C(held_by)
          and C(label). C(mode) is V(same_size), V(mixed_size), V(mig), V(any), V(passthrough) or V(none).
      type: list
      elements: dict
      returned: always
    table:
      description: Rows as a table for people, at most 120 columns wide. It leaves out devices that no host has.
      type: str
      returned: always
    kueue:
      description:
        - Objects of the kind C(ResourceFlavor), and C(resource_groups) for the C(spec.resourceGroups) of a
          C(ClusterQueue) of C(kueue.x-k8s.io/v1beta2).
        - Contains the O(profiles) of the request. Without O(profiles), the largest one that fits or is in use, per
          cluster, board and mode, because profiles of one board share its GPUs.
      type: dict
      returned: always
      contains:
        resource_flavors:
          description: Objects to apply.
          type: list
          elements: dict
          returned: always
        resource_groups:
          description: Quotas of the flavors. Empty without capacity.
          type: list
          elements: dict
          returned: always
    metrics:
      description:
        - One flat entry per number of each host, with C(name), C(value), C(cluster), C(host), C(board), C(mode),
          C(profile), C(source) and C(cause).
        - The names are C(aiready_gpu_capacity_fits), C(aiready_gpu_capacity_free), C(aiready_gpu_capacity_in_use),
          C(aiready_gpu_capacity_max) and C(aiready_gpu_capacity_blocked).
      type: list
      elements: dict
      returned: always
    prometheus:
      description: The metrics in the text format of Prometheus.
      type: str
      returned: always
    stun_estimates:
      description:
        - One entry per profile and bandwidth, with C(cluster), C(profile), C(migration_mbps) (bandwidth of the
          migration in Mbit/s) and C(stun_seconds).
        - Empty without O(stun_estimates), and if vCenter has no estimate.
      type: list
      elements: dict
      returned: always
  sample:
    source: server
    why_model: []
    hosts:
      - host: esx-01.example.com
        moid: host-12
        cluster: gpu
        board: NVIDIA A100-PCIE-40GB
        mode: time_sliced
        profile: grid_a100-20c
        device_id: null
        label: null
        fits: 1
        free: 1
        in_use: 1
        max: 2
        reserved: 0
        source: server
        server_free: 1
        model_free: 1
        why_model: null
        model_maximum: published
        blocked:
          - cause: in_use
            lost: 1
            gpus: ["0000:39:00.0"]
            detail: null
            fix: Power off VMs that use the GPU.
    kueue:
      resource_flavors:
        - apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: grid-a100-20c}
          spec: {nodeLabels: {aiready.vsphere/gpu: grid-a100-20c}}
      resource_groups:
        - coveredResources: [nvidia.com/gpu]
          flavors:
            - name: grid-a100-20c
              resources: [{name: nvidia.com/gpu, nominalQuota: 2}]
msg:
  description: Result in one line.
  returned: success
  type: str
  sample: "Rows: 2, with free capacity: 1, hosts: 2. vCenter answered."
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: cluster_not_found}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import check, params, read, report, stun


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    requested, vcenter = params.request_of(module.params), None
    try:
        vcenter = session.connect(module.params, module.warn)
        scope, hosts = read.read(vcenter, module.params)
        ask = check.asking(vcenter) if requested.ask_server else check.silent("the task sets source=model")
        found = report.capacity_of(ask, scope, hosts, requested)
        stuns = stun.read(vcenter, scope) if module.params["stun_estimates"] else []
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    for sentence in report.warnings(found):
        module.warn(sentence)
    module.exit_json(changed=False, msg=report.summary(found), capacity=report.result(found, hosts, requested, stuns))


if __name__ == "__main__":
    main()
