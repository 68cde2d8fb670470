#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_host_info
short_description: Tell what an ESXi host has and is set to, for multi-node GPU training
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Tells in one answer what decides whether a host can take part in a training run. Driver, graphics types, offered
    vGPU profiles, kernel settings, options of the network driver, RDMA ports with their priorities, passthrough, and
    which GPU shares a PCIe root and a NUMA node with which port.
  - Tells the settings that wait for a restart, so that a play can gather them into one.
  - Topology is read from the tree of PCI devices. Virtual functions of GPUs and ports, which carry the names and IDs
    of the whole device, are not counted.
  - A host that does not answer is no error. What vCenter remembers of it is told, RV(host.connection) says that it is
    away, and what only the host itself knows is null.
notes:
  - What a module was loaded with is not kept by ESXi. RV(host.modules) tells it from the time of the boot, and from
    what M(aiready.vsphere.esxi_module_options) has noted before it changed something.
  - A switch decides the MTU of its ports, so that the one in RV(host.nics) is that of the switch.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  kernel_settings:
    description: The kernel settings to tell.
    type: list
    elements: str
    default: [atsSupport]
  modules:
    description: The kernel modules whose options are told. One that the host does not have is left out.
    type: list
    elements: str
    default: [nmlx5_core, nmlx5_rdma]
  options:
    description: The advanced options to tell. One that the host does not have is left out.
    type: list
    elements: str
    default: [Net.PVRDMAVmknic]
  rulesets:
    description: The firewall rulesets to tell.
    type: list
    elements: str
    default: [pvrdma]
seealso:
  - module: aiready.vsphere.nvaie_driver_info
"""

EXAMPLES = r"""
- name: Look at a host
  aiready.vsphere.esxi_host_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com

- name: Refuse a host whose GPU and network adapter are far apart
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Look at the host
      aiready.vsphere.esxi_host_info:
        host: esx-01.example.com
      register: esx

    - name: A GPU and a port share a PCIe root and a NUMA node
      ansible.builtin.assert:
        that: esx.host.pairs | selectattr('same_root') | selectattr('same_numa') | length > 0
"""

RETURN = r"""
host:
  description: The host.
  returned: success
  type: dict
  contains:
    name:
      description: Name of the host in vCenter.
      type: str
      returned: always
    moid:
      description: Managed object ID of the host.
      type: str
      returned: always
    cluster:
      description: Name of its cluster, null for a host in none.
      type: str
      returned: always
    version:
      description: Version of ESXi.
      type: str
      returned: always
    build:
      description: Build of ESXi.
      type: str
      returned: always
    connection:
      description: V(connected), V(disconnected) or V(notResponding).
      type: str
      returned: always
    power:
      description: Power state as vCenter knows it, such as V(poweredOn).
      type: str
      returned: always
    in_maintenance:
      description: Whether the host is in maintenance mode.
      type: bool
      returned: always
    boot_time:
      description: When the host was booted, in ISO 8601.
      type: str
      returned: always
    running_vms:
      description: Names of the VMs that run on it.
      type: list
      elements: str
      returned: always
    lockdown:
      description: V(disabled), V(normal) or V(strict).
      type: str
      returned: always
    lockdown_exceptions:
      description: Users whom lockdown mode lets in. Null where it is off, or where vCenter does not return them.
      type: list
      elements: str
      returned: always
    services:
      description: The host's services by key, each with C(running) and C(policy).
      type: dict
      returned: always
    driver:
      description: The installed NVIDIA host driver with C(family) (V(nvaie), V(graphics) or V(none)), C(version), and
        C(loaded), whether the kernel runs it. Null for a host that does not answer.
      type: dict
      returned: always
    graphics:
      description: Default type, assignment policy and devices, as in M(aiready.vsphere.host_graphics).
      type: dict
      returned: always
    profiles_offered:
      description: The vGPU profiles that the host offers.
      type: list
      elements: str
      returned: always
    kernel:
      description: The kernel settings asked for, each with C(configured), C(runtime) and C(default).
      type: dict
      returned: always
    modules:
      description: The kernel modules asked for, each with C(enabled), C(loaded), C(options) and C(active_options).
      type: dict
      returned: always
    options:
      description: The advanced options asked for and their values.
      type: dict
      returned: always
    rulesets:
      description: The firewall rulesets asked for, and whether they are enabled.
      type: dict
      returned: always
    nics:
      description:
        - The physical ports, each with C(device), C(pci), C(driver), C(mtu), C(switch), C(numa_node), C(root),
          C(link_mbps), C(rdma) (C(name), C(state), C(mtu)), C(dcb) (C(mode), and C(pfc), the priorities with flow
          control), C(passthrough) (C(configured), C(active)) and C(vfs) (the virtual functions that are C(active), and
          C(max), the most that the running firmware allows).
        - C(rdma) and C(dcb) are null for a port that has none. Of an RDMA adapter that was given away only C(pci) and
          where it sits is known.
      type: list
      elements: dict
      returned: always
    gpus:
      description:
        - The GPUs, each with C(id), C(board), C(numa_node), C(root) and C(passthrough) (C(configured), C(active)).
      type: list
      elements: dict
      returned: always
    pairs:
      description:
        - Every GPU with every RDMA port, given away or not, and how near they are. C(same_switch) tells a common
          PCIe bridge, C(same_root) a common root complex, C(same_numa) a common NUMA node (null where the host does
          not tell it).
      type: list
      elements: dict
      returned: always
    vmkernel:
      description:
        - The VMkernel adapters, each with C(device), C(mtu), C(services), C(switch), C(ip), C(netmask), C(portgroup)
          and C(vlan). C(vlan) is 0 without a VLAN, and null where the port group carries several or a private one.
      type: list
      elements: dict
      returned: always
    pending:
      description: What is set and waits for a restart, each with C(what) and C(needs).
      type: list
      elements: dict
      returned: always
  sample:
    name: esx-01.example.com
    moid: host-12
    cluster: gpu
    version: 8.0.3
    connection: connected
    driver: {family: nvaie, version: 550.54.16, loaded: true}
    kernel:
      atsSupport: {configured: "TRUE", runtime: "FALSE", default: "FALSE"}
    pairs:
      - {gpu: "0000:17:00.0", nic: vmnic2, same_root: true, same_switch: true, same_numa: true}
    pending:
      - {what: kernel.atsSupport, needs: reboot}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import facts, gather
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, args, session

ARGUMENTS = dict(
    args.CONNECTION,
    **args.HOST_IDENTITY,
    **args.ESXCLI_TRANSPORT,
    kernel_settings={"type": "list", "elements": "str", "default": ["atsSupport"]},
    modules={"type": "list", "elements": "str", "default": ["nmlx5_core", "nmlx5_rdma"]},
    options={"type": "list", "elements": "str", "default": ["Net.PVRDMAVmknic"]},
    rulesets={"type": "list", "elements": "str", "default": ["pvrdma"]},
)


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        found, vms, answers = gather.gather(vcenter, module.params, module.warn)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, host=facts.facts(found, vms, answers, module.params))


if __name__ == "__main__":
    main()
