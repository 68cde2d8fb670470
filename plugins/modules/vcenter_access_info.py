#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vcenter_access_info
short_description: Tell what a user may do in vCenter, and which clocks are wrong
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Logs in to vCenter and tells its version, those of its hosts, and which of the privileges asked for the user does
    not hold on which object. So a run does not end in its middle for want of a privilege.
  - Tells how far the clocks of vCenter and of the hosts are from that of the machine that runs the module.
  - Finds all objects with one request, and asks for all privileges with one more, however many there are.
notes:
  - A privilege that a method of vCenter needs can depend on its arguments, so that no list is complete. vCenter has the
    last word when something is done.
  - What lies within the time that a question took counts as no difference of clocks. C(clock_known_within_s) of
    RV(hosts) tells that time.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  datacenter:
    description:
      - The name or inventory path of the datacenter to search in. Without it all of vCenter is searched.
    type: str
  hosts:
    description: Names of the hosts to tell of. Without them, all hosts.
    type: list
    elements: str
    default: []
  objects:
    description: The objects, each with the privileges that are needed there.
    type: list
    elements: dict
    default: []
    suboptions:
      kind:
        description:
          - What the object is. V(vcenter) is the root of everything, V(network) any kind of port group.
        type: str
        required: true
        choices: [vcenter, datacenter, cluster, host, folder, datastore, network, vm]
      name:
        description:
          - Its name, or the end of its inventory path. Where several objects have it, the privilege is needed on each.
          - Without it, the O(hosts) or what is around them, such as their clusters, their datacenters, and the folders
            of these for VMs. A datastore, network or VM needs a name.
          - A folder that is not there stands for the folder of all VMs, below which it would be made.
        type: str
      privileges:
        description: The privileges by their IDs, such as V(Host.Config.Maintenance).
        type: list
        elements: str
        required: true
seealso:
  - module: aiready.vsphere.esxi_host_info
  - module: aiready.vsphere.vm_placement_info
"""

EXAMPLES = r"""
- name: May this user restart the hosts?
  aiready.vsphere.vcenter_access_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    objects:
      - kind: host
        privileges: [Host.Config.Maintenance]

- name: Refuse a user who may not create VMs
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Look at privileges and clocks
      aiready.vsphere.vcenter_access_info:
        hosts: [esx-01.example.com]
        objects:
          - kind: datastore
            name: datastore-01
            privileges: [Datastore.AllocateSpace]
          - kind: folder
            privileges: [VirtualMachine.Inventory.CreateFromExisting]
      register: access

    - name: Nothing is missing
      ansible.builtin.assert:
        that: access.objects | map(attribute='missing') | flatten | length == 0
"""

RETURN = r"""
vcenter:
  description: vCenter itself.
  returned: success
  type: dict
  contains:
    name:
      description: Where it was reached.
      type: str
      returned: always
    user:
      description: Who is logged in.
      type: str
      returned: always
    version:
      description: Its version.
      type: str
      returned: always
    build:
      description: Its build.
      type: str
      returned: always
    api_version:
      description: The version of its API.
      type: str
      returned: always
    is_vcenter:
      description: False for a host that was addressed directly.
      type: bool
      returned: always
    clock_ahead_s:
      description: How many seconds its clock is ahead of the one here, negative where it is behind.
      type: float
      returned: always
    clock_known_within_s:
      description: How long the question took, in seconds.
      type: float
      returned: always
  sample:
    name: vcenter.example.com:443
    user: administrator@vsphere.local
    version: 8.0.3
    build: "24022515"
    api_version: 8.0.3.0
    is_vcenter: true
    clock_ahead_s: 0.0
    clock_known_within_s: 0.1
hosts:
  description:
    - The hosts, each with C(name), C(connection), C(version) and C(build) of ESXi, C(clock_ahead_s),
      C(clock_known_within_s) and C(why_no_clock). The clock is null where it could not be read.
  returned: success
  type: list
  elements: dict
  sample:
    - name: esx-01.example.com
      connection: connected
      version: 8.0.3
      build: "24022510"
      clock_ahead_s: -42.5
      clock_known_within_s: 0.1
      why_no_clock: ""
strangers:
  description: The O(hosts) that vCenter does not know, or that this user may not see.
  returned: success
  type: list
  elements: str
  sample: []
datastores:
  description:
    - The datastores of the hosts, each with C(name), C(free_gb), C(capacity_gb) and C(accessible).
  returned: success
  type: list
  elements: dict
  sample:
    - {name: datastore-01, free_gb: 8192, capacity_gb: 20480, accessible: true}
objects:
  description:
    - One entry for each of the O(objects), in the same order, with C(kind), C(name), C(found), whether there is such an
      object, and C(missing), the privileges that are not held.
  returned: success
  type: list
  elements: dict
  sample:
    - {kind: host, name: null, found: true, missing: [Host.Config.Maintenance]}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: login_refused}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.privileges import params, read


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        told = read.read(vcenter, module.params)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, **told)


if __name__ == "__main__":
    main()
