# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a task says which VM it means; the spec is VM_IDENTITY and DATACENTER in module_utils/vcenter/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  name:
    description:
      - The name of the VM. A name that several VMs have is an error that lists their paths.
      - V(/), V(\\) and V(%) may be written as they are, or as vCenter stores them (V(%2f), V(%5c), V(%25)).
    type: str
  path:
    description:
      - The inventory path of the VM, such as V(/Frankfurt/vm/training/node-01).
      - With O(datacenter), a path without a leading slash starts in the datacenter's folder of VMs.
      - Folders and vApps whose name contains a slash are written with V(%2f).
    type: str
  moid:
    description:
      - The managed object ID of the VM, such as V(vm-1042).
    type: str
  instance_uuid:
    description:
      - The instance UUID of the VM, which vCenter keeps unique.
    type: str
  bios_uuid:
    description:
      - The BIOS UUID of the VM. Several VMs can have the same one, which is an error.
    type: str
  datacenter:
    description:
      - The name or inventory path of the datacenter to search in. Without it all of vCenter is searched.
    type: str
"""
