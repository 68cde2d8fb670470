#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: vgpu_licence
short_description: Give a guest the licence for its vGPU, and wait until it has it
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Sets the feature type in C(/etc/nvidia/gridd.conf) and puts the client configuration token into its folder. Comments
    and all other settings stay as they are.
  - Restarts the service C(nvidia-gridd) if something of that was changed, or if the service runs with older files.
  - Waits until C(nvidia-smi) says that every vGPU of the guest has its licence. This takes a while after each start of
    the service. A run on an unlicensed vGPU is throttled after some minutes, so that this is a step before any
    measurement.
  - A guest that gets no licence is an error that names the cause, as far as the service, the clock and the network
    tell it.
  - The token is a secret. It is in no result, no diff and no message.
notes:
  - Needs root, and the guest driver. Use C(become).
  - A token that the guest has already can be used without giving it again.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
attributes:
  check_mode:
    details: Whether a licence comes is known only after a real run. Check mode says V(Licensed) in its place.
  diff_mode:
    details: Of a token, only the name of its file is shown.
options:
  state:
    description:
      - V(present) takes a licence. V(absent) removes all tokens, sets the feature type V(unlicensed) and so gives the
        licence back.
    type: str
    choices: [present, absent]
    default: present
  feature_type:
    description:
      - What kind of licence is asked for. V(vgpu) leaves it to the profile of the vGPU and is right for every vGPU.
        V(compute) and V(rtx_vws) are for a GPU that is passed through.
    type: str
    choices: [unlicensed, vgpu, rtx_vws, compute]
    default: vgpu
  token:
    description:
      - The text of the client configuration token.
      - Without it and O(token_file), the one token that is in the folder is used.
    type: str
  token_file:
    description:
      - A file on the guest that has the token in it.
      - Mutually exclusive with O(token).
    type: path
  token_name:
    description:
      - The name of the file that is written. A file with another name that has the same token in it is right as well.
    type: str
    default: client_configuration_token_aiready.tok
  other_tokens:
    description:
      - What is done with other tokens in the folder, since the service uses one of them and does not say which. They
        are named in an error or removed.
    type: str
    choices: [refuse, remove]
    default: refuse
  settings:
    description:
      - Further settings for C(gridd.conf), such as C(LicenseInterval). V(null) takes a setting out.
      - Which settings there are depends on the release of the driver. The comments of its
        C(gridd.conf.template) list them.
    type: dict
    default: {}
  proof:
    description:
      - V(licensed) waits for the licence. V(none) only sets up the files and the service, for a template without a GPU.
    type: str
    choices: [licensed, none]
    default: licensed
  wait_s:
    description:
      - How long to wait for the licence, in seconds.
    type: int
    default: 120
seealso:
  - module: aiready.vsphere.vgpu_guest_driver
"""

EXAMPLES = r"""
- name: Take a licence with the token that is on the guest
  aiready.vsphere.vgpu_licence:
    feature_type: vgpu
  become: true

- name: Every guest has its licence before it trains
  hosts: training_guests
  become: true
  tasks:
    - name: Take a licence
      aiready.vsphere.vgpu_licence:
        token: "{{ licence_token }}"
        other_tokens: remove
        wait_s: 180
      register: licence

    - name: Show until when it lasts
      ansible.builtin.debug:
        msg: "{{ licence.licence.after.product }} until {{ licence.licence.after.expiry }}"

- name: Give the licence back
  aiready.vsphere.vgpu_licence:
    state: absent
  become: true
"""

RETURN = r"""
licence:
  description: The licence of the guest, also when the task fails.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the guest.
      type: str
      returned: always
      sample: train-01
    machine_id:
      description: What the guest calls itself in C(/etc/machine-id).
      type: str
      returned: always
      sample: 6b2d1f0f5b8c4f6c9a0e6f1f2b3c4d5e
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: What was there, with the keys of RV(licence.after). Empty when it could not be read.
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
      description: What is there now, or would be in check mode.
      type: dict
      returned: always
      contains:
        settings:
          description: The settings of C(gridd.conf) that the task speaks of.
          type: dict
          returned: success
        tokens:
          description: The C(name) and C(mode) of each file with a token.
          type: list
          elements: dict
          returned: success
        service:
          description: The state of the service, V(active), V(inactive) or V(failed). Null where there is no service.
          type: str
          returned: success
        status:
          description: What C(nvidia-smi) says of the licence, and of several vGPUs the worst of it.
          type: str
          returned: success
        product:
          description: The product that is licensed.
          type: str
          returned: success
        expiry:
          description: When the first licence ends, in UTC. The service renews it before.
          type: str
          returned: success
        gpus:
          description: The C(address), C(name), C(status) and C(expiry) of each vGPU.
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
      description: What was changed, or would be in check mode.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: settings.FeatureType, before: null, after: "1", needs: null}
        - {path: token.client_configuration_token_aiready.tok, before: null, after: the token, needs: null}
    pending:
      description: Nothing of a licence waits for a restart. Always empty.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the licence is not as wanted.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why it is not as wanted, and what to do. Empty when it is.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when the licence is as wanted.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
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
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Wish
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.state import LicenceState


def main() -> None:
    module = AnsibleModule(
        argument_spec=params.ARGUMENTS,
        mutually_exclusive=params.MUTUALLY_EXCLUSIVE,
        supports_check_mode=True,
    )
    fail_if_invalid(module, params.check_params(module.params))
    name = machine.name()
    item: Item[Wish, LicenceState] = Item(name, dict(module.params), {"name": name, "machine_id": None})
    run(module, Licence(), [item], "licence", single=True)


if __name__ == "__main__":
    main()
