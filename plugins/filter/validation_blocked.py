# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a rung is not to be run after what was measured so far."""

from __future__ import annotations

DOCUMENTATION = r"""
name: validation_blocked
short_description: Why a check is not to be run after what was measured so far
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Judges what was measured so far, and tells which check that another one stands on did not pass.
positional: _input, intent, check, guests, variant, thresholds
options:
  _input:
    type: dict
    required: true
    description:
      - What was seen, with the keys C(guests), C(pairs), C(agreement), C(runs) and C(hosts) of
        M(aiready.vsphere.validation_result).
  intent:
    type: dict
    required: true
    description:
      - What the site wants, as the filter P(aiready.vsphere.site_validation#filter) tells it.
  check:
    type: str
    required: true
    description:
      - The check that is about to be run, such as V(cluster.training).
  guests:
    type: list
    elements: str
    required: true
    description:
      - The guests that it is about.
  variant:
    type: str
    default: ""
    description:
      - Its variant, such as V(2:rdma).
  thresholds:
    type: dict
    default: {}
    description:
      - Marks that differ from the usual ones.
"""

EXAMPLES = r"""
- name: Train only where the way between the guests is sound
  ansible.builtin.debug:
    msg: "{{ {} | aiready.vsphere.validation_blocked(intent, 'cluster.training', ['train-01'], '1:tcp') }}"
  vars:
    intent: {guests: [train-01], data_path: tcp}
"""

RETURN = r"""
_value:
  description: The reason, as a sentence. Empty where nothing speaks against it.
  type: str
  sample: "guest.mtu train-01 failed."
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"validation_blocked": deferred("plugin_utils.validation_blocked", "blocked")}
