#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: roce_agreement_info
short_description: Tell where switches, hosts and guests disagree about RoCE
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Takes what M(aiready.vsphere.roce_qos_info), M(aiready.vsphere.esxi_roce_info) and
    M(aiready.vsphere.guest_roce_info) have read, and tells every disagreement in one sentence. The sentence names the
    port and its value, the peer and its value, and what breaks.
  - Each cable is looked at in both directions. The whole chain is followed at every hop, from the DSCP to the priority,
    to its buffer and its queue, and to what is paused and what is marked.
  - Without O(config), what most adapters of hosts do is what the others are held to. So a network that was set up in
    any other way can be checked too.
  - Needs no connection. It works on what it is given.
notes:
  - What is not known is listed in RV(not_known). It is never taken for right.
  - A configuration that was not saved is told by M(aiready.vsphere.roce_qos_info), and is no disagreement.
extends_documentation_fragment:
  - aiready.vsphere.roce_intent
attributes:
  check_mode:
    support: full
    description: Can say what it would change without changing anything.
    details: This module only reads, and does the same in check mode.
  diff_mode:
    support: none
    description: Returns what changes, before and after, when run with C(--diff).
    details: There is nothing that could change.
  platform:
    support: full
    description: Where the module itself runs. It needs Python 3.8 or newer, and nothing else.
    platforms: posix
options:
  switches:
    description:
      - The switches, each as RV(aiready.vsphere.roce_qos_info#module:switch).
    type: list
    elements: dict
    required: true
  hosts:
    description:
      - The ESXi hosts, as RV(aiready.vsphere.esxi_roce_info#module:hosts).
    type: list
    elements: dict
    default: []
  guests:
    description:
      - The guests, each as RV(aiready.vsphere.guest_roce_info#module:guest). A key C(host) with the name of the ESXi
        host says that the guest uses adapters of that host.
    type: list
    elements: dict
    default: []
  cables:
    description:
      - Cables that LLDP does not show. What LLDP shows counts more, and a difference is told.
    type: list
    elements: dict
    default: []
    suboptions:
      switch:
        description: The switch.
        type: str
        required: true
      port:
        description: Its port.
        type: str
        required: true
      host:
        description: The ESXi host or guest at the other end.
        type: str
      nic:
        description: Its adapter, such as V(vmnic2).
        type: str
      peer:
        description: The other switch, for a cable between switches.
        type: str
      peer_port:
        description: Its port.
        type: str
      length_m:
        description: Length of the cable in metres, which buffers have to be large enough for.
        type: int
  host_ports:
    description:
      - Ports to hosts that the inventory names, as a list by the name of the switch. A list may hold ranges, such as
        V(Ethernet1-4). A named port without a link is an error. A host on another port of such a switch is an error.
    type: dict
    default: {}
  fabric_ports:
    description:
      - Ports to other switches that the inventory names, in the same form.
    type: dict
    default: {}
  portgroups:
    description:
      - Names of the port groups of the data path. Their VLANs must pass all ports of the switches on the path. The port
        groups of VMkernel adapters that PVRDMA uses are checked in any case.
    type: list
    elements: str
    default: []
  strict:
    description:
      - Whether warnings count as disagreement too. They are told in any case.
    type: bool
    default: false
  fail:
    description:
      - Whether the task fails when there is disagreement.
    type: bool
    default: false
seealso:
  - module: aiready.vsphere.roce_qos_info
  - module: aiready.vsphere.esxi_roce_info
  - module: aiready.vsphere.guest_roce_info
"""

EXAMPLES = r"""
- name: Tell where two ports disagree
  aiready.vsphere.roce_agreement_info:
    switches:
      - name: leaf-01
        ports:
          Ethernet1: {trust: dscp, dscp_map: {"26": 3}, pfc_mode: "on", pfc: [3], mtu: 9216}
    hosts:
      - name: esx-01.example.com
        ports:
          - {name: vmnic2, rdma: vmrdma0, dscp: 26, pfc: [3], mtu: 9000}
    cables:
      - {switch: leaf-01, port: Ethernet1, host: esx-01.example.com, nic: vmnic2}

- name: Hold a fabric to what is wanted
  hosts: localhost
  gather_facts: false
  vars:
    switches: []
  tasks:
    - name: Compare it
      aiready.vsphere.roce_agreement_info:
        switches: "{{ switches }}"
        config:
          mode: lossless
          priority: 3
      register: roce

    - name: Show what is wrong
      ansible.builtin.debug:
        msg: "{{ roce.disagreements | map(attribute='msg') }}"
"""

RETURN = r"""
agreed:
  description: Whether there is no disagreement that is an error; with O(strict), none at all.
  returned: success
  type: bool
  sample: false
disagreements:
  description: Every disagreement, errors first.
  returned: always
  type: list
  elements: dict
  contains:
    msg:
      description: The whole of it in one sentence.
      type: str
      returned: always
      sample: >-
        leaf-01 Ethernet0 puts DSCP 26 into priority 1, while esx-01.example.com vmnic2 pauses priority 3: packets of
        RoCE are in another class than its pauses, and are dropped under load.
    code:
      description: What it is, for machines.
      type: str
      returned: always
      sample: dscp_map
    severity:
      description: V(error) where packets are dropped, V(warning) where something is slow or unsafe.
      type: str
      returned: always
      sample: error
    a:
      description: The port that it is about, with C(name) of the switch, host or guest, and C(port).
      type: dict
      returned: always
      sample: {name: leaf-01, port: Ethernet0}
    b:
      description: The port at the other end, in the same form. Null where the intent or the rest of the fabric is it.
      type: dict
      returned: always
      sample: {name: esx-01.example.com, port: vmnic2}
    key:
      description: The setting.
      type: str
      returned: always
      sample: roce_priority
    seen:
      description: Its values at C(a) and at C(b), or what is wanted there.
      type: dict
      returned: always
      sample: {a: 1, b: 3}
    breaks:
      description: What comes of it.
      type: str
      returned: always
      sample: packets of RoCE are in another class than its pauses, and are dropped under load
not_known:
  description: What could not be checked, as sentences.
  returned: always
  type: list
  elements: str
  sample: ["leaf-01 Ethernet0 does not tell the watchdog."]
paths:
  description: Every cable that carries RoCE.
  returned: always
  type: list
  elements: dict
  contains:
    a:
      description: One end, with C(name) and C(port).
      type: dict
      returned: always
      sample: {name: esx-01.example.com, port: vmnic2}
    b:
      description: The other end.
      type: dict
      returned: always
      sample: {name: leaf-01, port: Ethernet0}
    known_from:
      description: V(lldp), V(given), or both.
      type: list
      elements: str
      returned: always
      sample: [lldp]
    agreed:
      description: Whether no error is told of either end.
      type: bool
      returned: always
      sample: false
ends:
  description: Every port that RoCE passes, with the settings that decide there.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: The switch, host or guest.
      type: str
      returned: always
      sample: leaf-01
    port:
      description: Its port.
      type: str
      returned: always
      sample: Ethernet1
    switch:
      description: Whether it is a switch.
      type: bool
      returned: always
      sample: true
    known:
      description: Settings that are known and were compared.
      type: list
      elements: str
      returned: always
      sample: [what it trusts, flow control, the MTU]
    untold:
      description: Settings that are not known, since the platform has no command that reports them.
      type: list
      elements: str
      returned: always
      sample: []
    unknown:
      description: Settings that are not known, and that the platform can report.
      type: list
      elements: str
      returned: always
      sample: [the watchdog]
summary:
  description: The same in lines for people. Ports of a switch with one and the same trouble share a line.
  returned: always
  type: list
  elements: str
  sample:
    - "warning  leaf-01 Ethernet1-32 pauses and has no watchdog: one adapter that never stops to send pauses freezes the
      fabric."
wanted:
  description: What the ends were held to. C(source) is V(intent), or V(fabric) where most of it decided.
  returned: always
  type: dict
  sample: {source: fabric, dscp: 26, priority: 3, cnp_dscp: 48, cnp_priority: 6, lossless: true, ecn: true}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: roce_disagreement, subject: fabric}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement import params
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.fabric import agree, summary


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    wish = module.params
    try:
        params.check(wish)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    answer = agree(
        wish["switches"],
        wish["hosts"],
        wish["guests"],
        wish["cables"],
        wish["config"],
        strict=wish["strict"],
        listed=(wish["host_ports"], wish["fabric_ports"]),
        portgroups=wish["portgroups"],
    )
    answer["summary"] = summary(answer)
    if wish["fail"] and not answer["agreed"]:
        refusal = params.disagreement(answer, wish["strict"])
        module.fail_json(msg=refusal.message, failure=refusal.failure, **answer)
    module.exit_json(changed=False, **answer)


if __name__ == "__main__":
    main()
