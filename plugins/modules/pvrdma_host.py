#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: pvrdma_host
short_description: Prepare a host for paravirtual RDMA of its VMs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Tells a host which VMkernel adapter PVRDMA uses (advanced option C(Net.PVRDMAVmknic)) and opens the firewall for
    it (ruleset C(pvrdma)). Both take effect at once.
  - Without either, and on a switch that does not fit, PVRDMA silently falls back to TCP, and a job runs at a
    fraction of its speed. This module therefore checks what the path needs. The adapter is on a distributed switch,
    and that switch has one uplink on this host, which is the RDMA port.
  - A port without an RDMA device is no error, since a driver may wait for a restart, but a warning.
  - The peers M(community.vmware.vmware_host_config_manager) and M(community.vmware.vmware_host_firewall_manager) know
    nothing of the path, show no diff and do not read the result. The first reads every option of the host for each
    task, the second allows nobody through a ruleset whose allowed hosts the task does not name.
notes:
  - The tag for PVRDMA is an advanced option. Services of a VMkernel adapter have no entry for it.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.attributes
options:
  vmknic:
    description: The VMkernel adapter, for example V(vmk1). Required with O(state=present).
    type: str
  state:
    description:
      - V(present) sets the adapter and opens the firewall.
      - V(absent) removes the adapter and closes the firewall.
    type: str
    choices: [present, absent]
    default: present
"""

EXAMPLES = r"""
- name: Let PVRDMA use vmk1
  aiready.vsphere.pvrdma_host:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    vmknic: vmk1

- name: Two hosts that talk RDMA with each other
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Let PVRDMA use vmk1 on both
      aiready.vsphere.pvrdma_host:
        host: "{{ item }}"
        vmknic: vmk1
      loop:
        - esx-01.example.com
        - esx-02.example.com

- name: No PVRDMA on this host any more
  aiready.vsphere.pvrdma_host:
    host: esx-01.example.com
    state: absent
"""

RETURN = r"""
host:
  description: The result, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter. Of a host that was not found, what the task said.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for one that was not found.
      type: str
      returned: always
      sample: host-12
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample:
        vmknic: null
        firewall: false
        switch: null
        uplink: null
        rdma: null
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        vmknic:
          description: The VMkernel adapter that PVRDMA uses, null for none.
          type: str
          returned: success
        firewall:
          description: Whether the ruleset C(pvrdma) is enabled.
          type: bool
          returned: success
        switch:
          description: The distributed switch of the adapter, null for none.
          type: str
          returned: success
        uplink:
          description: The only uplink of that switch on this host, null where there is none or several.
          type: str
          returned: success
        rdma:
          description: The RDMA device of the uplink with C(name), C(state) and C(mtu), null where it has none.
          type: dict
          returned: success
      sample:
        vmknic: vmk1
        firewall: true
        switch: dvs-train
        uplink: vmnic2
        rdma: {name: vmrdma0, state: active, mtu: 4096}
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: Net.PVRDMAVmknic, before: null, after: vmk1, needs: null}
        - {path: firewall.pvrdma, before: disabled, after: enabled, needs: null}
    pending:
      description: Always empty, since both settings take effect at once.
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
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: pvrdma_path}
"""

from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import gather, pvrdma
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item, Wish
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    vmknic={"type": "str"},
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
)
RELATIONS = {"required_if": [("state", "present", ("vmknic",))]}


class PvrdmaHost(HostNoun[pvrdma.Pvrdma]):
    """The host side of PVRDMA."""

    PROPERTIES = ("config.firewall.ruleset", "config.network", "config.virtualNicManagerInfo")

    def look(self, found: HostFound, wish: Wish) -> pvrdma.Pvrdma:
        values = gather.option_values(found, pvrdma.OPTION)
        rulesets = {one.key: bool(one.enabled) for one in found.row.get("config.firewall.ruleset") or []}
        if not values or pvrdma.RULESET not in rulesets:
            raise _unsupported(self.label)
        network = network_of(found.row.get("config.network"), found.row.get("config.virtualNicManagerInfo"))
        return pvrdma.Pvrdma(str(values[0] or ""), rulesets[pvrdma.RULESET], network)

    def want(self, item: Item[Wish, pvrdma.Pvrdma]) -> pvrdma.Pvrdma:
        wanted = pvrdma.want(self.label, item.now, item.wish)
        for doubt in pvrdma.doubts(wanted):
            self._warn(f"{self.label}: {doubt}")
        return wanted

    def compare(self, now: pvrdma.Pvrdma, wanted: pvrdma.Pvrdma) -> list[Change]:
        return pvrdma.compare(now, wanted)

    def change(self, item: Item[Wish, pvrdma.Pvrdma]) -> None:
        now, wanted = item.now, item.wanted
        if now.vmknic != wanted.vmknic:
            item.touched = True
            option = vim.option.OptionValue(key=pvrdma.OPTION, value=wanted.vmknic)
            with self.asking(f"the advanced option {pvrdma.OPTION} was to be set"):
                self.manager("advancedOption").UpdateOptions(changedValue=[option])
        if now.firewall != wanted.firewall:
            item.touched = True
            system = self.manager("firewallSystem")
            switch = system.EnableRuleset if wanted.firewall else system.DisableRuleset
            with self.asking(f"the firewall ruleset {pvrdma.RULESET} was to be changed"):
                switch(id=pvrdma.RULESET)

    def project(self, state: pvrdma.Pvrdma) -> dict[str, Any]:
        return pvrdma.project(state)


def _unsupported(label: str) -> OperatorError:
    return OperatorError(
        label,
        "PVRDMA was to be set up",
        f"The host has no advanced option {pvrdma.OPTION} or no firewall ruleset {pvrdma.RULESET}",
        "Check that it runs ESXi 6.5 or newer, and that the user may read its configuration",
        "pvrdma_unsupported",
    )


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True, **RELATIONS)
    run_for_host(module, PvrdmaHost(module.params, module.warn))


if __name__ == "__main__":
    main()
