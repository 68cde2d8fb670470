#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_owner_info
short_description: Gather which VMs this collection created, and which VMs hold GPUs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns all VMs on the hosts of a cluster. Each VM has the template that M(aiready.vsphere.vm_clone) created it
    from, its owner, and the GPUs that it holds.
  - Shows VMs that are no longer needed but still hold GPUs, and unmanaged VMs that hold GPUs.
  - Reads with two requests for any number of hosts and VMs, and changes nothing.
notes:
  - The result does not contain templates. A VM that is powered off holds no GPU.
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
seealso:
  - module: aiready.vsphere.vm_clone
  - module: aiready.vsphere.vm_placement_info
"""

EXAMPLES = r"""
- name: Read the owners of the VMs of a cluster
  aiready.vsphere.vm_owner_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    cluster: gpu

- name: Show the VMs that hold GPUs
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Read the VMs of the cluster
      aiready.vsphere.vm_owner_info:
        cluster: gpu
      register: there

    - name: Show the VMs with GPUs
      ansible.builtin.debug:
        msg: "{{ item.name }} on {{ item.host }}: {{ item.gpus | join(', ') }}"
      loop: "{{ there.vms | selectattr('gpus') | list }}"
      loop_control:
        label: "{{ item.name }}"
"""

RETURN = r"""
vms:
  description: VMs, in the order of their paths.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    moid:
      description: Managed object ID of the VM.
      type: str
      returned: always
    path:
      description: Inventory path of the VM.
      type: str
      returned: always
    instance_uuid:
      description: Instance UUID of the VM, which is unique in vCenter.
      type: str
      returned: always
    bios_uuid:
      description: BIOS UUID of the VM, as the guest reports it.
      type: str
      returned: always
    host:
      description: Name of the host of the VM.
      type: str
      returned: always
    power:
      description: V(on), V(off) or V(suspended).
      type: str
      returned: always
    source:
      description: Template that M(aiready.vsphere.vm_clone) created the VM from. Null for any other VM.
      type: str
      returned: always
    owner:
      description: Owner of the VM, see O(aiready.vsphere.vm_clone#module:owner). Null without one.
      type: str
      returned: always
    gpus:
      description: vGPU profiles of a VM that is not powered off, and PCI addresses of its passthrough boards.
      type: list
      elements: str
      returned: always
  sample:
    - name: job-03
      moid: vm-42
      path: /dc1/vm/training/job-03
      instance_uuid: 52b6d2a1-8c0f-4c5e-9a39-3f1f0c9f3a11
      bios_uuid: 42365dba-66bd-4e51-9d9a-3f1f0c9f3a11
      host: esx-01.example.com
      power: "on"
      source: /dc1/vm/ubuntu-template
      owner: lab
      gpus: [grid_a100-40c]
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: cluster_not_found}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, args, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import owners


def main() -> None:
    module = AnsibleModule(argument_spec=owners.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, args.check_common(module.params))
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        vms = owners.owners(vcenter, module.params)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, vms=vms)


if __name__ == "__main__":
    main()
