# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `chronyc tracking`. Pure."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "chronyc"
_SYSTEM = re.compile(r"([\d.]+) seconds (slow|fast) of NTP time")
# The address of chrony for its own clock (127.127.1.1), used with `local` without any server.
_OWN_CLOCK = ("7F7F0101", "127.127.1.1")
_REFUSED = re.compile(r"^(50[0-9] .*|.*Could not open connection to daemon.*)$")


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """synchronised, offset_s (positive: this clock is ahead), stratum, source, root_dispersion_s."""
    reported: dict[str, str] = {}
    for line in texts.lines(text):
        refused = _REFUSED.match(line.strip())
        if refused is not None:
            return texts.failed(TOOL, refused.group(1), text, synchronised=None, offset_s=None)
        name, colon, value = line.partition(":")
        if colon:
            reported.setdefault(name.strip().lower(), value.strip())
    if "leap status" not in reported or "stratum" not in reported:
        return texts.not_understood(TOOL, text)
    offset = _SYSTEM.search(reported.get("system time", ""))
    reference = re.match(r"([0-9A-Fa-f.]+)(?:\s+\((.*)\))?", reported.get("reference id", ""))
    stratum = texts.whole(reported["stratum"])
    # A daemon that never reached a server may still report a normal state.
    synchronised = reported["leap status"].lower() != "not synchronised" and stratum not in (None, 0, 16)
    if reference is not None and reference.group(1).upper() in _OWN_CLOCK:
        synchronised = False
    sign = -1 if offset and offset.group(2) == "slow" else 1
    return texts.figures(
        synchronised=synchronised,
        offset_s=sign * float(offset.group(1)) if offset else None,
        stratum=stratum,
        source=(reference.group(2) or reference.group(1)) if reference else None,
        root_dispersion_s=_seconds(reported.get("root dispersion")),
        leap=reported["leap status"],
    )


def _seconds(value: str | None) -> float | None:
    found = re.match(r"([\d.]+) seconds", value or "")
    return float(found.group(1)) if found else None
