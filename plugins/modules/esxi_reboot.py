#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_reboot
short_description: Restart an ESXi host once and wait until it is really back
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Restarts one host that is in maintenance mode, tells while it waits what vCenter sees, and proves by the time of
    the last boot that the host has booted and is connected again.
  - A cold power cycle, which some settings of network adapters need, is a shutdown through vCenter, after which the
    BMC switches the host on again.
  - A run that was killed is continued by the next one. A host that is already on its way down is not restarted again,
    and one that a cold power cycle left off is switched on.
  - A host that does not come back is an error that tells the last boot, what vCenter sees, and what the BMC says.
  - The peer M(community.vmware.vmware_host_powerstate) returns when vCenter has taken the request.
notes:
  - Running it once more restarts the host once more. In a playbook, tell by a condition whether a restart is needed.
  - Trouble with vCenter while the host is away does not end the wait, its time limit does.
  - A host that an administrator has disconnected is refused at once, since no wait ends that.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.bmc
  - aiready.vsphere.attributes
options:
  state:
    description:
      - V(rebooted) restarts the host, which has to be in maintenance mode.
      - V(back) only waits until it is connected, and restarts nothing. With the options of the BMC it also switches
        on a host that this collection took out of service, or any with O(power=cold).
    type: str
    choices: [rebooted, back]
    default: rebooted
  reasons:
    description: Why the host is restarted; told while the module waits.
    type: list
    elements: str
    default: []
  power:
    description:
      - V(warm) restarts the host.
      - V(cold) shuts it down and switches it on again through its BMC. Needs O(bmc_address).
    type: str
    choices: [warm, cold]
    default: warm
  booted_after:
    description:
      - With O(state=back), the host has to have booted after this moment. The C(boot_time) in RV(host.before) of
        an earlier task has the right form.
    type: str
  planned:
    description: What tasks before this one would have made of the host. Heeded in check mode alone.
    type: dict
    suboptions:
      in_maintenance:
        description: The host would be in maintenance mode.
        type: bool
        default: false
  timeout_s:
    description: How many seconds the host may take to be back. Servers with many GPUs need a quarter of an hour.
    type: int
    default: 1800
attributes:
  check_mode:
    details: Says that the host would be restarted, and refuses what a real run would refuse.
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

- name: Restart a host and give it time
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Restart it
      aiready.vsphere.esxi_reboot:
        host: esx-01.example.com
        reasons:
          - the host driver is installed and not loaded
        timeout_s: 3600

- name: Switch a host off and on for the firmware of its network adapter
  aiready.vsphere.esxi_reboot:
    host: esx-01.example.com
    power: cold
    bmc_address: bmc-01.example.com
    bmc_username: root
    bmc_password: "{{ bmc_password }}"

- name: Wait for a host that is away
  aiready.vsphere.esxi_reboot:
    host: esx-01.example.com
    state: back
    timeout_s: 900
"""

RETURN = r"""
host:
  description: The host, before and after.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for one that was not found.
      type: str
      returned: always
      sample: host-21
    changed:
      description: Whether this task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample: {connection: connected, power: poweredOn, in_maintenance: true, boot_time: '2026-03-01T08:15:30.000000Z'}
    after:
      description: What is there now, or would be in check mode.
      type: dict
      returned: always
      sample:
        connection: connected
        power: poweredOn
        in_maintenance: true
        boot_time: later than 2026-03-01T08:15:30.000000Z
      contains:
        connection:
          description: How vCenter sees the host, V(connected), V(disconnected) or V(notResponding).
          type: str
          returned: always
          sample: connected
        power:
          description: Its power, as far as vCenter knows.
          type: str
          returned: always
          sample: poweredOn
        in_maintenance:
          description: Whether it is in maintenance mode.
          type: bool
          returned: always
          sample: true
        boot_time:
          description: When it booted last, in UTC. In check mode, the moment after which it would.
          type: str
          returned: always
          sample: "2026-03-01T09:02:11.000000Z"
    changes:
      description: Each change, with its path, the values before and after, and what it needs to take effect.
      type: list
      elements: dict
      returned: always
      sample:
        - path: boot_time
          before: '2026-03-01T08:15:30.000000Z'
          after: later than 2026-03-01T08:15:30.000000Z
          needs: null
    pending:
      description: What waits for a restart; of this module nothing ever does.
      type: list
      elements: dict
      returned: always
      sample: []
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
  description: Why the task failed, with a stable C(code) and what else is known, such as the running C(vms).
  returned: failure
  type: dict
  sample: {code: host_not_back, subject: Host esx-01.example.com, connection: notResponding, power: poweredOn}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power import switch
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.boot import ARGUMENTS, Reboot
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.params import problems


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    with switch.opened(module.params) as bmc:
        planned = module.params["planned"] if module.check_mode else None
        run_for_host(module, Reboot(module.params, module.warn, bmc, planned), problems(module.params))


if __name__ == "__main__":
    main()
