#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_roce_info
short_description: Tell what the network ports of ESXi hosts do to RoCE
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Tells of many hosts at once how each port treats RoCE. That is what it trusts, the DSCP that it puts on packets, the
    priorities that it pauses, link-level pause, MTU, and which port of which switch it hears of by LLDP or CDP.
  - What acts is told, and not what is set. Options of the driver that wait for a restart stand in
    RV(hosts[].ports[].pending).
  - A host that does not answer is no error. What vCenter remembers of it is told, and RV(hosts[].not_read) says what is
    missing.
notes:
  - ESXi does not tell how adapters react to marks (ECN), nor the DSCP of congestion notifications. These are null.
  - A port hears of its switch only where its distributed switch listens to LLDP, or its standard switch to CDP.
  - Without the option C(trust_state), the driver of ConnectX adapters is taken to trust VLAN tags, as it does by
    default.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  hosts:
    description:
      - The ESXi hosts, each by its name in vCenter, its inventory path or its managed object ID. Left out, all hosts
        that the user may see.
    type: list
    elements: str
    default: []
seealso:
  - module: aiready.vsphere.esxi_host_info
  - module: aiready.vsphere.esxi_module_options
  - module: aiready.vsphere.roce_agreement_info
"""

EXAMPLES = r"""
- name: Look at a host
  aiready.vsphere.esxi_roce_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    hosts: [esx-01.example.com]

- name: Every port with RDMA pauses priority 3 and nothing else
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Look at two hosts
      aiready.vsphere.esxi_roce_info:
        hosts: [esx-01.example.com, esx-02.example.com]
      register: roce

    - name: Check their ports
      ansible.builtin.assert:
        that: item.ports | selectattr('rdma') | map(attribute='pfc') | unique == [[3]]
      loop: "{{ roce.hosts }}"
      loop_control:
        label: "{{ item.name }}"
"""

RETURN = r"""
hosts:
  description: The hosts, in the order of O(hosts), or of their names.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host in vCenter.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host.
      type: str
      returned: always
      sample: host-12
    connection:
      description: V(connected), V(disconnected) or V(notResponding).
      type: str
      returned: always
      sample: connected
    not_read:
      description: What could not be asked, as sentences.
      type: list
      elements: str
      returned: always
      sample: []
    ports:
      description:
        - The adapters, in the same terms for hosts and guests. Null is not known.
      type: list
      elements: dict
      returned: always
      contains:
        name:
          description: Its name, such as C(vmnic2) or C(ens192).
          type: str
          returned: always
          sample: vmnic2
        owner:
          description: The host or guest.
          type: str
          returned: always
          sample: esx-01.example.com
        kind:
          description: V(esxi) or V(linux).
          type: str
          returned: always
          sample: esxi
        rdma:
          description: Its RDMA device. Null for an adapter without RDMA.
          type: str
          returned: always
          sample: vmrdma0
        driver:
          description: Its driver.
          type: str
          returned: always
          sample: nmlx5_core
        speed:
          description: Speed in Gbit/s.
          type: int
          returned: always
          sample: 100
        up:
          description: Whether there is a link.
          type: bool
          returned: always
          sample: true
        trust:
          description: V(dscp), V(pcp), V(both) or V(none).
          type: str
          returned: always
          sample: dscp
        dscp_map:
          description: Priorities by DSCP.
          type: dict
          returned: always
          sample: null
        dscp:
          description: DSCP that the adapter itself puts on packets of RoCE, whoever sends them.
          type: int
          returned: always
          sample: 26
        stamps:
          description: Whether the adapter itself puts a DSCP on packets of RoCE. Null where nobody tells, as in guests.
          type: bool
          returned: always
          sample: true
        marks:
          description: What senders put on packets, each with C(by) and C(traffic_class). Empty means that nobody does.
          type: list
          elements: dict
          returned: always
          sample: null
        pfc:
          description: Priorities with flow control in both directions, as it acts.
          type: list
          elements: int
          returned: always
          sample: [3]
        pfc_sends:
          description: Priorities for which the adapter asks its peer to wait.
          type: list
          elements: int
          returned: always
          sample: [3]
        pfc_obeys:
          description: Priorities for which it waits when it is asked to.
          type: list
          elements: int
          returned: always
          sample: [3]
        ecn:
          description: Priorities for which it reacts to marks and tells the sender of them.
          type: list
          elements: int
          returned: always
          sample: null
        cnp_dscp:
          description: DSCP of its congestion notifications.
          type: int
          returned: always
          sample: null
        cnp_priority:
          description: Priority of its congestion notifications.
          type: int
          returned: always
          sample: null
        mtu:
          description: MTU.
          type: int
          returned: always
          sample: 9000
        vmkernel:
          description: The VMkernel adapters of an ESXi host that share its switch, and their MTU.
          type: dict
          returned: always
          sample: {vmk1: 9000}
        switch:
          description: Virtual switch of an ESXi host that it is an uplink of. Empty for none, null where not known.
          type: str
          returned: always
          sample: dvs-train
        portgroups:
          description: The port groups of that switch, each with C(name) and C(vlan).
          type: list
          elements: dict
          returned: always
          sample: [{name: pg-rdma, vlan: 111}]
        addresses:
          description:
            - Who has an address there, each with C(device), C(ip), C(netmask), C(vlan), C(portgroup) and C(pvrdma).
            - On ESXi these are the VMkernel adapters of its switch, and C(pvrdma) says which one PVRDMA uses.
          type: list
          elements: dict
          returned: always
          sample: [{device: vmk1, ip: 192.0.2.11, netmask: 255.255.255.0, vlan: 111, portgroup: pg-rdma, pvrdma: true}]
        pause:
          description: Whether it pauses all traffic of the link, in either direction.
          type: bool
          returned: always
          sample: false
        dcbx:
          description: V(ieee), V(cee) or V(off).
          type: str
          returned: always
          sample: ieee
        dcbx_owner:
          description: V(firmware) or V(os).
          type: str
          returned: always
          sample: null
        willing:
          description: Whether it takes what its peer announces.
          type: bool
          returned: always
          sample: null
        agents:
          description: Programs that speak LLDP for it, where they can be seen.
          type: list
          elements: str
          returned: always
          sample: []
        cable_length_m:
          description: Length of cable that its buffers count on.
          type: int
          returned: always
          sample: null
        lldp:
          description: Neighbours, with C(system), C(port), C(chassis) and C(description). Null where nothing listens.
          type: list
          elements: dict
          returned: always
          sample: [{system: leaf-01, port: Ethernet1/1, chassis: "00:1c:73:00:00:01", description: null}]
        pending:
          description: Settings that wait for a restart.
          type: list
          elements: str
          returned: always
          sample: []
        not_read:
          description: What could not be asked, as sentences.
          type: list
          elements: str
          returned: always
          sample: []
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: host_not_found, subject: Host esx-01}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import esxi_gather
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session


def main() -> None:
    module = AnsibleModule(argument_spec=esxi_gather.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        found = esxi_gather.look(vcenter, module.params)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, hosts=found)


if __name__ == "__main__":
    main()
