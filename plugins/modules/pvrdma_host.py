#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: pvrdma_host
short_description: Manage the PVRDMA settings of a host
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the VMkernel adapter that PVRDMA uses (advanced option C(Net.PVRDMAVmknic)) and opens the firewall for it
    (ruleset C(pvrdma)). Both take effect at once.
  - Without one of them, or on an unsuitable switch, PVRDMA silently falls back to TCP, and a job runs at a fraction of
    its speed.
  - This module therefore checks the network path. The adapter must be on a distributed switch. That switch must have
    one uplink on this host, which is the RDMA port.
  - A port without an RDMA device is a warning and no error, because a driver may wait for a restart.
  - M(community.vmware.vmware_host_config_manager) and M(community.vmware.vmware_host_firewall_manager) do not check the
    path, show no diff and do not read back the result.
  - The first reads every option of the host for each task. The second closes a ruleset to all hosts if the task does
    not name its allowed hosts.
notes:
  - The tag for PVRDMA is an advanced option. The services of a VMkernel adapter have no entry for it.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.attributes
options:
  vmknic:
    description: Name of the VMkernel adapter, for example V(vmk1). Required with O(state=present).
    type: str
  state:
    description:
      - V(present) sets the adapter and opens the firewall.
      - V(absent) removes the adapter and closes the firewall.
    type: str
    choices: [present, absent]
    default: present
  firewall:
    description:
      - Firewall ruleset for PVRDMA, if it differs from what O(state) sets. V(unchanged) keeps it.
      - Without an open firewall, PVRDMA uses TCP.
    type: str
    choices: [enabled, disabled, unchanged]
    version_added: 0.2.0
"""

EXAMPLES = r"""
- name: Use vmk1 for PVRDMA
  aiready.vsphere.pvrdma_host:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    vmknic: vmk1

- name: Configure PVRDMA on two hosts
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Use vmk1 for PVRDMA on both hosts
      aiready.vsphere.pvrdma_host:
        host: "{{ item }}"
        vmknic: vmk1
      loop:
        - esx-01.example.com
        - esx-02.example.com

- name: Remove PVRDMA from a host
  aiready.vsphere.pvrdma_host:
    host: esx-01.example.com
    state: absent
"""

RETURN = r"""
host:
  description: Result for the host, also if the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter. For a host that was not found, the value of O(host).
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for a host that was not found.
      type: str
      returned: always
      sample: host-12
    changed:
      description: True if the task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample:
        vmknic: null
        firewall: false
        switch: null
        uplink: null
        rdma: null
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        vmknic:
          description: VMkernel adapter that PVRDMA uses, null for none.
          type: str
          returned: success
        firewall:
          description: True if the ruleset C(pvrdma) is enabled.
          type: bool
          returned: success
        switch:
          description: Distributed switch of the adapter, null for none.
          type: str
          returned: success
        uplink:
          description: The only uplink of that switch on this host, null if it has none or several.
          type: str
          returned: success
        rdma:
          description: RDMA device of the uplink with C(name), C(state) and C(mtu), null if the uplink has none.
          type: dict
          returned: success
      sample:
        vmknic: vmk1
        firewall: true
        switch: dvs-train
        uplink: vmnic2
        rdma: {name: vmrdma0, state: active, mtu: 4096}
    changes:
      description: Changes of the task, one entry per setting. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: Net.PVRDMAVmknic, before: null, after: vmk1, needs: null}
        - {path: firewall.pvrdma, before: disabled, after: enabled, needs: null}
    pending:
      description: Always empty, because both settings take effect at once.
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
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: pvrdma_path}
"""

from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import gather, pvrdma
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    vmknic={"type": "str"},
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
    firewall={"type": "str", "choices": ["enabled", "disabled", "unchanged"]},
)
RELATIONS = {"required_if": [("state", "present", ("vmknic",))]}


class PvrdmaHost(HostNoun[pvrdma.PvrdmaRequest, pvrdma.Pvrdma]):
    """The host side of PVRDMA."""

    PROPERTIES = ("config.firewall.ruleset", "config.network", "config.virtualNicManagerInfo")

    def request(self) -> pvrdma.PvrdmaRequest:
        return request(pvrdma.PvrdmaRequest, self._params)

    def look(self, found: HostFound, requested: pvrdma.PvrdmaRequest) -> pvrdma.Pvrdma:
        values = gather.option_values(found, pvrdma.OPTION)
        rulesets = {one.key: bool(one.enabled) for one in found.row.get("config.firewall.ruleset") or []}
        if not values or pvrdma.RULESET not in rulesets:
            raise _unsupported(self.label)
        network = network_of(found.row.get("config.network"), found.row.get("config.virtualNicManagerInfo"))
        return pvrdma.Pvrdma(str(values[0] or ""), rulesets[pvrdma.RULESET], network)

    def want(self, item: Item[pvrdma.PvrdmaRequest, pvrdma.Pvrdma]) -> pvrdma.Pvrdma:
        return pvrdma.want(self.label, item.now, item.requested)

    def compare(self, now: pvrdma.Pvrdma, wanted: pvrdma.Pvrdma) -> list[Change]:
        return pvrdma.compare(now, wanted)

    def explain(self, item: Item[pvrdma.PvrdmaRequest, pvrdma.Pvrdma]) -> None:
        for doubt in pvrdma.doubts(item.wanted):
            self._warn(f"{self.label}: {doubt}")

    def change(self, item: Item[pvrdma.PvrdmaRequest, pvrdma.Pvrdma]) -> None:
        now, wanted = item.now, item.wanted
        if now.vmknic != wanted.vmknic:
            item.touched = True
            option = vim.option.OptionValue(key=pvrdma.OPTION, value=wanted.vmknic)
            with self.asking(f"cannot set the advanced option {pvrdma.OPTION}"):
                self.manager("advancedOption").UpdateOptions(changedValue=[option])
        if now.firewall != wanted.firewall:
            item.touched = True
            system = self.manager("firewallSystem")
            switch = system.EnableRuleset if wanted.firewall else system.DisableRuleset
            with self.asking(f"cannot change the firewall ruleset {pvrdma.RULESET}"):
                switch(id=pvrdma.RULESET)

    def project(self, state: pvrdma.Pvrdma) -> dict[str, Any]:
        return pvrdma.project(state)


def _unsupported(label: str) -> OperatorError:
    return OperatorError(
        label,
        "cannot set up PVRDMA",
        f"The host has no advanced option {pvrdma.OPTION} or no firewall ruleset {pvrdma.RULESET}",
        "Check that the host runs ESXi 6.5 or newer, and that the user may read its configuration",
        "pvrdma_unsupported",
    )


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True, **RELATIONS)
    run_for_host(module, PvrdmaHost(module.params, module.warn))


if __name__ == "__main__":
    main()
