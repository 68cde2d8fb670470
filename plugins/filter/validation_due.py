# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of a validation without those that stand on something broken."""

from __future__ import annotations

DOCUMENTATION = r"""
name: validation_due
short_description: Runs of a validation without those that stand on something broken
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Judges what was measured so far, once, and leaves out the runs of checks that stand on one that did not pass, as the
    filter P(aiready.vsphere.validation_blocked#filter) tells of each.
positional: _input, seen, intent, thresholds
options:
  _input:
    type: list
    elements: list
    required: true
    description:
      - Steps, each a list of runs with C(check) and C(guests).
  seen:
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
  thresholds:
    type: dict
    default: {}
    description:
      - Marks that differ from the usual ones.
seealso:
  - plugin: aiready.vsphere.validation_blocked
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show between which guests MPI can be measured
  ansible.builtin.debug:
    msg: "{{ steps | aiready.vsphere.validation_due({}, intent) }}"
  vars:
    intent: {guests: [train-01, train-02], data_path: tcp, osu: [latency]}
    steps: [[{check: pair.mpi_lat, guests: [train-01, train-02], command: [osu_latency]}]]
"""

RETURN = r"""
_value:
  description: The steps that are left, each with the runs that are left of it.
  type: list
  sample: []
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"validation_due": deferred("plugin_utils.validation_blocked", "due")}
