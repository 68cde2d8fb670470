#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: mig_partition
short_description: Switch the MIG mode of NVIDIA GPUs and give them exactly the GPU instances that they shall have
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Switches the Multi-Instance GPU mode of the GPUs that are named, and no others.
  - With O(layout), plans the GPU instances. Those that fit stay, as few as possible are removed, and the new ones are
    placed so that the most room is left for others.
  - A layout that the GPU cannot have is refused before anything is touched, with the arithmetic and with the nearest
    layouts that are possible.
  - Every step is read back. What fails half way is undone, and the message says whether that succeeded.
  - Runs on ESXi hosts and on Linux over the connection of the play. It sends C(nvidia-smi) commands and needs no Python
    on the target.
notes:
  - On an ESXi host whose GPUs are used for vGPU, only the mode is switched. vSphere makes the GPU instance itself when
    a VM with a MIG-backed vGPU starts. See O(vsphere).
  - GPU instances are gone after a reboot or a reset of the GPU, on every GPU. GPUs of the Hopper generation and later
    also forget the mode. Run the task again after a restart.
  - On Ampere GPUs in an ESXi host, the mode becomes active at the next reboot of the host. RV(gpus[].pending) says so.
  - Placements such as C(15:6) are asked for only where the driver is not known to choose them itself. Whether
    C(nvidia-smi) takes them is found out at run time. If it does not, another layout with the same instances is made.
  - Needs root. Use C(become) on Linux.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  check_mode:
    details: Whether a GPU is in use is looked at just before a change, so that a host in service can be planned.
  diff_mode:
    details: The layout is shown with one line for each instance.
  platform:
    description: The targets on which the commands run.
    support: full
    platforms: posix
options:
  gpus:
    description:
      - The GPUs, each by its index, UUID, PCI address such as V(0000:3b:00.0), product name such as
        V(NVIDIA A100-PCIE-40GB), or a key from the guide such as V(a100_40gb).
      - V(all) means all GPUs of the host that can do MIG. Where the models of a host need different layouts, use
        one task for each and name the model.
    type: list
    elements: str
    required: true
  mode:
    description:
      - V(enabled) and V(disabled) set the MIG mode.
      - Before the mode is disabled, all GPU instances are removed. On ESXi this is refused unless O(vsphere=instances).
    type: str
    choices: [enabled, disabled]
    default: enabled
  layout:
    description:
      - The GPU instances that each of the GPUs shall have. The list is exact, and its order does not matter.
      - An entry is the id of a profile such as V(9), its name such as V(3g.20gb), its number of slices such as V(3g),
        or a dictionary with the keys V(profile), V(start) and V(compute).
      - Names are matched by slices, suffix and size, within three percent of the size, since drivers differ in them.
      - V(start) is the memory slot at which the instance shall begin. Without it, the planner chooses. The form
        V('9:4') means the same as profile 9 with start 4. It has to be quoted, since YAML takes it for a number.
      - V(compute) is the list of compute instances in it, such as V([1c, 2c]), and V([]) for none. Without it, there is
        one that fills the GPU instance. On ESXi, compute instances are then left to the guests.
      - An empty list removes all instances. Without this option, only the mode is set.
    type: list
    elements: raw
  in_use:
    description:
      - What to do when processes or VMs run on what has to be removed, or on a GPU whose mode is switched.
      - V(refuse) fails and says who they are.
      - V(try) asks the driver all the same. It does not remove what is in use, and lets a switch of the mode wait.
    type: str
    choices: [refuse, try]
    default: refuse
  vsphere:
    description:
      - What may be done on an ESXi host beside switching the mode.
      - V(mode_only) refuses to make or remove GPU instances there.
      - V(instances) does it. They compete with those that vSphere makes for VMs, and are gone after a reboot.
      - Has no effect on Linux.
    type: str
    choices: [mode_only, instances]
    default: mode_only
  lost_gpus:
    description:
      - What to do for V(all) when a GPU of the host is attached and does not answer.
      - V(refuse) fails before any change and names the missing GPUs.
      - V(ignore) goes on with the GPUs that answer, and warns.
      - Has no effect on GPUs that are named by UUID, PCI address or model. An index is refused in any case, because it
        may name another GPU.
    type: str
    choices: [refuse, ignore]
    default: refuse
    version_added: 0.1.0
  model:
    description:
      - The model to plan for, in check mode on a host that has no working driver yet. It is a product name, or a key
        from the guide such as V(a100_40gb).
      - Not regarded on a host whose C(nvidia-smi) answers.
    type: str
seealso:
  - module: aiready.vsphere.mig_info
  - module: aiready.vsphere.vgpu_profile
"""

EXAMPLES = r"""
- name: Make the GPUs of ESXi hosts ready for MIG-backed vGPUs
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: MIG mode is on
      aiready.vsphere.mig_partition:
        gpus: [all]

- name: Partition the GPUs of Linux hosts
  hosts: gpu_nodes
  gather_facts: false
  become: true
  tasks:
    - name: The first GPU has one large and some small instances
      aiready.vsphere.mig_partition:
        gpus: ["0"]
        layout: [3g, 2g, 1g, 1g]

    - name: The second GPU has two halves, one of them shared by three containers
      aiready.vsphere.mig_partition:
        gpus: ["0000:3b:00.0"]
        layout:
          - profile: 4g
            start: 0
          - profile: 3g
            compute: [1c, 1c, 1c]

- name: Make instances by hand on ESXi hosts without vGPU
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Two instances and room for a third
      aiready.vsphere.mig_partition:
        gpus: [all]
        layout: [3g, 2g]
        vsphere: instances
      register: partitions

    - name: Say what waits for a restart
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.pending | map(attribute='what') | join(', ') }}"
      loop: "{{ partitions.gpus | selectattr('pending') }}"
      loop_control:
        label: "{{ item.pci }}"

- name: Take MIG back
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: MIG mode is off
      aiready.vsphere.mig_partition:
        gpus: [all]
        mode: disabled
        vsphere: instances
"""

RETURN = r"""
gpus:
  description: One result per GPU, in the order of their indices, also when the task fails.
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
      description: Whether something about this GPU was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(gpus[].after). Empty for a GPU that could not be read.
      type: dict
      returned: always
      sample:
        mode: enabled
        pending_mode: enabled
        layout: []
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        mode:
          description: The MIG mode as it works now, V(enabled) or V(disabled).
          type: str
          returned: success
        pending_mode:
          description: The MIG mode after the next restart. Differs from the one above while a switch waits.
          type: str
          returned: success
        layout:
          description: The GPU instances in the order of their slots.
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
              description: The first memory slot.
              type: int
              returned: always
            size:
              description: The number of memory slots.
              type: int
              returned: always
            compute:
              description: The compute instances in it, the largest first.
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
      description: What was changed, or would be in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: layout, before: [], after: ["2-3 2g.10gb [2c]", "4-7 3g.20gb [3c]"], needs: null}
    pending:
      description:
        - What waits for a restart. V(mode) is a switch that has not taken effect, V(layout) are instances that cannot
          be made before. A restart is a V(reboot) of the host or a V(gpu_reset). In a VM that has an Ampere GPU, it is
          a reboot of the VM.
        - Run the task again after the restart to make the layout.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: mode, needs: reboot}
    failed:
      description: Whether this GPU is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why this GPU is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description:
        - The reason for machines, with a stable C(code). Empty when the GPU is as wanted.
        - C(nearest) has the ids of the nearest possible layouts when the wanted one is impossible. C(restored) says
          whether the earlier layout is back when a step failed.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample:
    code: illegal_layout
    subject: GPU 0 at 0000:0f:00.0 (NVIDIA A100-PCIE-40GB)
    reasons: [2 is the id of no profile]
    nearest: [[5, 14, 19], [9, 14, 19], [5, 9]]
"""
