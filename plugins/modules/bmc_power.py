#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: bmc_power
short_description: Manage the power of a server through its BMC
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Powers a server on or off over the Redfish service of its BMC, and waits until its power state has changed.
  - A cold power cycle is V(off) and then V(on). Firmware settings of network adapters take effect only after it. A
    reset or a reboot does not cut the power of the devices.
  - The module does not check which workload runs on the server. Enter maintenance mode first, see
    M(aiready.vsphere.esxi_maintenance).
  - M(community.general.redfish_command) sends a command regardless of the power state. It waits at most until the
    service answers again, not for the power state. It has no check mode.
extends_documentation_fragment:
  - aiready.vsphere.bmc
  - aiready.vsphere.bmc.attributes
options:
  state:
    description: Desired power state of the server.
    type: str
    choices: ["on", "off"]
    required: true
  how:
    description:
      - V(graceful) requests a shutdown of the operating system. The module fails if the server is not off after
        O(timeout_s).
      - V(forced) cuts the power, regardless of the workload on the server.
      - For O(state=on) both values do the same on most servers.
    type: str
    choices: [graceful, forced]
    default: graceful
  timeout_s:
    description: Maximum time in seconds until the server reaches the O(state).
    type: int
    default: 600
attributes:
  check_mode:
    details: Change and result are those of a real run.
  diff_mode:
    details: The power state before and after the task.
seealso:
  - module: aiready.vsphere.bios_settings
  - module: community.general.redfish_command
"""

EXAMPLES = r"""
- name: Shut down a server and wait until it is off
  aiready.vsphere.bmc_power:
    bmc_address: bmc-01.example.com
    bmc_username: root
    bmc_password: "{{ bmc_password }}"
    state: "off"

- name: Power off the servers for work on their power supply
  hosts: esxi_hosts
  gather_facts: false
  serial: 1
  module_defaults:
    group/aiready.vsphere.bmc:
      bmc_address: "{{ bmc_address }}"
      bmc_password: "{{ bmc_password }}"
  tasks:
    - name: Shut down the server
      aiready.vsphere.bmc_power:
        state: "off"
        how: graceful
        timeout_s: 900
      delegate_to: localhost

- name: Power on a server
  aiready.vsphere.bmc_power:
    bmc_address: bmc-01.example.com
    state: "on"
"""

RETURN = r"""
server:
  description: Result for the server, also if the task fails.
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
    changed:
      description: True if the task changed the power state, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task. Empty if it could not be read.
      type: dict
      returned: always
      sample: {power: "on"}
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        power:
          description: Power state, V(on), V(off), or a transitional state that the BMC reports.
          type: str
          returned: success
      sample: {power: "off"}
    changes:
      description: Changes of the task. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: power, before: "on", after: "off", needs: null}
    pending:
      description: Always empty.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: True if the server is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the server is not in the desired state. Empty otherwise.
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
  sample: {code: power_timeout, subject: bmc-01.example.com, last_state: "On"}
"""

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun, run
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import address, power, session, system
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC, check_bmc

ARGUMENTS = dict(
    BMC,
    state={"type": "str", "choices": ["on", "off"], "required": True},
    how={"type": "str", "choices": ["graceful", "forced"], "default": "graceful"},
    timeout_s={"type": "int", "default": 600},
)
STATES = {"on": power.ON, "off": power.OFF}
UNKNOWN_IDS = dict.fromkeys(("vendor", "model", "serial", "uuid", "system_id"))


@dataclass(frozen=True)
class PowerRequest:
    """The power state of one server."""

    state: str
    how: str
    timeout_s: int


class ServerPower(Noun[PowerRequest, str]):
    """Power state of one server; a state is a PowerState of Redfish."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self._bmc = session.connect(params)
        self._system: system.System = None  # type: ignore[assignment]

    def read(self, items: Sequence[Item[PowerRequest, str]]) -> None:
        (item,) = items
        self._system = system.find(self._bmc, self._params["system_id"])
        item.ids.update(self._system.ids)
        item.now = self._system.power

    def want(self, item: Item[PowerRequest, str]) -> str:
        return STATES[item.requested.state]

    def compare(self, now: str, wanted: str) -> list[Change]:
        return [] if now == wanted else [Change("power", _word(now), _word(wanted))]

    def apply(self, items: Sequence[Item[PowerRequest, str]]) -> None:
        (item,) = items
        # A server that is on its way only has to be waited for.
        if power.TOWARDS.get(item.now) != item.wanted:
            item.touched = True
            power.switch(self._bmc, self._system, item.wanted, item.requested.how)
        item.touched = True

    def prove(self, items: Sequence[Item[PowerRequest, str]]) -> None:
        for item in items:
            item.proved = power.wait(self._bmc, self._system, item.wanted, item.requested.timeout_s)

    def project(self, state: str) -> dict[str, Any]:
        return {"power": _word(state)}

    def close(self) -> None:
        self._bmc.close()


def _word(state: str) -> str:
    return {power.ON: "on", power.OFF: "off"}.get(state, state)


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    params = module.params
    problems = check_bmc(params)
    if not 1 <= params["timeout_s"] <= 86400:
        problems.append(f"timeout_s is {params['timeout_s']}; it must be between 1 and 86400.")
    fail_if_invalid(module, problems)
    label = str(address.parse(params["bmc_address"]))
    requested = request(PowerRequest, params)
    noun = ServerPower(params)
    try:
        run(module, noun, [Item(label, requested, dict(UNKNOWN_IDS, name=label))], "server", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
