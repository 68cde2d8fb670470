#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: roce_agreement_info
short_description: Gather RoCE QoS disagreements between switches, hosts and guests
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Compares the results of M(aiready.vsphere.roce_qos_info), M(aiready.vsphere.esxi_roce_info) and
    M(aiready.vsphere.guest_roce_info), and returns each disagreement as one sentence. The sentence names the port and
    its value, the peer and its value, and the consequence.
  - Checks each cable in both directions. At every hop, it follows the DSCP to the priority, and the priority to its
    buffer, its queue, PFC and ECN.
  - Without O(config), the setting of most host adapters is the reference. The module can therefore also check a network
    that other tools configured.
  - Needs no connection. It compares only the given data.
notes:
  - RV(not_known) lists unknown settings. The module never counts an unknown setting as correct.
  - An unsaved configuration is not a disagreement. M(aiready.vsphere.roce_qos_info) reports it.
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
    details: The module changes nothing.
  platform:
    support: full
    description: Where the module itself runs. It needs Python 3.8 or newer, and nothing else.
    platforms: posix
options:
  switches:
    description:
      - Switches to compare, each in the format of RV(aiready.vsphere.roce_qos_info#module:switch).
    type: list
    elements: dict
    required: true
  hosts:
    description:
      - ESXi hosts to compare, in the format of RV(aiready.vsphere.esxi_roce_info#module:hosts).
    type: list
    elements: dict
    default: []
  guests:
    description:
      - Guests to compare, each in the format of RV(aiready.vsphere.guest_roce_info#module:guest). A key C(host) with
        the name of the ESXi host means that the guest uses adapters of that host.
      - A key C(direct) with C(host) and C(nic), an ESXi host and the PCI address of its port, means that the guest has
        this port in passthrough mode. A cable of O(cables) with the same C(host) and C(nic) then ends at the guest.
    type: list
    elements: dict
    default: []
  cables:
    description:
      - Cables that LLDP does not show. LLDP takes precedence, and the module reports a difference.
    type: list
    elements: dict
    default: []
    suboptions:
      switch:
        description: Name of the switch.
        type: str
        required: true
      port:
        description: Port of the switch.
        type: str
        required: true
      host:
        description: Name of the ESXi host or guest at the other end.
        type: str
      nic:
        description: Adapter of the host or guest, such as V(vmnic2).
        type: str
      peer:
        description: Name of the other switch, for a cable between switches.
        type: str
      peer_port:
        description: Port of the other switch.
        type: str
      length_m:
        description: Length of the cable in metres. Buffers must be large enough for it.
        type: int
  host_ports:
    description:
      - Ports to hosts that the inventory names, as a list for each switch name. A list can contain ranges, such as
        V(Ethernet1-4). A named port without a link is an error. A host on another port of such a switch is also an
        error.
    type: dict
    default: {}
  fabric_ports:
    description:
      - Ports to other switches that the inventory names, in the same format as O(host_ports).
    type: dict
    default: {}
  portgroups:
    description:
      - Names of the port groups of the data path. All switch ports on the path must pass their VLANs. The module always
        checks the port groups of VMkernel adapters that PVRDMA uses.
    type: list
    elements: str
    default: []
  strict:
    description:
      - Whether warnings count as disagreement too. The module returns them in any case.
    type: bool
    default: false
  fail:
    description:
      - Whether to fail the task if there is a disagreement.
    type: bool
    default: false
seealso:
  - module: aiready.vsphere.roce_qos_info
  - module: aiready.vsphere.esxi_roce_info
  - module: aiready.vsphere.guest_roce_info
"""

EXAMPLES = r"""
- name: Compare two ports
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

- name: Compare a fabric with its desired state
  hosts: localhost
  gather_facts: false
  vars:
    switches: []
  tasks:
    - name: Compare all ends
      aiready.vsphere.roce_agreement_info:
        switches: "{{ switches }}"
        config:
          mode: lossless
          priority: 3
      register: roce

    - name: Show the disagreements
      ansible.builtin.debug:
        msg: "{{ roce.disagreements | map(attribute='msg') }}"
"""

RETURN = r"""
agreed:
  description: Whether no disagreement is an error. With O(strict), whether there is no disagreement at all.
  returned: success
  type: bool
  sample: false
disagreements:
  description: All disagreements, errors first.
  returned: always
  type: list
  elements: dict
  contains:
    msg:
      description: Full description in one sentence.
      type: str
      returned: always
      sample: >-
        leaf-01 Ethernet0 maps DSCP 26 to priority 1, while esx-01.example.com vmnic2 has PFC on priority 3: RoCE
        packets are not in the PFC priority and are dropped under load.
    code:
      description: Machine-readable code of the disagreement.
      type: str
      returned: always
      sample: dscp_map
    severity:
      description: Severity. V(error) if packets are dropped, V(warning) if the setting is slow or unsafe.
      type: str
      returned: always
      sample: error
    a:
      description: Port with the disagreement, with C(name) of the switch, host or guest, and C(port).
      type: dict
      returned: always
      sample: {name: leaf-01, port: Ethernet0}
    b:
      description: Port at the other end, in the same format. Null if the reference is the intent or the rest of the
        fabric.
      type: dict
      returned: always
      sample: {name: esx-01.example.com, port: vmnic2}
    key:
      description: Name of the setting.
      type: str
      returned: always
      sample: roce_priority
    seen:
      description: Value at C(a), and the value or the desired value at C(b).
      type: dict
      returned: always
      sample: {a: 1, b: 3}
    breaks:
      description: Consequence of the disagreement.
      type: str
      returned: always
      sample: RoCE packets are not in the PFC priority and are dropped under load
not_known:
  description: Settings that could not be checked, as sentences.
  returned: always
  type: list
  elements: str
  sample: ["leaf-01 Ethernet0 does not report the watchdog."]
paths:
  description: Cables that carry RoCE.
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
      description: Source of the cable. V(lldp), V(given), or both.
      type: list
      elements: str
      returned: always
      sample: [lldp]
    agreed:
      description: Whether neither end has an error.
      type: bool
      returned: always
      sample: false
ends:
  description: Ports that RoCE passes, with their relevant settings.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the switch, host or guest.
      type: str
      returned: always
      sample: leaf-01
    port:
      description: Port of the switch, host or guest.
      type: str
      returned: always
      sample: Ethernet1
    switch:
      description: Whether the device is a switch.
      type: bool
      returned: always
      sample: true
    known:
      description: Settings that are known and were compared.
      type: list
      elements: str
      returned: always
      sample: [the trust mode, PFC, the MTU]
    unreported:
      description: Unknown settings that no command of the platform or file of the driver reports.
      type: list
      elements: str
      returned: always
      sample: []
    unknown:
      description: Unknown settings that the platform can report.
      type: list
      elements: str
      returned: always
      sample: [the watchdog]
summary:
  description: Readable summary. Ports of a switch with the same problem share a line.
  returned: always
  type: list
  elements: str
  sample:
    - "warning  leaf-01 Ethernet1-32 has PFC but no PFC watchdog: one adapter that sends pauses without end can block
      the fabric."
wanted:
  description: Desired state of the ends. C(source) is V(intent), or V(fabric) if most of the adapters decided.
  returned: always
  type: dict
  sample: {source: fabric, dscp: 26, priority: 3, cnp_dscp: 48, cnp_priority: 6, lossless: true, ecn: true}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: roce_disagreement, subject: fabric}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement import params
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.agreement.fabric import agree, summary


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    requested = module.params
    fail_if_invalid(module, params.check_params(requested))
    answer = agree(
        requested["switches"],
        requested["hosts"],
        requested["guests"],
        requested["cables"],
        requested["config"],
        strict=requested["strict"],
        listed=(requested["host_ports"], requested["fabric_ports"]),
        portgroups=requested["portgroups"],
    )
    answer["summary"] = summary(answer)
    if requested["fail"] and not answer["agreed"]:
        refusal = params.disagreement(answer, requested["strict"])
        module.fail_json(msg=refusal.message, failure=refusal.failure, **answer)
    module.exit_json(changed=False, **answer)


if __name__ == "__main__":
    main()
