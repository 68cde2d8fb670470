# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""diff: what changed between two captures of a site."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture, names_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import parsed

CHANGED = 3


def add(parsers: Any) -> None:
    """Add the verb to the command line."""
    made = parsers.add_parser(
        "diff",
        allow_abbrev=False,
        help="show what changed between two captures",
        description="Show what changed between two captures of a site. The exit status is 3 if there are changes.",
    )
    made.add_argument("before", metavar="BEFORE", help="path of the earlier capture")
    made.add_argument("after", metavar="AFTER", help="path of the later capture")
    made.add_argument("--names", metavar="TABLE", help="table of pseudonyms; show the names behind them")
    made.add_argument("--json", action="store_true", help="print the changes as JSON")
    made.set_defaults(run=diff)


def diff(args: argparse.Namespace) -> int:
    """Print each change in a line."""
    before, after = Capture(args.before), Capture(args.after)
    found, unread = compare.compared(before, after, parsed)
    if args.json:
        text = json.dumps([dict(asdict(one), text=one.text) for one in found], indent=1)
    else:
        text = "\n".join(one.text for one in found) or "No differences."
    print(compare.named(text, names_of(args.names)) if args.names else text)
    if unread and not args.json:
        print(f"Not compared, because only one of the captures has them: {', '.join(unread)}.")
    if compare.share_names(before, after) is False and not args.json:
        print(
            "No host is in both captures. Captures of one site have the same pseudonyms only if the table of "
            "pseudonyms of the earlier one was beside the later one."
        )
    return CHANGED if found else 0
