#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: drs_placement
short_description: Manage a DRS anti-affinity rule and the DRS level of its VMs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Manages one VM-VM anti-affinity rule of a cluster, with its name and its exact list of VMs, and the automation level
    of these VMs. One reconfiguration of the cluster sets both.
  - Two VMs of a training job on one host never use the network between the hosts. A test with them proves nothing about
    the network. The rule prevents this.
  - NVIDIA requires partially automated or manual DRS for VMs with vGPUs. O(automation) sets this for these VMs only.
  - Does not touch the rules and levels of other VMs.
  - The peer M(community.vmware.vmware_vm_vm_drs_rule) looks up VMs one by one and has no diff. The peer
    M(community.vmware.vmware_drs_override) handles one VM per task, cannot remove a level, and changes the cluster in
    check mode too (as of community.vmware 5.10.0). Use this module for a fleet, for check mode and diff.
notes:
  - The module rejects a rule in a cluster without DRS, because nothing enforces it there. VMs stay on their hosts
    anyway. Only an administrator, or HA after the loss of a host, moves them.
  - A rule does not move VMs that cannot move while they run. The module warns if VMs already run on one host.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
options:
  cluster:
    description: Name or managed object ID of the cluster.
    type: str
    required: true
  datacenter:
    description: Name or inventory path of the datacenter. Needed if several datacenters have a cluster of this name.
    type: str
  name:
    description:
      - Name of the rule.
      - Optional with O(anti_affinity=false), to set only levels.
    type: str
  vms:
    description:
      - Names or managed object IDs of VMs in the cluster. The list is exact. The module removes other VMs from the
        rule.
      - With O(state=absent), the VMs whose levels the module removes. Defaults to the VMs of the rule.
    type: list
    elements: str
  anti_affinity:
    description:
      - Whether to keep the VMs on different hosts. V(false) removes the rule O(name), if it exists.
    type: bool
    default: true
  mandatory:
    description:
      - Whether to enforce the rule. DRS then does not start a VM that would break it.
      - V(false) lets DRS break the rule if it has no other choice.
    type: bool
    default: true
  automation:
    description:
      - DRS automation level of these VMs, independent of the level of the cluster.
      - V(manual) only recommends. V(partially_automated) chooses the host at power-on. V(fully_automated) also moves
        running VMs. V(disabled) excludes the VMs from DRS.
      - V(cluster) removes the levels of these VMs, so that they use the level of the cluster.
      - V(ignore) leaves the levels unchanged.
    type: str
    choices: [manual, partially_automated, fully_automated, disabled, cluster, ignore]
    default: ignore
  state:
    description:
      - Desired state of the rule and the levels.
      - V(present) sets both.
      - V(absent) removes both.
    type: str
    choices: [present, absent]
    default: present
  planned:
    description:
      - Names of VMs that earlier tasks of the same play create in this cluster. It applies only in check mode, to VMs
        that do not exist yet.
    type: list
    elements: str
  task_timeout_s:
    description:
      - Maximum time in seconds for the reconfiguration. The module then fails, and the task continues in vCenter.
    type: int
    default: 600
seealso:
  - module: aiready.vsphere.vm_clone
  - module: vmware.vmware.cluster_drs
  - module: community.vmware.vmware_vm_vm_drs_rule
  - module: community.vmware.vmware_drs_override
"""

EXAMPLES = r"""
- name: Keep two VMs on different hosts
  aiready.vsphere.drs_placement:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    cluster: gpu
    name: training-apart
    vms: [train-01, train-02]

- name: Keep the VMs of a job apart without DRS migration
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

- name: Remove the first rule
  aiready.vsphere.drs_placement:
    cluster: gpu
    name: training-apart
    state: absent
"""

RETURN = r"""
cluster:
  description: Cluster. Also returned if the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the cluster.
      type: str
      returned: always
      sample: gpu
    moid:
      description: Managed object ID of the cluster. Null if the cluster was not found.
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
      description: V(true) if the module changed the cluster, or would change it in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description:
        - State before the change, with the same keys as RV(cluster.after). Empty if the cluster could not be read.
      type: dict
      returned: always
      sample: {rule: null, automation: {train-01: cluster, train-02: cluster}}
    after:
      description: State after the change, read again from vCenter. In check mode, the predicted state.
      type: dict
      returned: always
      contains:
        rule:
          description: Rule with the keys C(vms), C(mandatory) and C(enabled). Null if the rule does not exist.
          type: dict
          returned: success
        automation:
          description: Automation level of each VM of the task. V(cluster) if the VM has no level of its own.
          type: dict
          returned: success
      sample:
        rule: {vms: [train-01, train-02], mandatory: true, enabled: true}
        automation: {train-01: manual, train-02: manual}
    changes:
      description: Changes that the module made, or would make in check mode. One entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: rule.vms, before: null, after: [train-01, train-02], needs: null}
        - {path: automation.train-01, before: cluster, after: manual, needs: null}
    pending:
      description: Always empty, because DRS applies the change at once.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if the cluster differs from the request.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause of the failure, and the fix. Empty if the cluster matches the request.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the cluster matches the request.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
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
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.state import Drs


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    requested = params.request_of(module.params)
    item: Item[params.DrsRequest, Drs] = Item(
        requested.cluster, requested, {"name": requested.cluster, "moid": None, "vms": []}
    )
    noun = DrsPlacement(module)
    try:
        run(module, noun, [item], "cluster", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
