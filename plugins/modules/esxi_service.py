#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_service
short_description: Manage a service of an ESXi host for a limited time
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Starts and stops one service of a host, such as SSH. It notes each service that it starts in vCenter.
    O(state=restored) then stops exactly these services, also after a killed run. A service that was already running
    stays as it is.
  - The module does not change the startup policy of the service. A restart of the host therefore also stops a
    service that the module has started.
  - M(community.vmware.vmware_host_service_manager) also manages the policy, but does not store the earlier state.
notes:
  - The note is the custom attribute C(aiready.vsphere.service.<service>) of the host. The user needs the privileges
    C(Global.ManageCustomFields), C(Global.SetCustomField) and C(Host.Config.Settings).
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.host_identity
  - aiready.vsphere.attributes
options:
  service:
    description: Key of the service, such as V(TSM-SSH) for SSH or V(TSM) for the ESXi shell.
    type: str
    required: true
  state:
    description:
      - V(started) starts the service. It writes the note if the service was not running.
      - V(stopped) stops the service, regardless of who started it.
      - V(restored) stops the service if this collection has started it, and leaves it alone otherwise.
    type: str
    choices: [started, stopped, restored]
    default: started
attributes:
  check_mode:
    details: Changes, errors and results are those of a real run.
  diff_mode:
    details: The running state of the service, and the note.
seealso:
  - module: community.vmware.vmware_host_service_manager
"""

EXAMPLES = r"""
- name: Start SSH
  aiready.vsphere.esxi_service:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    host: esx-01.example.com
    service: TSM-SSH

- name: Use SSH for a limited time
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Start SSH if it does not run
      aiready.vsphere.esxi_service:
        host: esx-02.example.com
        service: TSM-SSH
        state: started

- name: Stop SSH if this collection started it
  aiready.vsphere.esxi_service:
    host: esx-01.example.com
    service: TSM-SSH
    state: restored
"""

RETURN = r"""
host:
  description: The host before and after the task.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for a host that was not found.
      type: str
      returned: always
      sample: host-21
    changed:
      description: True if the task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task, with the keys of RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample: {running: false, policy: 'off', borrowed: false}
    after:
      description: State after the task. In check mode, the state that a run would produce.
      type: dict
      returned: always
      sample: {running: true, policy: "off", borrowed: true}
      contains:
        running:
          description: True if the service is running.
          type: bool
          returned: always
          sample: true
        policy:
          description: Startup policy of the service, V(on), V(off) or V(automatic). The module does not change it.
          type: str
          returned: always
          sample: "off"
        borrowed:
          description: True if this collection has started the service for a limited time.
          type: bool
          returned: always
          sample: true
    changes:
      description: Changes of the task, each with C(path), C(before) and C(after). C(needs) is the restart that a change
        waits for.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: running, before: false, after: true, needs: null}
        - {path: borrowed, before: false, after: true, needs: null}
    pending:
      description: Always empty. No setting of this module waits for a restart.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: True if the host is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the host is not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the host is in the desired state.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details, such as the
    existing C(services).
  returned: failure
  type: dict
  sample: {code: service_not_found, subject: Host esx-01.example.com, services: [TSM, TSM-SSH, ntpd]}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import run_for_host
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.service import ARGUMENTS, Services


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_for_host(module, Services(module.params, module.warn))


if __name__ == "__main__":
    main()
