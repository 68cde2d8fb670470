# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What gdrcopy_sanity prints: whether the GPU's memory can be copied to by the processor, for small messages. Pure."""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.validation import text as texts

TOOL = "gdrcopy_sanity"
_SUMMARY = re.compile(r"Total: (\d+), Passed: (\d+), Failed: (\d+), Waived: (\d+)")


def parse(text):
    """total, passed, failed, waived. Tests that were waived did not run."""
    found = next((match for match in map(_SUMMARY.search, texts.lines(text)) if match), None)
    if found is None:
        return texts.not_understood(TOOL, text)
    total, passed, failed, waived = map(int, found.groups())
    about = {"total": total, "passed": passed, "failed": failed, "waived": waived}
    if failed or not passed or passed + waived != total:
        return texts.failed(TOOL, f"{failed} of {total} tests failed, {passed} passed", text, **about)
    return texts.figures(**about)
