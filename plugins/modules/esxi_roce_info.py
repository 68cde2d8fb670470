#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_roce_info
short_description: Gather the RoCE QoS of the network ports of ESXi hosts
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns the RoCE QoS of each network port, for many hosts at once. That is trust, the DSCP that the port sets, the
    priorities that it pauses, link-level pause, MTU, and the switch port that LLDP or CDP reports.
  - Returns effective values, not configured ones. RV(hosts[].ports[].pending) has driver options that wait for a
    reboot.
  - A host that does not answer is no error. The module returns the data that vCenter stores. RV(hosts[].not_read)
    lists the missing data.
notes:
  - ESXi does not report how adapters react to ECN marks, nor the DSCP of congestion notifications. Both are null.
  - The switch port is known only if the distributed switch listens to LLDP, or the standard switch to CDP.
  - If C(trust_state) is not set, the module assumes the default of the ConnectX driver, which is to trust VLAN tags.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  hosts:
    description:
      - ESXi hosts, each by its name in vCenter, its inventory path or its managed object ID. If omitted, all hosts that
        the user may see.
    type: list
    elements: str
    default: []
seealso:
  - module: aiready.vsphere.esxi_host_info
  - module: aiready.vsphere.esxi_module_options
  - module: aiready.vsphere.roce_agreement_info
"""

EXAMPLES = r"""
- name: Read the ports of a host
  aiready.vsphere.esxi_roce_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    hosts: [esx-01.example.com]

- name: Check that ports with RDMA pause only priority 3
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Read the ports of two hosts
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
  description: Hosts, in the order of O(hosts) or by name.
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
      description: Connection state, V(connected), V(disconnected) or V(notResponding).
      type: str
      returned: always
      sample: connected
    not_read:
      description: Data that the module could not read, as sentences.
      type: list
      elements: str
      returned: always
      sample: []
    ports:
      description:
        - Network adapters, in the same format for hosts and guests. Null means unknown.
      type: list
      elements: dict
      returned: always
      contains:
        name:
          description: Name of the adapter, such as C(vmnic2) or C(ens192).
          type: str
          returned: always
          sample: vmnic2
        owner:
          description: Host or guest that has the adapter.
          type: str
          returned: always
          sample: esx-01.example.com
        kind:
          description: System type, V(esxi) or V(linux).
          type: str
          returned: always
          sample: esxi
        rdma:
          description: RDMA device of the adapter. Null for an adapter without RDMA.
          type: str
          returned: always
          sample: vmrdma0
        driver:
          description: Driver of the adapter.
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
          description: Source of the priority. V(dscp), V(pcp), V(both) or V(none).
          type: str
          returned: always
          sample: dscp
        dscp_map:
          description: Map from DSCP to priority.
          type: dict
          returned: always
          sample: null
        dscp:
          description: DSCP that the adapter itself sets on RoCE packets of all senders.
          type: int
          returned: always
          sample: 26
        stamps:
          description: Whether the adapter itself sets a DSCP on RoCE packets. Null where it is not reported, as in
            guests.
          type: bool
          returned: always
          sample: true
        marks:
          description: Traffic classes that senders set, each with C(by) and C(traffic_class). Empty if no sender sets
            one.
          type: list
          elements: dict
          returned: always
          sample: null
        pfc:
          description: Priorities with effective flow control in both directions.
          type: list
          elements: int
          returned: always
          sample: [3]
        pfc_sends:
          description: Priorities for which the adapter sends pauses.
          type: list
          elements: int
          returned: always
          sample: [3]
        pfc_obeys:
          description: Priorities for which the adapter obeys pauses.
          type: list
          elements: int
          returned: always
          sample: [3]
        ecn:
          description: Priorities for which the adapter reacts to ECN marks and notifies the sender.
          type: list
          elements: int
          returned: always
          sample: null
        cnp_dscp:
          description: DSCP of the congestion notifications.
          type: int
          returned: always
          sample: null
        cnp_priority:
          description: Priority of the congestion notifications.
          type: int
          returned: always
          sample: null
        mtu:
          description: MTU in bytes.
          type: int
          returned: always
          sample: 9000
        vmkernel:
          description: VMkernel adapters of an ESXi host on the same virtual switch, with their MTU.
          type: dict
          returned: always
          sample: {vmk1: 9000}
        switch:
          description: Virtual switch of an ESXi host that has the adapter as uplink. Empty for none, null where
            unknown.
          type: str
          returned: always
          sample: dvs-train
        portgroups:
          description: Port groups of that switch, each with C(name) and C(vlan).
          type: list
          elements: dict
          returned: always
          sample: [{name: pg-rdma, vlan: 111}]
        addresses:
          description:
            - IP addresses on the network of the adapter, each with C(device), C(ip), C(netmask), C(vlan), C(portgroup)
              and C(pvrdma).
            - On ESXi these are the addresses of the VMkernel adapters of the switch. C(pvrdma) marks the adapter that
              PVRDMA uses.
          type: list
          elements: dict
          returned: always
          sample: [{device: vmk1, ip: 192.0.2.11, netmask: 255.255.255.0, vlan: 111, portgroup: pg-rdma, pvrdma: true}]
        pause:
          description: Whether link-level pause is on, in either direction.
          type: bool
          returned: always
          sample: false
        dcbx:
          description: DCBX mode, V(ieee), V(cee) or V(off).
          type: str
          returned: always
          sample: ieee
        dcbx_owner:
          description: Owner of DCBX, V(firmware) or V(os).
          type: str
          returned: always
          sample: null
        willing:
          description: Whether the adapter accepts the settings that its peer announces.
          type: bool
          returned: always
          sample: null
        agents:
          description: Programs that use LLDP for the adapter, if they are visible.
          type: list
          elements: str
          returned: always
          sample: []
        cable_length_m:
          description: Cable length in metres that the buffers are sized for.
          type: int
          returned: always
          sample: null
        lldp:
          description: Neighbours, with C(system), C(port), C(chassis) and C(description). Null where no program
            listens.
          type: list
          elements: dict
          returned: always
          sample: [{system: leaf-01, port: Ethernet1/1, chassis: "00:1c:73:00:00:01", description: null}]
        pending:
          description: Settings that wait for a reboot.
          type: list
          elements: str
          returned: always
          sample: []
        not_read:
          description: Data that the module could not read, as sentences.
          type: list
          elements: str
          returned: always
          sample: []
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
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
