# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The rows of the drift table for what changed between two captures, which covers what the site does not define."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture, names_of
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import parsed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.row import CHANGED, EVERYTHING, Row, spoken, unread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

STAGE = "captures"
# What the daily operation changes: DRS moves VMs, users switch them, and hosts enter maintenance mode.
OPERATION = {("VM", "host"), ("VM", "power"), ("host", "maintenance mode")}


def changed(paths: Sequence[str] | None) -> dict[str, Any]:
    """What changed from one capture to a later one: {name, at, changes, unread}, or {problem}. Empty without any."""
    if not paths:
        return {}
    if isinstance(paths, str) or len(paths) != 2:
        return {"problem": "drift_captures must be a list of two paths: an earlier capture and a later one."}
    first, last = (os.path.expanduser(str(path)) for path in paths)
    try:
        before, after = Capture(first), Capture(last)
        found, missing = compare.compared(before, after, parsed)
        table = f"{last}.secret.json"
        names = compare.originals(names_of(table)) if os.path.exists(table) else {}
    except OperatorError as error:
        return {"problem": error.message}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        return {"problem": f"Cannot compare {first} with {last}. Unexpected content: {why}. Take both again."}
    if compare.share_names(before, after) is False:
        return {
            "problem": "No host is in both captures. Put the table of pseudonyms of the earlier capture beside the "
            "later one before you take it."
        }
    changes = [
        {
            "object": compare.renamed(f"{one.kind} {one.name}".strip(), names),
            "setting": f"{one.part} {one.what}".strip() or "exists",
            "before": compare.renamed(spoken(one.before), names),
            "after": compare.renamed(spoken(one.after), names),
        }
        for one in found
        if (one.kind, one.what) not in OPERATION
    ]
    times = [str(row["time"]) for row in before.manifest["coverage"].values() if row.get("time")]
    return {"name": os.path.basename(first), "at": max(times, default=""), "changes": changes, "unread": missing}


def rows(found: Mapping[str, Any]) -> Iterator[Row]:
    """One row for each change, and for each kind of objects that only one capture has."""
    if found.get("problem"):
        yield unread(STAGE, "captures", EVERYTHING, str(found["problem"]))
    for one in found.get("changes") or ():
        texts = {"requested": one["before"], "found": one["after"], "run": found["name"], "since": found["at"]}
        yield Row(STAGE, one["object"], one["setting"], CHANGED, **texts)
    for kind in found.get("unread") or ():
        yield unread(STAGE, f"each {kind}", EVERYTHING, "Only one of the captures has any. Take both in the same way.")
