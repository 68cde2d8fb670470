# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules that write a capture; the spec is CAPTURE in module_utils/capture/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  dest:
    description:
      - Path of the zip file, on the machine that runs the module. Modules that use the connection of the play run on
        the controller.
      - The table of pseudonyms is in the same folder, with the suffix C(.secret.json) and mode 0600. A later capture to
        the same path uses it again.
    type: path
    required: true
  keep:
    description:
      - Values that are not replaced. V(names) keeps all texts but those that are always dropped, for internal use. It
        must be the same for all sources of a capture.
    type: list
    elements: str
    choices: [names]
    default: []
"""

    # What holds for a module that adds one kind of source to the capture of vCenter.
    SOURCE = r"""
options: {}
notes:
  - Capture vCenter first. M(aiready.vsphere.site_capture_info) replaces the whole file. Without a file, the module
    starts one.
  - The module replaces what an earlier run added for the same source.
  - The table of pseudonyms is the one of the whole capture, so that a name has the same pseudonym in all sources.
  - Several sources can be captured at the same time.
"""
