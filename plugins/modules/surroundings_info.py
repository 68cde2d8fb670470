#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: surroundings_info
short_description: Tell what a machine reaches, how much disk is free, and what time it has
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Asks addresses and container registries whether they answer, all side by side, and registries whether they take a
    login.
  - Tells the free space of disks and the time.
  - Runs on the machine that it is about, the controller or a guest. What is not reached is told and fails nothing.
notes:
  - A file is asked for by C(HEAD), so that nothing but a key is loaded.
  - Proxies of the environment are used.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.attributes.read_only
options:
  addresses:
    description: The addresses.
    type: list
    elements: dict
    default: []
    suboptions:
      url:
        description: The address, with C(http://) or C(https://).
        type: str
        required: true
      expect:
        description:
          - V(file) has to be there. Of V(server) any answer is right that does not tell of a failure of its own.
          - V(key) is a file of at most 1 MiB, such as the key of a repository, which is loaded and returned.
        type: str
        choices: [file, key, server]
        default: file
      ca_file:
        description: File with the certificate authorities that are trusted too.
        type: path
  registries:
    description: The container registries.
    type: list
    elements: dict
    default: []
    suboptions:
      address:
        description: Host name and port, such as V(nvcr.io).
        type: str
        required: true
      username:
        description: The user. Without it or without O(registries[].password) no login is tried.
        type: str
      password:
        description: The password or API key.
        type: str
      ca_file:
        description: File with the certificate authorities that are trusted too.
        type: path
      insecure:
        description: Whether the registry may speak HTTP, or have a certificate that nobody checks.
        type: bool
        default: false
  paths:
    description: Folders whose free space is told. For one that is not there, it is that of the folder above.
    type: list
    elements: path
    default: []
  timeout_s:
    description: How long each may take to answer, in seconds.
    type: int
    default: 10
seealso:
  - module: aiready.vsphere.container_registry_login
  - module: aiready.vsphere.vcenter_access_info
"""

EXAMPLES = r"""
- name: Is the driver's package where the guests load it from?
  aiready.vsphere.surroundings_info:
    addresses:
      - url: https://mirror.example.org/grid/nvidia-linux-grid-550_550.54.15_amd64.deb

- name: Refuse to go on without the images
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Look at the registry and at the disk for results
      aiready.vsphere.surroundings_info:
        registries:
          - address: images.example.org
            username: trainer
            password: "{{ lookup('ansible.builtin.env', 'REGISTRY_PASSWORD') }}"
        paths: [~/aiready/results]
      register: here

    - name: The registry takes the login
      ansible.builtin.assert:
        that: here.registries | selectattr('login', 'eq', 'refused') | length == 0
"""

RETURN = r"""
addresses:
  description:
    - One entry for each address, in the same order, with C(url), C(reached), whether it answered as it should,
      C(status) (the HTTP status, null where there was none), C(why), what is wrong as a sentence, and C(code),
      V(certificate) where the one of the server is not accepted, else empty, and C(content), that of a V(key) as
      base64, else null.
  returned: success
  type: list
  elements: dict
  sample:
    - url: https://mirror.example.org/a.deb
      reached: false
      status: 404
      why: It answers 404, so that it is not there.
      code: ""
      content: null
registries:
  description:
    - One entry for each registry, in the same order, with C(address), C(reached), C(login) (V(basic), V(token) or
      V(open) by how it was checked, V(refused), or V(none) where none was tried), C(why), and C(code) of the failure.
  returned: success
  type: list
  elements: dict
  sample:
    - {address: images.example.org, reached: true, login: token, why: "", code: ""}
disks:
  description: One entry for each of the O(paths), with C(path), C(free_gb) (null where it is not known) and C(why).
  returned: success
  type: list
  elements: dict
  sample:
    - {path: ~/aiready/results, free_gb: 120.5, why: ""}
time:
  description: The time of the machine, in seconds since 1970.
  returned: success
  type: float
  sample: 1764900000.25
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
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
    module.exit_json(changed=False, **look.look(module.params))


if __name__ == "__main__":
    main()
