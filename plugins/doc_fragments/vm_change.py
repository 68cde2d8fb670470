# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a VM is changed that runs, or that is not there yet; the spec is PLANNED and POWER in module_utils/vm/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  planned:
    description:
      - Predicted state of the VM after earlier tasks of the same play. It applies only in check mode, to VMs that do
        not have this state yet. Check mode can therefore plan a whole play before the VMs exist.
      - A real run ignores it. A missing VM is then an error.
    type: dict
    suboptions:
      template:
        description:
          - Name or inventory path of the template of a VM that does not exist yet. Check mode plans such a VM from the
            configuration of the template.
        type: str
      host:
        description:
          - Name of the future host of the VM, as vCenter shows it.
        type: str
      hardware_version:
        description:
          - Minimum hardware version that the VM will have, such as V(20).
        type: int
      memory_reservation:
        description:
          - V(all) if all memory of the VM will be reserved.
        type: str
        choices: [all]
  power:
    description:
      - Reaction to a running VM that must be powered off for the change.
      - V(refuse) fails for this VM and returns the changes that it would make.
      - V(cycle) shuts the guest down, powers the VM off, changes it and powers it on again. VMs without a change keep
        running. If vSphere refuses to start the VM with its new configuration, the module restores the old
        configuration and starts the VM with it.
      - Before the power-off, the VM gets the advanced setting C(aiready.vsphere.power_on_again). If a run was killed, a
        later run with V(cycle) powers on the VMs that it left off. The module removes the setting as soon as the VM
        runs.
    type: str
    choices: [refuse, cycle]
    default: refuse
  guest_shutdown_timeout_s:
    description:
      - Maximum time in seconds for the shutdown of a guest with O(power=cycle). The module then cuts the power.
      - A guest without running VMware Tools cannot shut down on request. The module cuts its power at once.
    type: int
    default: 300
"""
