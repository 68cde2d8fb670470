#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_maintenance
short_description: Take an ESXi host out of service and put back what was taken
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Enters and leaves maintenance mode of one host, and notes in vCenter that it did. A host that somebody else put
    into maintenance mode is used as it is and is not put back into service.
  - A run that was killed is continued by the next one. What it had taken out of service is recognised by the note,
    and a task of vCenter that still runs is waited for instead of being started a second time.
  - Refuses to begin what could only wait. VMs that nothing would move are listed, with the reason for each.
  - Never switches a VM off.
  - The peer M(community.vmware.vmware_maintenancemode) waits for its time limit when VMs are in the way, and cannot
    tell whose maintenance it ends.
notes:
  - The note is the custom attribute C(aiready.vsphere.maintenance) of the host. The user needs the privileges
    C(Global.ManageCustomFields) and C(Global.SetCustomField) besides C(Host.Config.Maintenance).
  - Somebody who takes a noted host back into service by hand, and later puts it into maintenance mode for reasons of
    their own, is taken for this collection until O(state=left) has run once.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.attributes
options:
  state:
    description:
      - V(entered) takes the host out of service.
      - V(left) puts it back, if it was this collection that took it out. See O(owner).
    type: str
    choices: [entered, left]
    default: entered
  reason:
    description: What the note in vCenter says, for people who look at the host meanwhile.
    type: str
    default: aiready.vsphere
  owner:
    description:
      - Whose maintenance O(state=left) ends. V(ours) is that of this collection, V(any) also that of others.
    type: str
    choices: [ours, any]
    default: ours
  evacuation:
    description:
      - What happens to VMs that run on the host.
      - V(refuse) fails and lists them.
      - V(drs) lets DRS move them. Needs a cluster whose DRS is fully automated. VMs with vGPUs move only where
        vCenter's setting C(vgpu.hotmigrate.enabled) is true and the DRS option C(VgpuMMAutomationTimeoutSecs) of the
        cluster is -1. VMs with devices by passthrough never move. Whatever is missing is named before anything
        begins.
      - V(drs_vgpu) does the same and sets that DRS option when VMs with vGPUs need it. It stays set.
    type: str
    choices: [refuse, drs, drs_vgpu]
    default: refuse
  evacuate_powered_off:
    description: Whether VMs that are switched off are moved to other hosts of the cluster too.
    type: bool
    default: false
  planned:
    description: What tasks before this one would have made of the VMs. Heeded in check mode alone.
    type: dict
    suboptions:
      powered_off:
        description: Managed object IDs of VMs on the host that would be off, such as V(vm-42).
        type: list
        elements: str
        default: []
  timeout_s:
    description: How many seconds entering or leaving may take, the evacuation included.
    type: int
    default: 1800
attributes:
  check_mode:
    details: The changes, the refusals and the result are those of a real run.
  diff_mode:
    details: The mode, the note, and the DRS option when it has to be set.
seealso:
  - module: aiready.vsphere.esxi_reboot
  - module: community.vmware.vmware_maintenancemode
"""

EXAMPLES = r"""
- name: Take a host out of service
  aiready.vsphere.esxi_maintenance:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com

- name: Take a host out of service whose VMs may move
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Let DRS empty the host
      aiready.vsphere.esxi_maintenance:
        host: esx-02.example.com
        reason: new host driver
        evacuation: drs
        timeout_s: 3600
      register: service

    - name: Tell whose maintenance it is
      ansible.builtin.debug:
        msg: "{{ service.host.name }} was taken out of service by {{ service.host.after.owner }}."

- name: Put the hosts back into service
  aiready.vsphere.esxi_maintenance:
    host: "{{ item }}"
    state: left
  loop:
    - esx-01.example.com
    - esx-02.example.com
"""

RETURN = r"""
host:
  description: The host, before and after.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for one that was not found.
      type: str
      returned: always
      sample: host-21
    changed:
      description: Whether this task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample: {in_maintenance: false, owner: nobody, reason: '', running_vms: []}
    after:
      description: What is there now, or would be in check mode.
      type: dict
      returned: always
      sample: {in_maintenance: true, owner: collection, reason: new host driver, running_vms: []}
      contains:
        in_maintenance:
          description: Whether the host is in maintenance mode.
          type: bool
          returned: always
          sample: true
        owner:
          description: Whose doing it is, V(collection), V(others), or V(nobody) when the host is in service.
          type: str
          returned: always
          sample: collection
        reason:
          description: The note of this collection, empty without one.
          type: str
          returned: always
          sample: new host driver
        running_vms:
          description: VMs that run on the host; only looked for before it is taken out of service.
          type: list
          elements: str
          returned: always
          sample: []
    changes:
      description: Each change, with its path, the values before and after, and what it needs to take effect.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: in_maintenance, before: false, after: true, needs: null}
        - {path: reason, before: "", after: new host driver, needs: null}
    pending:
      description: What waits for a restart; of this module nothing ever does.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the host is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why the host is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the host is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known, such as the running C(vms).
  returned: failure
  type: dict
  sample: {code: running_vms, subject: Host esx-01.example.com, vms: [train-01]}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.maintenance import ARGUMENTS, Maintenance
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.params import problems


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    planned = module.params["planned"] if module.check_mode else None
    run_for_host(module, Maintenance(module.params, module.warn, planned), problems(module.params))


if __name__ == "__main__":
    main()
