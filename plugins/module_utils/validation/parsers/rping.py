# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `rping -v`. Pure.

A test succeeds if all pings were answered: its exit status differs between versions, and a lost connection at the end,
with or without `wait for RDMA_READ_ADV state`, is normal.
"""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "rping"
_PING = re.compile(r"^(server )?ping data: rdma-ping-(\d+): ")
_USUAL = re.compile(r"DISCONNECT EVENT|wait for RDMA_READ_ADV state (?:9|10)\b|RDMA_CM_EVENT_DISCONNECTED")
_MISMATCH = re.compile(r"data mismatch", re.IGNORECASE)
_TROUBLE = re.compile(
    r"cma event (RDMA_CM_EVENT_\w+), error (-?\d+)|(?:connect|rdma_\w+|ibv_\w+)\S*:? (?:error|failed).*"
)


@texts.reader(TOOL)
def parse(text: str, count: int | None = None) -> dict[str, Any]:
    """answered, count (requested), side. All pings must be answered."""
    lines = [line.strip() for line in texts.lines(text) if line.strip()]
    pings = [found for found in map(_PING.match, lines) if found]
    about: dict[str, Any] = {
        "answered": len(pings),
        "count": count,
        "side": None if not pings else "server" if pings[0].group(1) else "client",
    }
    if any(_MISMATCH.search(line) for line in lines):
        return texts.failed(TOOL, "the returned data differs from the sent data", text, **about)
    wrong = [line for line in lines if _TROUBLE.search(line) and not _USUAL.search(line)]
    if pings and (count is None or len(pings) >= count):
        return texts.figures(**about)
    if wrong:
        return texts.failed(TOOL, wrong[0], text, **about)
    if pings:
        return texts.failed(TOOL, f"{len(pings)} of {count} RDMA pings were answered", text, **about)
    error = texts.known(text)
    if error is not None:
        return texts.failed(TOOL, error["line"], text, **about)
    why = "no ping was answered, or it ran without -v" if not lines or all(map(_USUAL.search, lines)) else ""
    return texts.not_understood(TOOL, text, why)
