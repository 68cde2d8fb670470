# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys that guests report, as lines for the files of the other guests."""

from __future__ import annotations

DOCUMENTATION = r"""
name: peer_keys
short_description: SSH keys that guests report, as lines for the files of the other guests
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Checks the public keys and the host keys that guests report, and returns them as lines for C(authorized_keys) and
    C(known_hosts).
  - A guest is not trusted. Each key must be one line with a known type and the base64 of a key of this type.
  - Options and comments are dropped, and each address must be an IP address without a scope.
positional: _input, variables
options:
  _input:
    type: list
    elements: dict
    required: true
    description:
      - The guests, each with C(name) and C(addresses).
  variables:
    type: dict
    required: true
    description:
      - Variables of all hosts, usually C(hostvars).
seealso:
  - plugin: aiready.vsphere.site_guests
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Refuse keys that are not keys
  ansible.builtin.assert:
    that: keys.problems | length == 0
    fail_msg: "{{ keys.problems }}"
  vars:
    keys: "{{ guest_vm_peers | aiready.vsphere.peer_keys(hostvars) }}"
"""

RETURN = r"""
_value:
  description:
    - Lines C(authorized) and C(known), the names of guests that have no key yet in C(missing), and C(problems) with one
      sentence for each guest whose keys or addresses are refused.
  type: dict
  sample:
    authorized: ['from="10.0.0.11" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample job-01']
    known: ['job-01,10.0.0.11 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample']
    missing: []
    problems: []
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"peer_keys": deferred("plugin_utils.peer_keys", "peer_keys")}
