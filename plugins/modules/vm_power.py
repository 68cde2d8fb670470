#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_power
short_description: Switch VMs on or off, and wait until their guests are up
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Switches one VM, or a fleet of VMs in one task, on or off. Many start at the same time, and all guests are waited
    for together.
  - Where vSphere refuses to start a VM, says what it said and what to do about it. Memory that is not reserved, a
    memory window that is too small, a device or virtual function that is taken and a rule of DRS are told apart.
  - Shuts guests down in order. Power is cut only when you say so.
  - Tells the addresses of each network adapter by its MAC address.
  - The peer M(vmware.vmware.vm_powerstate) switches one VM per task. Use this module for a fleet, and to wait for
    addresses.
notes:
  - A VM is started on the host that it is on, unless DRS may place it. See M(aiready.vsphere.drs_placement).
  - In check mode it is not known which addresses a guest will have.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.vm_identity
  - aiready.vsphere.task_waiting
  - aiready.vsphere.attributes
options:
  vms:
    description:
      - The VMs of a fleet, each with one way to identify it. They are found, read and switched together.
      - What goes wrong with one VM does not keep the others from being switched. The task fails with a summary, and
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
  planned:
    description:
      - What earlier tasks of the same play will have made of the VM. It is looked at in check mode only, where they
        have not made it yet, so that a whole play can be checked before anything exists.
      - In a real run it is ignored, and a VM that is not there is an error.
    type: dict
    suboptions:
      template:
        description:
          - Name or inventory path of the template that the VM will be cloned from. A VM that is not there is then
            planned from the configuration of the template.
        type: str
      host:
        description:
          - Name of the host that the VM will be on, as vCenter shows it.
        type: str
      hardware_version:
        description:
          - The hardware version that the VM will at least have, such as V(20).
        type: int
      memory_reservation:
        description:
          - V(all) when all memory of the VM will be reserved.
        type: str
        choices: [all]
  state:
    description:
      - V(on) starts a VM that is off and resumes one that is suspended.
      - V(off) asks the guest to shut down and waits for it. See O(force) for a guest that cannot be asked.
    type: str
    choices: ["on", "off"]
    required: true
  force:
    description:
      - With O(state=off), cuts the power of a VM whose guest cannot be asked, or is not down in time. What the guest
        has not written is lost.
      - Without it, such a VM is an error and runs on.
    type: bool
    default: false
  again:
    description:
      - With O(state=off), leaves a note in each VM that is switched off that it has to be switched on again, the
        advanced setting C(aiready.vsphere.power_on_again). It is removed by O(state=on), here or by any module of this
        collection that switches the VM on.
    type: bool
    default: false
  wait_for:
    description:
      - What to wait for once the VMs are on. A VM that was on before is waited for as well.
      - V(tools) waits until VMware Tools run in the guest.
      - V(address) waits until a network adapter has an address that others can reach, IPv4 or IPv6. Link-local
        addresses do not count.
    type: str
    choices: [none, tools, address]
    default: none
  wait_timeout_s:
    description: How long to wait for all guests together, in seconds.
    type: int
    default: 600
  guest_shutdown_timeout_s:
    description: How long a guest may take to shut down, in seconds.
    type: int
    default: 300
seealso:
  - module: aiready.vsphere.vm_clone
  - module: aiready.vsphere.drs_placement
  - module: vmware.vmware.vm_powerstate
"""

EXAMPLES = r"""
- name: Start a VM
  aiready.vsphere.vm_power:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    name: train-01
    state: "on"

- name: Start a fleet and tell where to reach it
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Start the VMs and wait for their addresses
      aiready.vsphere.vm_power:
        vms:
          - name: train-01
          - name: train-02
        state: "on"
        wait_for: address
        wait_timeout_s: 300
      register: machines

    - name: Show the addresses
      ansible.builtin.debug:
        msg: "{{ item.name }}: {{ item.after.address }}"
      loop: "{{ machines.vms }}"
      loop_control:
        label: "{{ item.name }}"

- name: Shut a VM down, and cut its power if its guest takes longer than a minute
  aiready.vsphere.vm_power:
    vms:
      - name: train-01
      - name: train-02
    state: "off"
    guest_shutdown_timeout_s: 60
    force: true
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
    changed:
      description: Whether something about this VM was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(vms[].after). Empty for a VM that could not be read.
      type: dict
      returned: always
      sample: {power: "off", power_on_again: false, address: null, addresses: []}
    after:
      description:
        - What is there now, read again after the change. In check mode, what would be there, without the addresses that
          a guest would get.
      type: dict
      returned: always
      contains:
        power:
          description: V(on), V(off) or V(suspended).
          type: str
          returned: success
        power_on_again:
          description: Whether the VM is marked to be switched on again.
          type: bool
          returned: success
        address:
          description:
            - The address to reach the guest by, null while there is none. It is the one that vCenter shows for the VM,
              if that is on an adapter of the VM, else the first one, IPv4 before IPv6.
          type: str
          returned: success
        addresses:
          description: The network adapters as the guest tells them, each with its addresses.
          type: list
          elements: dict
          returned: success
          contains:
            mac:
              description: MAC address of the adapter.
              type: str
              returned: success
            network:
              description: Name of the port group, null for an adapter that is passed through.
              type: str
              returned: success
            addresses:
              description: Its addresses, link-local ones included, IPv4 first.
              type: list
              elements: str
              returned: success
      sample:
        power: "on"
        power_on_again: false
        address: 192.0.2.14
        addresses:
          - mac: "00:50:56:8f:12:34"
            network: VM Network
            addresses: [192.0.2.14, "fe80::250:56ff:fe8f:1234"]
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: power, before: "off", after: "on", needs: null}
    pending:
      description: VMs that are off and are marked to be switched on again are listed here.
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import params as power_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.noun import Power


def main() -> None:
    params.main(power_params.ARGUMENTS, Power, power_params.check_params)


if __name__ == "__main__":
    main()
