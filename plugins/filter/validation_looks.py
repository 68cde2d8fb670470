# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was seen of the guests of a play before and after timed runs."""

from __future__ import annotations

DOCUMENTATION = r"""
name: validation_looks
short_description: What was seen of the guests of a play before and after timed runs
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Puts together the results of M(aiready.vsphere.guest_health_info) that the role
    P(aiready.vsphere.validation#role) left in the variables of the guests, also of guests that did not answer.
positional: _input
options:
  _input:
    type: list
    elements: dict
    required: true
    description:
      - Variables of the guests, as C(hostvars) has them.
"""

EXAMPLES = r"""
- name: Show which guests were looked at
  ansible.builtin.debug:
    msg: "{{ groups['training_guests'] | map('extract', hostvars) | aiready.vsphere.validation_looks }}"
"""

RETURN = r"""
_value:
  description:
    - For each guest the results C(before) and C(after), as option C(guests) of M(aiready.vsphere.validation_result).
  type: dict
  sample: {train-01: {before: {measurements: []}, after: {}}}
"""

KEPT = ("measurements", "outputs", "unreachable", "failed", "msg", "skipped")


def looks(guests):
    """{guest: {before, after}} of the variables of guests."""
    return {
        own["inventory_hostname"]: {
            phase: {key: value for key, value in (own.get(f"__validation_{phase}") or {}).items() if key in KEPT}
            for phase in ("before", "after")
        }
        for own in guests
    }


class FilterModule:
    def filters(self):
        return {"validation_looks": looks}
