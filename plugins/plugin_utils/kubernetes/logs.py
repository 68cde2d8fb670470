# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Logs of pods within a limit. A pod may print anything, without an end. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The role requests one line more from the API server, so that a cut log is seen. kernel logs have some thousand lines.
LINES = 20_000
# Characters of one line, and of a log.
WIDTH, SIZE = 4_096, 4 * 1024 * 1024


def bounded(log: object) -> tuple[str, str]:
    """(the last lines of a log within the limits, what was cut in words or an empty text)."""
    text, cut = str(log or ""), []
    if len(text) > SIZE:
        # The first line of the rest is no whole line.
        text = text[-SIZE:].partition("\n")[2]
        cut.append(f"Only the last {SIZE // 1024 // 1024} MiB are used.")
    lines = text.splitlines()
    if len(lines) > LINES:
        lines = lines[-LINES:]
        cut.append(f"Only the last {LINES} lines are used.")
    if any(len(line) > WIDTH for line in lines):
        lines = [line[:WIDTH] for line in lines]
        cut.append(f"Lines are cut to {WIDTH} characters.")
    if not cut:
        return text, ""
    return "".join(f"{line}\n" for line in lines), f"Its log is cut. {' '.join(cut)}"


def logs(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{texts: {name of a pod: its log within the limits}, cut: [a sentence for each log that was cut]}."""
    texts, cut = {}, []
    for one in results:
        if "log" not in one:
            continue
        name = one["item"]["metadata"]["name"]
        texts[name], reason = bounded(one["log"])
        if reason:
            cut.append(f"The pod {short(name)} printed too much. {reason} Results at the beginning may be missing.")
    return {"texts": texts, "cut": cut}
