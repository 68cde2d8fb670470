#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: switch_capture_info
short_description: Gather an anonymised capture of a switch
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Reads one switch with the commands of M(aiready.vsphere.roce_qos_info), and adds their outputs to the zip file of
    M(aiready.vsphere.site_capture_info) on the controller. The module changes nothing on the switch.
  - Replaces names, addresses, MAC addresses and every word that is no known word of link and QoS configuration. Drops
    descriptions and each line with a user, a password, a key or a serial number. Keeps interface names, models,
    versions and QoS values.
notes:
  - A command that the switch refused, or that printed nothing, is in the coverage. Its content is unknown.
extends_documentation_fragment:
  - aiready.vsphere.capture
  - aiready.vsphere.capture.source
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.attributes.read_only
attributes:
  platform:
    support: full
    description: Platforms that receive the commands.
    platforms: Onyx, Cumulus Linux, SONiC, NX-OS, EOS, OS10, Junos
options:
  platform:
    description:
      - Operating system of the switch, if C(ansible_network_os) does not name it.
    type: str
    choices: [cumulus, enterprise_sonic, eos, junos, nxos, onyx, os10, sonic]
seealso:
  - module: aiready.vsphere.site_capture_info
    description: Captures vCenter.
  - module: aiready.vsphere.roce_qos_info
    description: Sends the same commands.
"""

EXAMPLES = r"""
- name: Capture the switches
  hosts: switches
  gather_facts: false
  tasks:
    - name: Add the switch to the capture
      aiready.vsphere.switch_capture_info:
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
  description: Name of the switch in the capture and in its coverage.
  returned: success
  type: str
  sample: switch switch-001
anonymised:
  description: Whether names were replaced.
  returned: success
  type: bool
  sample: true
sources:
  description: Number of commands that the switch answered (C(answered)) and did not (C(unread)).
  returned: success
  type: dict
  sample: {answered: 9, unread: 0}
refused:
  description:
    - Commands that were not answered completely, with the reason. The empty key is the whole command. Everything that
      was not read is unknown, and is not the default.
  returned: success
  type: dict
  sample: {switch switch-001/04-show-priority-flow-control: {"": "% Invalid input"}}
texts:
  description: Number of words by what the module did with them, such as C(names), C(addresses), C(dropped) and C(kept).
  returned: success
  type: dict
  sample: {names: 12, addresses: 40, dropped: 3, kept: 5210, texts: 17}
dropped:
  description: Number of dropped lines and fields by their kind.
  returned: success
  type: dict
  sample: {description: 2, secret line: 1}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: capture_not_written}
"""
