#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: container_registry_login
short_description: Login of a user at a container registry
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Writes a login into the file in which Docker, nerdctl or Podman look for it, or takes it out. Other logins and
    settings in the file are kept, and only the user can read it.
  - Asks the registry by its own API whether it takes the login, before anything is written. So a wrong password is an
    error of this task and not of the first pull in the middle of a training.
  - No engine and no command line is involved. The password appears in no argument, no environment, no result and no
    diff.
notes:
  - Of NVIDIA's registry V(nvcr.io), the user is literally V($oauthtoken) and the password is the API key. Write it in
    single quotes; in double quotes or in a shell, the dollar sign may be taken for something else.
  - The file holds the password readable for the user and for root, as every engine without a credential helper does.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
options:
  registry:
    description: Host name of the registry, with the port if it is not 443, as images name it. V(docker.io) is known.
    type: str
    required: true
  username:
    description: The user. Required with O(state=present).
    type: str
  password:
    description: The password or API key. Required with O(state=present).
    type: str
  state:
    description: Whether the login shall be there.
    type: str
    choices: [present, absent]
    default: present
  engine:
    description:
      - Which engine looks for it. V(docker) and V(containerd), by nerdctl, use C(~/.docker/config.json), V(podman) uses
        C(~/.config/containers/auth.json).
    type: str
    choices: [docker, containerd, podman]
    default: docker
  user:
    description:
      - The user of the guest whose login it is. The file is his and lies in his home. Empty means the user as whom the
        module runs. Only root can do it for others.
    type: str
    default: ""
  config_file:
    description: The file, where it is another one than O(engine) says.
    type: str
    default: ""
  check:
    description:
      - When the registry is asked. V(changed) asks only before something is written.
    type: str
    choices: [always, changed, never]
    default: always
  ca_file:
    description:
      - A file on the guest with the registry's certificate authority. Those in C(/etc/docker/certs.d) and
        C(/etc/containers/certs.d) are used without being named.
    type: str
    default: ""
  insecure:
    description:
      - Whether the registry's certificate is not checked, and HTTP will do. The password is then readable on the
        network.
    type: bool
    default: false
  proxy:
    description:
      - The proxy to ask the registry by, for example V(http://user:password@proxy.example.com:3128). Empty means what
        the environment says.
    type: str
    default: ""
  no_proxy:
    description: Names and domains that O(proxy) is not used for.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    details: The registry is asked in check mode too.
  diff_mode:
    details: The user, and whether there is another password.
seealso:
  - module: aiready.vsphere.nvidia_container_runtime
  - module: community.docker.docker_login
"""

EXAMPLES = r"""
- name: Images of NVIDIA can be pulled
  aiready.vsphere.container_registry_login:
    registry: nvcr.io
    username: '$oauthtoken'
    password: "{{ ngc_api_key }}"

- name: Log in on all guests
  hosts: training_guests
  become: true
  tasks:
    - name: The training user pulls from the registry of the company
      aiready.vsphere.container_registry_login:
        registry: images.example.com:5000
        username: training
        password: "{{ registry_password }}"
        user: ops
        ca_file: /etc/pki/company.pem
        check: changed

- name: Log out
  aiready.vsphere.container_registry_login:
    registry: nvcr.io
    state: absent
"""

RETURN = r"""
login:
  description: The login at one registry, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the machine.
      type: str
      returned: always
      sample: job-01
    machine_id:
      description: The ID of the machine in C(/etc/machine-id).
      type: str
      returned: always
      sample: 4c4c45440058
    registry:
      description: The registry.
      type: str
      returned: always
      sample: nvcr.io
    path:
      description: The file of the logins.
      type: str
      returned: always
      sample: /home/ops/.docker/config.json
    checked:
      description:
        - How the registry checked the login. V(basic) by itself, V(token) by its token service, V(open) when it asks
          nobody for a login, and V(no) when it was not asked.
      type: str
      returned: always
      sample: token
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(login.after). Empty when it could not be read.
      type: dict
      returned: always
      sample: {username: "", password: "", mode: ""}
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        username:
          description: The user, empty where there is no login.
          type: str
          returned: success
        password:
          description: V(set) where there is one.
          type: str
          returned: success
        mode:
          description: The permissions of the file, empty where there is none.
          type: str
          returned: success
      sample: {username: "$oauthtoken", password: set, mode: "0600"}
    changes:
      description: What was changed, or would be in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: username, before: null, after: "$oauthtoken", needs: null}
        - {path: password, before: null, after: set, needs: null}
    pending:
      description: Always empty. Engines read the file with every pull.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the login is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why not, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when all is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: login_refused, subject: Registry nvcr.io, status: 401}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import login_noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

ARGUMENTS = {
    "registry": {"type": "str", "required": True},
    "username": {"type": "str"},
    "password": {"type": "str", "no_log": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "engine": {"type": "str", "choices": ["docker", "containerd", "podman"], "default": "docker"},
    "user": {"type": "str", "default": ""},
    "config_file": {"type": "str", "default": ""},
    "check": {"type": "str", "choices": ["always", "changed", "never"], "default": "always"},
    "ca_file": {"type": "str", "default": ""},
    "insecure": {"type": "bool", "default": False},
    "proxy": {"type": "str", "default": "", "no_log": True},
    "no_proxy": {"type": "list", "elements": "str", "default": []},
}
REQUIRED_IF = [("state", "present", ("username", "password"))]
UNKNOWN_IDS = dict.fromkeys(("name", "machine_id", "registry", "path"), None)


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, required_if=REQUIRED_IF, supports_check_mode=True)
    fail_if_invalid(module, login_noun.check_params(module.params))
    noun = login_noun.RegistryLogin(module.params, Files())
    ids = dict(UNKNOWN_IDS, registry=module.params["registry"], checked="no")
    run(module, noun, [Item(module.params["registry"], module.params, ids)], "login", single=True)


if __name__ == "__main__":
    main()
