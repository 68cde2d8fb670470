# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long and how widely modules wait; the spec is TASK_WAITING in module_utils/vcenter/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  tasks_in_flight:
    description:
      - Maximum number of vCenter tasks that run at the same time.
    type: int
    default: 32
  task_timeout_s:
    description:
      - Maximum time in seconds for one vCenter task. The module then fails, and the task continues in vCenter.
    type: int
    default: 600
"""
