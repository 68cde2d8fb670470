# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""take: read vCenter, and write the capture."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import params, run
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import IMPORT_ERROR

from aiready_capture import passwords

DEST = "site-capture.zip"


def add(parsers: Any) -> None:
    """Add the verb to the command line."""
    made = parsers.add_parser(
        "take",
        allow_abbrev=False,
        help="read a site and write the capture",
        description="Read a site with read-only requests, and write one anonymised zip file. A run that was killed "
        "continues when it is started again.",
    )
    made.add_argument("--out", default=DEST, metavar="FILE", help=f"path of the capture (default: {DEST})")
    made.add_argument(
        "--keep",
        choices=["names"],
        action="append",
        default=[],
        help="values that are not replaced, for internal use; secrets and free text are dropped all the same",
    )
    vcenter = made.add_argument_group("vCenter")
    vcenter.add_argument("--vcenter", metavar="NAME", default=os.environ.get("VMWARE_HOST"), help="name or address")
    vcenter.add_argument("--port", type=int, default=443, help="port (default: 443)")
    vcenter.add_argument("--user", default=os.environ.get("VMWARE_USER"), help="user; the role Read-only suffices")
    vcenter.add_argument(
        "--password-file", metavar="FILE", help="file with the password (default: VMWARE_PASSWORD, or a prompt)"
    )
    vcenter.add_argument(
        "--ca-file",
        metavar="FILE",
        default=os.environ.get("AIREADY_VCENTER_CA_FILE"),
        help="certificates in PEM format that are trusted instead of those of the system",
    )
    vcenter.add_argument(
        "--event-days", type=int, default=7, metavar="N", help="days whose events are read, 0 for none (default: 7)"
    )
    made.set_defaults(run=take)


def take(args: argparse.Namespace) -> int:
    """Read each source that the command line names."""
    if not args.vcenter:
        raise OperatorError("take", "has no source", "", "Use --vcenter NAME", "invalid_parameters")
    _report(_vcenter(args))
    return 0


def _vcenter(args: argparse.Namespace) -> dict[str, Any]:
    if IMPORT_ERROR is not None:
        raise OperatorError(
            "take", "cannot read vCenter", "pyVmomi is not installed.", "Use the built command", "invalid_parameters"
        )
    if not args.user:
        raise OperatorError("take", "has no user of vCenter", "", "Use --user NAME", "invalid_parameters")
    given = {
        "hostname": args.vcenter,
        "port": args.port,
        "username": args.user,
        "password": passwords.read(f"{args.user} at {args.vcenter}", args.password_file, "VMWARE_PASSWORD"),
        "ca_file": args.ca_file,
        "session": "once",
        "dest": args.out,
        "keep": args.keep,
        "event_days": args.event_days,
    }
    options = {name: given.get(name, option.get("default")) for name, option in params.ARGUMENTS.items()}
    problems = params.check_params(options)
    if problems:
        raise OperatorError("take", "cannot start", " ".join(problems), "", "invalid_parameters")
    vcenter = session.connect(options, lambda text: print(text, file=sys.stderr))
    try:
        return run.capture(vcenter, request(params.CaptureRequest, options))
    finally:
        vcenter.close()


def _report(told: dict[str, Any]) -> None:
    print(f"{told['dest']}: {told['sources']['answered']} sources answered, {told['sources']['unread']} did not.")
    for name, refused in told["refused"].items():
        faults = ", ".join(f"{path}: {fault}" if path else fault for path, fault in refused.items())
        print(f"  refused: {name} ({faults})")
    print(f"Replaced and kept texts: {told['texts']}. Dropped texts by field: {told['dropped']}.")
    print(f"Do not send {told['secret']}: it reveals the names behind the capture.")
