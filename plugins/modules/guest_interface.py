#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_interface
short_description: Manage the MTU and address of a network adapter in a Linux guest
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the MTU and a static address of one adapter, now and at every boot. The module finds the adapter by the MAC
    address that vCenter reports, so the name of the adapter in the guest does not matter.
  - Detects the service that configures the adapter and uses its own configuration format. It supports netplan,
    NetworkManager, systemd-networkd and ifupdown. Other settings of the adapter stay unchanged.
  - Compares both the running and the saved configuration with the requested one, before and after the change. If the
    adapter does not come up, the module restores its previous settings.
  - With O(ping), verifies that full-size packets reach other machines. A hop with a smaller MTU silently drops large
    packets, while small packets pass.
notes:
  - The module sets no gateway, because a data path is a single network without a route to other networks.
  - The module never changes the address of the adapter that carries the Ansible connection. It can change its MTU.
  - Addresses that other tools set on the adapter stay unchanged. If O(address) changes, the module removes the address
    that it has set before.
  - The module does not change a NetworkManager profile, a netplan definition or a systemd-networkd file that covers
    several adapters. It creates a separate one for the adapter, with the same settings.
  - Runs on the guest, as root.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
options:
  mac:
    description:
      - MAC address of the adapter, as reported by M(aiready.vsphere.vm_guest_info) or vCenter.
      - Either this or O(name) is required.
    type: str
  name:
    description:
      - Name of the adapter in the guest, such as V(ens224).
    type: str
  mtu:
    description:
      - MTU of the adapter. Use V(9000) for RoCE, if all hops of the path support it. If omitted, the MTU stays
        unchanged.
    type: int
  address:
    description:
      - IPv4 address with prefix length, such as V(192.168.50.11/24). If omitted, addresses stay unchanged.
    type: str
  backend:
    description:
      - Service that saves the settings. V(auto) selects the service that configures this adapter. If there is none, it
        selects the first running service in the order of the choices.
    type: str
    choices: [auto, netplan, networkmanager, networkd, ifupdown]
    default: auto
  ping:
    description:
      - IPv4 addresses that packets of the full MTU must reach through this adapter. The module sends nothing in check
        mode.
      - The list may contain all addresses of a machine. The module skips its own addresses, and addresses outside the
        networks of this adapter. RV(interface.reached) lists the addresses that were reached.
    type: list
    elements: str
    default: []
  wait_s:
    description:
      - Time in seconds for the adapter to come up, and for each machine in O(ping) to answer.
    type: int
    default: 10
attributes:
  check_mode:
    details: Reports the same changes as a real run. It skips O(ping).
seealso:
  - module: aiready.vsphere.guest_rdma_info
  - module: aiready.vsphere.vmkernel_mtu
"""

EXAMPLES = r"""
- name: Set the MTU and address of the data path adapter
  aiready.vsphere.guest_interface:
    mac: 00:50:56:9a:10:01
    mtu: 9000
    address: 192.168.50.11/24

- name: Set up the data path of all guests
  hosts: training_guests
  gather_facts: false
  become: true
  tasks:
    - name: Set the address of each guest on the data path
      aiready.vsphere.guest_interface:
        mac: "{{ data_path.mac }}"
        mtu: 9000
        address: "{{ data_path.address }}/24"

    - name: Verify that large packets reach every other guest
      aiready.vsphere.guest_interface:
        mac: "{{ data_path.mac }}"
        ping: >-
          {{ ansible_play_hosts | map('extract', hostvars, ['data_path', 'address']) }}

- name: Reset the MTU to the Ethernet default
  aiready.vsphere.guest_interface:
    mac: 00:50:56:9a:10:01
    mtu: 1500
"""

RETURN = r"""
interface:
  description: Result for the adapter, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the adapter in the guest. If it was not found, the value from the task.
      type: str
      returned: always
      sample: ens224
    mac:
      description: MAC address of the adapter.
      type: str
      returned: always
      sample: 00:50:56:9a:10:01
    reached:
      description: Addresses from O(ping) that packets of the full MTU reached. Empty in check mode.
      type: list
      elements: str
      returned: always
      sample: []
    changed:
      description: V(true) if something changed, or would change in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the change, in the format of RV(interface.after). Empty if the adapter was not found.
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
      description: State after the change, read again. In check mode, the expected state.
      type: dict
      returned: always
      contains:
        up:
          description: V(true) if the adapter is enabled.
          type: bool
          returned: success
        carrier:
          description: V(true) if the adapter has a link.
          type: bool
          returned: success
        mtu:
          description: Effective MTU.
          type: int
          returned: success
        addresses:
          description: Effective addresses, without link-local ones.
          type: list
          elements: str
          returned: success
        kept:
          description:
            - Saved configuration for the next boot. C(mtu) is null if the configuration has none. C(where) names the
              file or profile.
          type: dict
          returned: success
        backend:
          description: Service that configures the adapter.
          type: str
          returned: success
        way_in:
          description: V(true) if this adapter carries the Ansible connection.
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
      description: Changes that were made, or would be made in check mode, one entry per setting.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: mtu, before: 1500, after: 9000, needs: null}
        - {path: addresses, before: [], after: [192.168.50.11/24], needs: null}
        - {path: kept.mtu, before: null, after: 9000, needs: null}
        - {path: kept.addresses, before: [], after: [192.168.50.11/24], needs: null}
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
  sample: {code: path_mtu, subject: Adapter ens224, peer: 192.168.50.12, wanted_mtu: 9000, largest_mtu: 1500}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import interface, interface_params


def main() -> None:
    module = AnsibleModule(
        argument_spec=interface_params.ARGUMENTS,
        mutually_exclusive=[("mac", "name")],
        required_one_of=[("mac", "name")],
        supports_check_mode=True,
    )
    fail_if_invalid(module, interface_params.check_params(module.params))
    requested = request(interface_params.InterfaceRequest, module.params)
    said = requested.name or requested.mac
    item: Item[interface_params.InterfaceRequest, interface.State] = Item(
        f"Adapter {said}", requested, {"name": said, "mac": requested.mac, "reached": []}
    )
    run(module, interface.Interface(requested, Commands(), Files(), module.warn), [item], "interface", single=True)


if __name__ == "__main__":
    main()
