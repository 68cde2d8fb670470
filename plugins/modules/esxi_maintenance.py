#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_maintenance
short_description: Manage the maintenance mode of an ESXi host
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Enters and leaves maintenance mode of one host, and writes a note in vCenter. If somebody else put a host into
    maintenance mode, the module uses the host as it is and does not end its maintenance mode.
  - The next run continues after a killed run. The note identifies a host that the killed run took out of service. If a
    task of vCenter is still running, the module waits for it and starts no second one.
  - Fails before it begins if entering maintenance mode could only time out. The error lists the VMs that nothing would
    move, each with its reason.
  - Never powers off a VM.
  - If VMs block maintenance mode, M(community.vmware.vmware_maintenancemode) waits for its time limit. It cannot detect
    whose maintenance mode it ends.
notes:
  - The note is the custom attribute C(aiready.vsphere.maintenance) of the host. The user needs the privileges
    C(Global.ManageCustomFields), C(Global.SetCustomField) and C(Host.Config.Maintenance).
  - If somebody ends maintenance mode of a noted host by hand and later enters it for another reason, the module treats
    that maintenance as its own. A run with O(state=left) in between removes the note.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.attributes
options:
  state:
    description:
      - V(entered) puts the host into maintenance mode.
      - V(left) ends maintenance mode if this collection has entered it. See O(owner).
    type: str
    choices: [entered, left]
    default: entered
  reason:
    description: Text of the note in vCenter, for people who check the host during the maintenance.
    type: str
    default: aiready.vsphere
  owner:
    description:
      - Owner of the maintenance that O(state=left) ends. V(ours) is this collection, V(any) includes others.
    type: str
    choices: [ours, any]
    default: ours
  evacuation:
    description:
      - Action for VMs that run on the host.
      - V(refuse) fails and lists them.
      - V(drs) lets DRS move them. It needs a cluster with fully automated DRS.
      - DRS moves VMs with vGPUs only if vCenter's setting C(vgpu.hotmigrate.enabled) is true and the DRS option
        C(VgpuMMAutomationTimeoutSecs) of the cluster is -1. It never moves VMs with passthrough devices, or with
        unified memory of vGPUs. The module reports every missing condition before it begins.
      - V(drs_vgpu) does the same and sets that DRS option if VMs with vGPUs need it. The option stays set.
    type: str
    choices: [refuse, drs, drs_vgpu]
    default: refuse
  evacuate_powered_off:
    description: Whether to move powered-off VMs to other hosts of the cluster too.
    type: bool
    default: false
  planned:
    description: VM state that earlier tasks of the run would produce. Applies only in check mode.
    type: dict
    suboptions:
      powered_off:
        description: Managed object IDs of VMs on the host that would be powered off, such as V(vm-42).
        type: list
        elements: str
        default: []
  timeout_s:
    description: Maximum time in seconds to enter or leave maintenance mode, including the evacuation.
    type: int
    default: 1800
attributes:
  check_mode:
    details: Changes, errors and results are those of a real run.
  diff_mode:
    details: The mode, the note, and the DRS option if the module must set it.
seealso:
  - module: aiready.vsphere.esxi_reboot
  - module: community.vmware.vmware_maintenancemode
"""

EXAMPLES = r"""
- name: Put a host into maintenance mode
  aiready.vsphere.esxi_maintenance:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com

- name: Put a host into maintenance mode and move its VMs
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Evacuate the host with DRS
      aiready.vsphere.esxi_maintenance:
        host: esx-02.example.com
        reason: new host driver
        evacuation: drs
        timeout_s: 3600
      register: service

    - name: Print the owner of the maintenance
      ansible.builtin.debug:
        msg: "{{ service.host.name }} was taken out of service by {{ service.host.after.owner }}."

- name: End maintenance mode of the hosts
  aiready.vsphere.esxi_maintenance:
    host: "{{ item }}"
    state: left
  loop:
    - esx-01.example.com
    - esx-02.example.com
"""

RETURN = r"""
host:
  description: The host before and after the task.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for a host that was not found.
      type: str
      returned: always
      sample: host-21
    changed:
      description: True if the task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample: {in_maintenance: false, owner: nobody, reason: '', running_vms: []}
    after:
      description: State after the task. In check mode, the state that a run would produce.
      type: dict
      returned: always
      sample: {in_maintenance: true, owner: collection, reason: new host driver, running_vms: []}
      contains:
        in_maintenance:
          description: True if the host is in maintenance mode.
          type: bool
          returned: always
          sample: true
        owner:
          description: Owner of the maintenance, V(collection), V(others), or V(nobody) if the host is in service.
          type: str
          returned: always
          sample: collection
        reason:
          description: Note of this collection, empty without one.
          type: str
          returned: always
          sample: new host driver
        running_vms:
          description: VMs that run on the host. The module reads them only before it enters maintenance mode.
          type: list
          elements: str
          returned: always
          sample: []
    changes:
      description: Changes of the task, each with C(path), C(before) and C(after). C(needs) is the restart that a change
        waits for.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: in_maintenance, before: false, after: true, needs: null}
        - {path: reason, before: "", after: new host driver, needs: null}
    pending:
      description: Always empty. No setting of this module waits for a restart.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: True if the host is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the host is not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the host is in the desired state.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details, such as the
    running C(vms).
  returned: failure
  type: dict
  sample: {code: running_vms, subject: Host esx-01.example.com, vms: [train-01]}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import planned
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.maintenance import ARGUMENTS, Maintenance
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.params import problems


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    noun = Maintenance(module.params, module.warn, planned(module, module.params["planned"]))
    run_for_host(module, noun, problems(module.params))


if __name__ == "__main__":
    main()
