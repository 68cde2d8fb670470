#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: nvidia_container_runtime
short_description: Manage NVIDIA's runtime in the container engine of a guest
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Configures Docker, containerd, CRI-O or Podman to run containers with GPUs. It uses C(nvidia-ctk) of the NVIDIA
    Container Toolkit, which must be installed.
  - C(nvidia-ctk) does not report whether it changed something, and truncates a file before it writes it. This module
    therefore runs it on copies, in check mode too. It compares the values of the files and ignores order and format. It
    replaces each file atomically, so a full disk or a kill leaves the old file.
  - Loads the changed configuration into the engine and verifies the result. The module stops no running containers
    unless O(restart) allows it. If the engine does not work with the new configuration, the module restores the old
    one.
  - Docker loads a runtime without a restart, but supports the option C(--gpus) only if the toolkit was installed before
    Docker started. For this option, the module restarts Docker if that stops no container, or if O(restart) allows it.
    Otherwise RV(engine.pending) lists the restart, because an update of the toolkit leads to the same state.
  - With the Container Device Interface (CDI), compares the CDI devices with the existing GPUs, and regenerates the CDI
    specification if they differ. The toolkit does this itself after a driver upgrade, but not after a change of the MIG
    layout.
notes:
  - Run it as root.
  - The module preserves flags under C(features) of C(daemon.json), which C(nvidia-ctk) drops when it enables CDI.
  - The module does not read options on the command line of the engine's service.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
options:
  engine:
    description:
      - Container engine. Podman has no runtime configuration and uses only the Container Device Interface.
    type: str
    choices: [docker, containerd, crio, podman]
    default: docker
  state:
    description:
      - Desired state of the runtime. V(absent) removes only the runtime, also as the default.
    type: str
    choices: [present, absent]
    default: present
  runtime_name:
    description: Name of the runtime that containers request.
    type: str
    default: nvidia
  runtime_path:
    description: Path of the runtime's program. If empty, the path from its package.
    type: str
    default: ""
  default_runtime:
    description: Whether to set the runtime as the default for containers. V(false) removes it as the default.
    type: bool
    default: false
  cdi:
    description:
      - Whether to enable the Container Device Interface in the engine and to compare its devices with the GPUs.
        V(false) leaves the engine unchanged.
      - Docker must be version 25 or newer. With O(engine=podman), the module always compares the GPUs.
    type: bool
    default: false
  config:
    description:
      - Configuration file of the engine. If empty, C(/etc/docker/daemon.json), C(/etc/containerd/config.toml) or
        C(/etc/crio/crio.conf).
    type: str
    default: ""
  restart:
    description:
      - Policy for loading the configuration into the engine.
      - V(safe) reloads the engine, or restarts it if that stops no container. Otherwise the task fails before it
        changes anything, and names the containers.
      - V(allow) restarts the engine even if that stops containers.
      - V(later) does not restart the engine. RV(engine.pending) lists the pending restart.
    type: str
    choices: [safe, allow, later]
    default: safe
attributes:
  check_mode:
    details: Runs C(nvidia-ctk) on copies. Reports the same changes and failures as a real run.
  diff_mode:
    details: Shows every changed value of the engine's files, and the devices.
seealso:
  - module: aiready.vsphere.container_registry_login
  - name: NVIDIA Container Toolkit
    description: Installation of the toolkit and requirements of each engine.
    link: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html
"""

EXAMPLES = r"""
- name: Configure Docker for containers with GPUs
  aiready.vsphere.nvidia_container_runtime: {}

- name: Prepare the container engine of all guests
  hosts: training_guests
  become: true
  tasks:
    - name: Set NVIDIA's runtime as the default and enable CDI
      aiready.vsphere.nvidia_container_runtime:
        engine: containerd
        default_runtime: true
        cdi: true
      register: runtime

    - name: Show pending restarts of the engine
      ansible.builtin.debug:
        msg: "{{ runtime.engine.pending }}"

- name: Update the CDI devices of Podman after a MIG change
  aiready.vsphere.nvidia_container_runtime:
    engine: podman

- name: Remove the runtime
  aiready.vsphere.nvidia_container_runtime:
    state: absent
    restart: later
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
    toolkit_version:
      description: Version of the NVIDIA Container Toolkit. Null with O(state=absent), or when it could not be read.
      type: str
      returned: always
      sample: 1.20.0
    engine_version:
      description: Version of Docker's daemon. Null for other engines, or if it is not running.
      type: str
      returned: always
      sample: 20.10.24+dfsg1
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
        runtime_path: ""
        default_runtime: false
        cdi: false
        running: true
        loaded: true
        knows_gpus: true
        cdi_missing: []
        cdi_stale: []
    after:
      description: State after the change, read again. In check mode, the expected state.
      type: dict
      returned: always
      contains:
        runtime_path:
          description: Path of the runtime's program. Empty if the engine has no such runtime.
          type: str
          returned: success
        default_runtime:
          description: V(true) if it is the default runtime of the engine.
          type: bool
          returned: success
        cdi:
          description: V(true) if the engine's files enable the Container Device Interface.
          type: bool
          returned: success
        running:
          description: V(true) if the engine's service is running.
          type: bool
          returned: success
        loaded:
          description: V(true) if the engine is running with the configuration in its files.
          type: bool
          returned: success
        knows_gpus:
          description:
            - V(true) if the option C(--gpus) of Docker works. Docker searches for its program once, at startup.
              V(false) if that program was installed later. Always V(true) for other engines.
          type: bool
          returned: success
        cdi_missing:
          description: GPUs without a CDI device, with O(cdi) or O(engine=podman). Containers cannot use them.
          type: list
          elements: str
          returned: success
        cdi_stale:
          description: CDI devices whose GPU no longer exists.
          type: list
          elements: str
          returned: success
      sample:
        runtime_path: nvidia-container-runtime
        default_runtime: false
        cdi: false
        running: true
        loaded: true
        knows_gpus: true
        cdi_missing: []
        cdi_stale: []
    changes:
      description: Changes that were made, or would be made in check mode, one entry per value.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: "daemon.json: runtimes.nvidia.args", before: null, after: [], needs: null}
        - {path: "daemon.json: runtimes.nvidia.path", before: null, after: nvidia-container-runtime, needs: null}
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
  sample: {code: toolkit_missing, subject: docker on job-01}
"""

from typing import Any, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import RuntimeRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.runtime_noun import ContainerRuntime
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

ARGUMENTS = {
    "engine": {"type": "str", "choices": ["docker", "containerd", "crio", "podman"], "default": "docker"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "runtime_name": {"type": "str", "default": "nvidia"},
    "runtime_path": {"type": "str", "default": ""},
    "default_runtime": {"type": "bool", "default": False},
    "cdi": {"type": "bool", "default": False},
    "config": {"type": "str", "default": ""},
    "restart": {"type": "str", "choices": ["safe", "allow", "later"], "default": "safe"},
}
UNKNOWN_IDS = dict.fromkeys(("name", "machine_id", "toolkit_version", "engine_version"))


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters."""
    problems = []
    if params["engine"] == "podman" and params["default_runtime"]:
        problems.append(
            "`default_runtime`: Podman has no such setting. Ask for devices with `--device nvidia.com/gpu=all`."
        )
    if params["engine"] == "podman" and params["config"]:
        problems.append("`config`: Podman has no configuration for this.")
    if params["config"] and not params["config"].startswith("/"):
        problems.append(f"`config`: {params['config']} is not an absolute path.")
    return problems


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    fail_if_invalid(module, check_params(module.params))
    requested = request(RuntimeRequest, module.params)
    noun = ContainerRuntime(requested, Commands(), Files())
    run(module, noun, [Item(requested.engine, requested, dict(UNKNOWN_IDS))], "engine", single=True)


if __name__ == "__main__":
    main()
