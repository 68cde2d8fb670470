#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: cluster_configuration
short_description: Manage host settings in the configuration profile of a cluster
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Reads whether vSphere Configuration Profiles manage the hosts of a cluster. The next remediation of such a cluster
    reverts host settings that the document of the cluster does not have.
  - Puts the settings of the task into the document where its schema has them. For other settings, the module fails and
    names them, before anything is changed on a host.
  - Changes nothing in a cluster without a profile, and on a vCenter older than 8.0 Update 1.
  - The collections community.vmware and vmware.vmware have no module for Configuration Profiles.
notes:
  - The module changes only the document. It does not remediate hosts, because that concerns all hosts of the cluster.
    It imports the document instead of applying a draft for this reason.
  - No source describes which host settings the schema of vSphere covers, and where. The place of module options is the
    one in documents of VMware Edge Compute Stack 3.5. The other places in O(places) are assumptions [unsure]. The
    module reads the schema of the cluster. A setting that is not there counts as reverted, and the error names places
    of the schema that have the name of the setting.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
options:
  cluster:
    description: Name or managed object ID of the cluster.
    type: str
    required: true
  datacenter:
    description: Name or inventory path of the datacenter. Needed if several datacenters have a cluster of this name.
    type: str
  settings:
    description:
      - Host settings that the play will make on the hosts of the cluster. Null removes a setting from the document.
    type: dict
    suboptions:
      kernel_settings:
        description: Boot settings by name, as in M(aiready.vsphere.esxi_kernel_setting).
        type: dict
        default: {}
      module_options:
        description: Options by kernel module, as in M(aiready.vsphere.esxi_module_options).
        type: dict
        default: {}
      advanced_options:
        description: Advanced options by name, such as C(Net.PVRDMAVmknic).
        type: dict
        default: {}
  places:
    description:
      - Places of the settings in the document, as paths with C(/) between the parts.
      - At a place, the schema can spell a name differently. The module finds C(ats_support) for C(atsSupport), and
        C(account_lock_failures) for C(Security.AccountLockFailures).
    type: dict
    suboptions:
      kernel_settings:
        description: Place of the boot settings.
        type: str
        default: profile/esx/system/kernel_settings
      module_options:
        description:
          - Place of the options of kernel modules. The schema can have a list there, whose entries have C(module_name)
            and all C(options) as one text.
        type: str
        default: profile/esx/vmkernel/module_settings
      advanced_options:
        description: Place of the advanced options.
        type: str
        default: profile/esx/system/advanced_options
  uncovered:
    description:
      - Action for settings that the schema does not have.
      - V(fail) fails and names them. V(report) lists them in RV(cluster.reverted) and continues with the others.
    type: str
    choices: [fail, report]
    default: fail
  task_timeout_s:
    description:
      - Maximum time in seconds for the import of the document. After that the module fails, and the task continues in
        vCenter.
    type: int
    default: 600
attributes:
  check_mode:
    details: Reads the cluster, and returns the settings that a run would put into the document.
  diff_mode:
    details: The settings of the document before and after the task.
seealso:
  - module: aiready.vsphere.esxi_kernel_setting
  - module: aiready.vsphere.esxi_module_options
"""

EXAMPLES = r"""
- name: Keep ATS enabled over the next remediation
  aiready.vsphere.cluster_configuration:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    cluster: gpu
    settings:
      kernel_settings:
        atsSupport: true

- name: Report settings that a remediation would revert
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Compare the settings with the profile
      aiready.vsphere.cluster_configuration:
        cluster: gpu
        uncovered: report
        settings:
          advanced_options:
            Net.PVRDMAVmknic: vmk1
      register: profile

    - name: Print the settings that the next remediation reverts
      ansible.builtin.debug:
        msg: "{{ profile.cluster.reverted }}"
"""

RETURN = r"""
cluster:
  description: Result for the cluster, also if the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the cluster, as in O(cluster).
      type: str
      returned: always
      sample: gpu
    moid:
      description: Managed object ID of the cluster, null for a cluster that was not found.
      type: str
      returned: always
      sample: domain-c8
    reverted:
      description: Settings of the task that the next remediation reverts, because the schema does not have them. Empty
        for a cluster without a profile.
      type: list
      elements: str
      returned: always
      sample: []
    changed:
      description: True if the task changed the document, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(cluster.after). Empty for a cluster that was not read.
      type: dict
      returned: always
    after:
      description: State after the task, read again. In check mode, the state that a run would produce.
      type: dict
      returned: always
      contains:
        managed:
          description: True if a configuration profile manages the hosts of the cluster.
          type: bool
          returned: success
        settings:
          description: Values that the document has for the settings of the task, by their place. Empty without a
            profile.
          type: dict
          returned: success
      sample:
        managed: true
        settings:
          profile/esx/system/kernel_settings/atsSupport: "TRUE"
    changes:
      description: Changes of the task, one entry for each setting. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: profile/esx/system/kernel_settings/atsSupport, before: null, after: "TRUE", needs: null}
    pending:
      description: Always empty. The document takes effect at the next remediation of the cluster.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: True if the document is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the document is not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the document is in the desired state.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: settings_reverted, settings: [profile/esx/system/advanced_options/Net.PVRDMAVmknic]}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.profile import document as profile
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.profile.noun import ClusterProfile


def main() -> None:
    module = AnsibleModule(argument_spec=profile.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, profile.check_params(module.params))
    requested = profile.request_of(module.params)
    item: Item[profile.ProfileRequest, profile.Profile] = Item(
        f"Cluster {requested.cluster}", requested, {"name": requested.cluster, "moid": None, "reverted": []}
    )
    noun = ClusterProfile(module.params, module.warn)
    try:
        run(module, noun, [item], "cluster", single=True)
    finally:
        noun.close()


if __name__ == "__main__":
    main()
