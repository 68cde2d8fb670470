#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: roce_qos
short_description: Manage RoCE QoS on the ports of a switch
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Configures RoCE QoS on one switch from one platform-neutral description.
  - The settings are trust, the map from DSCP to priority, priority flow control (PFC) with its buffers, ECN, the
    bandwidth share, the queue of congestion notifications, MTU and the PFC watchdog.
  - Supports NVIDIA Onyx, NVIDIA Cumulus Linux (NVUE), SONiC, Enterprise SONiC, Cisco NX-OS, Arista EOS and Dell OS10.
    It only reads Juniper Junos. C(ansible_network_os) selects the platform.
  - Compares the effect on packets, not lines of text. The module leaves an equal configuration in another form
    unchanged. It also finds a second lossless priority, which a comparison of lines misses.
  - Sends only the differences, in one edit. The lossless traffic class of a port never disappears before the new one
    exists.
  - Reads the running configuration after the change. The module rolls back if the running configuration differs from
    the request, if the switch refuses a command, or if the connection breaks. RV(switch.outcome) states the result.
  - Fails if the switch is configured as requested but the running configuration differs. Nothing is changed in this
    case.
  - The collections of the vendors have no module for RoCE QoS, or one that compares lines. Enterprise SONiC's
    C(sonic_roce) restarts the switch.
notes:
  - The module reaches Cumulus Linux and SONiC by C(ssh) with C(become), and the others by
    C(ansible.netcommon.network_cli). This collection contains the plugins for Onyx and OS10, C(aiready.vsphere.onyx)
    and C(aiready.vsphere.os10).
  - The collection's pages on switches list the commands and the limits of each platform.
  - Changing PFC or buffers reprograms the hardware. The affected port can drop packets for a moment, on some platforms
    all ports.
  - The module never deletes unmanaged objects. It may detach them from the ports of the task.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.roce_intent
attributes:
  check_mode:
    details: EOS, Cumulus Linux and SONiC validate the change themselves, see RV(switch.validated).
  diff_mode:
    details: The commands follow the difference.
  platform:
    support: full
    description: Platforms that receive the commands.
    platforms: Onyx, Cumulus Linux, SONiC, NX-OS, EOS, OS10
options:
  host_ports:
    description:
      - Ports to hosts, by the switch's own names. The module expands ranges such as V(Ethernet1-32).
    type: list
    elements: str
    default: []
  fabric_ports:
    description:
      - Ports to other switches. They get the same settings, except O(config.dcbx).
    type: list
    elements: str
    default: []
  host_mtu:
    description:
      - MTU of the adapters behind the switch. The module rejects a smaller O(config.mtu).
    type: int
  state:
    description:
      - V(present) configures exactly the requested RoCE QoS. Other priorities of these ports become lossy.
      - V(merged) adds RoCE QoS and keeps other lossless priorities.
      - V(absent) removes RoCE QoS from the ports. It also removes the objects of this module that no port uses any
        more. The MTU stays.
      - V(restored) returns the settings in O(settings) to their values before earlier runs. It changes a setting only
        if its current value is the one that the runs left. It needs no ports. The playbook C(restore) uses it.
      - V(gathered) only reads the named ports, or all ports.
      - V(parsed) reads O(outputs). V(rendered) returns the commands for a switch with factory defaults. Both need no
        switch.
    type: str
    choices: [present, merged, absent, restored, gathered, parsed, rendered]
    default: present
  save:
    description:
      - When the module saves the running configuration as startup configuration.
      - V(when_verified) saves if the switch runs as requested and has unsaved changes, also those of a killed run or of
        another user. Onyx, OS10 and Cumulus Linux do not report unsaved changes, so every run saves them.
      - V(always) saves every switch in every run that verified it.
      - V(never) does not save.
    type: str
    choices: [always, when_verified, never]
    default: when_verified
  backup_file:
    description:
      - File on the controller for the QoS configuration of the switch before the first change. Only its owner can read
        it.
    type: path
  confirm_timeout_s:
    description:
      - Seconds after which EOS and Cumulus Linux roll back a change that is not confirmed.
    type: int
    default: 300
  verify_timeout_s:
    description:
      - Seconds that the switch and its peers may need until the change is effective.
    type: int
    default: 30
  reconnect_timeout_s:
    description:
      - Seconds that the module tries to reconnect after the connection broke.
    type: int
    default: 60
  transaction:
    description:
      - Transaction mode of OS10. With V(auto), the module sends the change as one transaction if the switch accepts
        C(start transaction). V(never) sends single commands, and the inverse commands if the change fails.
    type: str
    choices: [auto, never]
    default: auto
  allow:
    description:
      - Disruptive actions that the module does only with your permission.
      - V(roce_enable_reboot) permits C(roce enable) on Enterprise SONiC, which restarts the switch.
      - V(qos_reload) permits C(config qos reload) on a SONiC switch without QoS tables.
    type: list
    elements: str
    choices: [roce_enable_reboot, qos_reload]
    default: []
  outputs:
    description:
      - Captured output that O(state=parsed) reads.
      - A text with the output of one command, a transcript of several commands with their prompts, or a dictionary of
        commands and their outputs.
    type: raw
  settings:
    description:
      - Settings for O(state=restored), as P(aiready.vsphere.restore_plan#filter) computes them from the journal.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description:
          - Path of the setting in the configuration, such as V(interface Ethernet1) and V(mtu).
        type: list
        elements: str
        required: true
      before:
        description:
          - Value before the runs. Null if the setting did not exist.
        type: raw
      left:
        description:
          - Value that the runs left. Null if they removed the setting.
        type: raw
    version_added: 0.2.0
  killed:
    description:
      - Runs for O(state=restored) that were killed while they changed the switch. The module restores the differences
        from the configuration before the run that match commands of the run.
    type: list
    elements: dict
    default: []
    suboptions:
      before:
        description:
          - QoS configuration before the run, as RV(switch.backup).
        type: str
        required: true
      commands:
        description:
          - Commands of the run, as RV(switch.commands).
        type: list
        elements: str
        required: true
    version_added: 0.2.0
  settings_platform:
    description:
      - Platform of the switch that had the O(settings). If the switch has another platform now, the module changes
        nothing and reports them as C(cannot).
    type: str
    version_added: 0.2.0
  version:
    description:
      - Release of the switch for O(state=rendered) and O(state=parsed), if commands or outputs differ between releases.
    type: str
  platform:
    description:
      - Operating system of the switch, if C(ansible_network_os) does not name it.
    type: str
    choices: [cumulus, enterprise_sonic, eos, junos, nxos, onyx, os10, sonic]
seealso:
  - module: aiready.vsphere.roce_qos_info
    description: Effective RoCE QoS of a switch, with counters.
  - module: aiready.vsphere.roce_agreement_info
    description: Mismatches between switches, hosts and guests.
  - module: aiready.vsphere.esxi_module_options
    description: The same settings for adapters of ESXi hosts.
"""

EXAMPLES = r"""
- name: Configure lossless RoCE on a leaf
  hosts: switches
  gather_facts: false
  tasks:
    - name: Give RoCE priority 3 and DSCP 26
      aiready.vsphere.roce_qos:
        host_ports: [Ethernet1-2]
        fabric_ports: [Ethernet31-32]

- name: Add a backup, ECN thresholds by speed and DCBX
  hosts: switches
  gather_facts: false
  tasks:
    - name: Configure RoCE QoS and announce it by DCBX
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

    - name: Show the commands
      ansible.builtin.debug:
        var: roce.switch.commands

- name: Render commands without a switch
  hosts: switches
  gather_facts: false
  tasks:
    - name: Render the commands
      aiready.vsphere.roce_qos:
        host_ports: [Ethernet1-32]
        platform: eos
        state: rendered

- name: Remove RoCE QoS
  hosts: switches
  gather_facts: false
  tasks:
    - name: Remove RoCE QoS from the ports
      aiready.vsphere.roce_qos:
        host_ports: [Ethernet1-2]
        fabric_ports: [Ethernet31-32]
        state: absent
"""

RETURN = r"""
switch:
  description:
    - State of the switch and the result of the change, also after a failure. The states that only read or compute do
      not return it.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the switch in the inventory.
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
    changed:
      description: Whether the module changed something, or would change it in check mode.
      type: bool
      returned: always
      sample: true
    commands:
      description: Commands that the module sent, or would send in check mode, in this order.
      type: list
      elements: str
      returned: always
      sample: [qos profile AIREADY-ROCE, priority-flow-control on]
    validated:
      description: Validation of the commands. V(device) is by the switch itself, V(computed) by this module only.
      type: str
      returned: always
      sample: device
    outcome:
      description:
        - State of the switch. V(unchanged), V(new), V(old) after a rollback, or V(unknown). The message gives the
          reason for V(unknown).
      type: str
      returned: always
      sample: new
    saved:
      description: Whether the running configuration was saved, or would be in check mode.
      type: bool
      returned: always
      sample: true
    backup:
      description: QoS configuration of the switch before the change, in its own syntax. It contains no users, keys or
        communities.
      type: str
      returned: always
      sample: "qos map dscp 26 to traffic-class 3"
    left:
      description: The same after the change. Null if the module changed nothing or could not read the switch again.
      type: str
      returned: always
      sample: "qos map dscp 26 to traffic-class 3"
    settings:
      description:
        - Result of each setting. C(state) is V(restored), V(due) in check mode, V(already as before),
          V(changed since by another), or V(cannot) with the reason in C(why). C(back), C(left) and C(found) are its
          values.
      type: list
      elements: dict
      returned: always, empty unless O(state=restored)
      sample:
        - {setting: interface Ethernet1 mtu, state: restored, back: null, left: mtu 9000, found: mtu 9000, why: ""}
    not_supported:
      description: Requested settings that the platform does not support, with the reason.
      type: list
      elements: str
      returned: always
      sample: []
    not_verified:
      description: Settings that could not be verified, such as on ports without a link.
      type: list
      elements: str
      returned: always
      sample: ["Ethernet2: no link, so that nothing runs there that could be looked at."]
    ports_down:
      description: Ports of the task that are down before the change, each with C(port) and C(reason).
      type: list
      elements: dict
      returned: always
      sample: [{port: Ethernet2, reason: administratively down}]
    before:
      description: RoCE QoS of the ports before the change, in the same format as RV(switch.after).
      type: dict
      returned: always
      sample:
        ports:
          Ethernet1: {trust: pcp, roce_priority: 3, pfc: [], ecn: {}, mtu: 1500}
    after:
      description: RoCE QoS of the ports, read again after the change. In check mode, the expected one.
      type: dict
      returned: always
      contains:
        ports:
          description: Effective settings by port name. It has only the settings that the platform supports.
          type: dict
          returned: success, unless O(state=restored)
        settings:
          description: Values of the restored settings.
          type: dict
          returned: with O(state=restored)
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
        - Changes that the module made, or would make in check mode. Ports with the same change share one entry.
        - In check mode C(confirmation) is an unconfirmed change of a killed run. The switch is going to undo it, so the
          module sets the requested configuration again.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: Ethernet1-2.pfc, before: [], after: [3], needs: null}
    pending:
      description: Unsaved running configuration, on platforms that report it.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the switch differs from the request.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the switch differs from the request, otherwise empty.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the switch is as requested.
      type: dict
      returned: always
      sample: {}
gathered:
  description: Effective RoCE QoS of the switch, as RV(aiready.vsphere.roce_qos_info#module:switch).
  returned: with O(state=gathered)
  type: dict
  sample: {platform: eos, ports: {}}
parsed:
  description: The same, computed from O(outputs).
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
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: not_proved, outcome: old}
"""
