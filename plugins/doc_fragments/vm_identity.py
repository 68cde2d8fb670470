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
      - Name of the VM. If several VMs have this name, the task fails and lists their paths.
      - Write V(/), V(\\) and V(%) unchanged, or as vCenter stores them (V(%2f), V(%5c), V(%25)).
    type: str
  path:
    description:
      - Inventory path of the VM, such as V(/Frankfurt/vm/training/node-01).
      - With O(datacenter), a path without a leading slash starts in the VM folder of the datacenter.
      - Write a slash in the name of a folder or vApp as V(%2f).
    type: str
  moid:
    description:
      - Managed object ID of the VM, such as V(vm-1042).
    type: str
  instance_uuid:
    description:
      - Instance UUID of the VM, which is unique in vCenter.
    type: str
  bios_uuid:
    description:
      - BIOS UUID of the VM. If several VMs have this UUID, the task fails.
    type: str
  datacenter:
    description:
      - Name or inventory path of the datacenter to search. Defaults to all datacenters of vCenter.
    type: str
"""
