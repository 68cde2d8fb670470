#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: host_capture_info
short_description: Gather an anonymised capture of ESXi hosts
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Reads ESXi hosts with C(esxcli) through vCenter, and adds the answers to the zip file of
    M(aiready.vsphere.site_capture_info). The commands only read. C(docs/capture_requests.md) lists them.
  - Replaces names, addresses, UUIDs, MAC addresses, serial numbers and every text in a field that the module does not
    know. Drops descriptions. Keeps models, versions, PCI addresses, module parameters and numbers.
  - Reads several hosts at the same time. A run that was killed continues when it is started again.
notes:
  - A host that is not connected, and a command that a host refused, are in the coverage. Their content is unknown.
  - After a failure that is not a refusal of the command itself, the module does not ask this host again.
extends_documentation_fragment:
  - aiready.vsphere.capture
  - aiready.vsphere.capture.source
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  hosts:
    description:
      - ESXi hosts, each by its name in vCenter, its inventory path or its managed object ID. If omitted, all hosts that
        the user may see.
    type: list
    elements: str
    default: []
  hosts_at_once:
    description: Hosts that are read at the same time, from 1 to 32. Each has its own connection to vCenter.
    type: int
    default: 8
  command_timeout_s:
    description: Maximum time in seconds of one command on one host, from 1 to 3600.
    type: int
    default: 120
seealso:
  - module: aiready.vsphere.site_capture_info
    description: Captures vCenter.
  - module: aiready.vsphere.switch_capture_info
    description: Captures a switch.
"""

EXAMPLES = r"""
- name: Add all hosts to the capture
  aiready.vsphere.host_capture_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    dest: /tmp/site.zip

- name: Capture vCenter and two hosts
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/aiready.vsphere.vcenter:
      hostname: vcenter.example.com
      username: administrator@vsphere.local
      password: "{{ vcenter_password }}"
  tasks:
    - name: Capture vCenter
      aiready.vsphere.site_capture_info:
        dest: /tmp/site.zip

    - name: Add two hosts to the capture
      aiready.vsphere.host_capture_info:
        dest: /tmp/site.zip
        hosts: [esx-01.example.com, esx-02.example.com]
      register: capture

    - name: Show the refused commands
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
resumed:
  description: Whether the module continued a run that was killed.
  returned: success
  type: bool
  sample: false
anonymised:
  description: Whether names were replaced.
  returned: success
  type: bool
  sample: true
captured:
  description: Names of the sources in the capture and in its coverage, one for each host.
  returned: success
  type: list
  elements: str
  sample: [esxcli host-001, esxcli host-002]
sources:
  description: Number of calls that were answered (C(answered)) and of calls and hosts that were not (C(unread)).
  returned: success
  type: dict
  sample: {answered: 74, unread: 2}
refused:
  description:
    - Calls that a host refused, with the failure code. The empty key is the whole call. Everything that was not read is
      unknown, and is not the default.
  returned: success
  type: dict
  sample: {esxcli host-001/017-esxcli-network-nic-dcb-status-get-nic-name-vmnic0: {"": esxcli_failed}}
skipped:
  description: Calls and hosts that the module did not ask, with the reason.
  returned: success
  type: dict
  sample: {esxcli host-002: vCenter reports notResponding.}
texts:
  description: Number of texts by what the module did with them, such as C(names), C(addresses), C(dropped) and C(kept).
  returned: success
  type: dict
  sample: {names: 4, addresses: 18, dropped: 25, kept: 612, texts: 9}
dropped:
  description: Number of dropped texts by their kind.
  returned: success
  type: dict
  sample: {text: 25}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: capture_not_written}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import hosts
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session


def main() -> None:
    module = AnsibleModule(argument_spec=hosts.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, hosts.check_params(module.params))
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        reported = hosts.capture(vcenter, request(hosts.HostCaptureRequest, module.params))
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, **reported)


if __name__ == "__main__":
    main()
