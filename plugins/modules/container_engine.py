#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: container_engine
short_description: Manage the service settings of a container engine for training
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets three service settings of Docker or containerd. These are the locked memory limit that RDMA needs, the proxy of
    the engine, and the registries that Docker may use without certificate verification.
  - Loads the changed settings into the engine and verifies the result. Docker loads a change of registries without a
    restart. The other settings need a restart.
  - Stops no running containers unless O(restart) allows it. If the engine does not start with its new settings, the
    module restores the old ones.
  - If a run was killed after it wrote a setting, the next run loads this setting.
notes:
  - Run it as root.
  - Limits in C(/etc/security) apply to logins and not to services. The engine's service therefore has its own limit.
  - The module stores the proxy credentials in a file that only root can read. It does not use service properties,
    because every user of the machine can read them.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
options:
  engine:
    description: Container engine. Podman has no service.
    type: str
    choices: [docker, containerd]
    default: docker
  memlock:
    description: Memory that the engine and its containers may lock. V(ignore) leaves the limit unchanged.
    type: str
    choices: [unlimited, ignore]
    default: unlimited
  proxy:
    description:
      - Proxy through which the engine reaches registries. If omitted, the proxy settings stay unchanged. If both
        addresses are empty, the module removes the proxy that it has set.
    type: dict
    suboptions:
      http:
        description: Proxy for HTTP, for example V(http://proxy.example.com:3128), without credentials.
        type: str
        default: ""
      https:
        description: Proxy for HTTPS. If empty, the engine uses the proxy for HTTP.
        type: str
        default: ""
      no_proxy:
        description: Names, domains and networks that the engine reaches without the proxy.
        type: list
        elements: str
        default: []
      username:
        description: User name for the proxy.
        type: str
        default: ""
      password:
        description: Password for the proxy.
        type: str
        default: ""
  insecure_registries:
    description:
      - Registries that Docker may use without certificate verification, or over HTTP. Other registries that are already
        allowed stay allowed.
    type: list
    elements: str
    default: []
  secure_registries:
    description: Registries to remove from the list of insecure registries.
    type: list
    elements: str
    default: []
  restart:
    description:
      - Policy for loading the settings into the engine.
      - V(safe) restarts the engine only if that stops no container. Otherwise the task fails before it changes
        anything, and names the containers.
      - V(allow) restarts the engine even if that stops containers.
      - V(later) does not restart the engine. RV(engine.pending) lists the pending restart.
    type: str
    choices: [safe, allow, later]
    default: safe
attributes:
  check_mode:
    details: Reports the same changes and failures as a real run.
  diff_mode:
    details: Shows every changed setting. For credentials, it shows only that they change.
seealso:
  - module: aiready.vsphere.nvidia_container_runtime
"""

EXAMPLES = r"""
- name: Allow containers to lock the memory that RDMA registers
  aiready.vsphere.container_engine: {}

- name: Configure the registry proxy of all guests
  hosts: training_guests
  become: true
  tasks:
    - name: Set the proxy of Docker, except for the lab registry
      aiready.vsphere.container_engine:
        proxy:
          http: http://proxy.example.com:3128
          no_proxy: [images.example.com]
          username: training
          password: "{{ proxy_password }}"
        insecure_registries: ["images.example.com:5000"]

- name: Remove the proxy and verify the registry certificate
  aiready.vsphere.container_engine:
    proxy: {}
    secure_registries: ["images.example.com:5000"]
"""

RETURN = r"""
engine:
  description: Result for the engine of this machine, also when the task fails.
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
    changed:
      description: V(true) if something changed, or would change in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the change, in the format of RV(engine.after). Empty when it could not be read.
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
      description: State after the change, read again. In check mode, the expected state.
      type: dict
      returned: always
      contains:
        memlock:
          description: Locked memory limit, V(unlimited) or V(limited).
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
          description: Names, domains and networks that the engine reaches without the proxy.
          type: list
          elements: str
          returned: success
        proxy_credentials:
          description: V(set) if credentials are configured, else empty.
          type: str
          returned: success
        insecure_registries:
          description: Registries whose certificates Docker does not verify.
          type: list
          elements: str
          returned: success
        running:
          description: V(true) if the engine's service is running.
          type: bool
          returned: success
        loaded:
          description: V(true) if the engine is running with these settings.
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
      description: Changes that were made, or would be made in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: "docker.service: LimitMEMLOCK", before: "8388608", after: infinity, needs: null}
    pending:
      description: Changes that wait for a restart of the engine.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if the engine is not in the desired state.
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
  sample: {code: containers_would_be_lost, subject: docker on job-01, containers: [train]}
"""

from typing import TYPE_CHECKING, Any, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import proxy
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import settings_of
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.settings_noun import EngineSettings
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import SettingsRequest
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
    """Return all problems of the parameters."""
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
    requested = settings_of(module.params)
    noun = EngineSettings(requested, Commands(), Files())
    item: Item[SettingsRequest, SettingsState] = Item(requested.engine, requested, {"name": None, "machine_id": None})
    run(module, noun, [item], "engine", single=True)


if __name__ == "__main__":
    main()
