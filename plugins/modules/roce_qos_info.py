#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: roce_qos_info
short_description: Gather the RoCE QoS of the ports of a switch
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Reads one switch and returns, in the same format for all platforms, the configured and the running QoS of its ports,
    their counters and their neighbours.
  - Computes the whole path of a packet for each port. The path leads from the DSCP to the priority, then to the
    priority group, the queue and the priorities that PFC pauses.
  - Supports Onyx, Cumulus Linux, SONiC, Enterprise SONiC, NX-OS, EOS, OS10 and Junos. Another tool or a person may have
    configured the switch.
notes:
  - A value that a platform does not report, or does not have, is null. The module never replaces it by a likely value.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.attributes.read_only
attributes:
  platform:
    support: full
    description: Platforms that receive the commands.
    platforms: Onyx, Cumulus Linux, SONiC, NX-OS, EOS, OS10, Junos
options:
  ports:
    description:
      - Ports by the switch's own names, with ranges such as V(Ethernet1-32). If omitted, all ports.
    type: list
    elements: str
    default: []
  platform:
    description:
      - Operating system of the switch, if C(ansible_network_os) does not name it.
    type: str
    choices: [cumulus, enterprise_sonic, eos, junos, nxos, onyx, os10, sonic]
seealso:
  - module: aiready.vsphere.roce_qos
    description: Configures these settings.
  - module: aiready.vsphere.roce_agreement_info
    description: Compares them with hosts, guests and other switches.
"""

EXAMPLES = r"""
- name: Read the ports of a leaf
  hosts: switches
  gather_facts: false
  tasks:
    - name: Read two ports
      aiready.vsphere.roce_qos_info:
        ports: [Ethernet1-2]
      register: roce

    - name: Show the priorities that they pause
      ansible.builtin.debug:
        msg: "{{ roce.switch.ports | dict2items | items2dict(value_name='value') }}"
"""

RETURN = r"""
switch:
  description: Data of the switch.
  returned: success
  type: dict
  contains:
    name:
      description: Name in the inventory.
      type: str
      returned: always
      sample: leaf-01
    hostname:
      description: Hostname that the switch itself reports.
      type: str
      returned: always
      sample: leaf-01
    platform:
      description: Operating system of the switch.
      type: str
      returned: always
      sample: eos
    version:
      description: Release of the operating system.
      type: str
      returned: always
      sample: 4.32.1F
    model:
      description: Hardware model.
      type: str
      returned: always
      sample: DCS-7060CX2-32S
    exceptions:
      description: Settings that contradict a preset, or that turn off all QoS.
      type: list
      elements: str
      returned: always
      sample: []
    unread:
      description:
        - Commands that the switch refused, and commands, ports and texts that the module did not understand, each with
          the reason. Their contents are unknown.
      type: list
      elements: str
      returned: always
      sample: []
    unsaved:
      description: Whether the running configuration differs from the startup configuration. Null where the platform
        does not report it.
      type: bool
      returned: always
      sample: false
    missing_ports:
      description: Ports of the task that do not exist on the switch.
      type: list
      elements: str
      returned: always
      sample: []
    counted:
      description: Raw output of the commands that show port counters, by command.
      type: dict
      returned: always
      sample: {show priority-flow-control counters: "Port  RxPfc  TxPfc"}
    ports:
      description:
        - Configured QoS of each port by name, as the effect on packets. Null means unknown.
        - C(dscp_map), C(queues), C(groups) and C(pfc_queues) are tables by DSCP and by priority.
        - C(pfc) has the priorities with flow control, C(lossless) those with headroom.
        - C(ecn) is by queue. Its C(mark) is false if packets are dropped instead of marked.
        - C(pfc_asymmetric) is true if the port obeys pauses of all priorities and sends only those of C(pfc).
        - C(enabled) is false if an administrator shut the port down.
        - C(vlan_mode) is V(access), V(trunk) or V(routed). C(untagged) is the VLAN of packets without a tag. C(tagged)
          has the VLANs that the port carries with their tag, of those that exist on the switch.
        - C(running) has the same keys with effective values, plus C(up) and C(counters). C(neighbours) is LLDP data.
        - C(running.storms) has the queues that the watchdog blocks now, because the peer does not stop pausing.
      type: dict
      returned: always
      sample:
        Ethernet1:
          trust: dscp
          dscp_map: {"26": 3, "48": 6}
          queues: {"3": 3, "6": 6}
          pfc_mode: "on"
          pfc: [3]
          lossless: [3]
          ecn: {"3": {min_bytes: 150000, max_bytes: 1500000, probability: 100, mark: true}}
          strict: [6]
          shares: {"3": 50}
          mtu: 9216
          watchdog: true
          enabled: true
          vlan_mode: trunk
          untagged: null
          tagged: "111"
          running: {up: true, pfc: [3], counters: {pauses_received: {"3": 12}}}
          neighbours: [{system: esx-01.example.com, port: vmnic2, chassis: null, description: null}]
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: cannot_read}
"""
