# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every module of the collection says about check mode, diff mode and where it runs."""

from __future__ import annotations


class ModuleDocFragment:
    # What holds for a module that manages something through vCenter; the variants below say where others differ.
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Reports the changes that it would make, without any change.
    support: full
  diff_mode:
    description: Returns the differences, before and after, with C(--diff).
    support: full
  action_group:
    description: Use C(group/aiready.vsphere.vcenter) in C(module_defaults) to set the connection once.
    support: full
    membership:
      - aiready.vsphere.vcenter
  platform:
    description:
      - Platform of the machine that runs the module. It needs Python 3.8 or newer, pyVmomi, and a route to vCenter.
    support: full
    platforms: posix
"""

    READ_ONLY = r"""
options: {}
attributes:
  check_mode:
    details: The module only reads. It does the same in check mode.
  diff_mode:
    support: none
    details: The module changes nothing.
"""

    # What holds for a module whose work an action plugin does; each says itself what its commands are sent to.
    ON_CONTROLLER = r"""
options: {}
attributes:
  check_mode:
    description: Reports the changes that it would make, without any change.
    support: full
  diff_mode:
    description: Returns the differences, before and after, with C(--diff).
    support: full
  action:
    description: An action plugin of the same name does the work on the controller.
    support: full
"""

    # What holds for a module that runs on a Linux guest itself.
    ON_GUEST = r"""
options: {}
attributes:
  check_mode:
    description: Reports the changes that it would make, without any change.
    support: full
  diff_mode:
    description: Returns the differences, before and after, with C(--diff).
    support: full
  platform:
    description: Platform of the guests that run the module. They need Python 3.8 or newer and nothing else.
    support: full
    platforms: linux
"""
