#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: bmc_capture_info
short_description: Gather an anonymised capture of a BMC
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Reads the Redfish service of one BMC with C(GET), and adds it to the zip file of
    M(aiready.vsphere.site_capture_info) as a mockup in the layout of the DMTF tools.
    The login and the logout are the only other requests.
  - Follows links to the resources that C(docs/capture_requests.md) lists, below C(/redfish/v1), each once, at most 1500
    resources and 64 MiB. Logs, users, sessions, certificates and event subscriptions are not read.
  - Replaces names, addresses, UUIDs, MAC addresses, serial numbers, asset tags and every text that is no word of
    Redfish. Drops passwords, descriptions, messages and the extensions of the vendor, but for their links. Keeps
    models, versions, PCI IDs, BIOS attributes and the registry of BIOS attributes.
notes:
  - A BMC that does not answer does not fail the task. The coverage of the capture has the reason, and RV(lost) returns
    it. Everything that was not read is unknown.
  - A user with the role ReadOnly is sufficient on most BMCs.
extends_documentation_fragment:
  - aiready.vsphere.capture
  - aiready.vsphere.capture.source
  - aiready.vsphere.bmc
  - aiready.vsphere.bmc.attributes
  - aiready.vsphere.attributes.read_only
seealso:
  - module: aiready.vsphere.site_capture_info
    description: Captures vCenter.
  - module: aiready.vsphere.bios_settings
"""

EXAMPLES = r"""
- name: Capture the BMCs
  hosts: esxi_hosts
  gather_facts: false
  tasks:
    - name: Add the BMC to the capture
      aiready.vsphere.bmc_capture_info:
        bmc_address: bmc-01.example.com
        bmc_username: reader
        bmc_password: "{{ bmc_password }}"
        dest: /tmp/site.zip
      delegate_to: localhost
      register: capture

    - name: Show what the BMC refused
      ansible.builtin.debug:
        var: capture.refused
"""

RETURN = r"""
dest:
  description: Path of the capture.
  returned: success
  type: str
  sample: /tmp/site.zip
secret:
  description: Path of the table of pseudonyms. It reveals the names behind the capture.
  returned: success
  type: str
  sample: /tmp/site.zip.secret.json
source:
  description: Name of the BMC in the capture and in its coverage.
  returned: success
  type: str
  sample: bmc bmc-001
anonymised:
  description: Whether names were replaced.
  returned: success
  type: bool
  sample: true
lost:
  description: Failure code that ended the reading early, such as C(bmc_timeout). Empty if the BMC answered to the end.
  returned: success
  type: str
  sample: ""
sources:
  description: Number of resources that the BMC answered (C(answered)) and did not (C(unread)).
  returned: success
  type: dict
  sample: {answered: 74, unread: 2}
refused:
  description:
    - Resources that were not answered, with the reason. Everything that was not read is unknown, and is not the
      default.
  returned: success
  type: dict
  sample: {bmc bmc-001/redfish/v1/Chassis/1/PCIeSlots: {"": HTTP status 404}}
texts:
  description: Number of texts by what the module did with them, such as C(names), C(addresses), C(dropped) and C(kept).
  returned: success
  type: dict
  sample: {addresses: 12, dropped: 40, kept: 611, names: 2, paths: 90, texts: 31}
dropped:
  description: Number of dropped texts by their field.
  returned: success
  type: dict
  sample: {Description: 20}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: capture_not_written}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import captured
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import check_bmc


def main() -> None:
    module = AnsibleModule(argument_spec=captured.ARGUMENTS, supports_check_mode=True)
    fail_if_invalid(module, check_bmc(module.params))
    try:
        reported = captured.capture(module.params, request(captured.BmcCaptureRequest, module.params))
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    if reported["lost"]:
        module.warn(f"{reported['source']} was not captured completely ({reported['lost']}). The rest is unknown.")
    module.exit_json(changed=False, **reported)


if __name__ == "__main__":
    main()
