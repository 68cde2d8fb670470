#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: container_engine
short_description: Settings of a container engine's service that training needs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Lets the containers of Docker or containerd lock memory, as RDMA needs; gives the engine a proxy; and tells Docker
    which registries it may reach without a check of their certificates.
  - Makes the engine load what was changed and proves that it has. Docker takes registries over without a restart, the
    rest needs one. Running containers are not stopped unless that is allowed, see O(restart). An engine that does not
    start with its new settings gets the old ones back.
  - What a killed run wrote and did not load is loaded by the next one.
notes:
  - Run it as root.
  - Limits in C(/etc/security) hold for logins and not for services, so the engine's service has one of its own.
  - The proxy's credentials lie in a file that only root can read, and not in the service's properties, which every user
    of the machine can ask for.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
options:
  engine:
    description: The container engine. Podman has no service.
    type: str
    choices: [docker, containerd]
    default: docker
  memlock:
    description: Whether the engine and its containers may lock all memory. V(ignore) leaves the limit as it is.
    type: str
    choices: [unlimited, ignore]
    default: unlimited
  proxy:
    description:
      - The proxy by which the engine reaches registries. Without it, the proxy is left as it is; with neither address,
        the proxy that this module has set is taken away.
    type: dict
    suboptions:
      http:
        description: Proxy for HTTP, for example V(http://proxy.example.com:3128), without credentials.
        type: str
        default: ""
      https:
        description: Proxy for HTTPS. Empty means that of HTTP.
        type: str
        default: ""
      no_proxy:
        description: Names, domains and networks that are reached without it.
        type: list
        elements: str
        default: []
      username:
        description: User at the proxy.
        type: str
        default: ""
      password:
        description: Password at the proxy.
        type: str
        default: ""
  insecure_registries:
    description:
      - Registries that Docker may reach without a check of their certificate, or by HTTP. Others that are allowed
        already are left.
    type: list
    elements: str
    default: []
  secure_registries:
    description: Registries that shall not be among these.
    type: list
    elements: str
    default: []
  restart:
    description:
      - What may be done so that the engine loads its settings.
      - V(safe) restarts it where that stops no container; otherwise the task fails before anything is changed and names
        the containers. V(allow) restarts it all the same. V(later) leaves it alone and tells in RV(engine.pending) that
        it waits.
    type: str
    choices: [safe, allow, later]
    default: safe
attributes:
  check_mode:
    details: The changes and the refusals are those of a real run.
  diff_mode:
    details: Every setting that changes. Of credentials only that they do.
seealso:
  - module: aiready.vsphere.nvidia_container_runtime
"""

EXAMPLES = r"""
- name: Containers may lock the memory that RDMA registers
  aiready.vsphere.container_engine: {}

- name: Guests reach registries by a proxy
  hosts: training_guests
  become: true
  tasks:
    - name: Docker uses the proxy, except for the registry in the lab
      aiready.vsphere.container_engine:
        proxy:
          http: http://proxy.example.com:3128
          no_proxy: [images.example.com]
          username: training
          password: "{{ proxy_password }}"
        insecure_registries: ["images.example.com:5000"]

- name: Take the proxy away, and check the registry's certificate again
  aiready.vsphere.container_engine:
    proxy: {}
    secure_registries: ["images.example.com:5000"]
"""

RETURN = r"""
engine:
  description: The engine of this machine, also when the task fails.
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
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was found, in the same terms as RV(engine.after). Empty when it could not be read.
      type: dict
      returned: always
      sample:
        memlock: limited
        proxy_http: ""
        proxy_https: ""
        no_proxy: []
        proxy_credentials: ""
        insecure_registries: []
        running: true
        loaded: true
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        memlock:
          description: V(unlimited), or V(limited).
          type: str
          returned: success
        proxy_http:
          description: Proxy for HTTP that this module has set, without credentials.
          type: str
          returned: success
        proxy_https:
          description: Proxy for HTTPS that this module has set, without credentials.
          type: str
          returned: success
        no_proxy:
          description: What is reached without it.
          type: list
          elements: str
          returned: success
        proxy_credentials:
          description: V(set) where there are some.
          type: str
          returned: success
        insecure_registries:
          description: Registries whose certificates Docker does not check.
          type: list
          elements: str
          returned: success
        running:
          description: Whether the engine's service runs.
          type: bool
          returned: success
        loaded:
          description: Whether it runs with these settings.
          type: bool
          returned: success
      sample:
        memlock: unlimited
        proxy_http: ""
        proxy_https: ""
        no_proxy: []
        proxy_credentials: ""
        insecure_registries: []
        running: true
        loaded: true
    changes:
      description: What was changed, or would be in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: "docker.service: LimitMEMLOCK", before: "8388608", after: infinity, needs: null}
    pending:
      description: What waits for a restart of the engine.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the engine is not as wanted.
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
  sample: {code: containers_would_be_lost, subject: docker on job-01, containers: [train]}
"""

from typing import TYPE_CHECKING, Any, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import proxy
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.settings_noun import EngineSettings
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Wish
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.settings_state import SettingsState

ARGUMENTS = {
    "engine": {"type": "str", "choices": ["docker", "containerd"], "default": "docker"},
    "memlock": {"type": "str", "choices": ["unlimited", "ignore"], "default": "unlimited"},
    "proxy": {
        "type": "dict",
        "options": {
            "http": {"type": "str", "default": ""},
            "https": {"type": "str", "default": ""},
            "no_proxy": {"type": "list", "elements": "str", "default": []},
            "username": {"type": "str", "default": ""},
            "password": {"type": "str", "default": "", "no_log": True},
        },
    },
    "insecure_registries": {"type": "list", "elements": "str", "default": []},
    "secure_registries": {"type": "list", "elements": "str", "default": []},
    "restart": {"type": "str", "choices": ["safe", "allow", "later"], "default": "safe"},
}


def check_params(params: Mapping[str, Any]) -> list[str]:
    """What is wrong with the parameters, all of it."""
    problems = proxy.problems(params["proxy"]) if params["proxy"] is not None else []
    both = sorted(set(params["insecure_registries"]) & set(params["secure_registries"]))
    if both:
        problems.append(f"`insecure_registries` and `secure_registries`: {', '.join(both)} cannot be in both.")
    if params["engine"] != "docker" and params["insecure_registries"]:
        problems.append("`insecure_registries`: containerd has a file for each registry in /etc/containerd/certs.d.")
    return problems


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    fail_if_invalid(module, check_params(module.params))
    wish = dict(module.params)
    if wish["proxy"] is not None:
        wish["proxy"] = proxy.from_params(wish["proxy"])
    noun = EngineSettings(module.params, Commands(), Files())
    item: Item[Wish, SettingsState] = Item(wish["engine"], wish, {"name": None, "machine_id": None})
    run(module, noun, [item], "engine", single=True)


if __name__ == "__main__":
    main()
