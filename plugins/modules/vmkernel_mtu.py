#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vmkernel_mtu
short_description: Manage the MTU of VMkernel adapters and of their distributed switch
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the MTU of VMkernel adapters of a host, and changes nothing else on them.
  - The MTU of an adapter cannot be larger than the MTU of its switch. If the task allows it, the module first raises
    the MTU of a distributed switch. It never lowers that MTU, because other hosts and adapters share it. The physical
    ports follow their switch.
  - RoCE can use its largest path MTU of 4096 bytes only if the ports carry jumbo frames.
  - M(community.vmware.vmware_vmkernel) needs the whole description of the adapter, and disables services that the task
    does not name. M(community.vmware.vmware_dvswitch) does the same with the switch. Neither fits a change of one
    setting.
notes:
  - A change of the MTU of a switch can briefly interrupt the link of its ports, on all hosts of the switch.
  - The physical network must carry frames of this size too. This module cannot check it.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.task_waiting
  - aiready.vsphere.attributes
options:
  devices:
    description: VMkernel adapters, for example V(vmk1).
    type: list
    elements: str
    required: true
  mtu:
    description: MTU in bytes, from 1280 to 9000. The default of ESXi is 1500.
    type: int
    default: 9000
  switch:
    description:
      - Action if the switch has a smaller MTU.
      - V(refuse) fails and reports it.
      - V(raise) raises the MTU of the distributed switch, which all its hosts share.
    type: str
    choices: [refuse, raise]
    default: refuse
"""

EXAMPLES = r"""
- name: Set jumbo frames on the RDMA adapter
  aiready.vsphere.vmkernel_mtu:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    devices:
      - vmk1
    switch: raise

- name: Set jumbo frames on all hosts of a switch
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Set jumbo frames on both hosts
      aiready.vsphere.vmkernel_mtu:
        host: "{{ item }}"
        devices:
          - vmk1
        mtu: 9000
        switch: raise
      loop:
        - esx-01.example.com
        - esx-02.example.com

- name: Reset the MTU to the default of ESXi
  aiready.vsphere.vmkernel_mtu:
    host: esx-01.example.com
    devices:
      - vmk1
    mtu: 1500
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
        vmkernel: {vmk1: 1500}
        switches: {dvs-train: 1500}
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        vmkernel:
          description: MTU of each VMkernel adapter of the task, by its name.
          type: dict
          returned: success
        switches:
          description: MTU of the switches of these adapters, by their names.
          type: dict
          returned: success
      sample:
        vmkernel: {vmk1: 9000}
        switches: {dvs-train: 9000}
    changes:
      description:
        - Changes of the task, one entry per setting. In check mode, the changes that a run would make. C(of) names the
          switch of a setting, because hosts share it.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: mtu.dvs-train, before: 1500, after: 9000, needs: null, of: dvs-train}
        - {path: mtu.vmk1, before: 1500, after: 9000, needs: null}
    pending:
      description: Always empty, because an MTU takes effect at once.
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
  sample: {code: mtu_impossible}
"""

from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import mtu
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, properties, tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Switch
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    **args.TASK_WAITING,
    devices={"type": "list", "elements": "str", "required": True},
    mtu={"type": "int", "default": 9000},
    switch={"type": "str", "choices": ["refuse", "raise"], "default": "refuse"},
)


class VmkernelMtu(HostNoun[mtu.MtuRequest, mtu.Mtu]):
    """MTU of VMkernel adapters and their switches."""

    PROPERTIES = ("config.network",)

    def request(self) -> mtu.MtuRequest:
        return request(mtu.MtuRequest, self._params)

    def look(self, found: HostFound, requested: mtu.MtuRequest) -> mtu.Mtu:
        return mtu.state_of(network_of(found.row.get("config.network")), requested.devices)

    def want(self, item: Item[mtu.MtuRequest, mtu.Mtu]) -> mtu.Mtu:
        return mtu.want(self.label, item.now, item.requested)

    def compare(self, now: mtu.Mtu, wanted: mtu.Mtu) -> list[Change]:
        return mtu.compare(now, wanted)

    def change(self, item: Item[mtu.MtuRequest, mtu.Mtu]) -> None:
        for switch, size in mtu.raised(item.now, item.wanted):
            item.touched = True
            self._raise(switch, size)
        system = self.manager("networkSystem")
        for device, size in mtu.resized(item.now, item.wanted):
            item.touched = True
            with self.asking(f"cannot set the MTU of {device}"):
                system.UpdateVirtualNic(device=device, nic=vim.host.VirtualNic.Specification(mtu=size))

    def project(self, state: mtu.Mtu) -> dict[str, Any]:
        return mtu.project(state)

    def _raise(self, switch: Switch, size: int) -> None:
        outcome = self._try_to_raise(switch, size)
        if outcome.error is not None and outcome.error.code == "concurrent":
            # Another client was faster, often another host of the same play that raises the same switch.
            outcome = self._try_to_raise(switch, size)
        if outcome.error is not None:
            raise outcome.error

    def _try_to_raise(self, switch: Switch, size: int) -> tasks.Outcome:
        with self.asking(f"cannot raise the MTU of the switch {switch.name}"):
            found = self._vcenter.content.dvSwitchManager.QueryDvsByUuid(uuid=switch.uuid)
        # The MTU is a field of a subtype of config, which a path of properties cannot name.
        (row,) = properties.retrieve(self._vcenter, {"VmwareDistributedVirtualSwitch": ("config",)}, [found])
        config = row.get("config")
        if config.maxMtu >= size:
            return tasks.Outcome()
        spec = vim.dvs.VmwareDistributedVirtualSwitch.ConfigSpec(configVersion=config.configVersion, maxMtu=size)
        # The version in the spec makes vCenter refuse a request that arrives twice.
        job = tasks.Job(switch.name, lambda: found.ReconfigureDvs_Task(spec=spec), "cannot raise its MTU", True)
        return tasks.run_tasks(self._vcenter, [job], 1, self._params["task_timeout_s"])[0]


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_for_host(module, VmkernelMtu(module.params, module.warn), mtu.check_params(module.params))


if __name__ == "__main__":
    main()
