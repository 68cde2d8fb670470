#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_kernel_setting
short_description: Manage boot settings of the ESXi kernel, such as PCIe ATS
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the kernel settings of C(esxcli system settings kernel), which no other collection manages. GPUDirect RDMA
    needs C(atsSupport), the address translation service (ATS) of PCIe.
  - A kernel setting is configured at once and takes effect at the next boot. ESXi reports both values. Every run
    reports a pending setting in RV(host.pending) until the host is restarted.
  - This module never restarts a host.
notes:
  - ESXi has two kinds of ATS. The C(atsSupport) of this module belongs to PCIe. The ATS of VMFS is atomic test and set.
    It is an advanced option (C(/VMFS3/...)) without a relation to GPUs. This module cannot change it.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
options:
  settings:
    description:
      - Settings and their values, for example C(atsSupport) with V(true). Null resets a setting to its default.
      - Other settings stay as they are. The module rejects an unknown name, or a value of the wrong type, before it
        changes anything.
    type: dict
    required: true
seealso:
  - module: aiready.vsphere.nic_firmware
    description: Enables ATS in the firmware of the network adapter, which is also required.
"""

EXAMPLES = r"""
- name: Enable address translation services for devices
  aiready.vsphere.esxi_kernel_setting:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    settings:
      atsSupport: true

- name: Enable ATS and print the pending restart
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Enable ATS
      aiready.vsphere.esxi_kernel_setting:
        host: esx-01.example.com
        settings:
          atsSupport: true
      register: ats

    - name: Print the settings that wait for a restart
      ansible.builtin.debug:
        msg: "{{ ats.host.pending }}"

- name: Reset ATS to its default
  aiready.vsphere.esxi_kernel_setting:
    host: esx-01.example.com
    settings:
      atsSupport: null
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
        settings:
          atsSupport: {configured: "FALSE", runtime: "FALSE", default: "FALSE"}
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        settings:
          description: Settings of the task by name, each with C(configured), C(runtime) and C(default).
          type: dict
          returned: success
      sample:
        settings:
          atsSupport: {configured: "TRUE", runtime: "FALSE", default: "FALSE"}
    changes:
      description: Changes of the task, one entry per setting. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: kernel.atsSupport, before: "FALSE", after: "TRUE", needs: reboot}
    pending:
      description: Settings that wait for a restart before they take effect. Every result lists them until then.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: kernel.atsSupport, needs: reboot}
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
  sample: {code: kernel_setting_impossible}
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import kernel
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    **args.ESXCLI_TRANSPORT,
    settings={"type": "dict", "required": True},
)


@dataclass(frozen=True)
class KernelRequest:
    """Boot settings of a host."""

    settings: Mapping[str, Any]


class KernelSettings(HostNoun[KernelRequest, Dict[str, kernel.Setting]]):
    """Boot settings of one host: all known ones, of which the task names some."""

    def request(self) -> KernelRequest:
        return request(KernelRequest, self._params)

    def look(self, found: HostFound, requested: KernelRequest) -> dict[str, kernel.Setting]:
        return kernel.settings_of(self.esxcli.call("system.settings.kernel.list"))

    def want(self, item: Item[KernelRequest, Dict[str, kernel.Setting]]) -> dict[str, kernel.Setting]:
        return {**item.now, **kernel.want(self.label, item.now, item.requested.settings)}

    def compare(self, now: Mapping[str, kernel.Setting], wanted: Mapping[str, kernel.Setting]) -> list[Change]:
        return kernel.compare(now, wanted)

    def change(self, item: Item[KernelRequest, Dict[str, kernel.Setting]]) -> None:
        for change in item.changes:
            item.touched = True
            name = change.path.partition(".")[2]
            self.esxcli.call("system.settings.kernel.set", setting=name, value=change.after)

    def project(self, state: Mapping[str, kernel.Setting]) -> dict[str, Any]:
        return {"settings": kernel.project(self._named(state))}

    def pending(self, state: Mapping[str, kernel.Setting]) -> list[dict[str, Any]]:
        return kernel.pending(self._named(state))

    def _named(self, state: Mapping[str, kernel.Setting]) -> dict[str, kernel.Setting]:
        return {name: one for name, one in state.items() if name in self._params["settings"]}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_for_host(module, KernelSettings(module.params, module.warn))


if __name__ == "__main__":
    main()
