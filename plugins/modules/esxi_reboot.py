#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_reboot
short_description: Run one restart of an ESXi host and wait until it has booted
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Restarts one host that is in maintenance mode, and reports the state in vCenter while it waits.
  - Compares the boot times to verify that the host has booted, and waits until the host is connected again.
  - A cold power cycle is a shutdown through vCenter, followed by a power-on through the BMC. Some settings of network
    adapters need it.
  - The next run continues after a killed run. It does not restart a host that is already shutting down. It powers on a
    host that a cold power cycle left off.
  - If a host does not return, the error contains the last boot time, the state in vCenter, and the power state of the
    BMC.
  - M(community.vmware.vmware_host_powerstate) returns as soon as vCenter has accepted the request.
notes:
  - The module is not idempotent. A second run restarts the host again. In a playbook, use a condition that checks
    whether a restart is needed.
  - An error of vCenter while the host is unreachable does not end the wait. Only the time limit ends it.
  - The module fails at once if an administrator has disconnected the host, because no wait ends that.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.bmc
  - aiready.vsphere.attributes
options:
  state:
    description:
      - V(rebooted) restarts the host, which must be in maintenance mode.
      - V(back) only waits until the host is connected, and restarts nothing.
      - With the options of the BMC, V(back) also powers on a host that this collection took out of service. With
        O(power=cold) it powers on any host.
    type: str
    choices: [rebooted, back]
    default: rebooted
  reasons:
    description: Reasons for the restart, printed while the module waits.
    type: list
    elements: str
    default: []
  power:
    description:
      - V(warm) restarts the host.
      - V(cold) shuts the host down and powers it on again through its BMC. It needs O(bmc_address).
    type: str
    choices: [warm, cold]
    default: warm
  booted_after:
    description:
      - Earliest accepted boot time for O(state=back). Use the C(boot_time) in RV(host.before) of an earlier task, which
        has the right format.
    type: str
  planned:
    description: Host state that earlier tasks of the run would produce. Applies only in check mode.
    type: dict
    suboptions:
      in_maintenance:
        description: Whether to plan for a host in maintenance mode.
        type: bool
        default: false
  timeout_s:
    description: Maximum time in seconds until the host is connected again. Servers with many GPUs need about 15
      minutes.
    type: int
    default: 1800
attributes:
  check_mode:
    details: Reports that a run would restart the host, with all errors of a real run.
  diff_mode:
    details: The time of the last boot.
seealso:
  - module: aiready.vsphere.esxi_maintenance
  - module: aiready.vsphere.bmc_power
  - module: community.vmware.vmware_host_powerstate
"""

EXAMPLES = r"""
- name: Restart a host that is in maintenance mode
  aiready.vsphere.esxi_reboot:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com

- name: Restart a host with a longer time limit
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Restart the host
      aiready.vsphere.esxi_reboot:
        host: esx-01.example.com
        reasons:
          - the host driver is installed and not loaded
        timeout_s: 3600

- name: Power cycle a host for its network adapter firmware
  aiready.vsphere.esxi_reboot:
    host: esx-01.example.com
    power: cold
    bmc_address: bmc-01.example.com
    bmc_username: root
    bmc_password: "{{ bmc_password }}"

- name: Wait for an unreachable host
  aiready.vsphere.esxi_reboot:
    host: esx-01.example.com
    state: back
    timeout_s: 900
"""

RETURN = r"""
host:
  description: The host before and after the task.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for a host that was not found.
      type: str
      returned: always
      sample: host-21
    changed:
      description: True if the task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample: {connection: connected, power: poweredOn, in_maintenance: true, boot_time: '2026-03-01T08:15:30.000000Z'}
    after:
      description: State after the task. In check mode, the state that a run would produce.
      type: dict
      returned: always
      sample:
        connection: connected
        power: poweredOn
        in_maintenance: true
        boot_time: later than 2026-03-01T08:15:30.000000Z
      contains:
        connection:
          description: Connection state in vCenter, V(connected), V(disconnected) or V(notResponding).
          type: str
          returned: always
          sample: connected
        power:
          description: Power state of the host as vCenter reports it.
          type: str
          returned: always
          sample: poweredOn
        in_maintenance:
          description: True if the host is in maintenance mode.
          type: bool
          returned: always
          sample: true
        boot_time:
          description: Time of the last boot, in UTC. In check mode, the moment after which the host would boot.
          type: str
          returned: always
          sample: "2026-03-01T09:02:11.000000Z"
    changes:
      description: Changes of the task, each with C(path), C(before) and C(after). C(needs) is the restart that a change
        waits for.
      type: list
      elements: dict
      returned: always
      sample:
        - path: boot_time
          before: '2026-03-01T08:15:30.000000Z'
          after: later than 2026-03-01T08:15:30.000000Z
          needs: null
    pending:
      description: Always empty. No setting of this module waits for a restart.
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
  description: Machine-readable cause of the task failure, with a stable C(code) and further details, such as the
    running C(vms).
  returned: failure
  type: dict
  sample: {code: host_not_back, subject: Host esx-01.example.com, connection: notResponding, power: poweredOn}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import planned
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import switch
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.boot import ARGUMENTS, Reboot
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.params import problems


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    with switch.opened(module.params) as bmc:
        noun = Reboot(module.params, module.warn, bmc, planned(module, module.params["planned"]))
        run_for_host(module, noun, problems(module.params))


if __name__ == "__main__":
    main()
