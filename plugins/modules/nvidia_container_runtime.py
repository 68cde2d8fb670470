#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: nvidia_container_runtime
short_description: NVIDIA's runtime in the container engine of a guest
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Makes Docker, containerd, CRI-O or Podman run containers with GPUs, by the C(nvidia-ctk) of the NVIDIA Container
    Toolkit, which has to be installed.
  - C(nvidia-ctk) gives no sign of whether it changed something, and empties a file before it writes it. This module
    lets it work on copies, in check mode too, compares what the files say before and after, and puts them in place as a
    whole. The order and the look of a file are no difference, and a full disk or a kill leaves the old file.
  - Makes the engine load what was changed and proves that it has. Docker takes runtimes over without a restart, but
    knows the option C(--gpus) only if the toolkit was there when it started. It is restarted for that where this stops
    no container or is allowed; otherwise it is told in RV(engine.pending), since an update of the toolkit looks the
    same. Where a restart is needed, running containers are not stopped unless that is allowed, see O(restart). An
    engine that does not live with the new configuration gets the old one back.
  - Where GPUs are handed out by the Container Device Interface (CDI), compares what is handed out with the GPUs that
    are there, and describes them anew where that differs. The toolkit does so by itself after an upgrade of the driver,
    and not after GPUs were divided anew with MIG.
notes:
  - Run it as root.
  - Flags under C(features) of C(daemon.json), which C(nvidia-ctk) drops when it switches CDI on, are kept.
  - What an engine was told on the command line of its service is not looked at.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
options:
  engine:
    description:
      - The container engine. Podman has no configuration for this, it uses the Container Device Interface alone.
    type: str
    choices: [docker, containerd, crio, podman]
    default: docker
  state:
    description:
      - Whether the runtime shall be there. V(absent) takes away the runtime, also as the default, and nothing else.
    type: str
    choices: [present, absent]
    default: present
  runtime_name:
    description: Name of the runtime, as containers ask for it.
    type: str
    default: nvidia
  runtime_path:
    description: The runtime's program. Empty means where its package has it.
    type: str
    default: ""
  default_runtime:
    description: Whether containers that do not name a runtime use this one. V(false) takes that back.
    type: bool
    default: false
  cdi:
    description:
      - Whether the engine hands out GPUs by the Container Device Interface, and the GPUs are compared. V(false) leaves
        the engine as it is.
      - Docker needs to be 25 or newer. With O(engine=podman) the GPUs are always compared.
    type: bool
    default: false
  config:
    description:
      - The engine's configuration file. Empty means C(/etc/docker/daemon.json), C(/etc/containerd/config.toml) or
        C(/etc/crio/crio.conf).
    type: str
    default: ""
  restart:
    description:
      - What may be done so that the engine loads its configuration.
      - V(safe) reloads it, or restarts it where that stops no container; otherwise the task fails before anything is
        changed and names the containers. V(allow) restarts it all the same. V(later) leaves it alone and tells in
        RV(engine.pending) that it waits.
    type: str
    choices: [safe, allow, later]
    default: safe
attributes:
  check_mode:
    details: C(nvidia-ctk) is run on copies. The changes and the refusals are those of a real run.
  diff_mode:
    details: Every value of the engine's files that changes, and the devices.
seealso:
  - module: aiready.vsphere.container_registry_login
  - name: NVIDIA Container Toolkit
    description: How the toolkit is installed, and what each engine needs.
    link: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html
"""

EXAMPLES = r"""
- name: Docker can run containers with GPUs
  aiready.vsphere.nvidia_container_runtime: {}

- name: Prepare the container engine of all guests
  hosts: training_guests
  become: true
  tasks:
    - name: Containers get GPUs by default, and keep them when systemd is reloaded
      aiready.vsphere.nvidia_container_runtime:
        engine: containerd
        default_runtime: true
        cdi: true
      register: runtime

    - name: Tell what waits for a restart of the engine
      ansible.builtin.debug:
        msg: "{{ runtime.engine.pending }}"

- name: Podman hands out the GPUs that are there after MIG was changed
  aiready.vsphere.nvidia_container_runtime:
    engine: podman

- name: Take the runtime away again
  aiready.vsphere.nvidia_container_runtime:
    state: absent
    restart: later
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
    toolkit_version:
      description: Version of the NVIDIA Container Toolkit. Null with O(state=absent), or when it could not be read.
      type: str
      returned: always
      sample: 1.20.0
    engine_version:
      description: Version of Docker's daemon. Null for other engines, or when it does not run.
      type: str
      returned: always
      sample: 20.10.24+dfsg1
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
        runtime_path: ""
        default_runtime: false
        cdi: false
        running: true
        loaded: true
        knows_gpus: true
        cdi_missing: []
        cdi_stale: []
    after:
      description: What is there now, read again after the change; in check mode, what would be there.
      type: dict
      returned: always
      contains:
        runtime_path:
          description: The program of the runtime, empty where the engine does not have it.
          type: str
          returned: success
        default_runtime:
          description: Whether it is the engine's default.
          type: bool
          returned: success
        cdi:
          description: Whether the engine's files switch the Container Device Interface on.
          type: bool
          returned: success
        running:
          description: Whether the engine's service runs.
          type: bool
          returned: success
        loaded:
          description: Whether it runs with what its files say.
          type: bool
          returned: success
        knows_gpus:
          description:
            - Whether the option C(--gpus) of Docker works. Docker looks for the program behind it once, when it starts.
              V(false) where that program came later. Always V(true) for other engines.
          type: bool
          returned: success
        cdi_missing:
          description: GPUs that containers cannot be given, with O(cdi) or O(engine=podman).
          type: list
          elements: str
          returned: success
        cdi_stale:
          description: Devices that are handed out and are not there any more.
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
      description: What was changed, or would be in check mode, one entry per value.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: "daemon.json: runtimes.nvidia.args", before: null, after: [], needs: null}
        - {path: "daemon.json: runtimes.nvidia.path", before: null, after: nvidia-container-runtime, needs: null}
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
  sample: {code: toolkit_missing, subject: docker on job-01}
"""

from typing import Any, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
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
    """What is wrong with the parameters, all of it."""
    problems = []
    if params["engine"] == "podman" and params["default_runtime"]:
        problems.append(
            "`default_runtime`: Podman has no such setting. Ask for devices with `--device nvidia.com/gpu=all`."
        )
    if params["engine"] == "podman" and params["config"]:
        problems.append("`config`: Podman has no configuration for this.")
    if params["config"] and not params["config"].startswith("/"):
        problems.append(f"`config`: {params['config']} is no absolute path.")
    return problems


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    fail_if_invalid(module, check_params(module.params))
    noun = ContainerRuntime(module.params, Commands(), Files())
    run(module, noun, [Item(module.params["engine"], module.params, dict(UNKNOWN_IDS))], "engine", single=True)


if __name__ == "__main__":
    main()
