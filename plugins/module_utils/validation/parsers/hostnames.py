# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `mpirun hostname`, and the lines in which ranks report their host. Pure."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.training import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "mpirun"
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")
_BANNER = re.compile(r"MPI_size = (\d+), MPI_rank = (\d+),.*platform = (\S+)")
# Other messages of ssh and mpirun, and empty output.
_ASIDE = re.compile(
    r"Warning: Permanently added|: warning: setlocale|^-+$|^\[\S+:\d+\] |^\[\S+\] (?:WARNING|\d+ more process)|"
    r"^NCCL version|^WARNING:"
)


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """{hosts: {name: ranks}, ranks, size}: size is reported by the ranks, None if they report only a name."""
    lines = [line.strip() for line in texts.lines(text) if line.strip() and not _ASIDE.search(line.strip())]
    reported = [found.groups() for found in map(_BANNER.search, lines) if found]
    names = [name for _size, _rank, name in reported]
    # A single word is a host name only if all lines are.
    if not names and all(_NAME.fullmatch(line) for line in lines):
        names = lines
    first = trouble.first_failure(lines)
    error = texts.known(text)
    if error is not None or first.rank is not None or first.node is not None:
        reason = error["line"] if error else f"rank {first.rank} failed on {first.node or 'its host'}"
        return texts.failed(TOOL, reason, text, hosts={}, ranks=0, size=None)
    sizes = {int(size) for size, _rank, _name in reported}
    if not names or len(sizes) > 1:
        return texts.not_understood(TOOL, text, "ranks report different sizes" if names else "")
    if reported and len({rank for _size, rank, _name in reported}) != len(reported):
        return texts.failed(TOOL, "several ranks have the same number, so each ran alone", hosts={}, ranks=0, size=None)
    hosts: dict[str, int] = {}
    for name in names:
        hosts[name] = hosts.get(name, 0) + 1
    return texts.figures(hosts=dict(sorted(hosts.items())), ranks=len(names), size=sizes.pop() if sizes else None)
