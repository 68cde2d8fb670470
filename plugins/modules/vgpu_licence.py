#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vgpu_licence
short_description: Manage the vGPU licence of a guest
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the feature type in C(/etc/nvidia/gridd.conf) and copies the client configuration token into its folder.
    Comments and all other settings stay unchanged.
  - Restarts the service C(nvidia-gridd) if one of these files changed, or if the service is running with older files.
  - Waits until C(nvidia-smi) reports a licence for every vGPU of the guest. This takes some time after each start of
    the service. An unlicensed vGPU is throttled after some minutes, so run this module before any measurement.
  - Fails if the guest gets no licence. The error names the cause, as far as the service, the clock and the network
    report it.
  - The token is a secret. It appears in no result, no diff and no message.
notes:
  - Needs root and the guest driver. Use C(become).
  - The module can use a token that is already on the guest.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
attributes:
  check_mode:
    details: Check mode reports V(Licensed). Only a real run shows the actual state of the licence.
  diff_mode:
    details: Shows only the file name of a token.
options:
  state:
    description:
      - Desired state. V(present) acquires a licence. V(absent) returns it. For this, the module removes all tokens and
        sets the feature type V(unlicensed).
    type: str
    choices: [present, absent]
    default: present
  feature_type:
    description:
      - Type of the requested licence. With V(vgpu), the profile of the vGPU decides, so it fits every vGPU. V(compute)
        and V(rtx_vws) are for a GPU in passthrough mode.
    type: str
    choices: [unlicensed, vgpu, rtx_vws, compute]
    default: vgpu
  token:
    description:
      - Text of the client configuration token.
      - If this option and O(token_file) are omitted, the module uses the only token in the folder.
    type: str
  token_file:
    description:
      - File on the guest that contains the token.
      - Mutually exclusive with O(token).
    type: path
  token_name:
    description:
      - Name of the token file that the module writes. It also accepts a file with another name and the same token.
    type: str
    default: client_configuration_token_aiready.tok
  other_tokens:
    description:
      - Policy for other tokens in the folder. The service uses one of them and does not report which one. V(refuse)
        fails and names them. V(remove) removes them.
    type: str
    choices: [refuse, remove]
    default: refuse
  settings:
    description:
      - Additional settings for C(gridd.conf), such as C(LicenseInterval). V(null) removes a setting.
      - The available settings depend on the driver release. The comments in its C(gridd.conf.template) list them.
    type: dict
    default: {}
  proof:
    description:
      - Verification of the result. V(licensed) waits for the licence. V(none) configures only the files and the
        service, for a template without a GPU.
    type: str
    choices: [licensed, none]
    default: licensed
  wait_s:
    description:
      - Time in seconds to wait for the licence.
    type: int
    default: 120
seealso:
  - module: aiready.vsphere.vgpu_guest_driver
"""

EXAMPLES = r"""
- name: Acquire a licence with the token that is on the guest
  aiready.vsphere.vgpu_licence:
    feature_type: vgpu
  become: true

- name: License all guests before the training
  hosts: training_guests
  become: true
  tasks:
    - name: Acquire a licence
      aiready.vsphere.vgpu_licence:
        token: "{{ licence_token }}"
        other_tokens: remove
        wait_s: 180
      register: licence

    - name: Show the expiry of the licence
      ansible.builtin.debug:
        msg: "{{ licence.licence.after.product }} until {{ licence.licence.after.expiry }}"

- name: Return the licence
  aiready.vsphere.vgpu_licence:
    state: absent
  become: true
"""

RETURN = r"""
licence:
  description: Result for the licence of the guest, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the guest.
      type: str
      returned: always
      sample: train-01
    machine_id:
      description: Machine ID of the guest from C(/etc/machine-id).
      type: str
      returned: always
      sample: 6b2d1f0f5b8c4f6c9a0e6f1f2b3c4d5e
    changed:
      description: V(true) if something changed, or would change in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: State before the change, with the keys of RV(licence.after). Empty when it could not be read.
      type: dict
      returned: always
      sample:
        settings: {}
        tokens: []
        service: active
        status: Unlicensed (Unrestricted)
        product: NVIDIA Virtual Compute Server
        expiry: null
        gpus:
          - {address: "00000000:02:00.0", name: NVIDIA A100-40C, status: Unlicensed (Unrestricted), expiry: null}
    after:
      description: State after the change. In check mode, the expected state.
      type: dict
      returned: always
      contains:
        settings:
          description: Settings of C(gridd.conf) that the task manages.
          type: dict
          returned: success
        tokens:
          description: Token files, each with C(name) and C(mode).
          type: list
          elements: dict
          returned: success
        service:
          description: State of the service, V(active), V(inactive) or V(failed). Null if there is no service.
          type: str
          returned: success
        status:
          description: Licence status in C(nvidia-smi). With several vGPUs, the worst one.
          type: str
          returned: success
        product:
          description: Licensed product.
          type: str
          returned: success
        expiry:
          description: Expiry of the first licence, in UTC. The service renews it before.
          type: str
          returned: success
        gpus:
          description: vGPUs, each with C(address), C(name), C(status) and C(expiry).
          type: list
          elements: dict
          returned: success
      sample:
        settings: {FeatureType: "1"}
        tokens:
          - {name: client_configuration_token_aiready.tok, mode: "0744"}
        service: active
        status: Licensed
        product: NVIDIA Virtual Compute Server
        expiry: "2026-11-23T10:41:16Z"
        gpus:
          - {address: "00000000:02:00.0", name: NVIDIA A100-40C, status: Licensed, expiry: "2026-11-23T10:41:16Z"}
    changes:
      description: Changes that were made, or would be made in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: settings.FeatureType, before: null, after: "1", needs: null}
        - {path: token.client_configuration_token_aiready.tok, before: null, after: the token, needs: null}
    pending:
      description: Always empty, because no change needs a reboot.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if the licence is not in the desired state.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause of the failure and its fix. Empty on success.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty on success.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: server_unreachable, status: Unlicensed (Restricted), unreachable: [dls.example.com]}
"""

from typing import TYPE_CHECKING

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import params
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.noun import Licence

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.state import LicenceState


def main() -> None:
    module = AnsibleModule(
        argument_spec=params.ARGUMENTS,
        mutually_exclusive=params.MUTUALLY_EXCLUSIVE,
        supports_check_mode=True,
    )
    fail_if_invalid(module, params.check_params(module.params))
    name = machine.name()
    item: Item[params.LicenceRequest, LicenceState] = Item(
        name, params.request_of(module.params), {"name": name, "machine_id": None}
    )
    run(module, Licence(), [item], "licence", single=True)


if __name__ == "__main__":
    main()
