#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: bios_settings
short_description: Stage the BIOS settings that GPUs and RDMA need
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the BIOS of a server over the Redfish service of its BMC by functions, such as V(sriov), that the module
    translates to the attributes of Dell, HPE and Supermicro servers. Other settings are named as the vendor does.
  - Stages only what differs, to be applied at the next boot. The server is never rebooted by this module, the reboot
    that is needed is told in RV(bios.pending). What is staged already is recognised and not staged again.
  - Checks every name and value against the attribute registry of the BMC itself, names without regard to case, and
    what depends on what, before anything is staged.
  - After the reboot, run the same task again. It compares with the active settings, never with the staged ones. No
    change and nothing pending is the proof.
  - The peer M(community.general.redfish_config) compares with the active settings only, so that a second run before the
    reboot stages everything again, which an iDRAC refuses. It leaves out unknown attributes with a warning, does not
    check values, does not read back, and has no check mode.
notes:
  - On iDRACs, staging creates the configuration job that applies the settings. While one is scheduled, an iDRAC takes
    no other settings, see O(conflicts).
extends_documentation_fragment:
  - aiready.vsphere.bmc
  - aiready.vsphere.bmc.attributes
options:
  functions:
    description:
      - What the BIOS shall do. A function that is left out is left as it is.
      - The attributes behind each function are listed in the guide C(docs/bios.md). A function that cannot be mapped on
        this server is refused, with the attributes of its registry that sound like it.
    type: dict
    suboptions:
      virtualization:
        description: VT-x or AMD-V.
        type: str
        choices: [enabled, disabled]
      iommu:
        description: VT-d or AMD IOMMU, which passthrough and SR-IOV need.
        type: str
        choices: [enabled, disabled]
      sriov:
        description: SR-IOV, which vGPUs of Ampere and newer GPUs and virtual functions of network adapters need.
        type: str
        choices: [enabled, disabled]
      above_4g:
        description:
          - Memory mapped I/O above 4 GB. Without it the driver of a large GPU loads, and no vGPU profile shows up.
          - On HPE servers this is the padding of PCI resources.
        type: str
        choices: [enabled, disabled]
      power_profile:
        description: Whether the server is tuned for performance or balanced with its use of energy.
        type: str
        choices: [performance, balanced]
      c_states:
        description:
          - Idle states of the processors.
          - On Dell servers V(disabled) comes with O(functions.power_profile=performance). Without it, it can only be
            set with C(SysProfile=Custom) under O(attributes).
        type: str
        choices: [enabled, disabled]
  attributes:
    description:
      - Attributes by the names and values of the BMC's attribute registry, for what no function covers.
      - Names are found without regard to case, and without the number that some vendors append. Values are compared
        with the names that the registry allows, and with how the setup screen shows them.
    type: dict
    default: {}
  conflicts:
    description:
      - What to do when something else is staged already, by somebody else or by an earlier run.
      - V(refuse) fails when a wanted attribute is staged with another value, or when a scheduled job keeps the BMC from
        taking more settings. What does not stand in the way stays staged and is told in RV(bios.pending).
      - V(replace) stages the wanted value instead. A scheduled job is deleted and everything, with what was staged by
        others and does not contradict, is staged and scheduled anew.
    type: str
    choices: [refuse, replace]
    default: refuse
  registry:
    description:
      - V(required) fails when the BMC does not have the attribute registry that it names.
      - V(optional) goes on without it. Names are then those of the active attributes, and values are left to the BIOS
        to refuse.
    type: str
    choices: [required, optional]
    default: required
attributes:
  check_mode:
    details: The changes, the refusals and the result are those of a real run.
  diff_mode:
    details: Every attribute with what the next boot brings without and with this task.
seealso:
  - module: aiready.vsphere.bmc_power
  - module: community.general.redfish_config
"""

EXAMPLES = r"""
- name: Enable what GPUs need on one server, with the next reboot
  aiready.vsphere.bios_settings:
    bmc_address: bmc-01.example.com
    bmc_username: root
    bmc_password: "{{ bmc_password }}"
    functions:
      virtualization: enabled
      iommu: enabled
      sriov: enabled
      above_4g: enabled

- name: Prepare the BIOS of all GPU servers
  hosts: esxi_hosts
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.bmc:
      bmc_address: "{{ bmc_address }}"
      bmc_password: "{{ bmc_password }}"
  tasks:
    - name: Everything that GPUs and RDMA need is staged
      aiready.vsphere.bios_settings:
        functions:
          virtualization: enabled
          iommu: enabled
          sriov: enabled
          above_4g: enabled
          power_profile: performance
          c_states: disabled
        conflicts: replace
      delegate_to: localhost
      register: staged

    - name: Tell what waits for a reboot
      ansible.builtin.debug:
        msg: "{{ inventory_hostname }}: {{ staged.bios.pending | map(attribute='what') | join(', ') }}"

- name: Take back SR-IOV on one server before it was rebooted
  aiready.vsphere.bios_settings:
    bmc_address: bmc-01.example.com
    functions:
      sriov: disabled
    conflicts: replace
"""

RETURN = r"""
bios:
  description: The BIOS of the server, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: The address of the BMC.
      type: str
      returned: always
      sample: bmc-01.example.com
    vendor:
      description: The make of the server, V(dell), V(hpe), V(supermicro) or V(other). Null when it could not be read.
      type: str
      returned: always
      sample: dell
    model:
      description: The model of the server.
      type: str
      returned: always
      sample: PowerEdge R750xa
    serial:
      description: The serial number or service tag of the server.
      type: str
      returned: always
      sample: 7XK2LN3
    uuid:
      description: The UUID of the server.
      type: str
      returned: always
      sample: 4c4c4544-0058-4b10-8032-b7c04f4c4e33
    system_id:
      description: The ID of the server in its BMC.
      type: str
      returned: always
      sample: System.Embedded.1
    registry:
      description: The attribute registry against which names and values were checked.
      type: str
      returned: always
      sample: BiosAttributeRegistryH08.v1_2_12
    changed:
      description: Whether something was staged, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(bios.after). Empty when it could not be read.
      type: dict
      returned: always
      sample:
        functions:
          virtualization: enabled
          iommu: enabled
          sriov: disabled
          above_4g: disabled
          power_profile: balanced
          c_states: enabled
        attributes: {MmioAbove4Gb: Disabled, ProcVirtualization: Enabled, SriovGlobalEnable: Disabled}
        staged: {}
    after:
      description: What is there after the task, read again; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        functions:
          description: What the active settings amount to. Null for a function that is neither, or cannot be mapped.
          type: dict
          returned: success
        attributes:
          description: The active values of all attributes that the task is about.
          type: dict
          returned: success
        staged:
          description: What the next boot brings, without what is active already.
          type: dict
          returned: success
      sample:
        functions:
          virtualization: enabled
          iommu: enabled
          sriov: disabled
          above_4g: disabled
          power_profile: balanced
          c_states: enabled
        attributes: {MmioAbove4Gb: Disabled, ProcVirtualization: Enabled, SriovGlobalEnable: Disabled}
        staged: {MmioAbove4Gb: Enabled, SriovGlobalEnable: Enabled}
    changes:
      description: What was staged, or would be in check mode, one entry per attribute.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: bios.MmioAbove4Gb, before: Disabled, after: Enabled, needs: reboot}
        - {path: bios.SriovGlobalEnable, before: Disabled, after: Enabled, needs: reboot}
    pending:
      description: Everything that waits for a reboot of the server, whoever staged it.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: bios.MmioAbove4Gb, needs: reboot}
        - {what: bios.SriovGlobalEnable, needs: reboot}
    failed:
      description: Whether the settings are not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why not, and what to do. Empty when they are.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when all is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: function_unmapped, subject: bmc-01.example.com, functions: [sriov]}
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item, Wish
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun, run
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import (
    address,
    bios_plan,
    bios_state,
    session,
    system,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC, check_bmc
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios import Bios
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.function_map import WORDS

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios import Reading

ARGUMENTS = dict(
    BMC,
    functions={
        "type": "dict",
        "options": {function: {"type": "str", "choices": list(words)} for function, words in WORDS.items()},
    },
    attributes={"type": "dict", "default": {}},
    conflicts={"type": "str", "choices": ["refuse", "replace"], "default": "refuse"},
    registry={"type": "str", "choices": ["required", "optional"], "default": "required"},
)
UNKNOWN_IDS = dict.fromkeys(("vendor", "model", "serial", "uuid", "system_id", "registry"))


class BiosSettings(Noun[Wish, bios_state.BiosState]):
    """The BIOS of one server."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self._bmc = session.connect(params)
        self._system: system.System = None  # type: ignore[assignment]
        self._bios: Bios = None  # type: ignore[assignment]
        self._reading: Reading = None  # type: ignore[assignment]
        self._named: tuple[str, ...] = ()

    def read(self, items: Sequence[Item[Wish, bios_state.BiosState]]) -> None:
        (item,) = items
        self._system = system.find(self._bmc, self._params["system_id"])
        item.ids.update(self._system.ids)
        self._bios = Bios(self._bmc, self._system, self._params["registry"] == "optional")
        self._reading = self._bios.read()
        item.ids["registry"] = self._bios.registry.name or None
        item.now = self._reading.state

    def want(self, item: Item[Wish, bios_state.BiosState]) -> bios_state.BiosState:
        vendor, registry, label = self._system.vendor, self._bios.registry, item.label
        wish = item.wish
        wished = bios_plan.wishes(label, item.now, vendor, registry, wish["functions"], wish["attributes"])
        self._named = tuple(sorted(wished))
        item.now = self._about(item.now)
        return bios_plan.want(label, item.now, vendor, registry, wished, wish["conflicts"])

    def compare(self, now: bios_state.BiosState, wanted: bios_state.BiosState) -> list[Change]:
        return bios_plan.compare(now, wanted)

    def apply(self, items: Sequence[Item[Wish, bios_state.BiosState]]) -> None:
        (item,) = items

        def touch() -> None:
            item.touched = True

        self._bios.stage(self._reading, item.wanted, bios_plan.attributes_of(item.changes), touch)

    def prove(self, items: Sequence[Item[Wish, bios_state.BiosState]]) -> None:
        for item in items:
            # Some BMCs take settings as a task of their own, and show them a moment later.
            for pause in (0.5, 1.0, 2.0, 4.0, None):
                item.proved = self._about(self._bios.read().state)
                missing = bios_plan.missing(item.changes, item.proved, item.wanted)
                if not missing or pause is None:
                    break
                self._bmc.clock.sleep(pause)
            if missing:
                item.error = bios_plan.not_staged(item.label, missing)

    def project(self, state: bios_state.BiosState) -> dict[str, Any]:
        return bios_state.project(state)

    def pending(self, state: bios_state.BiosState) -> list[dict[str, Any]]:
        return bios_state.pending(state)

    def close(self) -> None:
        self._bmc.close()

    def _about(self, state: bios_state.BiosState) -> bios_state.BiosState:
        return replace(state, named=self._named)


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    params = module.params
    wish = {
        "functions": {name: word for name, word in (params["functions"] or {}).items() if word is not None},
        "attributes": params["attributes"],
        "conflicts": params["conflicts"],
    }
    fail_if_invalid(module, check_bmc(params))
    label = str(address.parse(params["bmc_address"]))
    noun = BiosSettings(params)
    try:
        run(module, noun, [Item(label, wish, dict(UNKNOWN_IDS, name=label))], "bios", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
