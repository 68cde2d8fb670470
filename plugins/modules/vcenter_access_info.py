#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vcenter_access_info
short_description: Gather missing privileges of a vCenter user, and clock differences
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Logs in to vCenter and returns its version and the versions of its hosts. For each object, it returns the requested
    privileges that the user does not hold. A playbook can thus check privileges before it changes anything.
  - Returns the clock difference of vCenter and of the hosts to the machine that runs the module.
  - Finds all objects with one request, and reads all privileges with another one, for any number of objects.
notes:
  - No list of privileges is complete, because the privilege of a vCenter method can depend on its arguments. vCenter
    can still reject a later operation.
  - A clock difference smaller than the duration of the request counts as zero. C(clock_known_within_s) of RV(hosts) is
    that duration.
extends_documentation_fragment:
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  datacenter:
    description:
      - Name or inventory path of the datacenter to search in. By default, the module searches all of vCenter.
    type: str
  hosts:
    description: Names of the hosts to read. Defaults to all hosts.
    type: list
    elements: str
    default: []
  objects:
    description: Objects to check, each with the required privileges.
    type: list
    elements: dict
    default: []
    suboptions:
      kind:
        description:
          - Kind of the object. V(vcenter) is the root of the inventory, V(network) is any kind of port group.
        type: str
        required: true
        choices: [vcenter, datacenter, cluster, host, folder, datastore, network, vm]
      name:
        description:
          - Name of the object, or the end of its inventory path. If several objects match, the privilege is needed on
            each of them.
          - Without it, the module checks the O(hosts), their clusters, their datacenters, or the VM folders of these
            datacenters, by O(objects[].kind). A datastore, network or VM needs a name.
          - For a folder that does not exist, the module checks the folder of all VMs, in which it would be created.
        type: str
      privileges:
        description: IDs of the privileges, such as V(Host.Config.Maintenance).
        type: list
        elements: str
        required: true
seealso:
  - module: aiready.vsphere.esxi_host_info
  - module: aiready.vsphere.vm_placement_info
"""

EXAMPLES = r"""
- name: Check that the user may restart the hosts
  aiready.vsphere.vcenter_access_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    objects:
      - kind: host
        privileges: [Host.Config.Maintenance]

- name: Require the privileges to create VMs
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Gather privileges and clocks
      aiready.vsphere.vcenter_access_info:
        hosts: [esx-01.example.com]
        objects:
          - kind: datastore
            name: datastore-01
            privileges: [Datastore.AllocateSpace]
          - kind: folder
            privileges: [VirtualMachine.Inventory.CreateFromExisting]
      register: access

    - name: Assert that no privilege is missing
      ansible.builtin.assert:
        that: access.objects | map(attribute='missing') | flatten | length == 0
"""

RETURN = r"""
vcenter:
  description: Information about vCenter.
  returned: success
  type: dict
  contains:
    name:
      description: Address and port of the connection.
      type: str
      returned: always
    user:
      description: Name of the logged-in user.
      type: str
      returned: always
    version:
      description: Version of vCenter.
      type: str
      returned: always
    build:
      description: Build of vCenter.
      type: str
      returned: always
    api_version:
      description: Version of the vSphere API.
      type: str
      returned: always
    is_vcenter:
      description: Whether the server is a vCenter. V(false) for a direct connection to an ESXi host.
      type: bool
      returned: always
    clock_ahead_s:
      description: Seconds by which the clock of vCenter is ahead of the local clock. Negative if it is behind.
      type: float
      returned: always
    clock_known_within_s:
      description: Duration of the request, in seconds. The clock difference is not known more exactly.
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
    - Information about the hosts. Each has C(name), C(connection), C(version) and C(build) of ESXi, C(clock_ahead_s),
      C(clock_known_within_s) and C(why_no_clock). The clock is null if it could not be read.
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
  description: Names of the O(hosts) that vCenter does not know, or that the user may not see.
  returned: success
  type: list
  elements: str
  sample: []
datastores:
  description:
    - Datastores of the hosts, each with C(name), C(free_gb), C(capacity_gb) and C(accessible).
  returned: success
  type: list
  elements: dict
  sample:
    - {name: datastore-01, free_gb: 8192, capacity_gb: 20480, accessible: true}
objects:
  description:
    - Results of the O(objects), one entry for each, in the same order, with C(kind) and C(name). C(found) is whether
      the object exists, and C(missing) lists the privileges that the user does not hold.
  returned: success
  type: list
  elements: dict
  sample:
    - {kind: host, name: null, found: true, missing: [Host.Config.Maintenance]}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
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
        reported = read.read(vcenter, module.params)
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, **reported)


if __name__ == "__main__":
    main()
