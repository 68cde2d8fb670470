#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: mig_info
short_description: Gather the MIG partitions of NVIDIA GPUs and their free space
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns the MIG mode of GPUs, their GPU and compute instances, the instances that still fit, and the instances that
    block a larger one.
  - Computes the free space from the placements. The free counts that C(nvidia-smi) prints read 0 on some hosts whose
    GPUs are empty.
  - Runs on ESXi hosts and on Linux over the connection of the play. The target needs no Python.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.attributes.read_only
attributes:
  platform:
    description: Targets of the commands.
    support: full
    platforms: posix
options:
  gpus:
    description:
      - GPUs, each by its index, UUID, PCI address, product name, or a key from the guide such as V(a100_40gb).
      - V(all) means all GPUs of the host, including those without MIG.
    type: list
    elements: str
    default: [all]
seealso:
  - module: aiready.vsphere.mig_partition
"""

EXAMPLES = r"""
- name: Check the GPUs of ESXi hosts
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Read the partitions of the GPUs
      aiready.vsphere.mig_info:
      register: mig

    - name: Print the memory slots of each GPU
      ansible.builtin.debug:
        msg: "{{ item.picture }}"
      loop: "{{ mig.gpus }}"
      loop_control:
        label: "{{ item.name }} at {{ item.pci }}"

    - name: Require that no switch of the mode is pending
      ansible.builtin.assert:
        that: mig.gpus | map(attribute='pending') | flatten | length == 0
"""

RETURN = r"""
gpus:
  description: One entry per GPU, in the order of their indices.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Product name of the GPU.
      type: str
      returned: always
      sample: NVIDIA A100-PCIE-40GB
    index:
      description: Index of the GPU on its host.
      type: int
      returned: always
      sample: 0
    uuid:
      description: UUID of the GPU.
      type: str
      returned: always
      sample: GPU-14ac2834-0d81-0508-69eb-e25264c08d21
    pci:
      description: PCI address of the GPU.
      type: str
      returned: always
      sample: "0000:0f:00.0"
    driver_version:
      description: Version of the loaded driver.
      type: str
      returned: always
      sample: 550.54.16
    model:
      description: Key of the GPU in the guide. Empty for a GPU that this collection does not know.
      type: str
      returned: always
      sample: a100_40gb
    mig_capable:
      description: True if the driver reports that this GPU supports MIG. If false, the lists below are empty.
      type: bool
      returned: always
      sample: true
    mode:
      description: Active MIG mode, V(enabled), V(disabled), V(unsupported), or V(unknown) for a GPU that no longer
        answers.
      type: str
      returned: always
      sample: enabled
    pending_mode:
      description: MIG mode after the next restart.
      type: str
      returned: always
      sample: enabled
    pending:
      description: Pending switch of the mode, and whether it waits for a V(reboot) or a V(gpu_reset).
      type: list
      elements: dict
      returned: always
      sample: []
    layout:
      description: GPU instances, with the same keys as in the result of M(aiready.vsphere.mig_partition).
      type: list
      elements: dict
      returned: always
      sample:
        - {profile: 1g.5gb, profile_id: 19, start: 0, size: 1, compute: [1c]}
        - {profile: 1g.5gb, profile_id: 19, start: 1, size: 1, compute: [1c]}
        - {profile: 1g.5gb, profile_id: 19, start: 5, size: 1, compute: [1c]}
    instances:
      description: GPU instances with their ids and those of their compute instances.
      type: list
      elements: dict
      returned: always
      sample:
        - instance_id: 11
          profile: 1g.5gb
          profile_id: 19
          start: 0
          size: 1
          compute:
            - {instance_id: 0, slices: 1, start: 0}
    free:
      description: Number of additional instances of each profile that fit, each profile counted alone.
      type: dict
      returned: always
      sample: {7g.40gb: 0, 4g.20gb: 0, 3g.20gb: 0, 2g.10gb: 1, 1g.10gb: 2, 1g.5gb: 4, 1g.5gb+me: 1}
    largest_free_region:
      description: Length of the longest run of free memory slots.
      type: int
      returned: always
      sample: 3
    free_regions:
      description: All runs of free memory slots.
      type: list
      elements: dict
      returned: always
      sample:
        - {start: 2, size: 3}
        - {start: 6, size: 2}
    blocked:
      description:
        - Profiles that do not fit although enough slots are free. The module lists the blocking instances at the start
          slot with the fewest of them.
      type: list
      elements: dict
      returned: always
      sample:
        - {profile: 4g.20gb, start: 0, blocked_by: [1g.5gb at 0, 1g.5gb at 1]}
        - {profile: 3g.20gb, start: 4, blocked_by: [1g.5gb at 5]}
    profiles:
      description: Profiles of this GPU, from the tables of the device.
      type: list
      elements: dict
      returned: always
      sample:
        - {name: 3g.20gb, id: 9, compute_slices: 3, memory_slots: 4, starts: [0, 4], max_instances: 2}
    picture:
      description: Memory slots and the instances that cover them, drawn in text.
      type: list
      elements: str
      returned: always
      sample:
        - "0       1       2       3       4       5       6       7"
        - "[1g.5gb][1g.5gb][-     ][-     ][-     ][1g.5gb][-     ][-     ]"
    processes:
      description: Processes on the GPU. On ESXi they include VMs with a vGPU.
      type: list
      elements: dict
      returned: always
      sample:
        - {name: /usr/bin/python3, pid: 10385, gpu_instance_id: 11}
missing:
  description:
    - GPUs that are attached and do not answer, such as a GPU that has fallen off the bus. The entry is the PCI address
      if C(nvidia-smi) reports it, otherwise the index or device file. RV(gpus) still contains the GPUs that answer.
  returned: always
  type: list
  elements: str
  sample: []
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: nvidia_smi_missing, subject: the host}
"""
