#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_module_options
short_description: Set options of an ESXi kernel module without losing the others
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets options of a kernel module, such as priority flow control and virtual functions of C(nmlx5_core), and
    whether the module is loaded at the next boot.
  - ESXi keeps all options of a module in one string, and writing one option anew loses the others. This module reads
    the string, merges the wish into it, and writes the whole.
  - Knows what a module takes. A name that the module does not have, or a wrong number of values for C(max_vfs), is
    refused before anything is written, with the names and numbers that would fit.
  - The peer M(community.vmware.vmware_host_kernel_manager) replaces the string, compares texts, and tells nothing of
    the restart that is due.
  - This module never restarts a host and never reloads a module.
notes:
  - Options take effect when the module is loaded, at the next boot. ESXi does not keep what a module was loaded with.
    Before its first change after a boot this module notes that as the custom attribute
    C(aiready.vsphere.<module>.at_boot) of the host in vCenter, which needs the privileges to manage and to set custom
    attributes. Without them a warning says that later runs cannot report what is pending.
  - Changes that somebody makes by other means after the boot are not seen as pending.
  - Values are compared by what they mean, V(8) is V(0x08).
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
options:
  module:
    description: The kernel module, for example V(nmlx5_core) or V(nmlx5_rdma).
    type: str
    required: true
  options:
    description:
      - The options and their values. Null removes an option, so that the module's own default holds. A list is
        written with commas.
      - C(max_vfs) takes one value for each port that the module drives, over all cards of the host.
    type: dict
    default: {}
  state:
    description:
      - V(merged) leaves options that are not named as they are.
      - V(replaced) removes them.
    type: str
    choices: [merged, replaced]
    default: merged
  enabled:
    description: Whether the module is loaded at boot. Without it, that stays as it is.
    type: bool
seealso:
  - module: aiready.vsphere.nic_firmware
    description: The firmware of the adapter has to offer virtual functions before C(max_vfs) makes them.
"""

EXAMPLES = r"""
- name: Lossless priority 3 by DSCP on all ports of the host
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

- name: DSCP of RDMA traffic, and virtual functions beside what is set
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Stamp RoCE with DSCP 26, which is priority 3
      aiready.vsphere.esxi_module_options:
        host: esx-01.example.com
        module: nmlx5_rdma
        options:
          dscp_force: 26
        enabled: true

    - name: Four virtual functions on each of two ports
      aiready.vsphere.esxi_module_options:
        host: esx-01.example.com
        module: nmlx5_core
        options:
          max_vfs: [4, 4]

- name: Take all options of the network driver away
  aiready.vsphere.esxi_module_options:
    host: esx-01.example.com
    module: nmlx5_core
    state: replaced
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
        module: nmlx5_core
        enabled: true
        loaded: true
        options: {}
        active_options: {}
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        module:
          description: Name of the module.
          type: str
          returned: success
        enabled:
          description: Whether the next boot loads it.
          type: bool
          returned: success
        loaded:
          description: Whether it runs now.
          type: bool
          returned: success
        options:
          description: The options that are configured.
          type: dict
          returned: success
        active_options:
          description: The options that the module was loaded with at the last boot, null where nobody knows.
          type: dict
          returned: success
      sample:
        module: nmlx5_core
        enabled: true
        loaded: true
        options: {pfcrx: "0x08", pfctx: "0x08", trust_state: "2"}
        active_options: {}
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: nmlx5_core.pfcrx, before: null, after: "0x08", needs: reboot}
        - {path: nmlx5_core.pfctx, before: null, after: "0x08", needs: reboot}
        - {path: nmlx5_core.trust_state, before: null, after: "2", needs: reboot}
    pending:
      description: What waits for a restart before it takes effect, until then in every result.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: nmlx5_core.pfcrx, needs: reboot}
        - {what: nmlx5_core.pfctx, needs: reboot}
        - {what: nmlx5_core.trust_state, needs: reboot}
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
  sample: {code: module_option_impossible}
"""

from typing import TYPE_CHECKING, Any, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
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
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item, Wish
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


class ModuleOptions(HostNoun[module_state.Module]):
    """One kernel module of a host."""

    PROPERTIES = (*marks.PROPERTIES, "config.network", "runtime.bootTime")

    def look(self, found: HostFound, wish: Wish) -> module_state.Module:
        name = wish["module"]
        infos = gather.kernel_modules(found)
        state = facts.modules_of(found.row, infos, [name], network_of(found.row.get("config.network")))[0]
        if state is None:
            raise _unknown(self.label, name, sorted(info.name for info in infos))
        rows = self.esxcli.call("system.module.parameters.list", module=name)
        return module_state.with_parameters(state, rows)

    def want(self, item: Item[Wish, module_state.Module]) -> module_state.Module:
        wanted = module_state.want(self.label, item.now, item.wish)
        for doubt in module_state.doubts(wanted):
            self._warn(f"{self.label}: {doubt}")
        return wanted

    def compare(self, now: module_state.Module, wanted: module_state.Module) -> list[Change]:
        return module_state.compare(now, wanted)

    def change(self, item: Item[Wish, module_state.Module]) -> None:
        wanted = item.wanted
        if item.now.options != wanted.options:
            self._note(item)
            item.touched = True
            with self.asking(f"the options of {wanted.name} were to be written"):
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

    def _note(self, item: Item[Wish, module_state.Module]) -> None:
        """Keep what this boot was loaded with, which nobody can tell once the string is written anew."""
        row, name = self._found.row, item.wanted.name
        boot_time = row.get("runtime.bootTime")
        if boot_time is None or at_boot.is_noted(marks.read(row), name, boot_time):
            return
        text = at_boot.note(boot_time, module_text.render(item.now.options))
        try:
            marks.write(self._vcenter, self._found.ref, at_boot.note_name(name), text)
        except OperatorError as error:
            self._warn(f"Later runs cannot tell that {name} waits for a restart. {error.message}")


def _unknown(label: str, name: str, known: Sequence[str]) -> OperatorError:
    return OperatorError(
        label,
        f"the kernel module {name} was wanted",
        f"The host has no such module; it has {', '.join(known)}",
        "Correct `module`, or install the driver that brings it and restart the host",
        "module_not_found",
        known=known,
    )


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_for_host(module, ModuleOptions(module.params, module.warn))


if __name__ == "__main__":
    main()
