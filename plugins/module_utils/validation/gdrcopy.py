# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What gdrcopy_sanity prints: whether the GPU's memory can be copied to by the processor, for small messages. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

TOOL = "gdrcopy_sanity"
_SUMMARY = re.compile(r"Total: (\d+), Passed: (\d+), Failed: (\d+), Waived: (\d+)")
# Before 2.4. Some of these versions count no failure although they print one.
_CHECKS = re.compile(r"\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)")
_WRONG = re.compile(r"\b(?:error|failed|assertion)\b", re.IGNORECASE)


@texts.reader(TOOL)
def parse(text):
    """total, passed, failed, waived. Tests that were waived did not run."""
    lines = texts.lines(text)
    found, checks = (next((match for match in map(one.search, lines) if match), None) for one in (_SUMMARY, _CHECKS))
    if found is not None:
        total, passed, failed, waived = map(int, found.groups())
    elif checks is not None:
        total, failed, waived = int(checks.group(1)), int(checks.group(2)) + int(checks.group(3)), 0
        failed = failed or min(total, sum(map(bool, map(_WRONG.search, lines))))
        passed = total - failed
    else:
        return texts.not_understood(TOOL, text)
    about = {"total": total, "passed": passed, "failed": failed, "waived": waived}
    if failed or not passed or passed + waived != total:
        return texts.failed(TOOL, f"{failed} of {total} tests failed, {passed} passed", text, **about)
    return texts.figures(**about)
