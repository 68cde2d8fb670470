#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: esxi_service
short_description: Start a service of an ESXi host for a while, and put it back to how it was
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Starts and stops one service of a host, such as SSH. What it starts it notes in vCenter, so that O(state=restored)
    stops exactly what this collection had started. A service that ran before stays as it is, also after a run that
    was killed.
  - The startup policy of the service is not changed, so that a restart of the host ends what was started here.
  - The peer M(community.vmware.vmware_host_service_manager) manages the policy too, and does not remember what it
    found.
notes:
  - The note is the custom attribute C(aiready.vsphere.service.<service>) of the host. The user needs the privileges
    C(Global.ManageCustomFields) and C(Global.SetCustomField) besides C(Host.Config.Settings).
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
      - V(started) starts it, and notes it when it was not running.
      - V(stopped) stops it, whoever started it.
      - V(restored) stops it when it was this collection that started it, and leaves it alone otherwise.
    type: str
    choices: [started, stopped, restored]
    default: started
attributes:
  check_mode:
    details: The changes, the refusals and the result are those of a real run.
  diff_mode:
    details: Whether the service runs, and the note.
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

- name: Use SSH only as long as it is needed
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Start SSH where it does not run
      aiready.vsphere.esxi_service:
        host: esx-02.example.com
        service: TSM-SSH
        state: started

- name: Stop SSH where it was started
  aiready.vsphere.esxi_service:
    host: esx-01.example.com
    service: TSM-SSH
    state: restored
"""

RETURN = r"""
host:
  description: The host, before and after.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the host in vCenter.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the host, null for one that was not found.
      type: str
      returned: always
      sample: host-21
    changed:
      description: Whether this task changed something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(host.after). Empty for a host that could not be read.
      type: dict
      returned: always
      sample: {running: false, policy: 'off', borrowed: false}
    after:
      description: What is there now, or would be in check mode.
      type: dict
      returned: always
      sample: {running: true, policy: "off", borrowed: true}
      contains:
        running:
          description: Whether the service runs.
          type: bool
          returned: always
          sample: true
        policy:
          description: When the host starts it by itself, V(on), V(off) or V(automatic). It is not changed.
          type: str
          returned: always
          sample: "off"
        borrowed:
          description: Whether this collection started it for a while.
          type: bool
          returned: always
          sample: true
    changes:
      description: Each change, with its path, the values before and after, and what it needs to take effect.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: running, before: false, after: true, needs: null}
        - {path: borrowed, before: false, after: true, needs: null}
    pending:
      description: What waits for a restart; of this module nothing ever does.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the host is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why the host is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the host is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known, such as the C(services) that
    there are.
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
