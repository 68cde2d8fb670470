# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the key file of a package repository."""

from __future__ import annotations

DOCUMENTATION = r"""
name: key_problems
short_description: Validate the OpenPGP keys of a package repository
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Compares the fingerprint of each primary key in a key file with the expected fingerprints.
  - Reads ASCII armor and the binary form, and needs no C(gpg).
  - Refuses a file with any part that does not belong to a public key.
positional: _input
options:
  _input:
    type: str
    required: true
    description:
      - The content of the key file as base64, as M(ansible.builtin.slurp) returns it.
  expected:
    type: list
    elements: str
    required: true
    description:
      - The expected fingerprints, each with 40 hexadecimal digits. Spaces and small letters are accepted.
      - An empty list compares nothing.
"""

EXAMPLES = r"""
- name: Read the downloaded key
  ansible.builtin.slurp:
    src: /tmp/docker.asc
  register: key

- name: Refuse an unexpected key
  ansible.builtin.assert:
    that: problems | length == 0
    fail_msg: "{{ problems | join(' ') }}"
  vars:
    problems: "{{ key.content | aiready.vsphere.key_problems(['9DC8 5822 9FC7 DD38 854A E2D8 8D81 803C 0EBF CD88']) }}"
"""

RETURN = r"""
_value:
  description:
    - The problems as sentences. The list is empty when every primary key is expected.
  type: list
  elements: str
  sample:
    - The file holds the key 060A61C51B558A7F742B77AAC52FEB6B621E9F35.
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"key_problems": deferred("plugin_utils.repository_keys", "key_problems")}
