#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_host_info
short_description: Gather the state of an ESXi host for multi-node GPU training
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns in one result the facts that decide whether a host can join a training run.
  - The result covers the driver, graphics types, offered vGPU profiles, kernel settings and options of the network
    driver. It also covers RDMA ports with their priorities, passthrough, and the GPUs that share a PCIe root and a NUMA
    node with a port.
  - Returns the settings that wait for a restart, so that a play can combine them into one restart.
  - Reads the topology from the tree of PCI devices. Virtual functions of GPUs and ports have the names and IDs of the
    whole device. The module does not count them.
  - With O(hosts), reads any number of hosts. vCenter gets two requests for the properties of all hosts. It has no
    request for several hosts for kernel modules, advanced options and C(esxcli), so the module asks up to 8 hosts at
    the same time.
  - With O(hosts), the module opens one connection to vCenter for each two hosts, at most 8. With O(session=reuse), they
    share one login. With O(session=once), each connection logs in and out.
  - A host that does not answer is no error. The module returns its last state in vCenter, RV(host.connection) shows the
    lost connection, and values that only the host has are null.
notes:
  - ESXi does not store the options that a kernel module was loaded with. RV(host.modules) derives them from the boot
    time and from the note that M(aiready.vsphere.esxi_module_options) writes before its first change.
  - A switch defines the MTU of its ports. The MTU in RV(host.nics) is therefore that of the switch.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  host:
    description:
      - ESXi host, by its name in vCenter, its inventory path (such as V(/dc1/host/gpu/esx-01.example.com)) or its
        managed object ID (such as V(host-42)).
      - If several hosts have this name, the module fails and lists their paths.
      - Exactly one of O(host) and O(hosts) is required.
    type: str
  hosts:
    description:
      - ESXi hosts, each as in O(host). The result is RV(hosts). A host that cannot be read does not fail the task.
      - Cannot be combined with O(ssh_host).
    type: list
    elements: str
    version_added: 0.2.0
  kernel_settings:
    description: Kernel settings to return.
    type: list
    elements: str
    default: [atsSupport]
  modules:
    description: Kernel modules whose options are returned. The result omits a module that the host does not have.
    type: list
    elements: str
    default: [nmlx5_core, nmlx5_rdma]
  options:
    description: Advanced options to return. The result omits an option that the host does not have.
    type: list
    elements: str
    default: [Net.PVRDMAVmknic]
  rulesets:
    description: Firewall rulesets to return.
    type: list
    elements: str
    default: [pvrdma]
seealso:
  - module: aiready.vsphere.nvaie_driver_info
"""

EXAMPLES = r"""
- name: Read a host
  aiready.vsphere.esxi_host_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com

- name: Read all hosts of the inventory in one task
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Read the hosts
      aiready.vsphere.esxi_host_info:
        hosts: "{{ groups['esxi_hosts'] }}"

- name: Reject a host whose GPU and network adapter are far apart
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Read the host
      aiready.vsphere.esxi_host_info:
        host: esx-01.example.com
      register: esx

    - name: Require a common PCIe root and NUMA node
      ansible.builtin.assert:
        that: esx.host.pairs | selectattr('same_root') | selectattr('same_numa') | length > 0
"""

RETURN = r"""
host:
  description: State of the host.
  returned: success, with O(host)
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
      description: Name of the host's cluster, null for a host without a cluster.
      type: str
      returned: always
    cluster_moid:
      description: Managed object ID of the host's cluster, null for a host without a cluster.
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
      description: Power state as vCenter reports it, such as V(poweredOn).
      type: str
      returned: always
    in_maintenance:
      description: True if the host is in maintenance mode.
      type: bool
      returned: always
    unrestored:
      description:
        - Temporary changes that an earlier run has not undone.
        - V(maintenance) is maintenance mode, and C(service.NAME) is a started service.
      type: list
      elements: str
      returned: always
    boot_time:
      description: Boot time of the host, in ISO 8601.
      type: str
      returned: always
    running_vms:
      description: Names of the VMs that run on the host.
      type: list
      elements: str
      returned: always
    lockdown:
      description: V(disabled), V(normal) or V(strict).
      type: str
      returned: always
    lockdown_exceptions:
      description: Users on the exception list of lockdown mode. Null if lockdown mode is off, or if vCenter does not
        return them.
      type: list
      elements: str
      returned: always
    services:
      description: Services of the host by key, each with C(running) and C(policy).
      type: dict
      returned: always
    driver:
      description: Installed NVIDIA host driver with C(family) (V(nvaie), V(graphics) or V(none)), C(version) and
        C(loaded). C(loaded) is true if the kernel runs it. Null for a host that does not answer.
      type: dict
      returned: always
    graphics:
      description: Default type, assignment policy and devices, as in M(aiready.vsphere.host_graphics).
      type: dict
      returned: always
    dvx_classes:
      description:
        - Device classes of Enhanced DirectPath I/O (DVX) on the host, each with C(device_class), C(vmotion),
          C(dma_tracing) and C(sriov_nic). Empty before vSphere 8.0.
        - C(vmotion) is C(checkpointSupported) of the class. A running VM with a device of the class can move only if it
          is true.
        - VMs get the devices of a class with C(sriov_nic) as network adapters.
      type: list
      elements: dict
      returned: always
    profiles_offered:
      description: vGPU profiles that the host offers.
      type: list
      elements: str
      returned: always
    kernel:
      description: Requested kernel settings, each with C(configured), C(runtime) and C(default).
      type: dict
      returned: always
    modules:
      description: Requested kernel modules, each with C(enabled), C(loaded), C(options) and C(active_options).
      type: dict
      returned: always
    options:
      description: Requested advanced options and their values.
      type: dict
      returned: always
    rulesets:
      description: Requested firewall rulesets, each true if it is enabled.
      type: dict
      returned: always
    nics:
      description:
        - Physical ports, each with C(device), C(pci), C(driver), C(mtu), C(switch), C(numa_node), C(root),
          C(link_mbps), C(rdma), C(dcb), C(passthrough), C(device_mode) and C(vfs).
        - C(rdma) contains C(name), C(state) and C(mtu).
        - C(dcb) contains C(mode) and C(pfc), the priorities with flow control.
        - C(passthrough) contains C(configured) and C(active).
        - C(vfs) contains C(active), the existing virtual functions, and C(max), the most that the running firmware
          allows.
        - C(rdma) and C(dcb) are null for a port that has none. For an RDMA adapter in passthrough mode, the module
          returns only C(pci) and its position in the PCI tree.
      type: list
      elements: dict
      returned: always
    gpus:
      description:
        - GPUs, each with C(id), C(board), C(numa_node), C(root), C(passthrough) (C(configured), C(active)) and
          C(device_mode).
        - C(device_mode) contains C(current), the mode in effect, C(configurable), the modes that the device can be
          configured to, and C(used_memory_mb), the memory that running VMs use, null if unknown.
        - The modes are V(none), V(host), V(direct_path), V(enhanced_direct_path), V(vgpu_same_size),
          V(vgpu_mixed_size) and V(system_select). With V(system_select), the host picks the mode when a VM starts.
        - C(device_mode) is null if vCenter reports no mode, as before vSphere 9.1. Ports have it too.
      type: list
      elements: dict
      returned: always
    nvswitches:
      description: Number of NVSwitches on the host.
      type: int
      returned: always
    pairs:
      description:
        - Pairs of each GPU and each RDMA port, in passthrough mode or not, and their distance.
        - C(same_switch) is true for a common PCIe bridge, and C(same_root) for a common root complex. C(same_numa) is
          true for a common NUMA node, and null if the host does not report it.
      type: list
      elements: dict
      returned: always
    vmkernel:
      description:
        - VMkernel adapters, each with C(device), C(mtu), C(services), C(switch), C(ip), C(netmask), C(portgroup) and
          C(vlan).
        - C(vlan) is 0 without a VLAN, and null if the port group carries several VLANs or a private one.
      type: list
      elements: dict
      returned: always
    pending:
      description: Configured settings that wait for a restart, each with C(what) and C(needs).
      type: list
      elements: dict
      returned: always
  sample:
    name: esx-01.example.com
    moid: host-12
    cluster: gpu
    cluster_moid: domain-c8
    version: 8.0.3
    connection: connected
    driver: {family: nvaie, version: 550.54.16, loaded: true}
    kernel:
      atsSupport: {configured: "TRUE", runtime: "FALSE", default: "FALSE"}
    pairs:
      - {gpu: "0000:17:00.0", nic: vmnic2, same_root: true, same_switch: true, same_numa: true}
    pending:
      - {what: kernel.atsSupport, needs: reboot}
hosts:
  description: State of each host of O(hosts), in their order.
  returned: success, with O(hosts)
  type: list
  elements: dict
  contains:
    item:
      description: The entry of O(hosts).
      type: str
      returned: always
    failed:
      description: True if the host was not found or could not be read.
      type: bool
      returned: always
    msg:
      description: Cause and fix if the host could not be read. Empty otherwise.
      type: str
      returned: always
    failure:
      description: Machine-readable cause with a stable C(code). Empty for a host that was read.
      type: dict
      returned: always
    host:
      description: State of the host, with the keys of RV(host).
      type: dict
      returned: if the host was read
"""

from typing import TYPE_CHECKING, Any, Callable, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import facts, gather
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, args, session

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

ARGUMENTS = dict(
    args.CONNECTION,
    host={"type": "str"},
    hosts={"type": "list", "elements": "str"},
    **args.ESXCLI_TRANSPORT,
    kernel_settings={"type": "list", "elements": "str", "default": ["atsSupport"]},
    modules={"type": "list", "elements": "str", "default": ["nmlx5_core", "nmlx5_rdma"]},
    options={"type": "list", "elements": "str", "default": ["Net.PVRDMAVmknic"]},
    rulesets={"type": "list", "elements": "str", "default": ["pvrdma"]},
)


def read(vcenter: VCenter, params: Mapping[str, Any], warn: Callable[[str], None]) -> dict[str, Any]:
    """The result of a task: one host, or several of which some may have failed."""
    if params["host"] is not None:
        return {"host": facts.facts(*gather.gather(vcenter, params, warn), params)}
    every = gather.gather_all(vcenter, params, warn)
    return {"hosts": [_one(name, one) for name, one in every.items()]}


def _one(name: str, one: dict[str, Any] | OperatorError) -> dict[str, Any]:
    if isinstance(one, OperatorError):
        return {"item": name, "failed": True, "msg": one.message, "failure": one.failure}
    return {"item": name, "failed": False, "msg": "", "failure": {}, "host": one}


def main() -> None:
    module = AnsibleModule(
        argument_spec=ARGUMENTS,
        supports_check_mode=True,
        mutually_exclusive=[("host", "hosts"), ("hosts", "ssh_host")],
        required_one_of=[("host", "hosts")],
    )
    _pyvmomi.require(module)
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        result = read(vcenter, module.params, module.warn)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
