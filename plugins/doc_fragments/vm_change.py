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
      - What earlier tasks of the same play will have made of the VM. It is looked at in check mode only, where they
        have not made it yet, so that a whole play can be checked before anything exists.
      - In a real run it is ignored, and a VM that is not there is an error.
    type: dict
    suboptions:
      template:
        description:
          - Name or inventory path of the template that the VM will be cloned from. A VM that is not there is then
            planned from the configuration of the template.
        type: str
      host:
        description:
          - Name of the host that the VM will be on, as vCenter shows it.
        type: str
      hardware_version:
        description:
          - The hardware version that the VM will at least have, such as V(20).
        type: int
      memory_reservation:
        description:
          - V(all) when all memory of the VM will be reserved.
        type: str
        choices: [all]
  power:
    description:
      - What to do with a VM that runs and has to be off for the change.
      - V(refuse) fails for this VM and says what would have changed.
      - V(cycle) shuts the guest down, switches the VM off, changes it and switches it on again. VMs that need no change
        keep running. If vSphere refuses to start the VM with its new configuration, the old one is put back and the VM
        is started with it.
      - A VM that is about to be switched off gets the advanced setting C(aiready.vsphere.power_on_again). A later run
        with V(cycle) switches on what a run that was killed left off. The setting is removed as soon as the VM runs.
    type: str
    choices: [refuse, cycle]
    default: refuse
  guest_shutdown_timeout_s:
    description:
      - How long a guest may take to shut down with O(power=cycle) before its power is cut, in seconds.
      - A guest without running VMware Tools cannot be asked, its power is cut at once.
    type: int
    default: 300
"""
