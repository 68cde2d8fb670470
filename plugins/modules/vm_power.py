#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vm_power
short_description: Manage the power state of VMs and wait for their guests
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Powers one VM, or a fleet of VMs in one task, on or off. The VMs start in parallel, and the module waits for all
    guests together.
  - If vSphere refuses to start a VM, the module returns the message of vSphere and the fix. It distinguishes memory
    without a reservation, a memory window that is too small, a device or virtual function in use, and a DRS rule.
  - Shuts guests down cleanly. It cuts the power only with O(force).
  - Returns the addresses of each network adapter with its MAC address.
  - The peer M(vmware.vmware.vm_powerstate) handles one VM per task. Use this module for a fleet, and to wait for
    addresses.
notes:
  - A VM starts on its current host, unless DRS may place it. See M(aiready.vsphere.drs_placement).
  - Check mode cannot predict the addresses of a guest.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.vm_identity
  - aiready.vsphere.task_waiting
  - aiready.vsphere.attributes
options:
  vms:
    description:
      - List of VMs. Each entry identifies one VM by one key.
      - The module finds, reads and switches all VMs together. A failure of one VM does not prevent the changes of the
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
  planned:
    description:
      - Predicted state of the VM after earlier tasks of the same play. It applies only in check mode, to VMs that do
        not have this state yet. Check mode can therefore plan a whole play before the VMs exist.
      - A real run ignores it. A missing VM is then an error.
    type: dict
    suboptions:
      template:
        description:
          - Name or inventory path of the template of a VM that does not exist yet. Check mode plans such a VM from the
            configuration of the template.
        type: str
      host:
        description:
          - Name of the future host of the VM, as vCenter shows it.
        type: str
      hardware_version:
        description:
          - Minimum hardware version that the VM will have, such as V(20).
        type: int
      memory_reservation:
        description:
          - V(all) if all memory of the VM will be reserved.
        type: str
        choices: [all]
  state:
    description:
      - Desired power state.
      - V(on) starts a VM that is powered off, and resumes a suspended VM.
      - V(off) shuts the guest down and waits until it is off. See O(force) for a guest that does not respond.
    type: str
    choices: ["on", "off"]
    required: true
  force:
    description:
      - Whether to cut the power with O(state=off), if the guest does not respond or does not shut down in time. The
        guest loses unwritten data.
      - Without this option, such a VM is an error and keeps running.
    type: bool
    default: false
  again:
    description:
      - Whether to set C(aiready.vsphere.power_on_again) on each VM that O(state=off) powers off. This advanced setting
        requests a power-on by a later run.
      - The next module of this collection that powers the VM on removes it, for example this module with O(state=on).
    type: bool
    default: false
  wait_for:
    description:
      - Condition to wait for after power-on. It also applies to VMs that were already on.
      - V(tools) waits until VMware Tools run in the guest.
      - V(address) waits until a network adapter has a reachable IPv4 or IPv6 address. Link-local addresses do not
        count.
    type: str
    choices: [none, tools, address]
    default: none
  wait_timeout_s:
    description: Maximum time in seconds to wait for all guests together.
    type: int
    default: 600
  guest_shutdown_timeout_s:
    description: Maximum time in seconds for the shutdown of a guest.
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

- name: Start a fleet and show its addresses
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

- name: Shut a VM down and cut its power after a minute
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
      sample: {power: "off", power_on_again: false, address: null, addresses: []}
    after:
      description:
        - State after the change, read again from vCenter. In check mode, the predicted state without the addresses of
          the guest.
      type: dict
      returned: always
      contains:
        power:
          description: V(on), V(off) or V(suspended).
          type: str
          returned: success
        power_on_again:
          description: V(true) if a later run will power the VM on again.
          type: bool
          returned: success
        address:
          description:
            - Address to reach the guest. Null if there is none. The module prefers the address that vCenter shows for
              the VM, if it is on an adapter of the VM. Otherwise it returns the first address, IPv4 before IPv6.
          type: str
          returned: success
        addresses:
          description: Network adapters that the guest reports, each with its addresses.
          type: list
          elements: dict
          returned: success
          contains:
            mac:
              description: MAC address of the adapter.
              type: str
              returned: success
            network:
              description: Name of the port group. Null for a passthrough adapter.
              type: str
              returned: success
            addresses:
              description: Addresses of the adapter, including link-local addresses, IPv4 first.
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
      description: Changes that the module made, or would make in check mode. One entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: power, before: "off", after: "on", needs: null}
    pending:
      description: VMs that are powered off, and that a later run will power on again.
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
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import params as power_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.noun import Power


def main() -> None:
    params.main(power_params.ARGUMENTS, Power, power_params.check_params)


if __name__ == "__main__":
    main()
