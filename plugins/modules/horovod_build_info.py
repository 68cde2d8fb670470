#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: horovod_build_info
short_description: Gather and verify the build options of Horovod
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Runs C(horovodrun --check-build) in an image or on the system itself. Returns the built-in frameworks, controllers
    and tensor operations.
  - The exit status of that command is always 0. This module fails if an entry of O(frameworks), O(controllers) or
    O(operations) is not built in.
notes:
  - The module does not pull the image. It fails if the image is missing.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.attributes.read_only
options:
  image:
    description:
      - Image in which the command runs. The module removes the container afterwards. If omitted, the command runs on
        the system itself.
    type: str
  container_engine:
    description:
      - Container engine that has the image.
    type: str
    choices: [containerd, docker, podman]
    default: docker
  frameworks:
    description:
      - Frameworks that must be built in.
    type: list
    elements: str
    choices: [tensorflow, pytorch, mxnet]
    default: []
  controllers:
    description:
      - Controllers that must be built in.
    type: list
    elements: str
    choices: [mpi, gloo]
    default: []
  operations:
    description:
      - Tensor operations that must be built in. Trainings on several GPUs need V(nccl).
    type: list
    elements: str
    choices: [nccl, ddl, ccl, mpi, gloo]
    default: []
  timeout_s:
    description:
      - Timeout of the command in seconds. The command imports every framework.
    type: int
    default: 120
seealso:
  - module: aiready.vsphere.training_run
"""

EXAMPLES = r"""
- name: Gather the build options of Horovod in an image
  aiready.vsphere.horovod_build_info:
    image: images.example.com/aiready/horovod:0.28.1-cuda
  become: true
  register: horovod

- name: Stop unless the image has NCCL and MPI
  hosts: gpu_nodes
  gather_facts: false
  become: true
  tasks:
    - name: Check the image
      aiready.vsphere.horovod_build_info:
        image: images.example.com/aiready/horovod:0.28.1-cuda
        frameworks: [pytorch]
        controllers: [mpi]
        operations: [nccl]
"""

RETURN = r"""
build:
  description: Build options of Horovod.
  returned: success, and failure where something is missing
  type: dict
  contains:
    version:
      description: Version of Horovod.
      type: str
      returned: always
      sample: 0.28.1
    frameworks:
      description: Built-in frameworks.
      type: list
      elements: str
      returned: always
      sample: [pytorch]
    controllers:
      description: Built-in controllers.
      type: list
      elements: str
      returned: always
      sample: [mpi, gloo]
    operations:
      description: Built-in tensor operations.
      type: list
      elements: str
      returned: always
      sample: [nccl, mpi, gloo]
failure:
  description:
    - Machine-readable cause of the task failure, with a stable C(code) and further details.
    - C(missing) lists the missing parts.
  returned: failure
  type: dict
  sample: {code: not_built_in, subject: Image horovod:mine, missing: [nccl (operations)]}
"""

from typing import Any, Callable, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import build
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import CLIENTS

ARGUMENTS = {
    "image": {"type": "str"},
    "container_engine": {"type": "str", "choices": sorted(CLIENTS), "default": "docker"},
    "frameworks": {"type": "list", "elements": "str", "choices": list(build.FRAMEWORKS), "default": []},
    "controllers": {"type": "list", "elements": "str", "choices": list(build.CONTROLLERS), "default": []},
    "operations": {"type": "list", "elements": "str", "choices": list(build.OPERATIONS), "default": []},
    "timeout_s": {"type": "int", "default": 120},
}
LAST_LINES = 5


def look(params: Mapping[str, Any], run: Callable[[list[str]], tuple[int, str, str]]) -> tuple[str, dict[str, Any]]:
    """Return the build options of Horovod; run(argv) gives (status, stdout, stderr)."""
    subject = f"Image {params['image']}" if params["image"] else "Horovod"
    argv = ["timeout", str(params["timeout_s"]), *_command(params)]
    status, stdout, stderr = run(argv)
    found = build.parse(stdout)
    if found is None:
        last = " / ".join((stderr or stdout).strip().splitlines()[-LAST_LINES:]) or "no output"
        ended = f"The command exited with status {status}: {last}"
        if status == 124:
            ended = f"The command took longer than {params['timeout_s']} seconds"
        raise OperatorError(
            subject,
            "cannot read the build options with horovodrun --check-build",
            ended,
            "Pull the image first, or use an image with Horovod",
            "no_answer",
            status=status,
        )
    return subject, found


def _command(params: Mapping[str, Any]) -> list[str]:
    command = ["horovodrun", "--check-build"]
    if not params["image"]:
        return command
    client = CLIENTS[params["container_engine"]]
    options = ["--rm", "--pull", "never", "--network", "none", "--entrypoint", command[0]]
    return [client, "run", *options, params["image"], *command[1:]]


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    found = None
    try:
        subject, found = look(module.params, module.run_command)
        build.refuse_missing(subject, found, {name: module.params[name] for name in build.SECTIONS.values()})
    except OperatorError as error:
        reported = {} if found is None else {"build": found}
        module.fail_json(msg=error.message, failure=error.failure, changed=False, **reported)
    module.exit_json(changed=False, build=found)


if __name__ == "__main__":
    main()
