#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_module_options
short_description: Manage options of an ESXi kernel module without losing others
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets options of a kernel module, such as priority flow control and virtual functions of C(nmlx5_core). Also sets
    whether ESXi loads the module at the next boot.
  - ESXi stores all options of a kernel module in one string, so a write of one option deletes the others. This module
    reads the string, merges the request into it, and writes the whole string.
  - Validates the options. The module rejects an unknown option, or a wrong number of values for C(max_vfs), before it
    writes anything. The error lists the valid names and numbers.
  - M(community.vmware.vmware_host_kernel_manager) replaces the string, compares texts, and does not report the pending
    restart.
  - This module never restarts a host and never reloads a kernel module.
notes:
  - Options take effect when the kernel module is loaded, at the next boot. ESXi does not store the options that a
    kernel module was loaded with.
  - Before its first change after a boot, this module notes the loaded options in vCenter, as the custom attribute
    C(aiready.vsphere.<module>.at_boot) of the host. This needs the privileges to manage and to set custom attributes.
    Without them, a warning states that later runs cannot report pending options.
  - The module does not detect pending changes that somebody made by other means after the boot.
  - Values are compared by their meaning, so V(8) equals V(0x08).
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
options:
  module:
    description: Name of the kernel module, for example V(nmlx5_core) or V(nmlx5_rdma).
    type: str
    required: true
  options:
    description:
      - Options and their values. Null removes an option and restores the kernel module's default. A list is written
        with commas.
      - C(max_vfs) needs one value for each port that the kernel module drives, over all cards of the host.
    type: dict
    default: {}
  state:
    description:
      - V(merged) leaves other options as they are.
      - V(replaced) removes other options.
    type: str
    choices: [merged, replaced]
    default: merged
  enabled:
    description: Whether to load the kernel module at boot. If not set, the current value stays.
    type: bool
seealso:
  - module: aiready.vsphere.nic_firmware
    description: Sets the number of virtual functions that the firmware offers, which limits C(max_vfs).
"""

EXAMPLES = r"""
- name: Enable PFC for priority 3 by DSCP on all ports of the host
  aiready.vsphere.esxi_module_options:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    module: nmlx5_core
    options:
      pfctx: "0x08"
      pfcrx: "0x08"
      trust_state: 2

- name: Set the DSCP of RDMA traffic and add virtual functions
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Set DSCP 26 for RoCE, which is priority 3
      aiready.vsphere.esxi_module_options:
        host: esx-01.example.com
        module: nmlx5_rdma
        options:
          dscp_force: 26
        enabled: true

    - name: Create four virtual functions on each of two ports
      aiready.vsphere.esxi_module_options:
        host: esx-01.example.com
        module: nmlx5_core
        options:
          max_vfs: [4, 4]

- name: Remove all options of the network driver
  aiready.vsphere.esxi_module_options:
    host: esx-01.example.com
    module: nmlx5_core
    state: replaced
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
        module: nmlx5_core
        enabled: true
        loaded: true
        options: {}
        active_options: {}
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        module:
          description: Name of the kernel module.
          type: str
          returned: success
        enabled:
          description: True if the next boot loads the kernel module.
          type: bool
          returned: success
        loaded:
          description: True if the kernel module is loaded now.
          type: bool
          returned: success
        options:
          description: Configured options.
          type: dict
          returned: success
        active_options:
          description: Options that the kernel module was loaded with at the last boot, null if they are unknown.
          type: dict
          returned: success
      sample:
        module: nmlx5_core
        enabled: true
        loaded: true
        options: {pfcrx: "0x08", pfctx: "0x08", trust_state: "2"}
        active_options: {}
    changes:
      description: Changes of the task, one entry per setting. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: nmlx5_core.pfcrx, before: null, after: "0x08", needs: reboot}
        - {path: nmlx5_core.pfctx, before: null, after: "0x08", needs: reboot}
        - {path: nmlx5_core.trust_state, before: null, after: "2", needs: reboot}
    pending:
      description: Settings that wait for a restart before they take effect. Every result lists them until then.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: nmlx5_core.pfcrx, needs: reboot}
        - {what: nmlx5_core.pfctx, needs: reboot}
        - {what: nmlx5_core.trust_state, needs: reboot}
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
  sample: {code: module_option_impossible}
"""

from typing import TYPE_CHECKING, Any, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import (
    at_boot,
    facts,
    gather,
    marks,
    module_state,
    module_text,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    **args.ESXCLI_TRANSPORT,
    module={"type": "str", "required": True},
    options={"type": "dict", "default": {}},
    state={"type": "str", "choices": ["merged", "replaced"], "default": "merged"},
    enabled={"type": "bool"},
)


class ModuleOptions(HostNoun[module_state.ModuleRequest, module_state.Module]):
    """One kernel module of a host."""

    PROPERTIES = (*marks.PROPERTIES, "config.network", "runtime.bootTime")

    def request(self) -> module_state.ModuleRequest:
        return request(module_state.ModuleRequest, self._params)

    def look(self, found: HostFound, requested: module_state.ModuleRequest) -> module_state.Module:
        name = requested.module
        infos = gather.kernel_modules(found)
        state = facts.modules_of(found.row, infos, [name], network_of(found.row.get("config.network")))[0]
        if state is None:
            raise _unknown(self.label, name, sorted(info.name for info in infos))
        rows = self.esxcli.call("system.module.parameters.list", module=name)
        return module_state.with_parameters(state, rows)

    def want(self, item: Item[module_state.ModuleRequest, module_state.Module]) -> module_state.Module:
        return module_state.want(self.label, item.now, item.requested)

    def compare(self, now: module_state.Module, wanted: module_state.Module) -> list[Change]:
        return module_state.compare(now, wanted)

    def explain(self, item: Item[module_state.ModuleRequest, module_state.Module]) -> None:
        for doubt in module_state.doubts(item.wanted):
            self._warn(f"{self.label}: {doubt}")

    def change(self, item: Item[module_state.ModuleRequest, module_state.Module]) -> None:
        wanted = item.wanted
        if item.now.options != wanted.options:
            self._note(item)
            item.touched = True
            with self.asking(f"cannot write the options of {wanted.name}"):
                self.manager("kernelModuleSystem").UpdateModuleOptionString(
                    name=wanted.name, options=module_text.render(wanted.options)
                )
        if item.now.enabled != wanted.enabled:
            item.touched = True
            self.esxcli.call("system.module.set", module=wanted.name, enabled=wanted.enabled)

    def project(self, state: module_state.Module) -> dict[str, Any]:
        return module_state.project(state)

    def pending(self, state: module_state.Module) -> list[dict[str, Any]]:
        return module_state.pending(state)

    def _note(self, item: Item[module_state.ModuleRequest, module_state.Module]) -> None:
        """Save the options of this boot, which are lost once the string is rewritten."""
        row, name = self._found.row, item.wanted.name
        boot_time = row.get("runtime.bootTime")
        if boot_time is None or at_boot.is_noted(marks.read(row), name, boot_time):
            return
        text = at_boot.note(boot_time, module_text.render(item.now.options))
        try:
            marks.write(self._vcenter, self._found.ref, at_boot.note_name(name), text)
        except OperatorError as error:
            self._warn(f"Later runs cannot detect that {name} waits for a restart. {error.message}")


def _unknown(label: str, name: str, known: Sequence[str]) -> OperatorError:
    return OperatorError(
        label,
        f"the host has no kernel module {name}",
        f"Its modules are: {', '.join(known)}",
        "Correct `module`, or install the driver that contains it and restart the host",
        "module_not_found",
        known=known,
    )


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_for_host(module, ModuleOptions(module.params, module.warn))


if __name__ == "__main__":
    main()
