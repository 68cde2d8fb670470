#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: roce_qos_info
short_description: Tell what the ports of a switch do to RoCE
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Reads one switch and tells, in the same terms on all platforms, how its ports treat priorities, what of it runs,
    what
    they have counted, and who their neighbours are.
  - The whole chain is worked out for each port. It leads from the DSCP to the priority, from there to the priority
    group
    and the queue, and to what PFC pauses.
  - Reads Onyx, Cumulus Linux, SONiC, Enterprise SONiC, NX-OS, EOS, OS10 and Junos, configured by whomever.
notes:
  - What a platform does not tell, or does not have, is null. It is never filled with what is likely.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.attributes.read_only
attributes:
  platform:
    support: full
    description: What the commands are sent to.
    platforms: Onyx, Cumulus Linux, SONiC, NX-OS, EOS, OS10, Junos
options:
  ports:
    description:
      - The ports, as the switch names them, with ranges such as V(Ethernet1-32). Left out, all.
    type: list
    elements: str
    default: []
  platform:
    description:
      - Operating system of the switch, where C(ansible_network_os) does not say it.
    type: str
    choices: [cumulus, enterprise_sonic, eos, junos, nxos, onyx, os10, sonic]
seealso:
  - module: aiready.vsphere.roce_qos
    description: Sets what is told here.
  - module: aiready.vsphere.roce_agreement_info
    description: Compares it with hosts, guests and other switches.
"""

EXAMPLES = r"""
- name: Look at a leaf
  hosts: switches
  gather_facts: false
  tasks:
    - name: Read two ports
      aiready.vsphere.roce_qos_info:
        ports: [Ethernet1-2]
      register: roce

    - name: Tell which priorities they pause
      ansible.builtin.debug:
        msg: "{{ roce.switch.ports | dict2items | items2dict(value_name='value') }}"
"""

RETURN = r"""
switch:
  description: The switch.
  returned: success
  type: dict
  contains:
    name:
      description: Its name in the inventory.
      type: str
      returned: always
      sample: leaf-01
    hostname:
      description: Its own name.
      type: str
      returned: always
      sample: leaf-01
    platform:
      description: Its operating system.
      type: str
      returned: always
      sample: eos
    version:
      description: Its release.
      type: str
      returned: always
      sample: 4.32.1F
    model:
      description: Its model.
      type: str
      returned: always
      sample: DCS-7060CX2-32S
    exceptions:
      description: What contradicts a preset, or turns everything off.
      type: list
      elements: str
      returned: always
      sample: []
    unread:
      description:
        - Commands that the switch refused, and commands, ports and texts whose output was not understood, each with
          the reason. What they hold is not known.
      type: list
      elements: str
      returned: always
      sample: []
    unsaved:
      description: Whether what runs differs from what a restart comes back with. Null where the platform does not tell.
      type: bool
      returned: always
      sample: false
    missing_ports:
      description: Ports of the task that the switch does not have.
      type: list
      elements: str
      returned: always
      sample: []
    counted:
      description: By command, all that it printed, of those commands that tell what ports counted.
      type: dict
      returned: always
      sample: {show priority-flow-control counters: "Port  RxPfc  TxPfc"}
    ports:
      description:
        - By name, how each port is configured, worked out to what packets meet there. Null is not known.
        - C(dscp_map), C(queues), C(groups) and C(pfc_queues) are tables by DSCP and by priority. C(pfc) are the
          priorities
          with flow control, C(lossless) those with headroom. C(ecn) is by queue, and C(mark) is false where packets are
          dropped instead.
        - C(pfc_asymmetric) is true where a port obeys pauses of all priorities and sends only those of C(pfc).
        - C(enabled) is false where an administrator shut the port down. C(vlan_mode) is V(access), V(trunk) or
          V(routed), C(untagged) the VLAN of packets without a tag, and C(tagged) the VLANs that it carries with their
          tag, of those that exist on the switch.
        - C(running) holds the same keys as they run, with C(up) and C(counters). C(neighbours) is what LLDP shows.
        - C(running.storms) are the queues that the watchdog holds up now, because the peer does not stop pausing.
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
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: cannot_read}
"""
