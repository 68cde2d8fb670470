#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: nvaie_driver_info
short_description: Gather the installed and the running NVIDIA host driver
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns the NVIDIA host driver of one ESXi host with its family, version and branch.
  - Returns whether the driver runs, whether a reboot is pending, and which driver branches the guests can use.
  - The names of VIBs and components identify the family. C(nvidia-smi) on the host does not report it.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.esxcli_transport
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options: {}
seealso:
  - module: aiready.vsphere.nvaie_vib
"""

EXAMPLES = r"""
- name: Read the driver of a host
  aiready.vsphere.nvaie_driver_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com

- name: Check the hosts before an update of guest drivers
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Read the driver of each host
      aiready.vsphere.nvaie_driver_info:
        host: "{{ item }}"
      loop:
        - esx-01.example.com
        - esx-02.example.com
      register: drivers

    - name: Require hosts that support guests of branch R535
      ansible.builtin.assert:
        that:
          - item.host.family is none or 535 in item.host.guest_branches
      loop: "{{ drivers.results }}"
      loop_control:
        label: "{{ item.host.name }}"
"""

RETURN = r"""
host:
  description: Driver of the host.
  returned: success
  type: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: success
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host.
      type: str
      returned: success
      sample: host-42
    cluster:
      description: Name of the host's cluster, null for a host without a cluster.
      type: str
      returned: success
      sample: gpu
    family:
      description: Product of the installed driver, V(nvaie) or V(graphics). Null without a driver.
      type: str
      returned: success
    version:
      description: Version of the installed driver, without the suffix for ESXi.
      type: str
      returned: success
    branch:
      description: Branch of the installed driver. It decides which guest drivers the host supports.
      type: int
      returned: success
    release:
      description: Release of NVIDIA vGPU software that contains the driver. Null for a driver that the collection does
        not know.
      type: str
      returned: success
    vibs:
      description: VIBs of host drivers, with C(name), C(version), C(family) and C(acceptance).
      type: list
      elements: dict
      returned: success
    components:
      description: Components of host drivers, with C(name) and C(version).
      type: list
      elements: dict
      returned: success
    loaded:
      description: True if the host runs a driver, that is, if the module C(nvidia) is loaded.
      type: bool
      returned: success
    booted_version:
      description: Version of the driver that the host runs. Null if no driver runs or the version is unknown.
      type: str
      returned: success
    guest_branches:
      description: Driver branches that guests on this host can use once this driver runs, newest first.
      type: list
      elements: int
      returned: success
    esxi:
      description: Version of ESXi.
      type: str
      returned: success
    acceptance:
      description: Acceptance level of the host.
      type: str
      returned: success
    managed_by:
      description: V(image) if one image manages the software of the host's cluster, otherwise V(baselines).
        V(nothing) for a cluster of vCenter 9 or newer without an image.
      type: str
      returned: success
    image_components:
      description: Components of host drivers in that image, with C(name) and C(version).
      type: list
      elements: dict
      returned: success
    in_maintenance:
      description: True if the host is in maintenance mode.
      type: bool
      returned: success
    devices:
      description: NVIDIA graphics devices, with C(id), C(name) and the active graphics C(type).
      type: list
      elements: dict
      returned: success
    pending:
      description: Driver changes that wait for a restart. A new driver does not run yet, or a removed driver still
        runs.
      type: list
      elements: dict
      returned: success
  sample:
    name: esx-01.example.com
    moid: host-42
    cluster: gpu
    family: nvaie
    version: 550.54.16
    branch: 550
    release: "17.1"
    vibs:
      - name: NVD-AIE_ESXi_8.0.0_Driver
        version: 550.54.16-1OEM.800.1.0.20613240
        family: nvaie
        acceptance: VMwareAccepted
    components:
      - name: NVD-AIE-800
        version: 550.54.16-1OEM.800.1.0.20613240
    loaded: false
    booted_version: null
    guest_branches: [550, 535]
    esxi: 8.0.3
    acceptance: PartnerSupported
    managed_by: baselines
    image_components: []
    in_maintenance: true
    devices:
      - id: "0000:39:00.0"
        name: NVIDIA A100 PCIe 40GB
        type: basic
    pending:
      - {what: driver, needs: reboot}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: host_not_found, near: [esx-01.example.com]}
"""

from typing import TYPE_CHECKING, Any, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import params, read, state
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import check_common

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter


def look(vcenter: VCenter, requested: Mapping[str, Any]) -> dict[str, Any]:
    """Return the driver data of the host that a task names."""
    reach = read.open_reach(vcenter, requested)
    try:
        now = read.read(reach)
    finally:
        reach.rest.close()
    found = {"name": reach.host.name, "moid": reach.host.moid, "cluster": reach.host.cluster}
    return dict(found, pending=state.pending(now), **state.project(now))


def main() -> None:
    module = AnsibleModule(argument_spec=params.INFO_ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, check_common(module.params))
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        host = look(vcenter, module.params)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, host=host)


if __name__ == "__main__":
    main()
