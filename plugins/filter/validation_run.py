# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a loop, as a run of a validation."""

from __future__ import annotations

DOCUMENTATION = r"""
name: validation_run
short_description: One run of a loop, as a run of a validation
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Makes an element of C(runs) of M(aiready.vsphere.validation_result) out of one result of a loop of
    M(aiready.vsphere.training_run) over trainings or programs of OSU.
positional: _input
options:
  _input:
    type: dict
    required: true
    description:
      - The result, with its C(item).
"""

EXAMPLES = r"""
- name: Show what was trained
  ansible.builtin.debug:
    msg: "{{ trained.results | map('aiready.vsphere.validation_run') | list }}"
"""

RETURN = r"""
_value:
  description: The run.
  type: dict
  sample: {check: cluster.training, variant: "1:tcp", guests: [train-01], run: {skipped: true}}
"""


def run(result):
    """The run of one result."""
    item = result["item"]
    return {
        "check": item.get("check", "cluster.training"),
        "variant": item.get("variant", ""),
        "guests": item["guests"],
        "run": {key: value for key, value in result.items() if key != "item"},
    }


class FilterModule:
    def filters(self):
        return {"validation_run": run}
