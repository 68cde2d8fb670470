#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: horovod_build_info
short_description: Tell with what Horovod was built, and insist on what a training needs
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Runs C(horovodrun --check-build), in an image or on the system itself, and tells which frameworks, controllers and
    tensor operations are built in.
  - That command ends with 0 whatever is missing. This module fails instead, when something of O(frameworks),
    O(controllers) or O(operations) is.
notes:
  - An image is not fetched. Where it is missing, that is an error.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.attributes.read_only
options:
  image:
    description:
      - The image, in which the command runs in a container that is removed again. Left out, it runs on the system
        itself.
    type: str
  container_engine:
    description:
      - The engine that has the image.
    type: str
    choices: [containerd, docker, podman]
    default: docker
  frameworks:
    description:
      - Frameworks that have to be built in.
    type: list
    elements: str
    choices: [tensorflow, pytorch, mxnet]
    default: []
  controllers:
    description:
      - Controllers that have to be built in.
    type: list
    elements: str
    choices: [mpi, gloo]
    default: []
  operations:
    description:
      - Tensor operations that have to be built in. Trainings on several GPUs want V(nccl).
    type: list
    elements: str
    choices: [nccl, ddl, ccl, mpi, gloo]
    default: []
  timeout_s:
    description:
      - How long the command may take, in seconds. It imports every framework.
    type: int
    default: 120
seealso:
  - module: aiready.vsphere.training_run
"""

EXAMPLES = r"""
- name: See with what Horovod of an image was built
  aiready.vsphere.horovod_build_info:
    image: images.example.com/aiready/horovod:0.28.1-cuda
  become: true
  register: horovod

- name: Go no further without NCCL and MPI
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
  description: With what Horovod was built.
  returned: success, and failure where something is missing
  type: dict
  contains:
    version:
      description: Version of Horovod.
      type: str
      returned: always
      sample: 0.28.1
    frameworks:
      description: Frameworks.
      type: list
      elements: str
      returned: always
      sample: [pytorch]
    controllers:
      description: Controllers.
      type: list
      elements: str
      returned: always
      sample: [mpi, gloo]
    operations:
      description: Tensor operations.
      type: list
      elements: str
      returned: always
      sample: [nccl, mpi, gloo]
failure:
  description: Why the task failed, with a stable C(code), and what is C(missing).
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
    """With what Horovod was built; run(argv) gives (status, stdout, stderr)."""
    subject = f"Image {params['image']}" if params["image"] else "Horovod"
    argv = ["timeout", str(params["timeout_s"]), *_command(params)]
    status, stdout, stderr = run(argv)
    found = build.parse(stdout)
    if found is None:
        last = " / ".join((stderr or stdout).strip().splitlines()[-LAST_LINES:]) or "it said nothing"
        ended = f"It ended with {status}: {last}"
        if status == 124:
            ended = f"It took longer than {params['timeout_s']} seconds"
        raise OperatorError(
            subject,
            "horovodrun --check-build was to tell with what Horovod was built",
            ended,
            "Fetch the image first, or use one that holds Horovod",
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
        told = {} if found is None else {"build": found}
        module.fail_json(msg=error.message, failure=error.failure, changed=False, **told)
    module.exit_json(changed=False, build=found)


if __name__ == "__main__":
    main()
