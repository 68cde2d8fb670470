# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stage for training gets out of a site and its guests."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_training
short_description: What the stage for training gets out of a site and its guests
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Works out how many ranks each guest has, by which adapter and address they talk, and how they are started.
  - The result fits the inputs of the role P(aiready.vsphere.horovod#role), without the prefix of their names.
positional: _input, guests, unfit
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
  guests:
    type: list
    elements: dict
    default: []
    description:
      - Variables of the guests, as C(hostvars) has them. C(aiready_guest) is what the filter
        P(aiready.vsphere.site_guests#filter) tells of each. Adapters and addresses are taken from the facts of the
        network.
  unfit:
    type: bool
    default: true
    description:
      - Whether C(problems) also tell of guests whose adapter or address for the training is not there, which the stage
        C(guests) makes.
seealso:
  - plugin: aiready.vsphere.site_guests
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show how training is started
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.site_training).launcher }}"
  vars:
    site:
      gpu: {mode: vgpu, profile: grid_a100-40c}
      training: {image: "images.example.org/horovod:0.28.1", builtin: synthetic}
      vms: [{prefix: train-, count: 2}]
"""

RETURN = r"""
_value:
  description:
    - The guests with their ranks, what is trained and how. Its C(problems) tell what is wrong with the guests.
  type: dict
  sample:
    hosts:
      - {name: train-01, address: 198.51.100.11, interface: ens224, slots: 1}
      - {name: train-02, address: 198.51.100.12, interface: ens224, slots: 1}
    image: images.example.org/horovod:0.28.1
    training: {builtin: synthetic}
    engine: horovod
    launcher: mpirun
    controller: mpi
    data_path: pvrdma
    interface: ens224
    gpus: all
    problems: []
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_training": deferred("plugin_utils.site_training", "training")}
