#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: guest_health_info
short_description: Gather health measurements of a Linux guest for training
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Measures one guest from the inside. O(checks) lists the measurements.
  - System checks cover the kernel, its modules, the clock and the locked memory limit.
  - GPU checks cover the driver, the licence, the errors, and the topology distance between GPU and network
    adapter.
  - Network checks cover the address and MTU of the data path, the RDMA device, its RoCE v2 GID, and the adapter
    counters.
  - Uses C(nvidia-smi), C(chronyc), C(journalctl) or C(dmesg), C(ethtool) and the files of the kernel. A missing program
    is reported as a result, and the other measurements continue.
  - O(dcgm_level), O(dcgm_health), O(gds) and O(gds_file) add measurements with C(dcgmi), C(gdscheck) and C(gdsio).
  - Returns measurements without a verdict. The role C(aiready.vsphere.validation) compares them with the desired state
    of the site.
notes:
  - With O(phase=after), the module repeats only the measurements that timed runs can change.
  - Runs on the guest, as root.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_guest
  - aiready.vsphere.attributes.read_only
options:
  name:
    description:
      - Name of the guest in the results.
    type: str
    required: true
  interface:
    description:
      - Interface on the data path. If omitted, the module uses the interface with O(mac). Without O(mac), it uses the
        interface with O(address).
    type: str
  mac:
    description:
      - MAC address of the adapter on the data path, as reported by vCenter.
    type: str
  address:
    description:
      - IPv4 address of the guest on the data path.
    type: str
  user:
    description:
      - User whose locked memory limit is measured in a new login. If omitted, it is root.
    type: str
  gpu:
    description:
      - Whether to run the GPU measurements. Set it to V(false) for a guest without GPUs.
    type: bool
    default: true
  rdma:
    description:
      - Whether to run the RDMA measurements. Set it to V(false) for a data path without RDMA.
    type: bool
    default: true
  checks:
    description:
      - Measurements to run. If omitted or empty, the module runs all that O(gpu), O(rdma) and O(phase) select.
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
      - guest.dcgm
      - guest.gds
      - guest.gds_read
      - guest.modules
      - guest.memlock
      - guest.rdma_device
      - guest.gid
      - guest.counters
      - guest.dcgm_health
    default: []
  phase:
    description:
      - Time of the measurement, before or after the timed runs. The module measures licence and counters in both
        phases, to detect a lost licence and dropped packets.
    type: str
    choices: [before, after]
    default: before
  dcgm_level:
    description:
      - Level of the diagnostic V(guest.dcgm) of NVIDIA DCGM, from V(1) (seconds) to V(4) (more than an hour). It needs
        idle GPUs. V(0) for no diagnostic.
    type: int
    choices: [0, 1, 2, 3, 4]
    default: 0
    version_added: 0.2.0
  dcgm_health:
    description:
      - Whether to read the health watches of DCGM with O(phase=after), as V(guest.dcgm_health). The module does not
        enable them.
    type: bool
    default: false
    version_added: 0.2.0
  gds:
    description:
      - Whether to check the platform for GPUDirect Storage, as V(guest.gds).
    type: bool
    default: false
    version_added: 0.2.0
  gds_file:
    description:
      - File of the guest that V(guest.gds_read) reads into GPU memory over GPUDirect Storage, at least 1 MiB. If unset,
        no file is read. The module does not write to it.
    type: path
    version_added: 0.2.0
  simulated:
    description:
      - Simulated parts of the site, in a lab or a rehearsal. RV(measurements[].simulated) is V(true) for results that
        depend on one of them.
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

- name: Assert that every measurement succeeded
  ansible.builtin.assert:
    that: health.measurements | rejectattr('status', 'in', ['done', 'skipped']) | length == 0

- name: Check whether the licence was lost in the meantime
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
      description: Name of the measurement, one of O(checks).
      type: str
      returned: always
      sample: guest.mtu
    subject:
      description: Guest, as in O(name).
      type: dict
      returned: always
      sample: {guest: train-01}
    command:
      description: Command of the measurement, or a command with the same output.
      type: list
      elements: str
      returned: always
      sample: [cat, /sys/class/net/ens224/mtu]
    version:
      description: Version of the driver, if it reports one. Else empty.
      type: str
      returned: always
      sample: ""
    status:
      description: Status, V(done), V(failed), V(timeout), V(skipped), or V(missing) for a missing program.
      type: str
      returned: always
      sample: done
    why:
      description: Reason for a missing measurement, as a sentence. Empty if the measurement succeeded.
      type: str
      returned: always
      sample: ""
    readings:
      description:
        - Measured values. Empty if nothing was measured.
        - V(guest.kernel) has C(kernel), C(system), C(efi) and C(boot), which changes with each restart.
        - V(guest.clock) has C(synchronised) and C(offset_s).
        - V(guest.address) has C(interface), C(addresses) and the C(state) that the kernel reports.
        - V(guest.mtu) has C(interface) and C(mtu).
        - V(guest.driver) has C(driver) and C(gpus). V(guest.licence) and V(guest.ecc) have a part of these.
        - With several GPUs, V(guest.ecc) also has C(nvlink), the errors of all NVLinks of each GPU.
        - V(guest.xid) has C(xids).
        - V(guest.topology) has C(nearest). With several GPUs, it has C(links), the active and inactive NVLinks of each
          GPU.
        - V(guest.gpudirect) has C(gpudirect), in the format of M(aiready.vsphere.guest_rdma_info).
        - V(guest.modules) has C(modules).
        - V(guest.memlock) has C(memlock).
        - V(guest.rdma_device) has C(devices).
        - V(guest.gid) has C(gid).
        - V(guest.counters) has C(counters).
        - V(guest.dcgm) has C(level), C(gpus), and C(tests) with their findings. V(guest.dcgm_health) has C(overall) and
          C(incidents).
        - V(guest.gds) has C(gpus), C(storage) and C(verified). V(guest.gds_read) has C(gib_s) and C(moved), the
          increase of a counter of nvidia_fs.
      type: dict
      returned: always
      sample: {interface: ens224, mtu: 9000}
    evidence:
      description: Always empty. RV(outputs) has the complete output.
      type: str
      returned: always
      sample: ""
    simulated:
      description: V(true) if the result depends on a part from O(simulated).
      type: bool
      returned: always
      sample: false
    began:
      description: Start time in UTC.
      type: str
      returned: always
      sample: "2026-03-01T08:15:30Z"
    seconds:
      description: Duration in seconds.
      type: float
      returned: always
      sample: 0.0
    variant:
      description: Value of O(phase) for licence and counters, else empty.
      type: str
      returned: always
      sample: ""
outputs:
  description: Complete output by check. The key includes the phase if the check runs in both phases.
  returned: success
  type: dict
  sample: {guest.mtu: "9000\n"}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: invalid_parameters, problems: ["name: it is empty."]}
"""

import ipaddress
from typing import Any, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
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
    "dcgm_level": {"type": "int", "choices": [0, *probes.DIAG_S], "default": 0},
    "dcgm_health": {"type": "bool", "default": False},
    "gds": {"type": "bool", "default": False},
    "gds_file": {"type": "path"},
    "simulated": {"type": "list", "elements": "str", "choices": list(simulated.WORDS), "default": []},
}


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters, as sentences."""
    problems = [] if params["name"].strip() else ["name: it is empty."]
    if params["address"]:
        try:
            ipaddress.IPv4Address(params["address"])
        except ValueError:
            problems.append(f"address: {params['address']} is not an IPv4 address.")
    return problems


def interface_with(files: Files, mac: str) -> str:
    """Return the interface with a MAC address; an empty text if there is none. Interfaces on top of an adapter may
    share it."""
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
    interface, mac, address = (module.params[name] for name in ("interface", "mac", "address"))
    if not interface and mac:
        interface = interface_with(files, mac)
    elif not interface and address:
        interface = interface_of(commands, address)
    requested = request(probes.HealthRequest, module.params, interface=interface)
    measurements, outputs = probes.measured(requested, commands, files)
    module.exit_json(changed=False, measurements=measurements, outputs=outputs)


if __name__ == "__main__":
    main()
