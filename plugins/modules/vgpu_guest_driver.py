#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vgpu_guest_driver
short_description: Install the NVIDIA guest driver that a vGPU needs, or remove it
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Installs the guest driver, which NVIDIA also calls the GRID driver, in a VM with a vGPU. It comes as a deb, rpm or
    run file that is on the guest or has an address, or as a package of a repository.
  - Refuses what would leave the guest without its vGPU, before anything is touched. This is a driver that does not fit
    that of the host, the driver of a host or of a data centre, packages of another NVIDIA driver that are installed, a
    missing compiler or missing kernel headers, and a module that secure boot would refuse.
  - Keeps the driver nouveau from loading, and has the file system of the early boot made anew for that.
  - Loads the module, and takes the list of GPUs in C(nvidia-smi) for the proof. A driver that sees no GPU is an error
    that names the cause.
  - A run that was killed in the middle is finished by the next one.
notes:
  - Needs root. Use C(become).
  - The module never reboots the guest. What waits for a reboot is in RV(driver.pending). This is the case where nouveau
    is loaded, and where another version of the driver is in the kernel. A second run before the reboot changes nothing.
  - NVIDIA offers guest drivers on its licensing portal and in its enterprise catalogue only. They are in no public
    repository, so that an address or a repository is always one of your own.
  - Ubuntu 20.04, 22.04 and 24.04, Debian 12, RHEL 8 and 9 and Rocky Linux 8 and 9 are supported. On RHEL and Rocky
    Linux, the package C(dkms) comes from EPEL, which has to be set up before.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
attributes:
  check_mode:
    details: >-
      A file that is not on the guest yet is planned by the version in its name, since a task before may be what
      copies it there. An address is planned in the same way. Their contents are looked at in the real run.
options:
  state:
    description:
      - V(present) installs the driver, V(absent) removes every guest driver.
      - With V(absent), nouveau is let in again if this module has kept it away.
    type: str
    choices: [present, absent]
    default: present
  package:
    description:
      - The driver. This is the path of a file on the guest, an address that begins with C(http://) or C(https://), or
        the name of a package in a repository of the guest. See O(source).
      - An address with C(http://) needs O(checksum), since anybody on the way could replace what is installed as root.
      - Required with O(state=present).
    type: str
  source:
    description:
      - What O(package) is. V(auto) tells it by its first letters.
    type: str
    choices: [auto, file, url, repository]
    default: auto
  version:
    description:
      - The version of the driver, such as V(550.54.15).
      - Of a file, it is told by the name, and has to be the version that the file itself tells. Set it where the name
        does not tell.
      - Of a package in a repository, it chooses the version. Without it, any installed version is right, and the newest
        is installed where there is none.
    type: str
  checksum:
    description:
      - The checksum of the file, as V(sha256:<digits>), V(sha384:<digits>) or V(sha512:<digits>). It is looked at
        before the file is installed.
    type: str
  ca_file:
    description:
      - A file on the guest with the certificates by which the server of an address is verified, instead of those of
        the system.
    type: path
  host_version:
    description:
      - The version of the driver of the host, such as V(550.54.16). A guest driver that does not fit it is refused,
        because the VM would start without its vGPU.
      - M(aiready.vsphere.nvaie_driver_info) tells it. When it is empty, the two are not compared.
    type: str
    default: ""
  gpu:
    description:
      - V(required) takes the GPU in C(nvidia-smi) for the proof. V(optional) is for a guest without one, such as a
        template.
    type: str
    choices: [required, optional]
    default: required
  downgrade:
    description:
      - Whether a driver may be replaced by an older one.
    type: str
    choices: [refuse, allow]
    default: refuse
  headers:
    description:
      - Whether the headers of the running kernel are needed. Set it to V(false) for a package whose modules were built
        for this kernel before.
    type: bool
    default: true
  install_requirements:
    description:
      - Install the kernel headers, and for a run file the compiler, make and DKMS, where they are missing. Without it
        they are named in an error.
    type: bool
    default: false
  secure_boot:
    description:
      - What is done in a VM with secure boot for which no enrolled key is found. V(refuse) stops before anything is
        installed. V(signed) says that the module will be signed by an enrolled key all the same.
    type: str
    choices: [refuse, signed]
    default: refuse
  signing_key:
    description:
      - The file on the guest with the private key by which a run file signs the module. Its certificate has to be
        enrolled in the firmware of the VM.
      - Required together with O(signing_certificate).
    type: path
  signing_certificate:
    description:
      - The file on the guest with the certificate that belongs to O(signing_key).
    type: path
  lock_wait_s:
    description:
      - How long to wait for another process that uses the package manager, in seconds. A guest that has just started
        is often upgrading itself.
    type: int
    default: 300
seealso:
  - module: aiready.vsphere.vgpu_licence
  - module: aiready.vsphere.vgpu_profile
  - module: aiready.vsphere.nvaie_driver_info
"""

EXAMPLES = r"""
- name: Install the guest driver from a file on the guest
  aiready.vsphere.vgpu_guest_driver:
    package: /var/tmp/nvidia-linux-grid-550_550.54.15_amd64.deb
  become: true

- name: Guests have the driver that fits their hosts
  hosts: training_guests
  become: true
  tasks:
    - name: Install the guest driver from an address, with what it is built with
      aiready.vsphere.vgpu_guest_driver:
        package: https://depot.example.com/grid/nvidia-linux-grid-550_550.54.15_amd64.deb
        checksum: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
        host_version: 550.54.16
        install_requirements: true
      register: driver

    - name: Reboot where nouveau or another version is still in the kernel
      ansible.builtin.reboot:
      when: driver.driver.pending | length > 0

- name: Prepare a template that has no GPU
  aiready.vsphere.vgpu_guest_driver:
    package: nvidia-linux-grid-550
    version: 550.54.15
    gpu: optional
  become: true

- name: Remove the guest driver
  aiready.vsphere.vgpu_guest_driver:
    state: absent
  become: true
"""

RETURN = r"""
driver:
  description: The driver of the guest, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the guest.
      type: str
      returned: always
      sample: train-01
    machine_id:
      description: What the guest calls itself in C(/etc/machine-id).
      type: str
      returned: always
      sample: 6b2d1f0f5b8c4f6c9a0e6f1f2b3c4d5e
    distribution:
      description: The distribution that the guest runs.
      type: str
      returned: always
      sample: Ubuntu 22.04.4 LTS
    kernel:
      description: The kernel that the guest runs.
      type: str
      returned: always
      sample: 5.15.0-105-generic
    secure_boot:
      description: Whether the VM has secure boot. Null where the guest cannot tell.
      type: bool
      returned: always
      sample: false
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was there, with the keys of RV(driver.after). Empty when it could not be read.
      type: dict
      returned: always
      sample:
        version: null
        format: null
        package: null
        module: null
        loaded: null
        nouveau: allowed
        missing: []
        interrupted: []
        gpus: []
    after:
      description: What is there now, or would be in check mode.
      type: dict
      returned: always
      contains:
        version:
          description: The version of the guest driver that is installed. Null for none.
          type: str
          returned: success
        format:
          description: How it was installed, V(deb), V(rpm) or V(run).
          type: str
          returned: success
        package:
          description: The name of its package. Null for a run file.
          type: str
          returned: success
        module:
          description: The version of its module for the kernel that runs. Null where it was not built.
          type: str
          returned: success
        loaded:
          description: The version of the module in the kernel. Null where none is loaded.
          type: str
          returned: success
        nouveau:
          description: Whether nouveau is kept from loading at boot, V(blocked) or V(allowed).
          type: str
          returned: success
        missing:
          description: The packages that are missing for building the module.
          type: list
          elements: str
          returned: success
        interrupted:
          description: What a killed run left to be finished, V(driver), V(nouveau) or V(packages).
          type: list
          elements: str
          returned: success
        gpus:
          description: The GPUs that C(nvidia-smi) shows. In check mode, those that it shows now.
          type: list
          elements: dict
          returned: success
          contains:
            address:
              description: PCI address in the guest.
              type: str
              returned: success
            name:
              description: The name of the product, for a vGPU with the name of its profile.
              type: str
              returned: success
            uuid:
              description: UUID of the GPU.
              type: str
              returned: success
            virtualization:
              description: V(vgpu), V(passthrough), or V(none).
              type: str
              returned: success
            memory_mb:
              description: Memory of the GPU in MB.
              type: int
              returned: success
            mig:
              description: Whether it is in MIG mode.
              type: bool
              returned: success
            licence:
              description: The state of its licence. See M(aiready.vsphere.vgpu_licence).
              type: str
              returned: success
      sample:
        version: 550.54.15
        format: deb
        package: nvidia-linux-grid-550
        module: 550.54.15
        loaded: 550.54.15
        nouveau: blocked
        missing: []
        interrupted: []
        gpus:
          - address: "00000000:02:00.0"
            name: NVIDIA A100-40C
            uuid: GPU-57abc772-1dd3-11b2-8fae-e31710b8f307
            virtualization: vgpu
            memory_mb: 40960
            mig: false
            licence: Unlicensed (Unrestricted)
    changes:
      description: What was changed, or would be in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: nouveau, before: allowed, after: blocked, needs: null}
        - {path: driver, before: null, after: 550.54.15 (deb), needs: null}
        - {path: loaded, before: null, after: 550.54.15, needs: null}
    pending:
      description: What waits for a reboot of the guest.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the driver is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why it is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the driver is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: driver_pair, host_version: 535.161.05, guest_version: 550.54.15, allowed_branches: [535, 525, 470]}
"""

from typing import TYPE_CHECKING

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import params
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.noun import GuestDriver

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Wish
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState


def main() -> None:
    module = AnsibleModule(
        argument_spec=params.ARGUMENTS,
        required_if=params.REQUIRED_IF,
        required_together=params.REQUIRED_TOGETHER,
        supports_check_mode=True,
    )
    fail_if_invalid(module, params.check_params(module.params))
    name = machine.name()
    unknown = dict.fromkeys(("machine_id", "distribution", "kernel", "secure_boot"))
    item: Item[Wish, DriverState] = Item(name, dict(module.params), dict(unknown, name=name))
    run(module, GuestDriver(), [item], "driver", single=True)


if __name__ == "__main__":
    main()
