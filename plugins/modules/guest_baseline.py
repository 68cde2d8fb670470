#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_baseline
short_description: Manage the record of a guest's former state
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Records a guest before and after a stage, and restores what the stages of this collection changed.
  - The record covers the files that the roles and modules of this collection can change, enabled and active services,
    packages with their versions, local accounts, and the MTU and addresses of the adapters of the data path.
  - Restore changes an item only if its current value is the one that the last run left. It keeps every other value and
    reports it as changed since by another.
  - Restore removes a package only if the stages installed it and no package of others needs it. A simulation of the
    package manager confirms this. Packages that were upgraded in place stay, and the result has both versions.
  - The record is the folder C(/var/lib/aiready.vsphere/baseline) of the guest. Only root can read it. It contains the
    former content of files, such as licence tokens and registry logins. No result, diff or message shows content.
notes:
  - Needs root. Use C(become).
  - Data of a guest stays, such as images and volumes of a container engine, and files in home folders.
  - The effect of a container engine on the firewall of the kernel, and loaded kernel modules, last until the next boot.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
attributes:
  diff_mode:
    details: Shows names, versions, modes and owners. It shows no content.
options:
  state:
    description:
      - Action on the record. V(begun) records the guest before a stage. A stage that was interrupted keeps its first
        record. V(ended) records what the stage left. V(restored) restores the guest.
    type: str
    choices: [begun, ended, restored]
    required: true
  stages:
    description:
      - Name of the stage to record, or all stages to restore. An item that another stage changed, too, stays.
    type: list
    elements: str
    choices: [guests, runtime, training, validation]
    required: true
  users:
    description:
      - Users beside root whose SSH keys and registry logins the stage can change.
    type: list
    elements: str
    default: []
  interrupted:
    description:
      - Policy for a stage that was killed before it recorded what it left. V(keep) reports it and keeps its changes, so
        run the stage again before the restore. V(restore) restores everything that changed since the stage began, also
        changes by others.
    type: str
    choices: [keep, restore]
    default: keep
  lock_wait_s:
    description:
      - Time in seconds to wait for another process that changes packages.
    type: int
    default: 300
seealso:
  - module: aiready.vsphere.vgpu_guest_driver
"""

EXAMPLES = r"""
- name: Record the guest before the stage
  aiready.vsphere.guest_baseline:
    state: begun
    stages: [guests]
    users: [train]
  become: true

- name: Record what the stage left
  aiready.vsphere.guest_baseline:
    state: ended
    stages: [guests]
  become: true

- name: Show what a restore would change, keep and not restore
  aiready.vsphere.guest_baseline:
    state: restored
    stages: [guests, runtime, training, validation]
  become: true
  check_mode: true
  diff: true
"""

RETURN = r"""
baseline:
  description: Result for the guest, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the guest.
      type: str
      returned: always
      sample: train-01
    machine_id:
      description: Machine ID of the guest from C(/etc/machine-id).
      type: str
      returned: always
      sample: 6b2d1f0f5b8c4f6c9a0e6f1f2b3c4d5e
    changed:
      description: V(true) if something changed, or would change in check mode. Only the first record of a stage counts.
      type: bool
      returned: always
      sample: true
    before:
      description: Record before the change, with the keys of RV(baseline.after). Empty when it could not be read.
      type: dict
      returned: always
      sample: {recorded: [guests], interrupted: [], due: ["file:/etc/chrony.conf"], kept: [], cannot: []}
    after:
      description: Record after the change. In check mode, the expected one.
      type: dict
      returned: always
      contains:
        recorded:
          description: Stages that the record covers.
          type: list
          elements: str
          returned: success
        interrupted:
          description: Stages that began and did not end.
          type: list
          elements: str
          returned: success
        due:
          description: Items to restore.
          type: list
          elements: str
          returned: success
        kept:
          description: Items that stay, each with C(what) and C(why), such as those that another changed since.
          type: list
          elements: dict
          returned: success
        cannot:
          description: Items that cannot be restored, each with C(what) and C(why).
          type: list
          elements: dict
          returned: success
      sample:
        recorded: [guests]
        interrupted: []
        due: []
        kept:
          - {what: "file:/etc/docker/daemon.json", why: changed since by another}
        cannot:
          - {what: "package:libc6", why: upgraded in place from 2.36-9 to 2.36-9+deb12u7}
    changes:
      description: Changes that were made, or would be made in check mode, in their order.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: "package:chrony", before: "4.3-2", after: null, needs: null}
        - path: file:/etc/security/limits.d/90-aiready.conf
          before: "changed by guests, mode 0644, owner 0:0"
          after: null
          needs: null
    pending:
      description: Changes that take effect with a restart of the guest or of a service, each with C(what) and C(needs).
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if the guest could not be recorded or restored.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause of the failure and its fix. Empty on success.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty on success.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: record_damaged, subject: train-01, path: /var/lib/aiready.vsphere/baseline/record.json}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


def main() -> None:
    module = AnsibleModule(argument_spec=noun.ARGUMENTS, supports_check_mode=True)
    fail_if_invalid(module, noun.check_params(module.params))
    requested = request(noun.BaselineRequest, module.params)
    name = machine.name()
    item: Item[noun.BaselineRequest, noun.Baseline] = Item(name, requested, {"name": name, "machine_id": None})
    run(module, noun.GuestBaseline(requested, Commands(), Files()), [item], "baseline", single=True)


if __name__ == "__main__":
    main()
