#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_roce
short_description: Give RoCE its class on an adapter of a Linux guest
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Makes a guest's packets of RoCE ask for the class that switches and hosts have for them, from the same description
    of it as M(aiready.vsphere.roce_qos). What is right already, in whatever form, is left alone.
  - Programs that use the connection manager of RDMA get the traffic class. Where the driver has a traffic class for
    everything that an adapter sends, as that of OFED has, it is set too.
  - Of an adapter that is passed through whole, trust, the map from DSCP to priority and flow control are set by
    C(mlnx_qos) or C(dcb). With V(ieee) in O(config.dcbx) the switch tells them to the adapter, and they are left alone.
  - All of it acts at once, and again at every start by a unit of systemd.
notes:
  - Of a PVRDMA adapter and a virtual function, flow control and trust belong to the host. See
    M(aiready.vsphere.esxi_module_options).
  - NCCL and UCX do not use the connection manager. They are told by C(NCCL_IB_TC) and C(UCX_IB_TRAFFIC_CLASS) of a job.
  - With V(absent) in O(state), what an adapter was told lasts until the guest starts again.
  - Of O(config), a guest has no use for the MTU, thresholds of marking, shares of bandwidth and the watchdog.
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
      - What the adapter is. It decides what of it belongs to the guest.
    type: str
    choices: [pvrdma, sriov, passthrough]
    required: true
  state:
    description:
      - V(present) gives RoCE its class. V(absent) takes away what was made for it.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: aiready.vsphere.guest_roce_info
  - module: aiready.vsphere.roce_agreement_info
"""

EXAMPLES = r"""
- name: Packets of RoCE ask for the class of RoCE
  aiready.vsphere.guest_roce:
    name: ens224
    data_path: pvrdma

- name: The same class on all guests
  hosts: training_guests
  gather_facts: false
  become: true
  tasks:
    - name: Give RoCE its class
      aiready.vsphere.guest_roce:
        mac: "{{ data_path.mac }}"
        data_path: passthrough
        config:
          priority: 3
          dscp: 26

- name: Take it away again
  aiready.vsphere.guest_roce:
    name: ens224
    data_path: pvrdma
    state: absent
"""

RETURN = r"""
roce:
  description: The result, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the network adapter. Of one that was not found, what the task said.
      type: str
      returned: always
      sample: ens224
    mac:
      description: Its MAC address. Null for one that was not found by its name.
      type: str
      returned: always
      sample: 00:50:56:9a:10:01
    device:
      description: Its RDMA device. Null for an adapter without one.
      type: str
      returned: always
      sample: vmw_pvrdma0
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(roce.after). Empty for an adapter that was not found.
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
        not_managed: ["Flow control and trust: they belong to the host, which sets them for all its guests."]
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        interface:
          description: Name of the network adapter.
          type: str
          returned: success
        device:
          description: Its RDMA device.
          type: str
          returned: success
        port:
          description: The port of the device.
          type: int
          returned: success
        traffic_class:
          description: Traffic class of programs that use the connection manager. Null where it is not loaded.
          type: int
          returned: success
        adapter_traffic_class:
          description: Traffic class of all that the adapter sends. Null where its driver has none.
          type: int
          returned: success
        trust:
          description: What the adapter takes the priority from. Null where the guest does not own it.
          type: str
          returned: success
        pfc:
          description: Priorities with flow control. Null where the guest does not own it.
          type: list
          elements: int
          returned: success
        dscp_map:
          description: Priorities of the DSCPs that RoCE uses, where the adapter tells them.
          type: dict
          returned: success
        dcbx_owner:
          description: V(firmware) or V(os), where the adapter tells it.
          type: str
          returned: success
        kept:
          description: What runs at every start of the guest, in the words of a unit of systemd.
          type: list
          elements: str
          returned: success
        not_managed:
          description: What is none of the guest's affairs here, and why, as sentences.
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
        not_managed: ["Flow control and trust: they belong to the host, which sets them for all its guests."]
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: traffic_class, before: 0, after: 106, needs: null}
    pending:
      description: What waits for a restart. Always empty, since everything acts at once.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the adapter is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why it is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the adapter is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
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
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Wish
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import roce_state


def main() -> None:
    module = AnsibleModule(
        argument_spec=roce.ARGUMENTS,
        mutually_exclusive=[("mac", "name")],
        required_one_of=[("mac", "name")],
        supports_check_mode=True,
    )
    fail_if_invalid(module, roce.check_params(module.params))
    params = module.params
    said = params["name"] or params["mac"]
    item: Item[Wish, roce_state.State] = Item(
        f"Adapter {said}", params, {"name": said, "mac": params["mac"], "device": None}
    )
    run(module, roce.Roce(params, Commands(), Files(), module.warn), [item], "roce", single=True)


if __name__ == "__main__":
    main()
