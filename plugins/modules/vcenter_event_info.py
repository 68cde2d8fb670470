#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vcenter_event_info
short_description: Gather who changed VMs, hosts and clusters, from the events of vCenter
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Returns the events of VMs, hosts and clusters that name a user, the newest first.
  - Reads the events of each object of O(objects) by a filter of vCenter, in pages of up to 1,000 events.
  - Changes nothing.
notes:
  - vCenter keeps events for a limited time, and does not record each change. An event shows who last changed an object,
    not which setting.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  since:
    description:
      - Time in UTC from which events are returned, such as V(2026-03-01T08:15:30Z). Defaults to all events that vCenter
        has.
    type: str
  objects:
    description:
      - Managed object IDs of the objects. Defaults to all.
      - vCenter filters by VMs, hosts and clusters that exist. For deleted objects, the module reads all events since
        O(since) and selects.
    type: list
    elements: str
    default: []
  limit:
    description:
      - Largest number of events to return, the newest of each object of O(objects), or of all objects together.
    type: int
    default: 1000
seealso:
  - module: aiready.vsphere.vm_owner_info
"""

EXAMPLES = r"""
- name: Read who changed two VMs since the last run
  aiready.vsphere.vcenter_event_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    since: "2026-03-01T08:15:30Z"
    objects: [vm-42, vm-43]

- name: Show who changed anything
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Read the events of vCenter
      aiready.vsphere.vcenter_event_info:
        limit: 100
      register: there

    - name: Show the events
      ansible.builtin.debug:
        msg: "{{ item.at }} {{ item.name }}: {{ item.event }} by {{ item.user }}"
      loop: "{{ there.events }}"
      loop_control:
        label: "{{ item.name }}"
"""

RETURN = r"""
events:
  description: Events, the newest first.
  returned: success
  type: list
  elements: dict
  contains:
    at:
      description: Time in UTC.
      type: str
      returned: always
      sample: "2026-03-01T09:30:00Z"
    user:
      description: User who caused the event.
      type: str
      returned: always
      sample: VSPHERE.LOCAL\Administrator
    event:
      description: Type of the event.
      type: str
      returned: always
      sample: VmReconfiguredEvent
    moid:
      description: Managed object ID of the object.
      type: str
      returned: always
      sample: vm-42
    name:
      description: Name of the object at the time of the event.
      type: str
      returned: always
      sample: train-01
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: invalid_parameters}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, args, events, session


def main() -> None:
    module = AnsibleModule(argument_spec=events.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, [*args.check_common(module.params), *events.check_params(module.params)])
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        found = events.read(vcenter, module.params)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, events=found)


if __name__ == "__main__":
    main()
