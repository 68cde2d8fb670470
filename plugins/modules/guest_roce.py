#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_roce
short_description: Manage the RoCE traffic class on an adapter of a Linux guest
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the RoCE traffic class in a guest, from the same description as M(aiready.vsphere.roce_qos) uses for switches.
    The module leaves a correct configuration unchanged, in any form.
  - Sets the traffic class for programs that use the RDMA connection manager. Some drivers, such as the one of OFED,
    have a traffic class for all packets of an adapter. The module sets it too.
  - Sets trust, the map from DSCP to priority and flow control of an adapter in passthrough mode, with C(mlnx_qos) or
    C(dcb). With V(ieee) in O(config.dcbx), the adapter receives these settings from the switch, and the module leaves
    them unchanged.
  - Applies all settings at once, and at every boot through a systemd unit.
notes:
  - For a PVRDMA adapter and a virtual function, the host owns flow control and trust. See
    M(aiready.vsphere.esxi_module_options).
  - NCCL and UCX do not use the RDMA connection manager. Set C(NCCL_IB_TC) and C(UCX_IB_TRAFFIC_CLASS) in the
    environment of the job.
  - With V(absent) in O(state), the settings of the adapter stay effective until the next boot of the guest.
  - A guest does not use the MTU, the ECN thresholds, the bandwidth shares and the watchdog of O(config).
  - Runs on the guest, as root.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.roce_intent
options:
  mac:
    description:
      - MAC address of the network adapter. Either this or O(name) is required.
    type: str
  name:
    description:
      - Name of the network adapter in the guest, such as V(ens224).
    type: str
  data_path:
    description:
      - Type of the adapter. It determines the settings that the guest owns.
    type: str
    choices: [pvrdma, sriov, passthrough]
    required: true
  state:
    description:
      - Desired state of the RoCE traffic class. V(present) sets it. V(absent) removes the configuration that the module
        created.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: aiready.vsphere.guest_roce_info
  - module: aiready.vsphere.roce_agreement_info
"""

EXAMPLES = r"""
- name: Set the RoCE traffic class of an adapter
  aiready.vsphere.guest_roce:
    name: ens224
    data_path: pvrdma

- name: Set the same RoCE traffic class on all guests
  hosts: training_guests
  gather_facts: false
  become: true
  tasks:
    - name: Set the RoCE traffic class
      aiready.vsphere.guest_roce:
        mac: "{{ data_path.mac }}"
        data_path: passthrough
        config:
          priority: 3
          dscp: 26

- name: Remove the RoCE traffic class
  aiready.vsphere.guest_roce:
    name: ens224
    data_path: pvrdma
    state: absent
"""

RETURN = r"""
roce:
  description: Result for the adapter, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the network adapter. If it was not found, the value from the task.
      type: str
      returned: always
      sample: ens224
    mac:
      description: MAC address of the adapter. Null if the adapter was not found by its name.
      type: str
      returned: always
      sample: 00:50:56:9a:10:01
    device:
      description: RDMA device of the adapter. Null for an adapter without one.
      type: str
      returned: always
      sample: vmw_pvrdma0
    changed:
      description: V(true) if something changed, or would change in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the change, in the format of RV(roce.after). Empty if the adapter was not found.
      type: dict
      returned: always
      sample:
        interface: ens224
        device: vmw_pvrdma0
        port: 1
        traffic_class: 0
        adapter_traffic_class: null
        trust: null
        pfc: null
        dscp_map: {}
        dcbx_owner: null
        kept: []
        not_managed: ["Flow control and trust: the host configures them for all its guests."]
    after:
      description: State after the change, read again. In check mode, the expected state.
      type: dict
      returned: always
      contains:
        interface:
          description: Name of the network adapter.
          type: str
          returned: success
        device:
          description: RDMA device of the adapter.
          type: str
          returned: success
        port:
          description: Port of the device.
          type: int
          returned: success
        traffic_class:
          description: Traffic class of programs that use the RDMA connection manager. Null if it is not loaded.
          type: int
          returned: success
        adapter_traffic_class:
          description: Traffic class of all packets of the adapter. Null if its driver does not support it.
          type: int
          returned: success
        trust:
          description: Field from which the adapter takes the priority. Null if the guest does not own it.
          type: str
          returned: success
        pfc:
          description: Priorities with flow control. Null if the guest does not own it.
          type: list
          elements: int
          returned: success
        dscp_map:
          description: Priorities of the DSCPs that RoCE uses, if the adapter reports them.
          type: dict
          returned: success
        dcbx_owner:
          description: Owner of DCBX, V(firmware) or V(os), if the adapter reports it.
          type: str
          returned: success
        kept:
          description: Commands that run at every boot of the guest, as in the systemd unit.
          type: list
          elements: str
          returned: success
        not_managed:
          description: Settings that the guest does not own, with the reason, as sentences.
          type: list
          elements: str
          returned: success
      sample:
        interface: ens224
        device: vmw_pvrdma0
        port: 1
        traffic_class: 106
        adapter_traffic_class: null
        trust: null
        pfc: null
        dscp_map: {}
        dcbx_owner: null
        kept:
          - "-/sbin/modprobe rdma_cm"
          - >-
            /bin/sh -c 'cd /sys/class/infiniband && for p in */ports/*; do grep -qsx ens224 $$p/gid_attrs/ndevs/* ||
            continue; mkdir -p /sys/kernel/config/rdma_cm/$$(dirname $$(dirname $$p)); echo 106 >
            /sys/kernel/config/rdma_cm/$$p/default_roce_tos; done'
        not_managed: ["Flow control and trust: the host configures them for all its guests."]
    changes:
      description: Changes that were made, or would be made in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: traffic_class, before: 0, after: 106, needs: null}
    pending:
      description: Always empty, because all changes take effect at once.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if the adapter is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause of the failure and its fix. Empty on success.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty on success.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: no_rdma, subject: Adapter ens224, interface: ens224}
"""

from typing import TYPE_CHECKING

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import roce

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import roce_state


def main() -> None:
    module = AnsibleModule(
        argument_spec=roce.ARGUMENTS,
        mutually_exclusive=[("mac", "name")],
        required_one_of=[("mac", "name")],
        supports_check_mode=True,
    )
    fail_if_invalid(module, roce.check_params(module.params))
    requested = roce.request_of(module.params)
    said = requested.name or requested.mac
    item: Item[roce.RoceRequest, roce_state.State] = Item(
        f"Adapter {said}", requested, {"name": said, "mac": requested.mac, "device": None}
    )
    run(module, roce.Roce(requested, Commands(), Files(), module.warn), [item], "roce", single=True)


if __name__ == "__main__":
    main()
