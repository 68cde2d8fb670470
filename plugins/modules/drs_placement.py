#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: drs_placement
short_description: Keep VMs on hosts of their own, and say what DRS may do with them
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Manages one rule of a cluster that keeps VMs apart (VM-VM anti-affinity), by its name and with exactly the VMs that
    are listed, and the automation level of these VMs. Both are set in one reconfiguration of the cluster.
  - Two VMs of a training job on one host never use the network between the hosts, so that a test with them proves
    nothing about it. A rule makes sure of it.
  - NVIDIA wants DRS to be partially automated or manual for VMs with vGPUs. O(automation) says so for these VMs alone.
  - Rules and levels of other VMs are never touched.
  - Of the peers, M(community.vmware.vmware_vm_vm_drs_rule) looks VMs up one by one and has no diff, and
    M(community.vmware.vmware_drs_override) takes one VM per task, cannot remove a level, and changes the cluster in
    check mode too (as of community.vmware 5.10.0). Use this module for a fleet, for check mode and diff.
notes:
  - Without DRS nobody obeys a rule, so that this is refused. VMs stay on the hosts that they were placed on all the
    same, since nothing moves them but people, and HA after the loss of a host.
  - A rule does not move VMs that cannot move while they run. The module warns when VMs run on one host already.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
options:
  cluster:
    description: Name or MoID of the cluster.
    type: str
    required: true
  datacenter:
    description: Name or inventory path of the datacenter. Needed when several have a cluster of this name.
    type: str
  name:
    description:
      - Name of the rule.
      - Can be left out with O(anti_affinity=false) to set levels only.
    type: str
  vms:
    description:
      - Names or MoIDs of the VMs, which have to be in the cluster. The list is exact, VMs that are not in it are taken
        out of the rule.
      - With O(state=absent), the VMs whose levels are removed. Without it, those that are in the rule.
    type: list
    elements: str
  anti_affinity:
    description:
      - Whether the VMs are kept apart. V(false) removes the rule O(name), if there is one.
    type: bool
    default: true
  mandatory:
    description:
      - Whether the rule has to be kept. DRS then rather refuses to start a VM than break it.
      - V(false) lets DRS break the rule when there is no other way.
    type: bool
    default: true
  automation:
    description:
      - What DRS may do with these VMs, whatever it does with others of the cluster.
      - V(manual) only recommends. V(partially_automated) chooses the host when a VM starts. V(fully_automated) moves
        running VMs as well. V(disabled) leaves the VMs alone.
      - V(cluster) removes the levels of these VMs, so that they follow the cluster.
      - V(ignore) leaves the levels as they are.
    type: str
    choices: [manual, partially_automated, fully_automated, disabled, cluster, ignore]
    default: ignore
  state:
    description:
      - V(present) sets the rule and the levels.
      - V(absent) removes both.
    type: str
    choices: [present, absent]
    default: present
  planned:
    description:
      - Names of VMs that earlier tasks of the same play will have made in this cluster. It is looked at in check mode
        only, where they have not made them yet.
    type: list
    elements: str
  task_timeout_s:
    description:
      - How many seconds the reconfiguration may take. After that the module fails, and the task goes on in vCenter.
    type: int
    default: 600
seealso:
  - module: aiready.vsphere.vm_clone
  - module: vmware.vmware.cluster_drs
  - module: community.vmware.vmware_vm_vm_drs_rule
  - module: community.vmware.vmware_drs_override
"""

EXAMPLES = r"""
- name: Keep two VMs on hosts of their own
  aiready.vsphere.drs_placement:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    cluster: gpu
    name: training-apart
    vms: [train-01, train-02]

- name: Keep the VMs of a job apart, and let DRS move none of them
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Set the rule and the levels
      aiready.vsphere.drs_placement:
        cluster: gpu
        name: job-apart
        vms: [train-03, train-04]
        automation: manual
      register: placement

    - name: Show the rule
      ansible.builtin.debug:
        var: placement.cluster.after.rule

- name: Set the level of VMs without a rule
  aiready.vsphere.drs_placement:
    cluster: gpu
    vms: [train-05]
    anti_affinity: false
    automation: partially_automated

- name: Remove the first rule again
  aiready.vsphere.drs_placement:
    cluster: gpu
    name: training-apart
    state: absent
"""

RETURN = r"""
cluster:
  description: The cluster, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the cluster.
      type: str
      returned: always
      sample: gpu
    moid:
      description: Managed object ID of the cluster, null when it was not found.
      type: str
      returned: always
      sample: domain-c8
    vms:
      description: Names of the VMs of the task, sorted.
      type: list
      elements: str
      returned: always
      sample: [train-01, train-02]
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(cluster.after). Empty when the cluster could not be read.
      type: dict
      returned: always
      sample: {rule: null, automation: {train-01: cluster, train-02: cluster}}
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        rule:
          description: The rule, null without one. It has the keys C(vms), C(mandatory) and C(enabled).
          type: dict
          returned: success
        automation:
          description: The level of each VM of the task, V(cluster) where it has none of its own.
          type: dict
          returned: success
      sample:
        rule: {vms: [train-01, train-02], mandatory: true, enabled: true}
        automation: {train-01: manual, train-02: manual}
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: rule.vms, before: null, after: [train-01, train-02], needs: null}
        - {path: automation.train-01, before: cluster, after: manual, needs: null}
    pending:
      description: Always empty, since DRS obeys at once.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the cluster is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why the cluster is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the cluster is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: drs_off}
"""

from typing import TYPE_CHECKING

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.noun import DrsPlacement

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Wish
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.state import Drs


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    wish = params.wish(module.params)
    item: Item[Wish, Drs] = Item(wish["cluster"], wish, {"name": wish["cluster"], "moid": None, "vms": []})
    noun = DrsPlacement(module)
    try:
        run(module, noun, [item], "cluster", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
