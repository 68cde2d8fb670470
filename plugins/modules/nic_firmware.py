#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: nic_firmware
short_description: Set parameters in the firmware of NVIDIA network adapters
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets parameters such as C(ATS_ENABLED), C(SRIOV_EN) and C(NUM_OF_VFS) in the firmware of ConnectX and BlueField
    adapters with C(mlxconfig) of NVIDIA's firmware tools (MFT).
  - Runs on the controller and sends its commands over the connection of the play, to the shell of an ESXi host or to
    a Linux guest that owns the adapter. No Python is needed there.
  - Adapters are found by what C(mst status) lists, since the names that C(mlxconfig) takes follow from nothing else.
    They can be named by PCI address, by port, or all at once.
  - A parameter that the firmware does not have, as that of an old one, is refused before anything is written.
  - The firmware keeps a value for its next start beside the one that runs. The module proves the first, and reports
    the difference in RV(devices[].pending) by every run until the adapter was started again.
  - There is no peer of it in the collections for VMware.
notes:
  - On ESXi the tools are the VIBs NMST and MFT, which need a restart of the host after their installation. They are
    sought in the search path and in C(/opt/mellanox/bin).
  - Where C(mst status) lists nothing, C(mst start) loads the tools' driver, also in check mode, because nothing
    could be read without it.
  - NVIDIA AI Enterprise's user guide asks for a full power cycle of the ESXi host after such a change. A newer paper
    of NVIDIA, for KVM, is content with a restart. See O(activation).
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  platform:
    support: full
    description: What the commands are sent to.
    platforms: ESXi, Linux
options:
  devices:
    description:
      - The adapters, each by PCI address (V(0000:18:00.0)), by port (V(vmnic2)) or by the name that C(mst) gives it.
      - V(all) stands for all that C(mst status) lists. Every port is a device of its own.
    type: list
    elements: str
    default: [all]
  settings:
    description:
      - The parameters and their values, as C(mlxconfig) knows them. True and false may be written for V(1) and V(0).
      - Null sets a parameter back to its default. Parameters that are not named stay as they are.
    type: dict
    required: true
  activation:
    description:
      - What is reported as needed before a new value runs. V(cold) is a power cycle of the host, V(warm) a restart.
      - Nothing is restarted by this module. What runs is read from the adapter, so that a wrong choice shows.
    type: str
    choices: [cold, warm]
    default: cold
seealso:
  - module: aiready.vsphere.esxi_kernel_setting
    description: ESXi itself has to be told to use ATS as well.
  - module: aiready.vsphere.esxi_module_options
    description: The driver makes as many virtual functions as it is told, up to what the firmware offers.
"""

EXAMPLES = r"""
- name: Prepare the adapters of ESXi hosts for GPUDirect RDMA
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Let all adapters use address translation services
      aiready.vsphere.nic_firmware:
        settings:
          ATS_ENABLED: true

- name: Virtual functions of one port
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

    - name: Tell what has to happen before they are there
      ansible.builtin.debug:
        msg: "{{ firmware.devices | map(attribute='pending') | flatten }}"

- name: Set the parameters back
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Take the defaults of the firmware
      aiready.vsphere.nic_firmware:
        settings:
          ATS_ENABLED: null
          SRIOV_EN: null
          NUM_OF_VFS: null
"""

RETURN = r"""
devices:
  description: One result per adapter, sorted by PCI address, also when the task fails.
  returned: unless the parameters are wrong
  type: list
  elements: dict
  contains:
    name:
      description: The port, or what C(mst) calls the adapter where it has none.
      type: str
      returned: always
      sample: vmnic2
    mst:
      description: What C(mst) calls the adapter.
      type: str
      returned: always
      sample: mt4125_pciconf0
    pci:
      description: PCI address of the adapter.
      type: str
      returned: always
      sample: "0000:18:00.0"
    model:
      description: The kind of the adapter, as C(mst) names it.
      type: str
      returned: always
      sample: ConnectX6DX
    host:
      description: The inventory's name of the host of the adapter.
      type: str
      returned: always
      sample: esx-01.example.com
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(devices[].after). Empty for an adapter that could not be
        read.
      type: dict
      returned: always
      sample:
        settings:
          ATS_ENABLED: {current: "False(0)", next_boot: "False(0)", default: "False(0)"}
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        settings:
          description: The parameters of the task, each with C(current), C(next_boot) and C(default).
          type: dict
          returned: success
      sample:
        settings:
          ATS_ENABLED: {current: "False(0)", next_boot: "True(1)", default: "False(0)"}
    changes:
      description: What was changed, or would be in check mode, one entry per parameter.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: ATS_ENABLED, before: "False(0)", after: "True(1)", needs: cold_power_cycle}
    pending:
      description: What waits for the next start of the adapter, until then in every result.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: ATS_ENABLED, needs: cold_power_cycle}
    failed:
      description: Whether the adapter is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why the adapter is not as wanted, and what to do. Empty when it is.
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
  sample: {code: firmware_parameter_impossible}
"""
