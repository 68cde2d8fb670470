# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of the OSU micro-benchmarks, versions 5 to 7. Pure. Driver messages may precede the table."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers.perftest import FILLING_BYTES

TOOL = "OSU"
# With accelerator memory, it is MPI-CUDA, MPI-CUDA MANAGED, MPI-ROCM and so on; one-sided tests are MPI_Get, MPI_Put.
_HEAD = re.compile(r"#\s*OSU (?=MPI)(?:MPI(?:-[A-Z]+(?: MANAGED)?)? )?(.+?)(?: Test)? v(\d+\.\d+(?:\.\d+)?)")
_COLUMN = re.compile(r"Size|(?:Avg |Min |Max )?Latency ?\(us\)|(?:Bi-)?Bandwidth \(MB/s\)|Messages/s|MB/s|Iterations")
# The last word is printed only with -c.
_ROW = re.compile(r"\d+(?:\s+[\d.eE+-]+)+(?:\s+(Pass|Fail))?")
_REFUSED = re.compile(r"This test requires .*processes|Invalid option \[.*\]|.*support is not enabled.*")
# mpirun reports a missing program in two paragraphs, and its name in another one.
_ABSENT = re.compile(r"unable to (?:find|launch) the specified [\s\S]{,900}?\bExecutable:\s+(\S+)")
_ALONE = "each rank ran alone, as it does where they are built for another MPI than that of mpirun"


@texts.reader(TOOL)
def parse(text: str) -> dict[str, Any]:
    """test, version, rows of {bytes, value}, unit; usec of the smallest or gbps of the largest message; number of
    sizes with wrong data, None if the data was not verified."""
    test = version = unit = column = headed = wrong = refused = cut = None
    rows: list[dict[str, Any]] = []
    for line in texts.lines(text):
        head = _HEAD.search(line)
        if head is not None:
            test, version = head.groups()
            rows, wrong = [], None
        elif _REFUSED.fullmatch(line.strip()):
            refused = refused or line.strip()
        elif line.lstrip().startswith("#") and "Size" in line:
            headed, names = True, _COLUMN.findall(line)
            column = next((place for place, name in enumerate(names) if name != "Size"), None)
            unit = (
                None
                if column is None
                else "us"
                if "us" in names[column]
                else "MB/s"
                if "B/s" in names[column]
                else None
            )
        elif column is not None and _ROW.fullmatch(line.strip()):
            words = line.split()
            if len(words) > column and texts.number(words[column]) is not None:
                rows.append({"bytes": int(words[0]), "value": texts.number(words[column])})
                if words[-1] in ("Pass", "Fail"):
                    wrong = (wrong or 0) + (words[-1] == "Fail")
            else:
                cut = " ".join(words)
        elif column is not None and re.match(r"\s*\d+(?:\s|$)", line):
            cut = " ".join(line.split())
    if refused and not rows:
        return texts.failed(TOOL, f"{refused}: {_ALONE}" if "processes" in refused else refused, text)
    if test is None or not rows or unit is None:
        error = texts.known(text)
        if error is not None and not rows:
            absent = _ABSENT.search(text)
            # Open MPI has two blanks between sentences, and the second sentence continues in the next line.
            said = error["line"].split(".  ")[0]
            return texts.failed(TOOL, f"{absent.group(1)} is not in the image" if absent else said, text)
        why = "its table has no row" if unit or not headed else "its columns are neither a latency nor a bandwidth"
        why = "it has no header" if test is None else why
        return texts.not_understood(TOOL, text, why)
    if cut is not None:
        return texts.not_understood(TOOL, text, f"a row of its table is not numeric: {cut[: texts.SHOWN]}")
    small, large = min(rows, key=lambda row: row["bytes"]), max(rows, key=lambda row: row["bytes"])
    return texts.figures(
        test=test,
        version=version,
        unit=unit,
        rows=rows,
        usec=small["value"] if unit == "us" else None,
        # MB are 10^6 bytes here.
        gbps=round(large["value"] * 8 / 1000, 6) if unit == "MB/s" else None,
        bytes=small["bytes"] if unit == "us" else large["bytes"],
        filling=large["bytes"] >= FILLING_BYTES if unit == "MB/s" else None,
        wrong=wrong,
    )
