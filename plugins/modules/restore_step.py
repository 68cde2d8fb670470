#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: restore_step
short_description: Manage the return of settings to the values before earlier runs
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Runs the module of one step of P(aiready.vsphere.restore_plan#filter), first in check mode to read the current
    values.
  - Restores a setting only if its current value is the one that the earlier runs left. It keeps a value that somebody
    changed since, and reports it as C(changed since by another).
  - The playbook C(restore) uses it for all changes in the journal of a site.
notes:
  - Steps whose C(on) is a host use the connection of that host, such as steps of M(aiready.vsphere.mig_partition). All
    others run on the controller.
  - Another client may change a value between the two calls of the module. They are seconds apart.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.bmc
  - aiready.vsphere.attributes.on_controller
attributes:
  action_group:
    description: Use C(group/aiready.vsphere.vcenter) in C(module_defaults) to set the connection once.
    support: full
    membership:
      - aiready.vsphere.vcenter
  platform:
    description: Platform of the controller.
    support: full
    platforms: posix
  check_mode:
    details: The result has the settings that a run would restore, with the state C(due).
  diff_mode:
    details: The restored settings of the object.
options:
  step:
    description: One of the steps of P(aiready.vsphere.restore_plan#filter).
    type: dict
    required: true
  options:
    description:
      - Options for the module of the step, which replace those of the earlier run. For example, C(power) of
        M(aiready.vsphere.vm_config) decides whether a running VM may be powered off.
    type: dict
    default: {}
seealso:
  - plugin: aiready.vsphere.restore_plan
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Restore the last change of the hosts
  aiready.vsphere.restore_step:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    step: "{{ (journal | aiready.vsphere.restore_plan('', 'hosts')).steps | first }}"

- name: Restore the kernel settings and other settings of ESXi hosts
  hosts: esxi_hosts
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Restore each object
      aiready.vsphere.restore_step:
        step: "{{ item }}"
      loop: "{{ (journal | aiready.vsphere.restore_plan('', 'hosts', inventory_hostname)).steps }}"
      delegate_to: "{{ item.on }}"
"""

RETURN = r"""
restored:
  description: Result for the object of the step.
  returned: success
  type: dict
  contains:
    name:
      description: Object of the step, as the journal names it.
      type: str
      returned: always
      sample: esx-01.example.com
    moid:
      description: Managed object ID of the object, null for an object that is not in vCenter.
      type: str
      returned: always
      sample: host-12
    changed:
      description: True if the task restored something, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: Values of the restored settings before the task.
      type: dict
      returned: always
      sample: {kernel.atsSupport: "TRUE"}
    after:
      description: Values of the restored settings after the task.
      type: dict
      returned: always
      sample: {kernel.atsSupport: "FALSE"}
    changes:
      description: Restored settings. In check mode, those that a run would restore.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: kernel.atsSupport, before: "TRUE", after: "FALSE", needs: reboot}
    pending:
      description: Settings that wait for a restart before they take effect.
      type: list
      elements: dict
      returned: always
      sample:
        - {what: kernel.atsSupport, needs: reboot}
    failed:
      description: Always false. The task fails if the object cannot be restored.
      type: bool
      returned: always
      sample: false
    msg:
      description: Always empty.
      type: str
      returned: always
      sample: ""
    failure:
      description: Always empty.
      type: dict
      returned: always
      sample: {}
rows:
  description: Each setting of the step.
  returned: always
  type: list
  elements: dict
  contains:
    stage:
      description: Stage that changed the setting.
      type: str
      returned: always
      sample: hosts
    host:
      description: Host of the inventory for which the stage ran.
      type: str
      returned: always
      sample: esx-01.example.com
    object:
      description: Object of the setting.
      type: str
      returned: always
      sample: esx-01.example.com
    setting:
      description: Name of the setting.
      type: str
      returned: always
      sample: kernel.atsSupport
    state:
      description: V(restored), V(already as before), V(changed since by another), V(cannot), or V(due) in check mode.
      type: str
      returned: always
      sample: restored
    back:
      description: Value before the first run.
      type: raw
      returned: always
      sample: "FALSE"
    left:
      description: Value that the last run left.
      type: raw
      returned: always
      sample: "TRUE"
    found:
      description: Value before this task.
      type: raw
      returned: always
      sample: "TRUE"
    why:
      description: Cause and fix if the state is V(cannot). Empty otherwise.
      type: str
      returned: always
      sample: ""
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: not_proved}
"""
