# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""site: write a first inventory from a capture."""

from __future__ import annotations

import argparse
import os
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import compare, trouble, view
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture, names_of, write
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import parsed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import first


def add(parsers: Any) -> None:
    """Add the verb to the command line."""
    made = parsers.add_parser(
        "site",
        allow_abbrev=False,
        help="write a first inventory from a capture",
        description="Write hosts.yml, site.yml and a skeleton of the vault from a capture. Guesses are marked.",
    )
    made.add_argument("capture", metavar="CAPTURE", help="path of the capture")
    made.add_argument("folder", metavar="FOLDER", help="folder of the new inventory")
    made.add_argument("--names", metavar="TABLE", help="table of pseudonyms; write the names behind them")
    made.set_defaults(run=site)


def site(args: argparse.Namespace) -> int:
    """Write the files, and print the guesses and the values that are missing. An existing file stays."""
    names = compare.originals(names_of(args.names)) if args.names else {}
    made = first.write(view.read(Capture(args.capture), parsed), names)
    there = [name for name in made.files if os.path.exists(os.path.join(args.folder, name))]
    if there:
        raise OperatorError(
            args.folder,
            "cannot write the site",
            f"The folder has {', '.join(there)}.",
            "Use a new folder",
            "capture_not_written",
        )
    for name, text in made.files.items():
        path = os.path.join(args.folder, name)
        with trouble.written(args.folder, "cannot write the site"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(path, text)
        print(path)
    for title, found in (("Guessed", made.guesses), ("Fill in", made.missing)):
        print(f"\n{title}:")
        for one in found:
            print(f"  {one}")
    if not names:
        print("\nThe files have pseudonyms. Use --names with the table of pseudonyms to write the names behind them.")
    return 0
