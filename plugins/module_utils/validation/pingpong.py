# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What ibv_rc_pingpong and its siblings print. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "ibv_rc_pingpong"
_RATE = re.compile(r"(\d+) bytes in ([\d.]+) seconds = ([\d.]+) Mbit/sec")
_TIME = re.compile(r"(\d+) iters in ([\d.]+) seconds = ([\d.]+) usec/iter")
_END = re.compile(r"(local|remote) address: .*GID (\S+)")


@texts.reader(TOOL)
def parse(text):
    """gbps, usec (of a whole iteration, there and back), iterations, gids of both ends."""
    lines = texts.lines(text)
    rate, time = (next((found for found in map(one.search, lines) if found), None) for one in (_RATE, _TIME))
    gids = dict(found.groups() for found in map(_END.search, lines) if found)
    error = texts.known(text)
    if error is not None:
        return texts.failed(TOOL, error["line"], text, gids=gids)
    if rate is None or time is None or float(time.group(3)) <= 0:
        return texts.not_understood(TOOL, text)
    return texts.figures(
        gbps=round(float(rate.group(3)) / 1000, 6),
        usec=float(time.group(3)),
        iterations=int(time.group(1)),
        gids=gids,
    )
