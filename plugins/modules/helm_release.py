#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: helm_release
short_description: Manage one Helm release so that it can be restored
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Installs or upgrades a release with M(kubernetes.core.helm), and records its content and its revision before in the
    journal of changes. A failed installation is removed, and a failed upgrade returns to the earlier revision.
  - A release with the status C(failed) is installed again, also if its content is the requested one. If this
    fails, the release stays C(failed).
  - If a rollback fails, Helm gives the release the earlier content with the status C(failed). The next run of
    C(restore) rolls it back again.
  - The playbook C(restore) uninstalls a release that the runs installed, and rolls a release back that they upgraded.
notes:
  - The content of a release is its chart with the version, and a digest of the values. The journal has no values.
  - Needs the program C(helm) and the collection C(kubernetes.core) on the controller.
  - Helm leaves custom resource definitions of a chart, and objects that controllers created from them.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  platform:
    description: Platform of the controller.
    support: full
    platforms: posix
  check_mode:
    details: Compares the version of the chart and the values with those of the release. Helm renders no templates.
  diff_mode:
    details: The chart and the digest of the values before and after the task.
options:
  name:
    description: Name of the release.
    type: str
    required: true
  namespace:
    description: Namespace of the release.
    type: str
    required: true
  state:
    description:
      - V(restored) rolls the release back to O(revision) if this revision has the O(content), or uninstalls the release
        without O(content).
    type: str
    choices: [present, restored]
    default: present
  chart_ref:
    description: Chart, as C(chart_ref) of M(kubernetes.core.helm). Required with O(state=present).
    type: path
  chart_repo_url:
    description: URL of the Helm repository.
    type: str
  chart_version:
    description: Version of the chart.
    type: str
  release_values:
    description: Values of the release.
    type: dict
  timeout:
    description: Maximum time of Helm, such as V(300s).
    type: str
  content:
    description: Content of the release before the runs, as the journal has it. Requires O(revision).
    type: str
  revision:
    description: Revision with the O(content). Requires O(content).
    type: int
  kubeconfig:
    description: Kubeconfig file.
    type: path
  context:
    description: Context in the kubeconfig file.
    type: str
seealso:
  - module: kubernetes.core.helm
"""

EXAMPLES = r"""
- name: Install an operator
  aiready.vsphere.helm_release:
    name: gpu-operator
    namespace: gpu-operator
    chart_ref: gpu-operator
    chart_repo_url: https://charts.example.org/nvidia
    chart_version: v25.10.1
    kubeconfig: /home/ops/.kube/config

- name: Prepare a cluster
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Install an operator with values
      aiready.vsphere.helm_release:
        name: network-operator
        namespace: nvidia-network-operator
        chart_ref: network-operator
        chart_repo_url: https://charts.example.org/nvidia
        chart_version: 25.10.0
        kubeconfig: /home/ops/.kube/config
        release_values: {sriovNetworkOperator: {enabled: false}}

- name: Uninstall it
  aiready.vsphere.helm_release:
    name: gpu-operator
    namespace: gpu-operator
    state: restored
    kubeconfig: /home/ops/.kube/config
"""

RETURN = r"""
helm_release:
  description: Result for the release.
  returned: if the release was read
  type: dict
  contains:
    name:
      description: Namespace and name of the release.
      type: str
      returned: always
      sample: gpu-operator/gpu-operator
    changed:
      description: True if the task changed the release, or would in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: Content before the task, if it changes.
      type: dict
      returned: always
      sample: {release: gpu-operator-v25.3.4 0c9f3b1d2e4a}
    after:
      description: Content after the task, if it changes.
      type: dict
      returned: always
      sample: {release: gpu-operator-v25.10.1 7a1de2c3b4f5}
    changes:
      description: Changes of the task.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: release, before: null, after: gpu-operator-v25.10.1 7a1de2c3b4f5, needs: null}
    pending:
      description: Always empty.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: True if Helm failed.
      type: bool
      returned: always
      sample: false
    msg:
      description: Error message. Empty if Helm did not fail.
      type: str
      returned: always
      sample: ""
    failure:
      description: Cause as RV(failure). Empty without a failure.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: helm_revision_gone}
"""
