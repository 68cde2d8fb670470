#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: roce_qos
short_description: Give RoCE its class on the ports of a switch
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets on one switch what RoCE needs, from one description for all platforms. This is trust, the map from DSCP to
    priority, priority flow control (PFC) with its buffers, ECN, the share of bandwidth, the queue of congestion
    notifications, MTU, and the watchdog.
  - Knows NVIDIA Onyx, NVIDIA Cumulus Linux (NVUE), SONiC, Enterprise SONiC, Cisco NX-OS, Arista EOS and Dell OS10. The
    platform follows from C(ansible_network_os). Juniper Junos is only read.
  - Compares what packets meet, not lines of text. A configuration that an operator wrote in another but equal form
    is left
    alone, and a second lossless priority is found that no comparison of lines would find.
  - Sends only what differs, in one edit, and never takes the lossless class away from a port before the new one is
    there.
  - Afterwards reads what runs, and goes back to what was there before if it is not what was wanted, if a command is
    refused, or if the connection breaks. RV(switch.outcome) says in which state the switch is.
  - A switch that is configured as wanted and runs otherwise is a failure too, although nothing is changed then.
  - The collections of the vendors have no module for it, or one that compares lines. Enterprise SONiC's C(sonic_roce)
    restarts the switch.
notes:
  - Cumulus Linux and SONiC are reached by C(ssh) with C(become), the others by C(ansible.netcommon.network_cli).
    For Onyx and
    OS10 this collection brings the plugins, as C(aiready.vsphere.onyx) and C(aiready.vsphere.os10).
  - What each platform is sent, and what it cannot do, stands in the collection's pages on switches.
  - Changing PFC or buffers programs the hardware anew. Links may lose packets for a moment, on some platforms all
    of them.
  - Objects that others made are never deleted. They may be detached from the ports that the task names.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.roce_intent
attributes:
  check_mode:
    details: EOS, Cumulus Linux and SONiC judge the change themselves, see RV(switch.validated).
  diff_mode:
    details: The commands stand below the difference.
  platform:
    support: full
    description: What the commands are sent to.
    platforms: Onyx, Cumulus Linux, SONiC, NX-OS, EOS, OS10
options:
  host_ports:
    description:
      - Ports that lead to hosts, as the switch names them. Ranges such as V(Ethernet1-32) are written out.
    type: list
    elements: str
    default: []
  fabric_ports:
    description:
      - Ports that lead to other switches. They are treated alike, but for O(config.dcbx).
    type: list
    elements: str
    default: []
  host_mtu:
    description:
      - MTU of the adapters behind the switch. A smaller O(config.mtu) is refused.
    type: int
  state:
    description:
      - V(present) makes the ports exactly so. Other priorities stop being lossless there.
      - V(merged) adds, and leaves other lossless priorities as they are.
      - V(absent) removes it from the ports, and what this module made for it as soon as no port uses it. The MTU stays.
      - V(gathered) only reads, all ports or those that are named. V(parsed) works out O(outputs), V(rendered)
        returns the commands for a switch as it comes from the factory. The last two need no switch.
    type: str
    choices: [present, merged, absent, gathered, parsed, rendered]
    default: present
  save:
    description:
      - When what runs becomes what a restart comes back with.
      - V(when_verified) is when it was proved that the switch runs as wanted and something is unsaved, also by a run
        that was killed or by somebody else. Switches that do not tell (Onyx, OS10, Cumulus Linux) are then saved by
        every run.
      - V(always) saves every switch in every run that proved it.
    type: str
    choices: [always, when_verified, never]
    default: when_verified
  backup_file:
    description:
      - File on the controller that gets what the switch had for QoS, before the first change. Only its owner can
        read it.
    type: path
  confirm_timeout_s:
    description:
      - After how many seconds the switch goes back by itself, on platforms that can (EOS, Cumulus Linux), if the
        change is
        not confirmed.
    type: int
    default: 300
  verify_timeout_s:
    description:
      - How long the switch and its peers may take until the change runs.
    type: int
    default: 30
  reconnect_timeout_s:
    description:
      - How long a switch whose connection broke is tried again.
    type: int
    default: 60
  transaction:
    description:
      - With V(auto), OS10 gets the change as one transaction if it takes C(start transaction). V(never) sends single
        commands, and the opposite ones if it fails.
    type: str
    choices: [auto, never]
    default: auto
  allow:
    description:
      - Acts that hurt and are never done otherwise. V(roce_enable_reboot) lets Enterprise SONiC run C(roce enable),
        which
        restarts it. V(qos_reload) lets SONiC without any QoS tables run C(config qos reload).
    type: list
    elements: str
    choices: [roce_enable_reboot, qos_reload]
    default: []
  outputs:
    description:
      - Captured output that O(state=parsed) reads. A text, or a dictionary of commands and their outputs.
      - A text may be the output of one command, or a transcript of several commands with their prompts.
    type: raw
  version:
    description:
      - Release of the switch, for O(state=rendered) and O(state=parsed), where forms depend on it.
    type: str
  platform:
    description:
      - Operating system of the switch, where C(ansible_network_os) does not say it.
    type: str
    choices: [cumulus, enterprise_sonic, eos, junos, nxos, onyx, os10, sonic]
seealso:
  - module: aiready.vsphere.roce_qos_info
    description: What a switch does to RoCE, with counters.
  - module: aiready.vsphere.roce_agreement_info
    description: Whether switches, hosts and guests agree.
  - module: aiready.vsphere.esxi_module_options
    description: The same on the adapters of ESXi hosts.
"""

EXAMPLES = r"""
- name: Lossless RoCE on a leaf
  hosts: switches
  gather_facts: false
  tasks:
    - name: Give RoCE priority 3 and DSCP 26
      aiready.vsphere.roce_qos:
        host_ports: [Ethernet1-2]
        fabric_ports: [Ethernet31-32]

- name: The same with a backup, thresholds for faster ports, and adapters that learn the settings
  hosts: switches
  gather_facts: false
  tasks:
    - name: Give RoCE its class, and tell hosts
      aiready.vsphere.roce_qos:
        config:
          dcbx: ieee
          ecn:
            by_speed:
              - speed: 400
                min_kb: 600
                max_kb: 6000
        host_ports: [Ethernet1-2]
        fabric_ports: [Ethernet31-32]
        backup_file: "{{ roce_backup_dir | default('/tmp') }}/{{ inventory_hostname }}.cfg"
      register: roce

    - name: Tell what was sent
      ansible.builtin.debug:
        var: roce.switch.commands

- name: Commands to look at, without a switch
  hosts: switches
  gather_facts: false
  tasks:
    - name: Render them
      aiready.vsphere.roce_qos:
        host_ports: [Ethernet1-32]
        platform: eos
        state: rendered

- name: Take it away
  hosts: switches
  gather_facts: false
  tasks:
    - name: Remove the class of RoCE
      aiready.vsphere.roce_qos:
        host_ports: [Ethernet1-2]
        fabric_ports: [Ethernet31-32]
        state: absent
"""

RETURN = r"""
switch:
  description: What was found and done, also when the task fails. Not with the states that only read or calculate.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the switch in the inventory.
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
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    commands:
      description: What was sent, or would be in check mode, in this order.
      type: list
      elements: str
      returned: always
      sample: [qos profile AIREADY-ROCE, priority-flow-control on]
    validated:
      description: Who judged the commands. V(device) is the switch itself, V(computed) only this module.
      type: str
      returned: always
      sample: device
    outcome:
      description: The state that the switch is in. V(unchanged), V(new), V(old) after a failure, or V(unknown),
        with the
        reason in the message.
      type: str
      returned: always
      sample: new
    saved:
      description: Whether what runs was saved, or would be in check mode.
      type: bool
      returned: always
      sample: true
    backup:
      description: What the switch had for QoS before, as it writes it. No users, keys or communities.
      type: str
      returned: always
      sample: "qos map dscp 26 to traffic-class 3"
    not_supported:
      description: What was wished for and the platform does not have, with the reason.
      type: list
      elements: str
      returned: always
      sample: []
    not_verified:
      description: What runs and could not be looked at, such as on ports without a link.
      type: list
      elements: str
      returned: always
      sample: ["Ethernet2: no link, so that nothing runs there that could be looked at."]
    ports_down:
      description: Ports of the task that carry nothing before the change, each with C(port) and C(reason).
      type: list
      elements: dict
      returned: always
      sample: [{port: Ethernet2, reason: administratively down}]
    before:
      description: What the ports did to RoCE, in the same terms as RV(switch.after).
      type: dict
      returned: always
      sample:
        ports:
          Ethernet1: {trust: pcp, roce_priority: 3, pfc: [], ecn: {}, mtu: 1500}
    after:
      description: What they do now, read again after the change; in check mode, what they would do.
      type: dict
      returned: always
      contains:
        ports:
          description: By port. RV(switch.after.ports) has only what the platform knows.
          type: dict
          returned: success
      sample:
        ports:
          Ethernet1:
            trust: dscp
            roce_priority: 3
            pfc: [3]
            ecn: {min_kb: 150, max_kb: 1500, probability: 100}
            mtu: 9216
    changes:
      description:
        - What was changed, or would be in check mode. Ports that change alike stand in one entry.
        - In check mode C(confirmation) stands for a change that a run left behind when it was killed, and that the
          switch will undo by itself. What is wanted is not there to stay then, and is set again.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: Ethernet1-2.pfc, before: [], after: [3], needs: null}
    pending:
      description: That what runs is not saved, on platforms that tell.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the switch is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why it is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the switch is as wanted.
      type: dict
      returned: always
      sample: {}
gathered:
  description: What the switch does to RoCE, as RV(aiready.vsphere.roce_qos_info#module:switch).
  returned: with O(state=gathered)
  type: dict
  sample: {platform: eos, ports: {}}
parsed:
  description: The same, from O(outputs).
  returned: with O(state=parsed)
  type: dict
  sample: {platform: eos, ports: {}}
rendered:
  description: The commands.
  returned: with O(state=rendered)
  type: list
  elements: str
  sample: [qos profile AIREADY-ROCE]
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: not_proved, outcome: old}
"""
