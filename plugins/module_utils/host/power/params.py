# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The rules that the argument spec of these modules cannot express."""

from __future__ import annotations

import datetime
from typing import Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import check_bmc

_DAY_S = 86400
# A time as results carry it, in UTC.
MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"


def problems(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters, one sentence each."""
    found = []
    if not 1 <= params["timeout_s"] <= _DAY_S:
        found.append(f"timeout_s is {params['timeout_s']}; it must be between 1 and {_DAY_S}.")
    if "reason" in params and not params["reason"].strip():
        found.append("reason is empty; set the text that users see at the host during maintenance.")
    if params.get("booted_after") and params["state"] != "back":
        found.append("booted_after belongs to state=back; a restart proves a new boot by itself.")
    elif not _is_moment(params.get("booted_after")):
        found.append(
            f"booted_after is {params['booted_after']}, which is not a time in the format that this module returns. "
            "Use the `boot_time` of an earlier result."
        )
    # One of these is enough to imply a BMC; the password alone may be in the environment for other tasks.
    if params.get("power") == "cold" or params.get("bmc_address"):
        found += check_bmc(params)
    return found


def moment(text: str | None) -> datetime.datetime | None:
    """The time of a text that problems accepts."""
    return datetime.datetime.strptime(text, MOMENT).replace(tzinfo=datetime.timezone.utc) if text else None


def _is_moment(text: str | None) -> bool:
    try:
        moment(text)
    except ValueError:
        return False
    return True
