#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: pci_passthrough
short_description: Manage PCI passthrough and virtual functions of a host
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Enables or disables passthrough of the requested devices of a host. Also sets their labels for Dynamic DirectPath
    I/O and the number of virtual functions (SR-IOV) of network adapters.
  - Rejects devices that the host itself needs. These are storage adapters and ports that are uplinks of a switch. The
    error lists the services that use the port, such as management, vMotion and storage over the network.
  - Rejects a GPU that is configured for vGPU unless the task sets O(devices[].take_from_vgpu).
  - Rejects passthrough of the GPUs of an NVSwitch board, which vSphere does not support.
  - Detects virtual functions and rejects them. They have the names and IDs of the whole device.
  - Returns the configured and the active state, and reports settings that wait for a restart of the host in
    RV(host.pending).
  - M(community.vmware.vmware_host_passthrough) accepts any device, and selects devices by names that virtual functions
    share.
  - M(community.vmware.vmware_host_sriov) accepts one port per task. Both report a pending restart in prose, if at all.
notes:
  - A device that is returned to the host over REST gets the mode of its graphics type, V(host) or a vGPU mode.
  - With the device mode V(system_select), the host picks the mode of a device when a VM starts. A requested
    O(devices[].state) ends this, so it is a change even if the device is in that state at the moment.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
options:
  devices:
    description: Devices to configure. Devices that are not named stay as they are.
    type: list
    elements: dict
    required: true
    suboptions:
      id:
        description: PCI address of the device, for example V(0000:3b:00.0).
        type: str
        required: true
      state:
        description: Desired state of passthrough for the whole device. If not set, the current value stays.
        type: str
        choices: [enabled, disabled]
      label:
        description:
          - Hardware label that VMs use to request such a device. An empty text removes it.
          - If not set, the current value stays.
        type: str
      sriov_vfs:
        description:
          - Number of virtual functions, 0 for none. If not set, the current value stays.
          - The firmware of the adapter must offer at least this number.
        type: int
      take_from_vgpu:
        description: Whether to allow passthrough of a GPU whose graphics type is Shared Direct.
        type: bool
        default: false
      device_mode:
        description:
          - V(system_select) leaves the mode of the device to the host, which then picks it when a VM starts. The module
            sets the state first, unless the device is in that mode already. Requires vSphere 9.1 and REST.
          - If not set, a requested state ends that mode.
        type: str
        choices: [system_select]
        version_added: 0.2.0
  apply:
    description:
      - V(now) rebinds a device at once, if the host can do so. Virtual functions always wait for a restart.
      - V(reboot) applies the change at the next restart of the host.
    type: str
    choices: [now, reboot]
    default: reboot
  method:
    description:
      - Interface for passthrough of a whole device.
      - V(auto) sets the device mode over REST for devices of which vCenter reports a mode, as vSphere 9.1 does. It uses
        SOAP for all others, and for O(apply=now), which REST does not have.
      - V(rest) fails for a device without a reported mode. V(soap) fails for a device in the mode V(system_select),
        because only REST can change it.
      - Labels and virtual functions exist only in SOAP.
    type: str
    choices: [auto, soap, rest]
    default: auto
    version_added: 0.2.0
seealso:
  - module: aiready.vsphere.nic_firmware
  - module: aiready.vsphere.esxi_module_options
"""

EXAMPLES = r"""
- name: Enable passthrough of a network adapter port
  aiready.vsphere.pci_passthrough:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    devices:
      - id: "0000:3a:00.1"
        state: enabled
        label: roce

- name: Use a GPU in passthrough mode
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Switch the GPU from vGPU to passthrough without a restart
      aiready.vsphere.pci_passthrough:
        host: esx-01.example.com
        devices:
          - id: "0000:39:00.0"
            state: enabled
            take_from_vgpu: true
        apply: now

- name: Disable passthrough of both devices
  aiready.vsphere.pci_passthrough:
    host: esx-01.example.com
    devices:
      - id: "0000:3a:00.1"
        state: disabled
        label: ""
      - id: "0000:39:00.0"
        state: disabled
    apply: now
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
        devices:
          - id: "0000:3a:00.1"
            name: MT2892 Family [ConnectX-6 Dx]
            configured: disabled
            active: disabled
            label: null
            sriov_vfs: {configured: 0, active: 0, max: 0}
            device_mode: null
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        devices:
          description:
            - Devices of the task, each with C(id), C(name), C(configured), C(active), C(label), C(sriov_vfs) and
              C(device_mode).
            - C(configured) and C(active) are V(enabled) or V(disabled). C(sriov_vfs) contains C(configured), C(active)
              and C(max).
            - C(device_mode) contains C(current), C(configurable) and C(used_memory_mb), as in
              M(aiready.vsphere.esxi_host_info). It is null before vSphere 9.1.
          type: list
          elements: dict
          returned: success
      sample:
        devices:
          - id: "0000:3a:00.1"
            name: MT2892 Family [ConnectX-6 Dx]
            configured: enabled
            active: disabled
            label: roce
            sriov_vfs: {configured: 0, active: 0, max: 0}
            device_mode: null
    changes:
      description: Changes of the task, one entry per setting. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: "passthrough.0000:3a:00.1", before: disabled, after: enabled, needs: reboot}
        - {path: "passthrough.0000:3a:00.1.label", before: null, after: roce, needs: null}
    pending:
      description: Settings that wait for a restart before they take effect. Every result lists them until then.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: "passthrough.0000:3a:00.1", needs: reboot}
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
  sample: {code: passthrough_impossible}
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Sequence, cast

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host import (
    device_mode,
    device_mode_rest,
    facts,
    gather,
    holders,
    passthrough,
    passthrough_rules,
    passthrough_spec,
    pci,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import network_of
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun, run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

DEVICE = {
    "id": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["enabled", "disabled"]},
    "label": {"type": "str"},
    "sriov_vfs": {"type": "int"},
    "take_from_vgpu": {"type": "bool", "default": False},
    "device_mode": {"type": "str", "choices": device_mode.BY_NAME},
}
ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    **args.ESXCLI_TRANSPORT,
    devices={"type": "list", "elements": "dict", "required": True, "options": DEVICE},
    apply={"type": "str", "choices": ["now", "reboot"], "default": "reboot"},
    method={"type": "str", "choices": device_mode.METHODS, "default": device_mode.AUTO},
)


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters by themselves, one sentence each."""
    problems = []
    if params["method"] == device_mode.REST and params["apply"] == "now":
        problems.append("method=rest cannot apply a change at once; set apply to reboot, or method to auto.")
    for entry in params["devices"]:
        if pci.normal_address(entry["id"]) is None:
            problems.append(f"{entry['id']} is not a PCI address; write it as 0000:3b:00.0.")
        if entry["device_mode"] is not None and params["apply"] == "now":
            problems.append(f"device_mode of {entry['id']} cannot be set at once; set apply to reboot.")
        if entry["sriov_vfs"] is not None and entry["sriov_vfs"] < 0:
            problems.append(f"sriov_vfs of {entry['id']} is {entry['sriov_vfs']}; 0 means none.")
    return problems


@dataclass(frozen=True)
class PassthroughRequest:
    """The devices of a host that change."""

    devices: Sequence[passthrough.DeviceRequest]
    at_once: bool


class Passthrough(HostNoun[PassthroughRequest, Dict[str, passthrough.Given]]):
    """Devices of one host that are or may be in passthrough mode."""

    PROPERTIES = (
        *facts.GRAPHICS,
        "capability.deviceRebindWithoutRebootSupported",
        "config.network",
        "config.storageDevice.hostBusAdapter",
        "config.virtualNicManagerInfo",
        "hardware.pciDevice",
    )

    def __init__(self, params: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        super().__init__(params, warn)
        self._around: passthrough_rules.Surroundings = None  # type: ignore[assignment]
        # {address: what the last change of its mode needs}
        self._needs: dict[str, str | None] = {}
        self._named = [cast(str, pci.normal_address(entry["id"])) for entry in params["devices"]]

    def request(self) -> PassthroughRequest:
        devices = [request(passthrough.DeviceRequest, entry) for entry in self._params["devices"]]
        return PassthroughRequest(devices, self._params["apply"] == "now")

    def look(self, found: HostFound, requested: PassthroughRequest) -> dict[str, passthrough.Given]:
        if self._around is None:
            found, vms = gather.read(self._vcenter, found, self.paths)
            self._around = self._surroundings(found.row, facts.running_vms(vms))
        return passthrough.devices_of(found.row.get("config.pciPassthruInfo"))

    def want(self, item: Item[PassthroughRequest, Dict[str, passthrough.Given]]) -> dict[str, passthrough.Given]:
        entries = passthrough_rules.check(self.label, item.now, self._around, item.requested.devices)
        wanted = passthrough_rules.wanted(item.now, self._around, entries, item.requested.at_once)
        self._modes(item, wanted)
        return wanted

    def compare(self, now: Mapping[str, passthrough.Given], wanted: Mapping[str, passthrough.Given]) -> list[Change]:
        return [change for address in self._named for change in passthrough.compare(now[address], wanted[address])]

    def change(self, item: Item[PassthroughRequest, Dict[str, passthrough.Given]]) -> None:
        passthrough_rules.refuse_in_use(self.label, self._around, item.now, item.wanted)
        item.touched = True
        try:
            self._configure(item)
        except OperatorError as error:
            held = self._held(item) if passthrough_rules.may_be_held(error) else {}
            if not held:
                raise
            raise passthrough_rules.held(error, held) from error

    def _held(self, item: Item[PassthroughRequest, Dict[str, passthrough.Given]]) -> dict[str, Sequence[str]]:
        """{address: running VMs} of the devices that change; empty if vCenter does not return the VMs."""
        changed = [one for one in self._named if passthrough.compare(item.now[one], item.wanted[one])]
        try:
            return holders.of(self._vcenter, self._found, changed)
        except OperatorError:
            return {}

    def _configure(self, item: Item[PassthroughRequest, Dict[str, passthrough.Given]]) -> None:
        with device_mode_rest.opened(self._vcenter, self._found) as modes:
            over_rest = self._modes(item, item.wanted)
            for address, every in over_rest.items():
                for mode in every:
                    self._needs[address] = modes.configure(address, mode) or self._needs.get(address)
        # REST has set these already.
        now = dict(item.now)
        for address in over_rest:
            now[address] = replace(now[address], configured=item.wanted[address].configured)
        configs = passthrough_spec.configs(now, item.wanted, self._named, item.requested.at_once)
        if configs:
            with self.asking("cannot change the passthrough state of its devices"):
                self.manager("pciPassthruSystem").UpdatePassthruConfig(config=configs)

    def _modes(
        self, item: Item[PassthroughRequest, Dict[str, passthrough.Given]], wanted: Mapping[str, passthrough.Given]
    ) -> dict[str, list[str]]:
        """{address: its new modes over REST}; rejects a mode that a device cannot have."""
        return passthrough_rules.over_rest(self.label, item.now, self._around, wanted, item.requested.at_once)

    def project(self, state: Mapping[str, passthrough.Given]) -> dict[str, Any]:
        tree = self._around.tree
        return {
            "devices": [
                passthrough.project(state[address], cast(pci.Device, tree.get(address)).name if address in tree else "")
                for address in self._named
                if address in state
            ]
        }

    def pending(self, state: Mapping[str, passthrough.Given]) -> list[dict[str, Any]]:
        needs = {f"passthrough.{address}": need for address, need in self._needs.items()}
        waiting = passthrough.pending([state[address] for address in self._named if address in state])
        return [dict(entry, needs=needs.get(entry["what"]) or entry["needs"]) for entry in waiting]

    def _surroundings(self, row: Row, running: Mapping[str, str]) -> passthrough_rules.Surroundings:
        graphics = facts.graphics_of(row, running)
        adapters = row.get("config.storageDevice.hostBusAdapter") or []
        return passthrough_rules.Surroundings(
            tree=pci.tree_of(row.get("hardware.pciDevice"), None),
            network=network_of(row.get("config.network"), row.get("config.virtualNicManagerInfo")),
            functions=passthrough_rules.functions_of(self.esxcli.call("hardware.pci.list")),
            storage={cast(str, pci.normal_address(one.pci)): one.device for one in adapters if one.pci},
            gpus={device.id: device for device in graphics.devices} if graphics else {},
            # Hosts before 7.0 neither report nor support it.
            rebinds=bool(row.get("capability.deviceRebindWithoutRebootSupported")),
            method=self._params["method"],
        )


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_for_host(module, Passthrough(module.params, module.warn), check_params(module.params))


if __name__ == "__main__":
    main()
