#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_roce_info
short_description: Gather the RoCE QoS of the RDMA adapters of a Linux system
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns the effective RoCE QoS of each adapter with RDMA. It covers the DSCP that senders set, trust, priorities
    with flow control, ECN, congestion notifications, MTU and LLDP neighbours.
  - Uses the installed tools and the files of the kernel. RV(guest.tools) lists the tools. Supported are C(mlnx_qos),
    C(dcb), C(niccli), C(ethtool), C(lldptool), C(lldpcli) and C(cma_roce_tos).
  - Runs over the connection of the play and needs no Python on the target. It needs administrator rights (C(become)).
    Without them, most tools return nothing.
notes:
  - A guest with a virtual function or a paravirtual adapter owns neither flow control nor trust. The module returns
    null for them. M(aiready.vsphere.esxi_roce_info) returns them for the host.
  - The module cannot read the traffic class that jobs set in environment variables, such as C(NCCL_IB_TC). Pass it in
    O(traffic_class).
  - C(cma_roce_tos) creates the folder of an adapter below C(/sys/kernel/config/rdma_cm) when it reads, if it does not
    exist.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.attributes.read_only
attributes:
  platform:
    description: Targets on which the commands run.
    support: full
    platforms: linux
options:
  interfaces:
    description:
      - Network interfaces to read. If omitted, the module reads all interfaces with RDMA.
    type: list
    elements: str
    default: []
  traffic_class:
    description:
      - Traffic class that jobs use, as C(NCCL_IB_TC) or C(UCX_IB_TRAFFIC_CLASS). It appears as one more sender in
        RV(guest.ports[].marks).
    type: int
  host:
    description:
      - ESXi host of the guest. The module returns it, so that M(aiready.vsphere.roce_agreement_info) can determine
        which adapters carry the guest's packets.
    type: str
seealso:
  - module: aiready.vsphere.esxi_roce_info
  - module: aiready.vsphere.roce_agreement_info
"""

EXAMPLES = r"""
- name: Gather the RoCE QoS of the guest adapters
  hosts: gpu_nodes
  gather_facts: false
  become: true
  tasks:
    - name: Gather the RoCE QoS
      aiready.vsphere.guest_roce_info:
        traffic_class: 106
      register: roce

    - name: Assert that every adapter sets the RoCE traffic class
      ansible.builtin.assert:
        that: item.marks | map(attribute='traffic_class') | unique == [106]
      loop: "{{ roce.guest.ports }}"
      loop_control:
        label: "{{ item.name }}"
"""

RETURN = r"""
guest:
  description: RoCE QoS of the guest.
  returned: success
  type: dict
  contains:
    name:
      description: Name of the guest in the inventory.
      type: str
      returned: always
      sample: train-01
    host:
      description: ESXi host, as in O(host).
      type: str
      returned: always
      sample: esx-01.example.com
    tools:
      description: Installed tools.
      type: list
      elements: str
      returned: always
      sample: [mlnx_qos, ethtool]
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
          sample: ens192
        owner:
          description: Host or guest that has the adapter.
          type: str
          returned: always
          sample: train-01
        kind:
          description: System type, V(esxi) or V(linux).
          type: str
          returned: always
          sample: linux
        rdma:
          description: RDMA device of the adapter. Null for an adapter without RDMA.
          type: str
          returned: always
          sample: mlx5_0
        driver:
          description: Driver of the adapter.
          type: str
          returned: always
          sample: mlx5_core
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
          sample: {"26": 3, "48": 6}
        dscp:
          description: DSCP that the adapter itself sets on RoCE packets of all senders.
          type: int
          returned: always
          sample: null
        stamps:
          description: Whether the adapter itself sets a DSCP on RoCE packets. Null where it is not reported, as in
            guests.
          type: bool
          returned: always
          sample: null
        marks:
          description: Traffic classes that senders set, each with C(by) and C(traffic_class). Empty if no sender sets
            one.
          type: list
          elements: dict
          returned: always
          sample: [{by: jobs, traffic_class: 106}]
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
          sample: [0, 1, 2, 3, 4, 5, 6, 7]
        cnp_dscp:
          description: DSCP of the congestion notifications.
          type: int
          returned: always
          sample: 48
        cnp_priority:
          description: Priority of the congestion notifications.
          type: int
          returned: always
          sample: 6
        mtu:
          description: MTU in bytes.
          type: int
          returned: always
          sample: 9000
        vmkernel:
          description: VMkernel adapters of an ESXi host on the same virtual switch, with their MTU.
          type: dict
          returned: always
          sample: {}
        switch:
          description: Virtual switch of an ESXi host that has the adapter as uplink. Empty for none, null where
            unknown.
          type: str
          returned: always
          sample: null
        portgroups:
          description: Port groups of that switch, each with C(name) and C(vlan).
          type: list
          elements: dict
          returned: always
          sample: []
        addresses:
          description:
            - IP addresses on the network of the adapter, each with C(device), C(ip), C(netmask), C(vlan), C(portgroup)
              and C(pvrdma).
            - On ESXi these are the addresses of the VMkernel adapters of the switch. C(pvrdma) marks the adapter that
              PVRDMA uses.
          type: list
          elements: dict
          returned: always
          sample: [{device: ens192, ip: 192.0.2.21, netmask: "24", vlan: null, portgroup: "", pvrdma: false}]
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
          sample: os
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
          sample: 7
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
  sample: {code: no_such_adapter, subject: train-01}
"""
