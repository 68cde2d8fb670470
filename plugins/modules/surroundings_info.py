#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: surroundings_info
short_description: Gather reachable addresses and registries, free disk space and time
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Checks in parallel whether addresses and container registries answer, and whether registries accept a login.
  - Returns the free disk space and the time of the machine.
  - Runs on the machine to check, which is the controller or a guest. An unreachable address is reported and does not
    fail the task.
notes:
  - The module requests files with C(HEAD). It downloads only keys.
  - The module uses the proxies of the environment.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.attributes.read_only
options:
  addresses:
    description: Addresses to check.
    type: list
    elements: dict
    default: []
    suboptions:
      url:
        description: URL of the address, with C(http://) or C(https://).
        type: str
        required: true
      expect:
        description:
          - Expected answer. V(file) must exist. For V(server), any answer is valid except a server error (HTTP 5xx).
          - V(key) is a file of at most 1 MiB, such as the key of a repository. The module downloads and returns it.
        type: str
        choices: [file, key, server]
        default: file
      ca_file:
        description: File with the certificate authorities that are trusted too.
        type: path
  registries:
    description: Container registries to check.
    type: list
    elements: dict
    default: []
    suboptions:
      address:
        description: Host name and port of the registry, such as V(nvcr.io).
        type: str
        required: true
      username:
        description: User for the login. Without it, or without O(registries[].password), the module tries no login.
        type: str
      password:
        description: Password or API key for the login.
        type: str
      ca_file:
        description: File with the certificate authorities that are trusted too.
        type: path
      insecure:
        description: Whether to allow HTTP, or a certificate that is not verified.
        type: bool
        default: false
  paths:
    description: Folders whose free space is returned. For a missing folder, it is that of the nearest existing parent.
    type: list
    elements: path
    default: []
  timeout_s:
    description: Time limit for each answer, in seconds.
    type: int
    default: 10
seealso:
  - module: aiready.vsphere.container_registry_login
  - module: aiready.vsphere.vcenter_access_info
"""

EXAMPLES = r"""
- name: Check that guests can download the driver package
  aiready.vsphere.surroundings_info:
    addresses:
      - url: https://mirror.example.org/grid/nvidia-linux-grid-550_550.54.15_amd64.deb

- name: Require the registry before a run
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Check the registry and the disk for results
      aiready.vsphere.surroundings_info:
        registries:
          - address: images.example.org
            username: trainer
            password: "{{ lookup('ansible.builtin.env', 'REGISTRY_PASSWORD') }}"
        paths: [~/aiready/results]
      register: here

    - name: Assert that the registry accepts the login
      ansible.builtin.assert:
        that: here.registries | selectattr('login', 'eq', 'refused') | length == 0
"""

RETURN = r"""
addresses:
  description:
    - Results for the addresses, one entry for each, in the same order. C(url) is the address, and C(reached) is whether
      it answered as expected. C(status) is the HTTP status, or null without an answer. C(why) is the problem as a
      sentence. C(code) is V(certificate) if the certificate of the server is not accepted, otherwise empty.
      C(content) is the content of a V(key) as base64, otherwise null.
  returned: success
  type: list
  elements: dict
  sample:
    - url: https://mirror.example.org/a.deb
      reached: false
      status: 404
      why: "It answers with HTTP status 404: it does not exist."
      code: ""
      content: null
registries:
  description:
    - Results for the registries, one entry for each, in the same order, with C(address), C(reached), C(login), C(why),
      and C(code) of the failure. C(login) is V(basic), V(token) or V(open), by the method of the registry. It is
      V(refused) if the registry rejected the login, and V(none) if none was tried.
  returned: success
  type: list
  elements: dict
  sample:
    - {address: images.example.org, reached: true, login: token, why: "", code: ""}
disks:
  description: Free space, one entry for each of the O(paths), with C(path), C(free_gb) (null if unknown) and C(why).
  returned: success
  type: list
  elements: dict
  sample:
    - {path: ~/aiready/results, free_gb: 120.5, why: ""}
time:
  description: Time of the machine, in seconds since 1970.
  returned: success
  type: float
  sample: 1764900000.25
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: invalid_parameters}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.environment import look, params


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    fail_if_invalid(module, params.check_params(module.params))
    module.exit_json(changed=False, **look.look(params.request_of(module.params)))


if __name__ == "__main__":
    main()
