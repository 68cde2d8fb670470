#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vgpu_guest_driver
short_description: Manage the NVIDIA guest driver for a vGPU or a whole GPU
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Installs or removes the guest driver in a VM with a vGPU. NVIDIA also calls it the GRID driver. The source is a deb,
    rpm or run file on the guest or at a URL, or a package of a repository.
  - Rejects requests that would leave the guest without its vGPU, before it changes anything. Examples are a driver that
    is incompatible with the host driver, a host driver or a data centre driver, and an installed package of another
    NVIDIA driver.
  - Also rejects the request if the compiler or the kernel headers are missing, or if secure boot would reject the
    module.
  - Blocks the driver nouveau and rebuilds the initramfs.
  - Loads the module and verifies that C(nvidia-smi) lists GPUs. The module fails with the cause if the driver detects
    no GPU.
  - Completes an installation that was killed in a previous run.
notes:
  - Needs root. Use C(become).
  - The module never reboots the guest. RV(driver.pending) lists changes that wait for a reboot. This happens if nouveau
    or another version of the driver is loaded. A second run before the reboot changes nothing.
  - NVIDIA offers guest drivers only on its licensing portal and in its enterprise catalogue. They are in no public
    repository, so use a URL or a repository of your own.
  - Supports Ubuntu 20.04, 22.04 and 24.04, Debian 12, RHEL 8 and 9 and Rocky Linux 8 and 9. On RHEL and Rocky Linux,
    the package C(dkms) comes from EPEL, which must be configured beforehand.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
attributes:
  check_mode:
    details: >-
      Plans a missing file or a URL by the version in its name, because an earlier task may copy the file to the guest.
      Only a real run checks the contents.
options:
  state:
    description:
      - Desired state. V(present) installs the driver. V(absent) removes every guest driver.
      - With V(absent), the module also removes its block of nouveau.
    type: str
    choices: [present, absent]
    default: present
  package:
    description:
      - Driver to install. This is a path on the guest, a URL with C(http://) or C(https://), or the name of a package
        in a repository of the guest. See O(source).
      - A URL with C(http://) needs O(checksum), because an attacker on the network could replace the file.
      - Required with O(state=present).
    type: str
  source:
    description:
      - Type of O(package). V(auto) derives it from the prefix.
    type: str
    choices: [auto, file, url, repository]
    default: auto
  flavour:
    description:
      - Driver for the GPU of the VM. V(vgpu) is the guest driver of the vGPU software.
      - V(data_centre) is the driver for whole GPUs, by passthrough or DirectPath. It needs no host driver and no
        licence. The module ignores O(host_version) then.
      - On a guest with a GPU of the Ada, Hopper or Blackwell generation, V(data_centre) needs the open kernel modules.
        The module rejects a package without C(open) in its name. It passes the option for them to a .run file.
      - V(data_centre) needs O(state=present).
    type: str
    choices: [vgpu, data_centre]
    default: vgpu
    version_added: 0.2.0
  version:
    description:
      - Version of the driver, such as V(550.54.15).
      - For a file, the module reads the version from the name. It must match the version in the file. Set this option
        if the name has no version.
      - For a package in a repository, this option selects the version. If omitted, the module accepts any installed
        version, and installs the newest if none is installed.
    type: str
  checksum:
    description:
      - Checksum of the file, as V(sha256:<digits>), V(sha384:<digits>) or V(sha512:<digits>). The module verifies it
        before the installation.
    type: str
  ca_file:
    description:
      - File on the guest with CA certificates for the server of a URL, instead of those of the system.
    type: path
  host_version:
    description:
      - Version of the host driver, such as V(550.54.16). The module rejects an incompatible guest driver, because the
        VM would start without its vGPU.
      - M(aiready.vsphere.nvaie_driver_info) returns it. If empty, the module does not compare the versions.
    type: str
    default: ""
  gpu:
    description:
      - GPU verification. V(required) fails if C(nvidia-smi) lists no GPU. V(optional) is for a guest without a GPU,
        such as a template.
    type: str
    choices: [required, optional]
    default: required
  downgrade:
    description:
      - Policy for replacing an installed driver by an older one.
    type: str
    choices: [refuse, allow]
    default: refuse
  headers:
    description:
      - Whether to require the headers of the running kernel. Set it to V(false) for a package with modules that were
        built for this kernel.
    type: bool
    default: true
  install_requirements:
    description:
      - Whether to install missing kernel headers, and for a run file the missing compiler, make and DKMS. With
        V(false), the module fails and names them.
    type: bool
    default: false
  secure_boot:
    description:
      - Policy for a VM with secure boot and without a detected enrolled key. V(refuse) fails before the installation.
        V(signed) declares that an enrolled key signs the module.
    type: str
    choices: [refuse, signed]
    default: refuse
  signing_key:
    description:
      - File on the guest with the private key that a run file uses to sign the module. Its certificate must be enrolled
        in the firmware of the VM.
      - Required together with O(signing_certificate).
    type: path
  signing_certificate:
    description:
      - File on the guest with the certificate of O(signing_key).
    type: path
  lock_wait_s:
    description:
      - Time in seconds to wait for another process that uses the package manager. A guest often upgrades itself after
        boot.
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

- name: Install a driver that is compatible with the hosts
  hosts: training_guests
  become: true
  tasks:
    - name: Install the guest driver and its build requirements
      aiready.vsphere.vgpu_guest_driver:
        package: https://depot.example.com/grid/nvidia-linux-grid-550_550.54.15_amd64.deb
        checksum: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
        host_version: 550.54.16
        install_requirements: true
      register: driver

    - name: Reboot if nouveau or another version is still loaded
      ansible.builtin.reboot:
      when: driver.driver.pending | length > 0

- name: Install the data centre driver for a whole GPU
  aiready.vsphere.vgpu_guest_driver:
    package: nvidia-driver-580-open
    flavour: data_centre
    install_requirements: true
  become: true

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
  description: Result for the driver of the guest, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the guest.
      type: str
      returned: always
      sample: train-01
    machine_id:
      description: Machine ID of the guest from C(/etc/machine-id).
      type: str
      returned: always
      sample: 6b2d1f0f5b8c4f6c9a0e6f1f2b3c4d5e
    distribution:
      description: Distribution of the guest.
      type: str
      returned: always
      sample: Ubuntu 22.04.4 LTS
    kernel:
      description: Running kernel of the guest.
      type: str
      returned: always
      sample: 5.15.0-105-generic
    secure_boot:
      description: V(true) if the VM uses secure boot. Null if the guest cannot determine it.
      type: bool
      returned: always
      sample: false
    changed:
      description: V(true) if something changed, or would change in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the change, with the keys of RV(driver.after). Empty when it could not be read.
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
      description: State after the change. In check mode, the expected state.
      type: dict
      returned: always
      contains:
        version:
          description: Version of the installed guest driver. Null for none.
          type: str
          returned: success
        format:
          description: Format of the installation, V(deb), V(rpm) or V(run).
          type: str
          returned: success
        package:
          description: Name of its package. Null for a run file.
          type: str
          returned: success
        module:
          description: Version of its module for the running kernel. Null if it was not built.
          type: str
          returned: success
        loaded:
          description: Version of the loaded module. Null if none is loaded.
          type: str
          returned: success
        nouveau:
          description: State of nouveau at boot, V(blocked) or V(allowed).
          type: str
          returned: success
        missing:
          description: Missing packages for the build of the module.
          type: list
          elements: str
          returned: success
        interrupted:
          description: Unfinished steps of a killed run, V(driver), V(nouveau) or V(packages).
          type: list
          elements: str
          returned: success
        gpus:
          description: GPUs in C(nvidia-smi). In check mode, the current ones.
          type: list
          elements: dict
          returned: success
          contains:
            address:
              description: PCI address in the guest.
              type: str
              returned: success
            name:
              description: Product name. For a vGPU, it includes the profile.
              type: str
              returned: success
            uuid:
              description: UUID of the GPU.
              type: str
              returned: success
            virtualization:
              description: Virtualization mode, V(vgpu), V(passthrough), or V(none).
              type: str
              returned: success
            memory_mb:
              description: Memory of the GPU in MB.
              type: int
              returned: success
            mig:
              description: V(true) if the GPU is in MIG mode.
              type: bool
              returned: success
            licence:
              description: State of its licence. See M(aiready.vsphere.vgpu_licence).
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
      description: Changes that were made, or would be made in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: nouveau, before: allowed, after: blocked, needs: null}
        - {path: driver, before: null, after: 550.54.15 (deb), needs: null}
        - {path: loaded, before: null, after: 550.54.15, needs: null}
    pending:
      description: Changes that wait for a reboot of the guest.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if the driver is not in the desired state.
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
  sample: {code: driver_pair, host_version: 535.161.05, guest_version: 550.54.15, allowed_branches: [535, 525, 470]}
"""

from typing import TYPE_CHECKING

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import params
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.noun import GuestDriver

if TYPE_CHECKING:
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
    requested = request(params.DriverRequest, module.params)
    item: Item[params.DriverRequest, DriverState] = Item(name, requested, dict(unknown, name=name))
    run(module, GuestDriver(), [item], "driver", single=True)


if __name__ == "__main__":
    main()
