# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Why a rung is not to be run after what was measured so far. Pure."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.health.collect import collect
from ansible_collections.aiready.vsphere.plugins.module_utils.health.record import read
from ansible_collections.aiready.vsphere.plugins.module_utils.validation import expected, judge, needs, rungs


def blocked(seen, intent, check, guests, variant="", thresholds=None):
    """The reason, or an empty text."""
    wanted = expected.intent_of(intent)
    rung = rungs.of(check, variant)
    left_out = rungs.left_out(rung, wanted) if rung is not None else ""
    if left_out:
        return left_out
    told = judge.judge(collect(seen, read)[0], intent, thresholds or {})
    return needs.may_run(told["rows"], check, {"guests": list(guests)}, variant)
