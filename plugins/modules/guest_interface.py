#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_interface
short_description: Give a network adapter of a Linux guest its MTU and address
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the MTU and a static address of one adapter, at once and for every start to come. The adapter is found by its
    MAC address, which vCenter knows, so that it does not matter how the guest names it.
  - The service that sets up the adapter in this guest is found and used in its own way. Known are netplan,
    NetworkManager, systemd-networkd and ifupdown. Everything else that it is told about the adapter is kept.
  - Looks at what runs and at what is kept, compares both with what is wanted, and does the same again after the change.
    An adapter that does not come up gets back what it had.
  - With O(ping) it proves that packets of the full size reach other machines. A packet that is too large for a hop
    vanishes without a word, while small ones arrive.
notes:
  - No gateway is set. A data path is one network, and has no way out.
  - The address of the adapter by which Ansible comes to the guest is never changed. Its MTU can be.
  - Addresses that others gave the adapter stay. One that this module put there before goes when O(address) is another.
  - A profile of NetworkManager, a definition of netplan or a file of systemd-networkd that is for several adapters is
    not touched. The adapter gets its own, with all that held for it.
  - Runs on the guest, as root.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
options:
  mac:
    description:
      - MAC address of the adapter, as M(aiready.vsphere.vm_guest_info) or vCenter tells it.
      - Either this or O(name) is required.
    type: str
  name:
    description:
      - Name of the adapter in the guest, such as V(ens224).
    type: str
  mtu:
    description:
      - The MTU. V(9000) for RoCE, if the whole way carries it. Left out, it stays as it is.
    type: int
  address:
    description:
      - An IPv4 address with the prefix of its network, such as V(192.168.50.11/24). Left out, addresses stay as they
        are.
    type: str
  backend:
    description:
      - The service that keeps the settings. V(auto) takes the one that sets up this adapter, or, where none does, the
        first of those listed here that runs.
    type: str
    choices: [auto, netplan, networkmanager, networkd, ifupdown]
    default: auto
  ping:
    description:
      - IPv4 addresses of machines that packets of the full MTU have to reach through this adapter. Nothing is sent in
        check mode.
      - All addresses of a machine may be told. Those that are in no network of this adapter are left out, as are its
        own. RV(interface.reached) tells which were tried.
    type: list
    elements: str
    default: []
  wait_s:
    description:
      - How many seconds the adapter may take to come up, and each machine of O(ping) to answer.
    type: int
    default: 10
attributes:
  check_mode:
    details: The changes are those of a real run. O(ping) is left out.
seealso:
  - module: aiready.vsphere.guest_rdma_info
  - module: aiready.vsphere.vmkernel_mtu
"""

EXAMPLES = r"""
- name: Give the adapter of the data path its MTU and address
  aiready.vsphere.guest_interface:
    mac: 00:50:56:9a:10:01
    mtu: 9000
    address: 192.168.50.11/24

- name: Set up the data path of all guests
  hosts: training_guests
  gather_facts: false
  become: true
  tasks:
    - name: Every guest has its address on the data path
      aiready.vsphere.guest_interface:
        mac: "{{ data_path.mac }}"
        mtu: 9000
        address: "{{ data_path.address }}/24"

    - name: Large packets reach every other guest
      aiready.vsphere.guest_interface:
        mac: "{{ data_path.mac }}"
        ping: >-
          {{ ansible_play_hosts | map('extract', hostvars, ['data_path', 'address']) }}

- name: Set the MTU back to that of Ethernet
  aiready.vsphere.guest_interface:
    mac: 00:50:56:9a:10:01
    mtu: 1500
"""

RETURN = r"""
interface:
  description: The result, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the adapter in the guest. Of one that was not found, what the task said.
      type: str
      returned: always
      sample: ens224
    mac:
      description: Its MAC address.
      type: str
      returned: always
      sample: 00:50:56:9a:10:01
    reached:
      description: The addresses of O(ping) that packets of the full MTU reached. Empty in check mode.
      type: list
      elements: str
      returned: always
      sample: []
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(interface.after). Empty for an adapter that was not found.
      type: dict
      returned: always
      sample:
        up: true
        carrier: true
        mtu: 1500
        addresses: []
        kept: {mtu: null, addresses: [], where: ""}
        backend: networkd
        way_in: false
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        up:
          description: Whether the adapter is switched on.
          type: bool
          returned: success
        carrier:
          description: Whether it has a link.
          type: bool
          returned: success
        mtu:
          description: The MTU that acts.
          type: int
          returned: success
        addresses:
          description: The addresses that act, without those of the link alone.
          type: list
          elements: str
          returned: success
        kept:
          description:
            - What is kept for the next start. C(mtu) is null where nobody says one, and C(where) names the file or
              profile.
          type: dict
          returned: success
        backend:
          description: The service that sets up the adapter.
          type: str
          returned: success
        way_in:
          description: Whether Ansible comes to the guest by this adapter.
          type: bool
          returned: success
      sample:
        up: true
        carrier: true
        mtu: 9000
        addresses: [192.168.50.11/24]
        kept: {mtu: 9000, addresses: [192.168.50.11/24], where: /etc/systemd/network/05-aiready-ens224.network}
        backend: networkd
        way_in: false
    changes:
      description: What was changed, or would be in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: mtu, before: 1500, after: 9000, needs: null}
        - {path: addresses, before: [], after: [192.168.50.11/24], needs: null}
        - {path: kept.mtu, before: null, after: 9000, needs: null}
        - {path: kept.addresses, before: [], after: [192.168.50.11/24], needs: null}
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
  sample: {code: path_mtu, subject: Adapter ens224, peer: 192.168.50.12, wanted_mtu: 9000, largest_mtu: 1500}
"""

from typing import TYPE_CHECKING

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import interface, interface_params

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Wish


def main() -> None:
    module = AnsibleModule(
        argument_spec=interface_params.ARGUMENTS,
        mutually_exclusive=[("mac", "name")],
        required_one_of=[("mac", "name")],
        supports_check_mode=True,
    )
    fail_if_invalid(module, interface_params.check_params(module.params))
    params = module.params
    said = params["name"] or params["mac"]
    item: Item[Wish, interface.State] = Item(
        f"Adapter {said}", params, {"name": said, "mac": params["mac"], "reached": []}
    )
    run(module, interface.Interface(params, Commands(), Files(), module.warn), [item], "interface", single=True)


if __name__ == "__main__":
    main()
