#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: nic_firmware
short_description: Manage parameters in the firmware of NVIDIA network adapters
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets parameters such as C(ATS_ENABLED), C(SRIOV_EN) and C(NUM_OF_VFS) in the firmware of ConnectX and BlueField
    adapters. It uses C(mlxconfig) of NVIDIA's firmware tools (MFT).
  - Runs on the controller and sends its commands over the connection of the play. The target is the shell of an ESXi
    host, or a Linux guest that owns the adapter. It needs no Python.
  - Finds adapters with C(mst status), the only source of the names that C(mlxconfig) accepts. A task selects adapters
    by PCI address, by port, or all at once.
  - Rejects a parameter that the firmware does not have, for example because it is old, before it writes anything.
  - The firmware stores the value for the next start beside the running value. The module verifies the stored value.
    Every run reports the difference in RV(devices[].pending) until the adapter starts again.
  - The collections for VMware have no comparable module.
notes:
  - On ESXi the tools are the VIBs NMST and MFT. They need a restart of the host after their installation. The module
    searches for them in the search path and in C(/opt/mellanox/bin).
  - If C(mst status) lists nothing, the module runs C(mst start), which loads the driver of the tools. It does this also
    in check mode, because it could read nothing otherwise.
  - NVIDIA AI Enterprise's user guide requires a full power cycle of the ESXi host after such a change. A newer paper of
    NVIDIA, for KVM, requires only a restart. See O(activation).
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  platform:
    support: full
    description: Targets of the commands.
    platforms: ESXi, Linux
options:
  devices:
    description:
      - Adapters, each by PCI address (V(0000:18:00.0)), by port (V(vmnic2)) or by the name that C(mst) reports.
      - V(all) means all adapters that C(mst status) lists. Every port is a separate device.
    type: list
    elements: str
    default: [all]
  settings:
    description:
      - Parameters and their values, with the names of C(mlxconfig). True and false mean V(1) and V(0).
      - Null resets a parameter to its default. Parameters that are not named stay as they are.
    type: dict
    required: true
  activation:
    description:
      - Restart that the module reports as required before a new value takes effect. V(cold) is a power cycle of the
        host, V(warm) a restart.
      - This module restarts nothing. It reads the running values from the adapter, so the result shows a wrong choice.
    type: str
    choices: [cold, warm]
    default: cold
seealso:
  - module: aiready.vsphere.esxi_kernel_setting
    description: Enables ATS in the ESXi kernel, which is also required.
  - module: aiready.vsphere.esxi_module_options
    description: Sets the number of virtual functions that the driver creates, up to the number that the firmware
      offers.
"""

EXAMPLES = r"""
- name: Prepare the adapters of ESXi hosts for GPUDirect RDMA
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Enable address translation services on all adapters
      aiready.vsphere.nic_firmware:
        settings:
          ATS_ENABLED: true

- name: Set the number of virtual functions of one port
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Offer eight virtual functions
      aiready.vsphere.nic_firmware:
        devices:
          - vmnic2
        settings:
          SRIOV_EN: true
          NUM_OF_VFS: 8
      register: firmware

    - name: Print the restart that the new values wait for
      ansible.builtin.debug:
        msg: "{{ firmware.devices | map(attribute='pending') | flatten }}"

- name: Reset the parameters
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Reset the parameters to the firmware defaults
      aiready.vsphere.nic_firmware:
        settings:
          ATS_ENABLED: null
          SRIOV_EN: null
          NUM_OF_VFS: null
"""

RETURN = r"""
devices:
  description: One result per adapter, sorted by PCI address, also if the task fails.
  returned: unless the parameters are wrong
  type: list
  elements: dict
  contains:
    name:
      description: Port of the adapter, or its C(mst) name if it has no port.
      type: str
      returned: always
      sample: vmnic2
    mst:
      description: C(mst) name of the adapter.
      type: str
      returned: always
      sample: mt4125_pciconf0
    pci:
      description: PCI address of the adapter.
      type: str
      returned: always
      sample: "0000:18:00.0"
    model:
      description: Model of the adapter, as C(mst) reports it.
      type: str
      returned: always
      sample: ConnectX6DX
    host:
      description: Inventory name of the host of the adapter.
      type: str
      returned: always
      sample: esx-01.example.com
    changed:
      description: True if the task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(devices[].after). Empty for an adapter that could not be
        read.
      type: dict
      returned: always
      sample:
        settings:
          ATS_ENABLED: {current: "False(0)", next_boot: "False(0)", default: "False(0)"}
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        settings:
          description: Parameters of the task, each with C(current), C(next_boot) and C(default).
          type: dict
          returned: success
      sample:
        settings:
          ATS_ENABLED: {current: "False(0)", next_boot: "True(1)", default: "False(0)"}
    changes:
      description: Changes of the task, one entry per parameter. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: ATS_ENABLED, before: "False(0)", after: "True(1)", needs: cold_power_cycle}
    pending:
      description: Parameters that wait for the next start of the adapter. Every result lists them until then.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: ATS_ENABLED, needs: cold_power_cycle}
    failed:
      description: True if the adapter is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the adapter is not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the adapter is in the desired state.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: firmware_parameter_impossible}
"""
