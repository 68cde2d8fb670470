#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_rdma_info
short_description: Gather the RDMA devices and settings of a Linux guest
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns the RDMA devices of a guest with their ports and addresses, the kernel modules and the userspace drivers.
  - Returns the locked memory limit of a user and the available GPUDirect methods.
  - Reads the files of the kernel. It needs no tool such as C(show_gids) or C(ibv_devinfo).
notes:
  - RV(rdma.gpudirect) returns the methods that kernel and driver support. Only a transfer proves that a vGPU shares its
    memory with a network adapter.
  - The module derives the path MTU from the MTU of the adapter, because the kernel has no file for it.
  - Runs on the guest, as root.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.attributes.read_only
options:
  user:
    description:
      - User whose locked memory limit is read in a new login. If omitted, the module does not read a limit.
    type: str
seealso:
  - module: aiready.vsphere.guest_roce_info
  - module: aiready.vsphere.guest_interface
"""

EXAMPLES = r"""
- name: Gather the RDMA devices of a guest
  aiready.vsphere.guest_rdma_info:
    user: ops
  register: found

- name: Assert that every port is up and has a RoCE v2 GID
  ansible.builtin.assert:
    that:
      - item.ports | rejectattr('state', 'equalto', 'active') | length == 0
      - item.ports | map(attribute='roce_v2_gid') | select('none') | length == 0
  loop: "{{ found.rdma.devices }}"
  loop_control:
    label: "{{ item.name }}"
"""

RETURN = r"""
rdma:
  description: RDMA devices and settings of the guest.
  returned: success
  type: dict
  contains:
    devices:
      description: RDMA devices. Empty if there are none.
      type: list
      elements: dict
      returned: always
      contains:
        name:
          description: Name of the device.
          type: str
          returned: always
          sample: vmw_pvrdma0
        pci_id:
          description: PCI vendor ID and device ID. Null for a device without a PCI function, such as Soft-RoCE.
          type: str
          returned: always
          sample: "15ad:0820"
        module:
          description: Kernel module of the device. Null if unknown.
          type: str
          returned: always
          sample: vmw_pvrdma
        provider:
          description: Userspace driver that the device needs. Null if unknown.
          type: str
          returned: always
          sample: vmw_pvrdma
        firmware:
          description: Firmware version.
          type: str
          returned: always
          sample: 0.0.0
        node_guid:
          description: GUID of the device.
          type: str
          returned: always
          sample: "0250:56ff:fe9a:1001"
        numa_node:
          description: NUMA node of the device. Null if it belongs to none.
          type: int
          returned: always
          sample: 0
        device_files:
          description: Files in C(/dev/infiniband) through which programs use the device.
          type: list
          elements: str
          returned: always
          sample: [/dev/infiniband/uverbs0]
        ports:
          description: Ports of the device.
          type: list
          elements: dict
          returned: always
          contains:
            port:
              description: Number of the port.
              type: int
              returned: always
              sample: 1
            state:
              description: State of the port. V(active) for a working port.
              type: str
              returned: always
              sample: active
            physical_state:
              description: State of the link. V(linkup) for a working link.
              type: str
              returned: always
              sample: linkup
            rate_gbps:
              description: Speed in Gbit/s.
              type: int
              returned: always
              sample: 100
            link_layer:
              description: Link layer, V(ethernet) or V(infiniband).
              type: str
              returned: always
              sample: ethernet
            interfaces:
              description: Network adapters of the port.
              type: list
              elements: str
              returned: always
              sample: [ens224]
            mtu:
              description: MTU of the network adapter.
              type: int
              returned: always
              sample: 9000
            path_mtu:
              description: Largest RDMA MTU that fits into the adapter's MTU.
              type: int
              returned: always
              sample: 4096
            roce_v2_gid:
              description: RoCE v2 GID over IPv4, as an element of C(gids). Null if there is none.
              type: dict
              returned: always
              sample:
                index: 1
                gid: "0000:0000:0000:0000:0000:ffff:c0a8:320b"
                type: roce_v2
                interface: ens224
                address: 192.168.50.11
                ipv4: true
            gids:
              description:
                - GIDs in use, each with C(index), C(gid), C(type) (V(roce_v1), V(roce_v2) or V(ib)), C(interface) and
                  C(address). C(ipv4) is V(true) for an IPv4 address.
              type: list
              elements: dict
              returned: always
              sample:
                - index: 1
                  gid: "0000:0000:0000:0000:0000:ffff:c0a8:320b"
                  type: roce_v2
                  interface: ens224
                  address: 192.168.50.11
                  ipv4: true
    modules:
      description: Loaded kernel modules that are relevant to RDMA.
      type: list
      elements: str
      returned: always
      sample: [ib_core, ib_uverbs, vmw_pvrdma]
    providers:
      description: Installed userspace drivers.
      type: list
      elements: str
      returned: always
      sample: [mlx5, rxe, vmw_pvrdma]
    connection_manager:
      description: V(true) if programs can use the RDMA connection manager, through C(/dev/infiniband/rdma_cm).
      type: bool
      returned: always
      sample: true
    ofed:
      description: Version of MLNX_OFED or DOCA-OFED. Null if the guest uses the drivers of the distribution.
      type: str
      returned: always
      sample: null
    outdated:
      description:
        - With OFED, loaded modules whose build differs from the installed one. An example is a module of the
          distribution before the guest is restarted.
      type: list
      elements: str
      returned: always
      sample: []
    memlock:
      description:
        - Locked memory limits of a new login of O(user), C(soft_kb) and C(hard_kb), where -1 is unlimited. Null without
          O(user), or if a login of this user cannot be tested.
      type: dict
      returned: always
      sample: {soft_kb: -1, hard_kb: -1}
    gpudirect:
      description:
        - C(peermem) is the module of the older method, with its C(peermem_version). It is null if it is not loaded.
        - C(open_module) and C(kernel_dmabuf) are the driver and kernel requirements of the newer method, DMA-BUF.
          C(open_module) is null if no driver is loaded.
      type: dict
      returned: always
      sample: {peermem: null, peermem_version: null, open_module: true, kernel_dmabuf: true}
    numa:
      description:
        - NUMA nodes of the guest (C(nodes)), and its GPUs, each with C(address) and C(node). C(node) is null for a GPU
          that belongs to no node. The RDMA device of a GPU should be on the same node.
      type: dict
      returned: always
      sample: {nodes: [0], gpus: [{address: "0000:02:00.0", node: 0}]}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: invalid_parameters, problems: ["user: it is empty. Name a user, or leave it out."]}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import rdma

ARGUMENTS = {"user": {"type": "str"}}


def look(commands: Commands, files: Files, user: str | None) -> dict[str, Any]:
    """Return the RDMA state of the guest."""
    ofed = rdma.ofed(commands)
    return {
        "devices": rdma.devices(files),
        "modules": rdma.loaded(files),
        "providers": rdma.providers(files),
        "connection_manager": files.exists("/dev/infiniband/rdma_cm"),
        "ofed": ofed,
        "outdated": rdma.outdated(files, commands) if ofed else [],
        "memlock": rdma.memlock(commands, user) if user else None,
        "gpudirect": rdma.gpudirect(files),
        "numa": rdma.numa(files),
    }


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    user = module.params["user"]
    if user is not None and not user.strip():
        problem = "user: it is empty. Name a user, or leave it out."
        fail_if_invalid(module, [problem])
    module.exit_json(changed=False, rdma=look(Commands(), Files(), user))


if __name__ == "__main__":
    main()
