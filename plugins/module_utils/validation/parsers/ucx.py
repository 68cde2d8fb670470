# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the log of UCX (UCX_LOG_LEVEL=info): the transports of connections between guests. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

# UCX since 1.13 names the place of the peer. Before, a line has all connections of one configuration.
_LINE = re.compile(r"UCX\s+INFO\s.*?\b(?:(?P<place>inter-node|intra-node|self) cfg#\d+|ep_cfg\[\d+\]:)\s(?P<lanes>.+)")
_LANE = re.compile(r"(\w+)/(\w[\w.:-]*)")
# Transports within one machine.
LOCAL = ("self", "sysv", "posix", "cma", "knem", "xpmem", "cuda", "gdr_copy")


def transports(text: str | None) -> list[str]:
    """[rc_mlx5/mlx5_0:1] of all connections that leave the machine, without repetitions."""
    found: dict[str, None] = {}
    for line in texts.lines(text or ""):
        reported = _LINE.search(line)
        if reported is None or reported.group("place") in ("intra-node", "self"):
            continue
        for kind, device in _LANE.findall(reported.group("lanes")):
            if not kind.startswith(LOCAL):
                found[f"{kind}/{device}"] = None
    return list(found)


def is_rdma(transport: str) -> bool:
    """Whether a transport uses an RDMA device: reliable, unreliable or dynamically connected."""
    return transport.partition("_")[0].partition("/")[0] in ("rc", "ud", "dc")
