#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: container_registry_login
short_description: Manage the login of a user at a container registry
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Adds a login to the file that Docker, nerdctl or Podman reads, or removes it. The module keeps other logins and
    settings in the file. Only the user can read the file.
  - Verifies the login with the registry's API before it writes anything. A wrong password therefore fails this task and
    not the first pull in a training.
  - Calls no engine and no command line tool. The password appears in no argument, no environment, no result and no
    diff.
notes:
  - For NVIDIA's registry V(nvcr.io), the user name is literally V($oauthtoken) and the password is the API key. Write
    the user name in single quotes. In double quotes or in a shell, the dollar sign may be expanded.
  - The user and root can read the password in the file, as with every engine without a credential helper.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
options:
  registry:
    description:
      - Host name of the registry as it appears in image names, with the port if it is not 443. V(docker.io) is
        supported.
    type: str
    required: true
  username:
    description: User name at the registry. Required with O(state=present).
    type: str
  password:
    description: Password or API key. Required with O(state=present).
    type: str
  state:
    description: Desired state of the login.
    type: str
    choices: [present, absent]
    default: present
  engine:
    description:
      - Engine that reads the login. V(docker) and V(containerd), through nerdctl, use C(~/.docker/config.json).
        V(podman) uses C(~/.config/containers/auth.json).
    type: str
    choices: [docker, containerd, podman]
    default: docker
  user:
    description:
      - User of the guest who gets the login. The file is in the home directory of this user and belongs to them. If
        empty, it is the user who runs the module. Only root can set the login of another user.
    type: str
    default: ""
  config_file:
    description: Path of the file, if it differs from the default of O(engine).
    type: str
    default: ""
  check:
    description:
      - Condition for verifying the login with the registry. V(changed) verifies it only before the module writes a
        login.
    type: str
    choices: [always, changed, never]
    default: always
  ca_file:
    description:
      - File on the guest with the certificate authority of the registry. The module also uses the files in
        C(/etc/docker/certs.d) and C(/etc/containers/certs.d).
    type: str
    default: ""
  insecure:
    description:
      - Whether to skip the certificate verification and to allow HTTP. The password is then readable on the network.
    type: bool
    default: false
  proxy:
    description:
      - Proxy for the connection to the registry, for example V(http://user:password@proxy.example.com:3128). If empty,
        the module uses the proxy settings of its environment.
    type: str
    default: ""
  no_proxy:
    description: Names and domains that the module reaches without O(proxy).
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    details: The module verifies the login with the registry in check mode too.
  diff_mode:
    details: Shows the user name, and whether the password changes.
seealso:
  - module: aiready.vsphere.nvidia_container_runtime
  - module: community.docker.docker_login
"""

EXAMPLES = r"""
- name: Log in to NVIDIA's registry
  aiready.vsphere.container_registry_login:
    registry: nvcr.io
    username: '$oauthtoken'
    password: "{{ ngc_api_key }}"

- name: Log in on all guests
  hosts: training_guests
  become: true
  tasks:
    - name: Log in the training user at the company registry
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
  description: Result for the login at one registry, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the machine.
      type: str
      returned: always
      sample: job-01
    machine_id:
      description: Machine ID from C(/etc/machine-id).
      type: str
      returned: always
      sample: 4c4c45440058
    registry:
      description: Registry of the login.
      type: str
      returned: always
      sample: nvcr.io
    path:
      description: Path of the login file.
      type: str
      returned: always
      sample: /home/ops/.docker/config.json
    checked:
      description:
        - Method that verified the login. V(basic) is the registry itself, and V(token) is its token service. V(open)
          means that the registry requires no login. V(no) means that the login was not verified.
      type: str
      returned: always
      sample: token
    changed:
      description: V(true) if something changed, or would change in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the change, in the format of RV(login.after). Empty when it could not be read.
      type: dict
      returned: always
      sample: {username: "", password: "", mode: ""}
    after:
      description: State after the change, read again. In check mode, the expected state.
      type: dict
      returned: always
      contains:
        username:
          description: User name of the login. Empty if there is no login.
          type: str
          returned: success
        password:
          description: V(set) if there is a password, else empty.
          type: str
          returned: success
        mode:
          description: Permissions of the file. Empty if there is no file.
          type: str
          returned: success
      sample: {username: "$oauthtoken", password: set, mode: "0600"}
    changes:
      description: Changes that were made, or would be made in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: username, before: null, after: "$oauthtoken", needs: null}
        - {path: password, before: null, after: set, needs: null}
    pending:
      description: Always empty, because engines read the file with every pull.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if the login is not in the desired state.
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
  sample: {code: login_refused, subject: Registry nvcr.io, status: 401}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import login_noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import LoginRequest
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
    requested = request(LoginRequest, module.params)
    noun = login_noun.RegistryLogin(requested, Files())
    ids = dict(UNKNOWN_IDS, registry=requested.registry, checked="no")
    run(module, noun, [Item(requested.registry, requested, ids)], "login", single=True)


if __name__ == "__main__":
    main()
