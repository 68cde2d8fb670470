#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: kubernetes_object
short_description: Manage one object of a Kubernetes cluster so that it can be restored
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Applies an object with server-side apply. The diff and the result name only the fields that change.
  - Records each changed field with its value before in the journal of changes. The playbook C(restore) returns the
    object to these values.
  - Deletes an object only if it has the O(uid), and if no other manager set fields of it.
  - M(kubernetes.core.k8s) writes no journal, does not compare the C(uid), and returns no values before the change
    without a diff.
notes:
  - Runs on the controller, or on any host with the Python library C(kubernetes).
  - In check mode, the API server validates the object in a dry run.
  - The content of a secret is neither shown nor recorded.
extends_documentation_fragment:
  - aiready.vsphere.attributes
options:
  definition:
    description:
      - The object with C(apiVersion), C(kind) and C(metadata.name). Use O(secret_data) for the content of a secret.
    type: dict
    required: true
  secret_data:
    description: Content of a secret, encoded with base64.
    type: dict
  state:
    description: V(absent) deletes the object with O(uid).
    type: str
    choices: [present, absent]
    default: present
  values:
    description:
      - Earlier values of fields of the object by their path, such as C(spec.driver.version). Null for a field that did
        not exist.
      - The object gets these values back. Fields of O(definition) that others changed since stay as they are.
    type: dict
  uid:
    description:
      - Identity of the object. The task fails if another object has the name now. Required with O(state=absent).
    type: str
  field_manager:
    description: Name of the field manager.
    type: str
    default: aiready.vsphere
  force:
    description: Whether to take fields over that another manager owns.
    type: bool
    default: false
  kubeconfig:
    description:
      - Kubeconfig file of the cluster. Defaults to E(K8S_AUTH_KUBECONFIG), E(KUBECONFIG) or C(~/.kube/config).
      - The module does not use it with O(host) and O(api_key).
    type: path
  context:
    description: Context in the kubeconfig file. Defaults to E(K8S_AUTH_CONTEXT).
    type: str
  host:
    description: URL of the API server, as an alternative to O(kubeconfig). Defaults to E(K8S_AUTH_HOST).
    type: str
  api_key:
    description: Token for O(host). Defaults to E(K8S_AUTH_API_KEY).
    type: str
  ca_cert:
    description: File with the certificate authority of O(host). Defaults to E(K8S_AUTH_SSL_CA_CERT).
    type: path
attributes:
  check_mode:
    details: The API server validates the object, and the module returns the changes of a run.
  diff_mode:
    details: The fields of the object before and after the task.
seealso:
  - module: aiready.vsphere.restore_step
"""

EXAMPLES = r"""
- name: Set the pod security level of a namespace
  aiready.vsphere.kubernetes_object:
    kubeconfig: ~/.kube/config
    definition:
      apiVersion: v1
      kind: Namespace
      metadata:
        name: training
        labels: {pod-security.kubernetes.io/enforce: privileged}

- name: Configure a cluster
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Set the driver version, and take the field over from Helm
      aiready.vsphere.kubernetes_object:
        kubeconfig: ~/.kube/config
        force: true
        definition:
          apiVersion: nvidia.com/v1
          kind: ClusterPolicy
          metadata: {name: cluster-policy}
          spec: {driver: {version: 550.54.15}}

- name: Delete a secret of an earlier run
  aiready.vsphere.kubernetes_object:
    kubeconfig: ~/.kube/config
    state: absent
    uid: 5b8e2f4e-0d2c-4a53-9d35-4d2f2c3d8a10
    definition:
      apiVersion: v1
      kind: Secret
      metadata: {name: aiready-licence-0a1b2c3d4e, namespace: gpu-operator}
"""

RETURN = r"""
kubernetes_object:
  description: The object.
  returned: always
  type: dict
  contains:
    kind:
      description: Kind of the object.
      type: str
      returned: always
      sample: ClusterPolicy
    name:
      description: Name of the object.
      type: str
      returned: always
      sample: cluster-policy
    namespace:
      description: Namespace of the object. Null for an object without a namespace.
      type: str
      returned: always
      sample: null
    uid:
      description: Identity of the object. Null if it does not exist.
      type: str
      returned: always
      sample: 5b8e2f4e-0d2c-4a53-9d35-4d2f2c3d8a10
    changed:
      description: True if the task changed the object.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the task. C(exists), C(uid), and C(fields) by their path.
      type: dict
      returned: always
      sample: {exists: true, uid: 5b8e2f4e-0d2c-4a53-9d35-4d2f2c3d8a10, fields: {spec.driver.enabled: false}}
    after:
      description: State after the task, with the same keys as RV(kubernetes_object.before).
      type: dict
      returned: always
      sample: {exists: true, uid: 5b8e2f4e-0d2c-4a53-9d35-4d2f2c3d8a10, fields: {spec.driver.enabled: true}}
    changes:
      description: Changes of the task, one entry for each field. In check mode, the changes that a run would make.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: spec.driver.enabled, before: false, after: true, needs: null}
    pending:
      description: Always empty.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: True if the object is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause and fix if the object is not in the desired state. Empty otherwise.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty if the object is in the desired state.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: kubernetes_refused, status: {reason: Forbidden}}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.kubernetes import api, noun


def main() -> None:
    module = AnsibleModule(argument_spec=noun.ARGUMENTS, supports_check_mode=True)
    api.require(module)
    fail_if_invalid(module, noun.check_params(module.params))
    requested = noun.request_of(module.params)
    metadata = requested.definition["metadata"]
    ids = {"kind": requested.definition["kind"], "name": metadata["name"], "namespace": metadata.get("namespace")}
    item: Item[noun.Request, noun.State] = Item(requested.label, requested, ids)
    run(module, noun.Objects(module.params), [item], "kubernetes_object", single=True)


if __name__ == "__main__":
    main()
