# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""show: the manifest of a capture, what was read, and what was replaced."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture, names_of


def add(parsers: Any) -> None:
    """Add the verb to the command line."""
    made = parsers.add_parser(
        "show",
        allow_abbrev=False,
        help="show the manifest and the coverage of a capture",
        description="Show what a capture contains, which sources did not answer, and how much was replaced.",
    )
    made.add_argument("capture", metavar="CAPTURE", help="path of the capture")
    made.add_argument("--all", action="store_true", help="list each source, and not only those that were not read")
    made.set_defaults(run=show)


def show(args: argparse.Namespace) -> int:
    """Print the summary of a capture. Its checksums are verified."""
    capture = Capture(args.capture)
    try:
        return _show(args, capture)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        found = f"Its manifest does not have the form of a capture: {type(error).__name__}: {error}."
        raise trouble.damaged(args.capture, found) from error


def _show(args: argparse.Namespace, capture: Capture) -> int:
    manifest = capture.manifest
    size = sum(len(text) for text in capture.files.values())
    print(f"{args.capture}: format {manifest['format']}, {len(capture.files)} files, {size} bytes")
    print(f"Anonymised: {'yes' if manifest.get('anonymised') else 'no, names are kept'}")
    for key, value in sorted(manifest.items()):
        if key not in ("format", "files", "coverage", "anonymised", "texts", "dropped", "added", "check"):
            print(f"{key}: {json.dumps(value, sort_keys=True)}")
    _coverage(manifest["coverage"], args.all)
    print("\nTexts, by what the capture did with them")
    for name, one in [("vcenter", manifest), *sorted(manifest.get("added", {}).items())]:
        if one.get("texts"):
            print(f"  {name}: {json.dumps(one['texts'], sort_keys=True)}, dropped: {json.dumps(one['dropped'])}")
    print("\nFound and left")
    for name, one in [("vcenter", manifest), *sorted(manifest.get("added", {}).items())]:
        for kind, place in sorted(one.get("check", {}).get("left", {}).items()):
            print(f"  {name}: {kind}: {place['places']} places, first in {', '.join(place['files'])}")
    _table(f"{args.capture}.secret.json")
    return 0


def _coverage(coverage: dict[str, Any], everything: bool) -> None:
    counted = Counter("read" if one["answered"] else "not read" for one in coverage.values())
    print(f"\nSources: {counted['read']} read, {counted['not read']} not read")
    for name, one in sorted(coverage.items()):
        refused = ", ".join(f"{path}: {fault}" if path else fault for path, fault in sorted(one["refused"].items()))
        if everything or refused or not one["answered"]:
            state = "read" if one["answered"] else "not read"
            print(f"  {state}  {name}{f'  ({refused})' if refused else ''}")
    print("Everything that was not read is unknown. It is never a default.")


def _table(path: str) -> None:
    if os.path.exists(path):
        kinds = {kind: len(names) for kind, names in names_of(path)["names"].items()}
        print(f"\nPseudonyms in {path}, by kind: {json.dumps(kinds, sort_keys=True)}. Do not send this file.")
