# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a task says which ESXi host it means; the spec is HOST_IDENTITY in module_utils/vcenter/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  host:
    description:
      - ESXi host, by its name in vCenter, its inventory path (such as V(/dc1/host/gpu/esx-01.example.com)) or its
        managed object ID (such as V(host-42)).
      - If several hosts have this name, the module fails and lists their paths.
    type: str
    required: true
"""
