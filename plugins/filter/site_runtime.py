# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stage for container engines gets out of a site."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_runtime
short_description: What the stage for container engines gets out of a site
version_added: 0.1.0
author:
  - aiready.vsphere authors
description:
  - Fills in the defaults, and gives each registry its password.
  - The result fits the inputs of the role P(aiready.vsphere.container_runtime#role), without the prefix of their names.
    Whether a guest has GPUs is not of the site.
positional: _input, passwords, proxy_password
options:
  _input:
    type: dict
    required: true
    description:
      - The site, as the role P(aiready.vsphere.site#role) describes it.
  passwords:
    type: dict
    default: {}
    description:
      - Passwords of the registries by their addresses. The result has them too, so that a task that keeps it needs
        C(no_log).
  proxy_password:
    type: str
    default: ""
    description:
      - Password at the proxy.
seealso:
  - plugin: aiready.vsphere.site_problems
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show which toolkit the guests get
  ansible.builtin.debug:
    msg: "{{ (site | aiready.vsphere.site_runtime).toolkit_version }}"
  vars:
    site:
      gpu: {mode: vgpu, profile: grid_a100-40c}
      runtime: {engine: docker, toolkit_version: 1.17.8}
      vms: [{name: train-01}]
"""

RETURN = r"""
_value:
  description:
    - The engine, where it comes from, and how it reaches registries.
  type: dict
  sample:
    engine: docker
    source: distribution
    vendor_repository: {}
    toolkit_version: 1.17.8
    toolkit_repository: {}
    cdi: false
    restart: safe
    memlock: unlimited
    docker_users: []
    proof_image: ""
    registries: []
    proxy: {}
"""

from ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred import deferred


class FilterModule:
    def filters(self):
        return {"site_runtime": deferred("plugin_utils.site_runtime", "runtime")}
