#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: mig_partition
short_description: Manage the MIG mode and the GPU instances of NVIDIA GPUs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Switches the Multi-Instance GPU mode of the requested GPUs, and of no others.
  - With O(layout), plans the GPU instances. Instances that fit stay, and the module removes as few as possible. It
    places the new ones so that the largest free space remains.
  - Rejects an invalid layout before it changes anything. The error contains the arithmetic and the nearest valid
    layouts.
  - Reads back every step. If a step fails, the module rolls back, and the message states whether the rollback
    succeeded.
  - Runs on ESXi hosts and on Linux over the connection of the play. It sends C(nvidia-smi) commands. The target needs
    no Python.
notes:
  - On an ESXi host whose GPUs are used for vGPU, the module switches only the mode. vSphere creates the GPU instance
    itself when a VM with a MIG-backed vGPU starts. See O(vsphere).
  - GPU instances are lost after a reboot or a reset of the GPU, on every GPU. GPUs of the Hopper generation and later
    also lose the mode. Run the task again after a restart.
  - On Ampere GPUs in an ESXi host, the mode becomes active at the next reboot of the host. RV(gpus[].pending) reports
    it.
  - The module requests placements such as C(15:6) only if the driver is not known to choose them itself. It tests at
    run time whether C(nvidia-smi) accepts them. If not, it creates another layout with the same instances.
  - Requires root. Use C(become) on Linux.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  check_mode:
    details: The module checks whether a GPU is in use only just before a change. Check mode therefore also works for a
      host in service.
  diff_mode:
    details: The layout before and after the task, with one line for each instance.
  platform:
    description: Targets of the commands.
    support: full
    platforms: posix
options:
  gpus:
    description:
      - GPUs, each by its index, UUID, PCI address such as V(0000:3b:00.0), product name such as V(NVIDIA
        A100-PCIE-40GB), or a key from the guide such as V(a100_40gb).
      - V(all) means all GPUs of the host that support MIG. If the models of a host need different layouts, use one task
        for each and name the model.
    type: list
    elements: str
    required: true
  mode:
    description:
      - V(enabled) and V(disabled) set the MIG mode.
      - V(disabled) first removes all GPU instances. On ESXi the module rejects that unless O(vsphere=instances).
    type: str
    choices: [enabled, disabled]
    default: enabled
  layout:
    description:
      - Desired GPU instances of each GPU. The list is exact, and its order does not matter.
      - An entry is the id of a profile such as V(9), its name such as V(3g.20gb), or its number of slices such as
        V(3g).
      - An entry can also be a dictionary with the keys V(profile), V(start) and V(compute).
      - Names match by slices, suffix and size. The size may differ by three percent, because drivers use different
        names.
      - V(start) is the first memory slot of the instance. If not set, the planner chooses it. The form V('9:4') means
        profile 9 with start 4. It must be quoted, because YAML reads it as a number.
      - V(compute) is the list of compute instances in it, such as V([1c, 2c]), and V([]) for none. If not set, one
        compute instance fills the GPU instance. On ESXi, the guests then create the compute instances.
      - An empty list removes all instances. If O(layout) is not set, the module sets only the mode.
    type: list
    elements: raw
  in_use:
    description:
      - Action if processes or VMs run on an instance that must be removed, or on a GPU whose mode is switched.
      - V(refuse) fails and lists them.
      - V(try) sends the command to the driver, which decides. The driver does not remove an instance in use, and leaves
        a switch of the mode pending.
    type: str
    choices: [refuse, try]
    default: refuse
  vsphere:
    description:
      - Changes that the module may make on an ESXi host besides the mode.
      - V(mode_only) rejects the creation and removal of GPU instances there.
      - V(instances) allows both. These instances compete with those that vSphere creates for VMs, and are lost after a
        reboot.
      - This option has no effect on Linux.
    type: str
    choices: [mode_only, instances]
    default: mode_only
  lost_gpus:
    description:
      - Action for V(all) if a GPU of the host is attached and does not answer.
      - V(refuse) fails before any change and names the missing GPUs.
      - V(ignore) continues with the GPUs that answer, and warns.
      - This option has no effect on GPUs that are named by UUID, PCI address or model. The module always rejects an
        index then, because it may mean another GPU.
    type: str
    choices: [refuse, ignore]
    default: refuse
  model:
    description:
      - GPU model for the plan, in check mode on a host without a working driver. Use a product name, or a key from the
        guide such as V(a100_40gb).
      - This option has no effect on a host whose C(nvidia-smi) answers.
    type: str
seealso:
  - module: aiready.vsphere.mig_info
  - module: aiready.vsphere.vgpu_profile
"""

EXAMPLES = r"""
- name: Prepare the GPUs of ESXi hosts for MIG-backed vGPUs
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Enable MIG mode
      aiready.vsphere.mig_partition:
        gpus: [all]

- name: Partition the GPUs of Linux hosts
  hosts: gpu_nodes
  gather_facts: false
  become: true
  tasks:
    - name: Create one large and some small instances on the first GPU
      aiready.vsphere.mig_partition:
        gpus: ["0"]
        layout: [3g, 2g, 1g, 1g]

    - name: Split the second GPU and share a half among containers
      aiready.vsphere.mig_partition:
        gpus: ["0000:3b:00.0"]
        layout:
          - profile: 4g
            start: 0
          - profile: 3g
            compute: [1c, 1c, 1c]

- name: Create GPU instances on ESXi hosts without vGPU
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Create two instances and leave space for a third
      aiready.vsphere.mig_partition:
        gpus: [all]
        layout: [3g, 2g]
        vsphere: instances
      register: partitions

    - name: Print the changes that wait for a restart
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.pending | map(attribute='what') | join(', ') }}"
      loop: "{{ partitions.gpus | selectattr('pending') }}"
      loop_control:
        label: "{{ item.pci }}"

- name: Disable MIG on ESXi hosts
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Disable MIG mode
      aiready.vsphere.mig_partition:
        gpus: [all]
        mode: disabled
        vsphere: instances
"""

RETURN = r"""
gpus:
  description: One result per GPU, in the order of their indices, also if the task fails.
  returned: unless the parameters are wrong
  type: list
  elements: dict
  contains:
    name:
      description: Product name of the GPU.
      type: str
      returned: always
      sample: NVIDIA A100-PCIE-40GB
    index:
      description: Index of the GPU on its host. Null for a plan without a device.
      type: int
      returned: always
      sample: 0
    uuid:
      description: UUID of the GPU. Null for a plan without a device.
      type: str
      returned: always
      sample: GPU-14ac2834-0d81-0508-69eb-e25264c08d21
    pci:
      description: PCI address of the GPU. Null for a plan without a device.
      type: str
      returned: always
      sample: "0000:0f:00.0"
    changed:
      description: True if the task changed something on this GPU, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(gpus[].after). Empty for a GPU that could not be read.
      type: dict
      returned: always
      sample:
        mode: enabled
        pending_mode: enabled
        layout: []
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        mode:
          description: Active MIG mode, V(enabled) or V(disabled).
          type: str
          returned: success
        pending_mode:
          description: MIG mode after the next restart. It differs from the active mode while a switch is pending.
          type: str
          returned: success
        layout:
          description: GPU instances in the order of their slots.
          type: list
          elements: dict
          returned: success
          contains:
            profile:
              description: Name of the profile as the driver prints it.
              type: str
              returned: always
            profile_id:
              description: Id of the profile on this GPU.
              type: int
              returned: always
            start:
              description: First memory slot.
              type: int
              returned: always
            size:
              description: Number of memory slots.
              type: int
              returned: always
            compute:
              description: Compute instances in it, the largest first.
              type: list
              elements: str
              returned: always
      sample:
        mode: enabled
        pending_mode: enabled
        layout:
          - {profile: 2g.10gb, profile_id: 14, start: 2, size: 2, compute: [2c]}
          - {profile: 3g.20gb, profile_id: 9, start: 4, size: 4, compute: [3c]}
    changes:
      description: Changes of the task. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: layout, before: [], after: ["2-3 2g.10gb [2c]", "4-7 3g.20gb [3c]"], needs: null}
    pending:
      description:
        - Changes that wait for a restart. V(mode) is a switch that is not effective yet. V(layout) are instances that
          can only be created after the restart.
        - The restart is a V(reboot) of the host or a V(gpu_reset). In a VM that has an Ampere GPU, it is a reboot of
          the VM.
        - Run the task again after the restart to create the layout.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: mode, needs: reboot}
    failed:
      description: True if this GPU is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if this GPU is not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description:
        - Machine-readable cause with a stable C(code). Empty if the GPU is in the desired state.
        - C(nearest) contains the ids of the nearest valid layouts if the requested one is invalid. C(restored) is true
          if the earlier layout is restored after a failed step.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample:
    code: illegal_layout
    subject: GPU 0 at 0000:0f:00.0 (NVIDIA A100-PCIE-40GB)
    reasons: [2 is not the id of a profile]
    nearest: [[5, 14, 19], [9, 14, 19], [5, 9]]
"""
