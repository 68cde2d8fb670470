#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_rdma_info
short_description: Tell what RDMA a Linux guest has
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Tells the RDMA devices of a guest with their ports and addresses, the modules of its kernel, the drivers in user
    space, the memory that a user may lock, and which ways between network adapter and GPU are open.
  - Reads the files of the kernel. No tool such as C(show_gids) or C(ibv_devinfo) is needed.
notes:
  - Whether a vGPU really gives its memory to a network adapter is only seen when it is used. RV(rdma.gpudirect) tells
    what kernel and driver allow.
  - The path MTU is worked out from the MTU of the adapter, since the kernel has no file for it.
  - Runs on the guest, as root.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.attributes.read_only
options:
  user:
    description:
      - The user whose limit of locked memory is told, as a new login of that user gets it. Left out, it is not asked.
    type: str
seealso:
  - module: aiready.vsphere.guest_roce_info
  - module: aiready.vsphere.guest_interface
"""

EXAMPLES = r"""
- name: Look at the RDMA devices of a guest
  aiready.vsphere.guest_rdma_info:
    user: ops
  register: found

- name: Every port is up and has an address for RoCE v2
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
  description: What the guest has.
  returned: success
  type: dict
  contains:
    devices:
      description: The RDMA devices. Empty where there is none.
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
          description: Vendor and device of its PCI function. Null for one without, such as Soft-RoCE.
          type: str
          returned: always
          sample: "15ad:0820"
        module:
          description: The module of the kernel that drives it. Null for an unknown one.
          type: str
          returned: always
          sample: vmw_pvrdma
        provider:
          description: The driver in user space that it needs. Null for an unknown one.
          type: str
          returned: always
          sample: vmw_pvrdma
        firmware:
          description: Version of its firmware.
          type: str
          returned: always
          sample: 0.0.0
        node_guid:
          description: Its GUID.
          type: str
          returned: always
          sample: "0250:56ff:fe9a:1001"
        numa_node:
          description: Its NUMA node. Null where it is near to none.
          type: int
          returned: always
          sample: 0
        device_files:
          description: The files in C(/dev/infiniband) by which programs use it.
          type: list
          elements: str
          returned: always
          sample: [/dev/infiniband/uverbs0]
        ports:
          description: Its ports.
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
              description: State, V(active) for one that works.
              type: str
              returned: always
              sample: active
            physical_state:
              description: State of the link, V(linkup) for one that works.
              type: str
              returned: always
              sample: linkup
            rate_gbps:
              description: Speed in Gbit/s.
              type: int
              returned: always
              sample: 100
            link_layer:
              description: V(ethernet) or V(infiniband).
              type: str
              returned: always
              sample: ethernet
            interfaces:
              description: The network adapters that belong to it.
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
              description: The MTU of RDMA that fits into it.
              type: int
              returned: always
              sample: 4096
            roce_v2_gid:
              description: The GID of RoCE v2 over IPv4, as an element of C(gids). Null where there is none.
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
                - Its GIDs in use, each with C(index), C(gid), C(type) (V(roce_v1), V(roce_v2) or V(ib)), C(interface),
                  C(address), and whether that is an IPv4 address (C(ipv4)).
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
      description: Modules of the kernel that matter to RDMA and are loaded.
      type: list
      elements: str
      returned: always
      sample: [ib_core, ib_uverbs, vmw_pvrdma]
    providers:
      description: Drivers in user space that are installed.
      type: list
      elements: str
      returned: always
      sample: [mlx5, rxe, vmw_pvrdma]
    connection_manager:
      description: Whether programs can use the connection manager, by C(/dev/infiniband/rdma_cm).
      type: bool
      returned: always
      sample: true
    ofed:
      description: Version of MLNX_OFED or DOCA-OFED. Null where the distribution's own drivers are used.
      type: str
      returned: always
      sample: null
    outdated:
      description:
        - With OFED, modules that are loaded in another build than the one that is installed, such as those of the
          distribution before the guest was restarted.
      type: list
      elements: str
      returned: always
      sample: []
    memlock:
      description:
        - Memory that a new login of O(user) may lock, C(soft_kb) and C(hard_kb), where -1 is unlimited. Null without
          O(user), and where its login cannot be tried.
      type: dict
      returned: always
      sample: {soft_kb: -1, hard_kb: -1}
    gpudirect:
      description:
        - C(peermem) is the module of the older way with its C(peermem_version), null where it is not loaded.
          C(open_module) and C(kernel_dmabuf) are what the newer way, DMA-BUF, needs of driver and kernel.
          C(open_module) is null where no driver is loaded.
      type: dict
      returned: always
      sample: {peermem: null, peermem_version: null, open_module: true, kernel_dmabuf: true}
    numa:
      description:
        - The NUMA nodes that the guest sees (C(nodes)), and its GPUs, each with C(address) and C(node), which is null
          for one that is near to none. RDMA of a GPU should be on its node.
      type: dict
      returned: always
      sample: {nodes: [0], gpus: [{address: "0000:02:00.0", node: 0}]}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
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
    """What the guest has."""
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
