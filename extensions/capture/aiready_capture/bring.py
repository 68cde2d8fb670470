# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""import: add data of other tools to a capture."""

from __future__ import annotations

import argparse
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import imports
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import IMPORT_ERROR

from aiready_capture.take import DEST


def add(parsers: Any) -> None:
    """Add the verb to the command line."""
    made = parsers.add_parser(
        "import",
        allow_abbrev=False,
        help="add folders of govc object.save, Redfish mockups, Batfish snapshots and vm-support bundles",
        description="Add data of other tools to a capture, with the same replacements. Nothing is sent.",
    )
    made.add_argument("folders", nargs="+", metavar="DIR", help="folder, or a zip or tgz of it")
    made.add_argument("--out", default=DEST, metavar="FILE", help=f"path of the capture (default: {DEST})")
    made.add_argument("--keep", choices=["names"], action="append", default=[], help="values that are not replaced")
    made.set_defaults(run=bring)


def bring(args: argparse.Namespace) -> int:
    """Import each folder, and print what it has and what it lacks."""
    if IMPORT_ERROR is not None:
        raise OperatorError(
            "import", "cannot start", "pyVmomi is not installed.", "Use the built command", "invalid_parameters"
        )
    for made in imports.bring(args.out, args.folders, "names" in args.keep):
        read = [name for name, one in made.coverage.items() if one["answered"]]
        print(f"{made.source}: {len(read)} sources read, {len(made.coverage) - len(read)} not read")
        for name, one in sorted(made.coverage.items()):
            if not one["answered"]:
                print(f"  {name}: {one['refused'].get('', '') or one.get('skipped', '')}")
    print(f"Do not send {args.out}.secret.json: it reveals the names behind the capture.")
    return 0
