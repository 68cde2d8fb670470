#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: site_capture_info
short_description: Gather an anonymised capture of a vCenter
version_added: 0.2.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Reads vCenter and writes one zip file on the machine that runs the module. The file describes the hosts, VMs,
    networks, GPUs and rules of the site. The module changes nothing in vCenter.
  - Replaces names, addresses, UUIDs, MAC addresses, serial numbers, users and paths by pseudonyms. Drops annotations,
    licence keys, certificates and event texts. Keeps models, versions, PCI IDs, NUMA nodes and speeds.
  - One table of pseudonyms covers the whole capture, so that equal values stay equal. The file RV(secret) contains the
    table. Do not send it with the capture.
  - Reads objects in pages of 20. A run that was killed continues when it is started again.
notes:
  - An existing file is replaced when the capture is complete.
  - Time stamps and the identifiers of objects in vCenter, such as C(vm-101), are not replaced.
extends_documentation_fragment:
  - aiready.vsphere.capture
  - aiready.vsphere.vcenter
  - aiready.vsphere.attributes
  - aiready.vsphere.attributes.read_only
options:
  event_days:
    description: Days of the past whose events are read, at most 1000 events. V(0) reads none.
    type: int
    default: 7
seealso:
  - module: aiready.vsphere.vcenter_access_info
"""

EXAMPLES = r"""
- name: Capture the site
  aiready.vsphere.site_capture_info:
    hostname: vcenter.example.com
    username: administrator@vsphere.local
    password: "{{ vcenter_password }}"
    dest: /tmp/site.zip

- name: Capture the site without events
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
        event_days: 0
      register: capture

    - name: Show what vCenter refused
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
sources:
  description: Number of objects, methods and REST paths that were read (C(answered)) and that were not (C(unread)).
  returned: success
  type: dict
  sample: {answered: 131, unread: 3}
refused:
  description:
    - Sources that did not answer completely, with the properties and the fault of each. The empty property is the whole
      source. Everything that was not read is unknown, and is not the default.
  returned: success
  type: dict
  sample: {VirtualMachine-vm-21: {config: NoPermission}}
left:
  description:
    - Result of the check after the replacements. Texts with the form of an address, a key or a hash, and collected
      originals that are still in the capture, with the number of places and the first files. Empty if nothing was
      found.
  returned: success
  type: dict
  sample: {IPv4 address: {files: [vcenter/0031-HostSystem-host-10.xml], places: 2}}
texts:
  description: Number of texts by what the module did with them, such as C(names), C(addresses), C(dropped) and C(kept).
  returned: success
  type: dict
  sample: {names: 151, addresses: 390, dropped: 109, kept: 2402, texts: 479, paths: 33}
dropped:
  description: Number of dropped texts by their field.
  returned: success
  type: dict
  sample: {annotation: 2}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: capture_not_written}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import params, run
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, session


def main() -> None:
    module = AnsibleModule(argument_spec=params.ARGUMENTS, supports_check_mode=True)
    _pyvmomi.require(module)
    fail_if_invalid(module, params.check_params(module.params))
    vcenter = None
    try:
        vcenter = session.connect(module.params, module.warn)
        reported = run.capture(vcenter, request(params.CaptureRequest, module.params))
    except OperatorError as error:
        module.fail_json(msg=error.message, failure=error.failure)
    finally:
        if vcenter is not None:
            vcenter.close()
    module.exit_json(changed=False, **reported)


if __name__ == "__main__":
    main()
