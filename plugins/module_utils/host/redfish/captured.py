# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The capture of one BMC: its Redfish tree, read with GET, and the spec of the module that does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, List, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import add, redfish, redfish_tree
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.args import CAPTURE
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import address, session
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.redfish_tree import Found, Tree

ARGUMENTS = dict(BMC, **CAPTURE)
# Failures after which no other request can succeed.
_FOR_GOOD = ("bmc_login_refused", "bmc_unresolvable", "bmc_refused", "bmc_certificate_not_trusted", "not_redfish")
_MOST_FAILURES = 3


@dataclass(frozen=True)
class BmcCaptureRequest:
    """The capture of one BMC as a task requests it."""

    dest: str
    keep: List[str]


class _Reader:
    def __init__(self, bmc: session.Bmc) -> None:
        self._bmc = bmc
        self._failures = 0

    def get(self, path: str) -> Found:
        """The body of a resource, or why there is none."""
        try:
            answer = self._bmc.look(path)
        except OperatorError as error:
            code = error.code
            self._failures += 1
            if code in _FOR_GOOD or self._failures >= _MOST_FAILURES:
                raise redfish_tree.Gone(code) from error
            return None, code
        self._failures = 0
        return (answer.body, "") if answer.status == 200 else (None, f"HTTP status {answer.status}")


def read(params: Mapping[str, Any]) -> Tree:
    """The resources of the BMC of a task. A BMC that does not answer has none."""
    bmc = session.connect(params)
    try:
        return redfish_tree.walk(_Reader(bmc).get, params["system_id"])
    finally:
        bmc.close()


def capture(params: Mapping[str, Any], request: BmcCaptureRequest) -> dict[str, Any]:
    """Add a BMC to a capture, and return what it has."""
    keep_names = "names" in request.keep
    tree = read(params)
    name = str(address.parse(params["bmc_address"]))
    made = add.add(request.dest, keep_names, lambda table: redfish.addition(tree, name, table, keep_names))
    answered = sum(1 for one in made.coverage.values() if one["answered"])
    return {
        "dest": request.dest,
        "secret": f"{request.dest}.secret.json",
        "source": made.source,
        "anonymised": not keep_names,
        "lost": tree.lost,
        "sources": {"answered": answered, "unread": len(made.coverage) - answered},
        "refused": {name: one["refused"] for name, one in sorted(made.coverage.items()) if one["refused"]},
        "texts": dict(made.texts),
        "dropped": dict(made.dropped),
    }
