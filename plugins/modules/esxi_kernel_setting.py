#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_kernel_setting
short_description: Set boot settings of the ESXi kernel, such as PCIe ATS
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets what C(esxcli system settings kernel) holds, which no other collection manages. C(atsSupport), the address
    translation service of PCIe, is the one that GPUDirect RDMA needs.
  - A kernel setting is configured at once and takes effect at the next boot. ESXi tells both values, so that a
    setting that waits is reported in RV(host.pending) by every run until the host was restarted.
  - This module never restarts a host.
notes:
  - There are two ATS in ESXi. The C(atsSupport) of this module belongs to PCIe. The ATS of VMFS is atomic test and
    set, lives among the advanced options (C(/VMFS3/...)), and has nothing to do with GPUs. This module cannot touch
    it.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
options:
  settings:
    description:
      - The settings and their values, for example C(atsSupport) with V(true). Null sets one back to its default.
      - Settings that are not named stay as they are. An unknown name, or a value that is not of the setting's type,
        is refused before anything is changed.
    type: dict
    required: true
seealso:
  - module: aiready.vsphere.nic_firmware
    description: ATS has to be enabled in the firmware of the network adapter as well.
"""

EXAMPLES = r"""
- name: Let devices use address translation services
  aiready.vsphere.esxi_kernel_setting:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    settings:
      atsSupport: true

- name: Settings of a host, with what waits for its restart
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Set it
      aiready.vsphere.esxi_kernel_setting:
        host: esx-01.example.com
        settings:
          atsSupport: true
      register: ats

    - name: Tell whether a restart is due
      ansible.builtin.debug:
        msg: "{{ ats.host.pending }}"

- name: Set it back to its default
  aiready.vsphere.esxi_kernel_setting:
    host: esx-01.example.com
    settings:
      atsSupport: null
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
        settings:
          atsSupport: {configured: "FALSE", runtime: "FALSE", default: "FALSE"}
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        settings:
          description: The settings of the task by name, each with C(configured), C(runtime) and C(default).
          type: dict
          returned: success
      sample:
        settings:
          atsSupport: {configured: "TRUE", runtime: "FALSE", default: "FALSE"}
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: kernel.atsSupport, before: "FALSE", after: "TRUE", needs: reboot}
    pending:
      description: What waits for a restart before it takes effect, until then in every result.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: kernel.atsSupport, needs: reboot}
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
  sample: {code: kernel_setting_impossible}
"""

from typing import TYPE_CHECKING, Any, Dict, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.host import kernel
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item, Wish
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    **args.ESXCLI_TRANSPORT,
    settings={"type": "dict", "required": True},
)


class KernelSettings(HostNoun[Dict[str, kernel.Setting]]):
    """Boot settings of one host: all that it knows, of which the task names some."""

    def look(self, found: HostFound, wish: Wish) -> dict[str, kernel.Setting]:
        return kernel.settings_of(self.esxcli.call("system.settings.kernel.list"))

    def want(self, item: Item[Wish, Dict[str, kernel.Setting]]) -> dict[str, kernel.Setting]:
        return {**item.now, **kernel.want(self.label, item.now, item.wish["settings"])}

    def compare(self, now: Mapping[str, kernel.Setting], wanted: Mapping[str, kernel.Setting]) -> list[Change]:
        return kernel.compare(now, wanted)

    def change(self, item: Item[Wish, Dict[str, kernel.Setting]]) -> None:
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
