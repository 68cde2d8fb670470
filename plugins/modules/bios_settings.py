#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: bios_settings
short_description: Manage the BIOS settings that GPUs and RDMA need
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Configures the BIOS of a server over the Redfish service of its BMC. A function, such as V(sriov), is translated to
    the attributes of Dell, HPE and Supermicro servers. Other settings use the vendor's own names.
  - Stages only the settings that differ, for the next boot. It detects settings that are already staged and does not
    stage them again.
  - Never reboots the server. RV(bios.pending) reports the reboot that is needed.
  - Checks every name and value against the attribute registry of the BMC before it stages anything. This includes the
    dependencies between attributes. Names are compared regardless of case.
  - To verify the result, run the same task again after the reboot. It compares with the active settings, never with the
    staged ones. The settings are effective if it returns no change and nothing pending.
  - M(community.general.redfish_config) compares with the active settings only. A second run before the reboot stages
    everything again, and an iDRAC rejects that. It omits unknown attributes with a warning, checks no values, does not
    read back, and has no check mode.
notes:
  - On iDRACs, staging creates the configuration job that applies the settings. While a job is scheduled, an iDRAC
    accepts no other settings, see O(conflicts).
extends_documentation_fragment:
  - aiready.vsphere.bmc
  - aiready.vsphere.bmc.attributes
options:
  functions:
    description:
      - Desired BIOS functions. A function that is not set stays as it is.
      - The guide C(docs/bios.md) lists the attributes of each function. If a function cannot be mapped on this server,
        the module fails and lists similar attributes of its registry.
    type: dict
    suboptions:
      virtualization:
        description: VT-x or AMD-V.
        type: str
        choices: [enabled, disabled]
      iommu:
        description: VT-d or AMD IOMMU, required for passthrough and SR-IOV.
        type: str
        choices: [enabled, disabled]
      sriov:
        description: SR-IOV, required for vGPUs of Ampere and newer GPUs and for virtual functions of network adapters.
        type: str
        choices: [enabled, disabled]
      above_4g:
        description:
          - Memory mapped I/O above 4 GB. Without it the driver of a large GPU loads, but the host offers no vGPU
            profile.
          - On HPE servers this is the padding of PCI resources.
        type: str
        choices: [enabled, disabled]
      power_profile:
        description:
          - V(performance) tunes the server for speed, V(balanced) also for its energy use.
        type: str
        choices: [performance, balanced]
      c_states:
        description:
          - Idle states of the processors.
          - On Dell servers O(functions.power_profile=performance) includes V(disabled). Without that profile, set it
            with C(SysProfile=Custom) under O(attributes).
        type: str
        choices: [enabled, disabled]
  attributes:
    description:
      - Attributes with the names and values of the BMC's attribute registry, for settings that no function covers.
      - Names match regardless of case, and without the number that some vendors append. Values match the names that the
        registry allows, and the texts of the setup screen.
    type: dict
    default: {}
  conflicts:
    description:
      - Action if somebody else or an earlier run has staged other settings.
      - V(refuse) fails if a requested attribute is staged with another value, or if a scheduled job keeps the BMC from
        accepting more settings. Staged settings without a conflict stay staged, and RV(bios.pending) reports them.
      - V(replace) stages the requested value instead. It deletes a scheduled job. It then stages and schedules all
        settings again, including those of others that do not contradict.
    type: str
    choices: [refuse, replace]
    default: refuse
  registry:
    description:
      - V(required) fails if the BMC does not have the attribute registry that it names.
      - V(optional) continues without the registry. Names are then those of the active attributes, and the BIOS itself
        rejects invalid values.
    type: str
    choices: [required, optional]
    default: required
attributes:
  check_mode:
    details: Changes, errors and results are those of a real run.
  diff_mode:
    details: Every attribute with its value after the next boot, without and with this task.
seealso:
  - module: aiready.vsphere.bmc_power
  - module: community.general.redfish_config
"""

EXAMPLES = r"""
- name: Enable the settings for GPUs at the next reboot
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
    - name: Stage the settings for GPUs and RDMA
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

    - name: Print the settings that wait for a reboot
      ansible.builtin.debug:
        msg: "{{ inventory_hostname }}: {{ staged.bios.pending | map(attribute='what') | join(', ') }}"

- name: Disable SR-IOV on one server before its reboot
  aiready.vsphere.bios_settings:
    bmc_address: bmc-01.example.com
    functions:
      sriov: disabled
    conflicts: replace
"""

RETURN = r"""
bios:
  description: Result for the BIOS of the server, also if the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Address of the BMC.
      type: str
      returned: always
      sample: bmc-01.example.com
    vendor:
      description: Vendor of the server, V(dell), V(hpe), V(supermicro) or V(other). Null if it could not be read.
      type: str
      returned: always
      sample: dell
    model:
      description: Model of the server.
      type: str
      returned: always
      sample: PowerEdge R750xa
    serial:
      description: Serial number or service tag of the server.
      type: str
      returned: always
      sample: 7XK2LN3
    uuid:
      description: UUID of the server.
      type: str
      returned: always
      sample: 4c4c4544-0058-4b10-8032-b7c04f4c4e33
    system_id:
      description: ID of the server in its BMC.
      type: str
      returned: always
      sample: System.Embedded.1
    registry:
      description: Attribute registry that the module used to check names and values.
      type: str
      returned: always
      sample: BiosAttributeRegistryH08.v1_2_12
    changed:
      description: True if the task staged something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(bios.after). Empty if it could not be read.
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
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        functions:
          description: State of each function in the active settings. Null for a function that is neither, or that
            cannot be mapped.
          type: dict
          returned: success
        attributes:
          description: Active values of all attributes of the task.
          type: dict
          returned: success
        staged:
          description: Values after the next boot, without those that are already active.
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
      description: Staged settings, one entry per attribute. In check mode, the settings that a run would stage.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: bios.MmioAbove4Gb, before: Disabled, after: Enabled, needs: reboot}
        - {path: bios.SriovGlobalEnable, before: Disabled, after: Enabled, needs: reboot}
    pending:
      description: All settings that wait for a reboot of the server, including those that others have staged.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: bios.MmioAbove4Gb, needs: reboot}
        - {what: bios.SriovGlobalEnable, needs: reboot}
    failed:
      description: True if the settings are not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the settings are not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the server is in the desired state.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: function_unmapped, subject: bmc-01.example.com, functions: [sriov]}
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
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


@dataclass(frozen=True)
class BiosRequest:
    """BIOS settings of one server, by function and by the vendor's attribute."""

    functions: Mapping[str, str]
    attributes: Mapping[str, Any]
    conflicts: str


class BiosSettings(Noun[BiosRequest, bios_state.BiosState]):
    """The BIOS of one server."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self._bmc = session.connect(params)
        self._system: system.System = None  # type: ignore[assignment]
        self._bios: Bios = None  # type: ignore[assignment]
        self._reading: Reading = None  # type: ignore[assignment]
        # {attribute of this server: its requested value}
        self._asked: Mapping[str, Any] = {}

    def read(self, items: Sequence[Item[BiosRequest, bios_state.BiosState]]) -> None:
        (item,) = items
        self._system = system.find(self._bmc, self._params["system_id"])
        item.ids.update(self._system.ids)
        self._bios = Bios(self._bmc, self._system, self._params["registry"] == "optional")
        self._reading = self._bios.read()
        item.ids["registry"] = self._bios.registry.name or None
        item.now = self._reading.state
        self.resolve(item)

    def resolve(self, item: Item[BiosRequest, bios_state.BiosState]) -> None:
        """Find the attributes of this server that the request means; its state shows these."""
        vendor, registry, requested = self._system.vendor, self._bios.registry, item.requested
        self._asked = bios_plan.requests(
            item.label, item.now, vendor, registry, requested.functions, requested.attributes
        )
        item.now = self._about(item.now)

    def want(self, item: Item[BiosRequest, bios_state.BiosState]) -> bios_state.BiosState:
        return bios_plan.want(
            item.label, item.now, self._system.vendor, self._bios.registry, self._asked, item.requested.conflicts
        )

    def compare(self, now: bios_state.BiosState, wanted: bios_state.BiosState) -> list[Change]:
        return bios_plan.compare(now, wanted)

    def apply(self, items: Sequence[Item[BiosRequest, bios_state.BiosState]]) -> None:
        (item,) = items

        def touch() -> None:
            item.touched = True

        self._bios.stage(self._reading, item.wanted, bios_plan.attributes_of(item.changes), touch)

    def prove(self, items: Sequence[Item[BiosRequest, bios_state.BiosState]]) -> None:
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
        return replace(state, named=tuple(sorted(self._asked)))


def request_of(params: Mapping[str, Any]) -> BiosRequest:
    """Return the request of a task."""
    functions = {name: word for name, word in (params["functions"] or {}).items() if word is not None}
    return request(BiosRequest, params, functions=functions)


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    params = module.params
    requested = request_of(params)
    fail_if_invalid(module, check_bmc(params))
    label = str(address.parse(params["bmc_address"]))
    noun = BiosSettings(params)
    try:
        run(module, noun, [Item(label, requested, dict(UNKNOWN_IDS, name=label))], "bios", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
