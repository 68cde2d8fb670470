#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_capture_info
short_description: Gather an anonymised capture of a Linux guest
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sends read-only commands to a Linux guest over the connection of the play, and adds their outputs to the zip file of
    M(aiready.vsphere.site_capture_info) on the controller. C(docs/capture_requests.md) lists the commands.
  - The commands are C(nvidia-smi -q -x), C(nvidia-smi topo -m), C(ip -j link), C(lspci -Dvvvnn), C(ibv_devinfo -v),
    C(mlxconfig query), C(nvidia-smi nvlink --status), C(cat /proc/driver/nvidia/version), C(uname -r),
    C(grep PRETTY_NAME /etc/os-release) and C(ls /sys/module).
  - C(lspci) and C(mlxconfig) need root for all details. Use C(become).
  - The guest needs no Python.
  - Replaces names, addresses, MAC addresses, UUIDs, serial numbers and every word that is no known word of the
    programs. Keeps models, versions, PCI addresses, firmware parameters and numbers.
notes:
  - A guest that cannot be reached, and a command that was refused, are in the coverage. Their content is unknown, and
    the task does not fail.
extends_documentation_fragment:
  - aiready.vsphere.capture
  - aiready.vsphere.capture.source
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.attributes.read_only
attributes:
  platform:
    support: full
    description: Platforms that receive the commands.
    platforms: linux
seealso:
  - module: aiready.vsphere.guest_health_info
    description: Returns the health of a guest.
  - module: aiready.vsphere.site_capture_info
    description: Captures vCenter.
"""

EXAMPLES = r"""
- name: Capture the guests
  hosts: gpu_nodes
  gather_facts: false
  tasks:
    - name: Add the guest to the capture
      aiready.vsphere.guest_capture_info:
        dest: /tmp/site.zip
      register: capture

    - name: Show the refused commands
      ansible.builtin.debug:
        var: capture.refused
"""

RETURN = r"""
dest:
  description: Path of the capture.
  returned: success
  type: str
  sample: /tmp/site.zip
secret:
  description: Path of the table of pseudonyms. It reveals the names behind the capture.
  returned: success
  type: str
  sample: /tmp/site.zip.secret.json
source:
  description: Name of the guest in the capture and in its coverage.
  returned: success
  type: str
  sample: guest vm-014
unreached:
  description: Whether the connection to the guest failed.
  returned: success
  type: bool
  sample: false
anonymised:
  description: Whether names were replaced.
  returned: success
  type: bool
  sample: true
sources:
  description: Number of commands that were answered (C(answered)) and that were not (C(unread)).
  returned: success
  type: dict
  sample: {answered: 7, unread: 1}
refused:
  description:
    - Commands that were refused, with the reason. V(not_found) is a program that does not exist there. The empty key is
      the whole command. Everything that was not read is unknown, and is not the default.
  returned: success
  type: dict
  sample: {guest vm-014/006-ibv-devinfo-v: {"": not_found}}
skipped:
  description: Commands that the module did not send, with the reason.
  returned: success
  type: dict
  sample: {}
texts:
  description: Number of words by what the module did with them, such as C(names), C(addresses), C(dropped) and C(kept).
  returned: success
  type: dict
  sample: {names: 2, addresses: 12, dropped: 0, kept: 3120, texts: 4}
dropped:
  description: Number of dropped lines and fields by their kind.
  returned: success
  type: dict
  sample: {secret line: 1}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: capture_not_written}
"""
