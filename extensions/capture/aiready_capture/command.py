# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The command line. Each module of VERBS has add(parsers), which sets `run`; run(args) returns the exit status."""

from __future__ import annotations

import argparse
import sys

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

from aiready_capture import bring, diff, show, site, take

VERBS = (take, bring, show, diff, site)
INTERRUPTED = 130


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    made = argparse.ArgumentParser(
        prog="aiready-capture",
        allow_abbrev=False,
        description="Write an anonymised, read-only capture of a vSphere site, and show its content.",
    )
    parsers = made.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        verb.add(parsers)
    return made


def main(argv: list[str] | None = None) -> int:
    """Run one verb; return the exit status."""
    args = parser().parse_args(argv)
    try:
        return int(args.run(args))
    except OperatorError as error:
        print(error.message, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. Run the same command again to continue.", file=sys.stderr)
        return INTERRUPTED
