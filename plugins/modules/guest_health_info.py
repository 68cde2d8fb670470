#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_health_info
short_description: Measure what a Linux guest needs for distributed training
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Measures one guest from the inside. That is its kernel, its clock, the MTU of its data path, driver, licence and
    errors of its GPUs, the distance between GPU and network adapter, kernel modules, memory that may be locked, RDMA
    device, its RoCE v2 GID, and the counters of its adapter.
  - Uses C(nvidia-smi), C(chronyc), C(journalctl) or C(dmesg), C(ethtool) and the files of the kernel. A program that is
    missing is a result, and the other measurements go on.
  - Nothing is judged here. The role C(aiready.vsphere.validation) holds the results against what the site wants.
notes:
  - With O(phase=after) only what timed runs can have changed is measured again.
  - Runs on the guest, as root.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.attributes.read_only
options:
  name:
    description:
      - Name of the guest, which the results are about.
    type: str
    required: true
  interface:
    description:
      - Its interface on the data path. Left out, it is the one with O(mac), and without that the one with O(address).
    type: str
  mac:
    description:
      - MAC address of its adapter on the data path, as vCenter tells it.
    type: str
  address:
    description:
      - Its IPv4 address on the data path.
    type: str
  user:
    description:
      - The user whose limit of locked memory is measured, as a new login of that user gets it. Left out, root.
    type: str
  gpu:
    description:
      - Whether the guest has GPUs.
    type: bool
    default: true
  rdma:
    description:
      - Whether its data path has RDMA.
    type: bool
    default: true
  checks:
    description:
      - Only these measurements. Left out or empty, all that O(gpu), O(rdma) and O(phase) leave.
    type: list
    elements: str
    choices:
      - guest.kernel
      - guest.clock
      - guest.address
      - guest.mtu
      - guest.driver
      - guest.licence
      - guest.xid
      - guest.ecc
      - guest.topology
      - guest.gpudirect
      - guest.modules
      - guest.memlock
      - guest.rdma_device
      - guest.gid
      - guest.counters
    default: []
  phase:
    description:
      - Whether it is measured before timed runs or after them. Licence and counters are measured both times, so that a
        licence that was lost and packets that were dropped are seen.
    type: str
    choices: [before, after]
    default: before
  simulated:
    description:
      - Parts of the site that are simulated, in a lab or a rehearsal. Results that rest on one of them are marked
        (RV(measurements[].simulated)).
    type: list
    elements: str
    choices: [rdma, gpu, network, guests, vcenter, hosts, switches]
    default: []
seealso:
  - module: aiready.vsphere.guest_rdma_info
  - module: aiready.vsphere.pair_test
"""

EXAMPLES = r"""
- name: Measure a guest
  aiready.vsphere.guest_health_info:
    name: "{{ inventory_hostname }}"
    interface: ens224
    address: 192.168.50.11
  register: health

- name: Nothing could not be measured
  ansible.builtin.assert:
    that: health.measurements | rejectattr('status', 'in', ['done', 'skipped']) | length == 0

- name: Look for a licence that was lost in the meantime
  aiready.vsphere.guest_health_info:
    name: "{{ inventory_hostname }}"
    checks: [guest.licence]
    phase: after
    rdma: false
"""

RETURN = r"""
measurements:
  description: One entry for each check.
  returned: success
  type: list
  elements: dict
  contains:
    check:
      description: What was measured, one of O(checks).
      type: str
      returned: always
      sample: guest.mtu
    subject:
      description: The guest, as O(name).
      type: dict
      returned: always
      sample: {guest: train-01}
    command:
      description: The command, or a command that shows the same.
      type: list
      elements: str
      returned: always
      sample: [cat, /sys/class/net/ens224/mtu]
    version:
      description: Version of the driver, where it tells. Else empty.
      type: str
      returned: always
      sample: ""
    status:
      description: V(done), V(failed), V(timeout), V(missing) for a program that is not there, or V(skipped).
      type: str
      returned: always
      sample: done
    why:
      description: Why nothing was measured, as a sentence. Empty where it was.
      type: str
      returned: always
      sample: ""
    readings:
      description:
        - What was measured. V(guest.kernel) has C(kernel), C(system) and C(efi), V(guest.clock) C(synchronised) and
          C(offset_s), V(guest.address) C(interface), C(addresses) and its C(state) in the kernel's words, V(guest.mtu)
          C(interface) and C(mtu), V(guest.driver) C(driver) and C(gpus), of which
          V(guest.licence) and V(guest.ecc) have a part, V(guest.xid) C(xids), V(guest.topology) C(nearest),
          V(guest.gpudirect) C(gpudirect) as M(aiready.vsphere.guest_rdma_info) returns it, V(guest.modules) C(modules),
          V(guest.memlock) C(memlock), V(guest.rdma_device) C(devices), V(guest.gid) C(gid), and V(guest.counters)
          C(counters). Empty where nothing was measured.
      type: dict
      returned: always
      sample: {interface: ens224, mtu: 9000}
    evidence:
      description: Empty. RV(outputs) has what was printed.
      type: str
      returned: always
      sample: ""
    simulated:
      description: Whether it rests on a part that O(simulated) names.
      type: bool
      returned: always
      sample: false
    began:
      description: When it began, in UTC.
      type: str
      returned: always
      sample: "2026-03-01T08:15:30Z"
    seconds:
      description: How long it took.
      type: float
      returned: always
      sample: 0.0
    variant:
      description: O(phase) for licence and counters, else empty.
      type: str
      returned: always
      sample: ""
outputs:
  description: All that was printed, by check, with the phase where it is measured in both.
  returned: success
  type: dict
  sample: {guest.mtu: "9000\n"}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: invalid_parameters, problems: ["name: it is empty."]}
"""

import ipaddress
from typing import Any, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes

NET = "/sys/class/net"
ARGUMENTS = {
    "name": {"type": "str", "required": True},
    "interface": {"type": "str"},
    "mac": {"type": "str"},
    "address": {"type": "str"},
    "user": {"type": "str"},
    "gpu": {"type": "bool", "default": True},
    "rdma": {"type": "bool", "default": True},
    "checks": {"type": "list", "elements": "str", "choices": list(probes.CHECKS), "default": []},
    "phase": {"type": "str", "choices": [probes.BEFORE, probes.AFTER], "default": probes.BEFORE},
    "simulated": {"type": "list", "elements": "str", "choices": list(simulated.WORDS), "default": []},
}


def check_params(params: Mapping[str, Any]) -> list[str]:
    """All that is wrong with the parameters, as sentences."""
    problems = [] if params["name"].strip() else ["name: it is empty."]
    if params["address"]:
        try:
            ipaddress.IPv4Address(params["address"])
        except ValueError:
            problems.append(f"address: {params['address']} is no IPv4 address.")
    return problems


def interface_with(files: Files, mac: str) -> str:
    """The interface with a MAC address; an empty text where none has it. What is built on an adapter may share it."""
    found = [
        name
        for name in files.names(NET)
        if (files.text(f"{NET}/{name}/address") or "").strip().lower() == mac.lower()
        and not any(files.exists(f"{NET}/{name}/{kind}") for kind in ("bridge", "bonding"))
    ]
    # A VLAN on it has a longer name.
    return min(found, key=len, default="")


def interface_of(commands: Commands, address: str) -> str:
    """The interface that holds an address; an empty text where none does."""
    done = commands.run(["ip", "-4", "-o", "addr", "show"])
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) > 3 and words[3].partition("/")[0] == address:
            return words[1]
    return ""


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    fail_if_invalid(module, check_params(module.params))
    commands, files = Commands(), Files()
    wish = dict(module.params)
    if not wish["interface"] and wish["mac"]:
        wish["interface"] = interface_with(files, wish["mac"])
    elif not wish["interface"] and wish["address"]:
        wish["interface"] = interface_of(commands, wish["address"])
    measurements, outputs = probes.measured(wish, commands, files)
    module.exit_json(changed=False, measurements=measurements, outputs=outputs)


if __name__ == "__main__":
    main()
