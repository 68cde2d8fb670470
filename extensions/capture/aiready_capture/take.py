# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""take: read vCenter, hosts and BMCs, and write the capture."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import hosts, params, run
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import captured
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import check_bmc
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
    vcenter.add_argument("--no-hosts", action="store_true", help="do not read the hosts with esxcli through vCenter")
    bmc = made.add_argument_group("BMCs, read after vCenter")
    bmc.add_argument(
        "--bmc", metavar="NAME", action="append", default=[], help="name or address of a BMC; repeat for each BMC"
    )
    bmc.add_argument("--bmc-list", metavar="FILE", help="file with one BMC in each line")
    bmc.add_argument("--bmc-user", default=os.environ.get("AIREADY_BMC_USER"), help="user; the role ReadOnly suffices")
    bmc.add_argument(
        "--bmc-password-file",
        metavar="FILE",
        help="file with the password (default: AIREADY_BMC_PASSWORD, or a prompt)",
    )
    bmc.add_argument(
        "--bmc-ca-file",
        metavar="FILE",
        default=os.environ.get("AIREADY_BMC_CA_FILE"),
        help="certificates in PEM format that are trusted instead of those of the system",
    )
    made.set_defaults(run=take)


def take(args: argparse.Namespace) -> int:
    """Read each source that the command line names."""
    bmcs = _bmcs(args)
    if not args.vcenter and not bmcs:
        raise OperatorError("take", "has no source", "", "Use --vcenter NAME or --bmc NAME", "invalid_parameters")
    # Ask for all passwords first: nobody waits for the second prompt.
    options = _bmc_options(args) if bmcs else {}
    if args.vcenter:
        for reported in _vcenter(args):
            _report(reported)
    for bmc in bmcs:
        _report(captured.capture(dict(options, bmc_address=bmc), captured.BmcCaptureRequest(args.out, args.keep)))
    print(f"Do not send {args.out}.secret.json: it reveals the names behind the capture.")
    return 0


def _bmcs(args: argparse.Namespace) -> list[str]:
    listed = []
    if args.bmc_list:
        try:
            with open(args.bmc_list, encoding="utf-8") as file:
                listed = [line.strip() for line in file if line.strip() and not line.startswith("#")]
        except (OSError, ValueError) as error:
            raise OperatorError(
                args.bmc_list, "cannot read the list of BMCs", f"{error}.", "Use a text file", "invalid_parameters"
            ) from error
    return [*args.bmc, *listed]


def _bmc_options(args: argparse.Namespace) -> dict[str, Any]:
    if not args.bmc_user:
        raise OperatorError("take", "has no user of the BMCs", "", "Use --bmc-user NAME", "invalid_parameters")
    given = {
        "bmc_username": args.bmc_user,
        "bmc_password": passwords.read(f"{args.bmc_user} at the BMCs", args.bmc_password_file, "AIREADY_BMC_PASSWORD"),
        "bmc_ca_file": args.bmc_ca_file,
    }
    options = {name: given.get(name, option.get("default")) for name, option in captured.ARGUMENTS.items()}
    problems = [text for bmc in _bmcs(args) for text in check_bmc(dict(options, bmc_address=bmc))]
    if problems:
        raise OperatorError("take", "cannot start", " ".join(dict.fromkeys(problems)), "", "invalid_parameters")
    return options


def _vcenter(args: argparse.Namespace) -> list[dict[str, Any]]:
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
    defaults = {name: option.get("default") for name, option in hosts.ARGUMENTS.items()}
    vcenter = session.connect(options, lambda text: print(text, file=sys.stderr))
    try:
        reported = [run.capture(vcenter, request(params.CaptureRequest, options))]
        if not args.no_hosts:
            requested = request(hosts.HostCaptureRequest, dict(defaults, **options))
            found = hosts.capture(vcenter, requested)
            number = len(found["captured"])
            reported.append(dict(found, source=f"{number} host{'' if number == 1 else 's'}"))
        return reported
    finally:
        vcenter.close()


def _report(reported: dict[str, Any]) -> None:
    source = reported.get("source", "vCenter")
    print(f"{source}: {reported['sources']['answered']} sources answered, {reported['sources']['unread']} did not.")
    for name, refused in reported["refused"].items():
        faults = ", ".join(f"{path}: {fault}" if path else fault for path, fault in refused.items())
        print(f"  refused: {name} ({faults})")
    if "left" in reported:
        print(f"  found and left: {reported['left'] or 'nothing'}")
    print(f"  replaced and kept texts: {reported['texts']}, dropped texts by field: {reported['dropped']}")
