# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One finding of preflight, also from the answer of a module. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.keys import in_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OK, CHANGED, OPEN, BLOCKS = "ok", "will be changed", "open", "blocks"
# The worst last.
STATES = (OK, CHANGED, OPEN, BLOCKS)
# Fix for a check that did not run.
AGAIN = "Fix the blocking problems, and run preflight again."
SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z`]|vCenter\b)")
# Other words in lower case at the beginning are names and values, such as grid_a100-40c.
OPENINGS = frozenset(
    [
        "a",
        "an",
        "all",
        "any",
        "at",
        "both",
        "by",
        "each",
        "every",
        "exactly",
        "expected",
        "for",
        "from",
        "if",
        "in",
        "is",
        "it",
        "its",
        "needs",
        "no",
        "none",
        "of",
        "on",
        "one",
        "only",
        "some",
        "that",
        "the",
        "there",
        "these",
        "this",
        "to",
    ]
)
# First words of sentences that state a fix.
TODO = re.compile(
    r"(Add|Ask|Assign|Attach|Change|Check|Choose|Clone|Compare|Configure|Connect|Copy|Correct|Create|"
    r"Delete|Disable|Download|Enable|Enter|Exit|Expand|Fix|Free|Give|Grant|Increase|Install|Leave|List|Load|"
    r"Log|Look|Lower|Make|Mend|Move|Name|Open|Power|Put|Raise|Reboot|Register|Remove|Renew|Repair|"
    r"Replace|Reserve|Reset|Restart|Restore|Resume|Run|See|Set|Shut|Start|Stop|Switch|Synchronise|Take|"
    r"Try|Unpack|Update|Upload|Use|Wait|Write)\b"
)


@dataclass(frozen=True)
class Finding:
    """where, what of it, and its state; then the found value, the required value and the fix."""

    category: str
    where: str
    what: str
    state: str
    found: str = ""
    wanted: str = ""
    todo: str = ""
    code: str = ""  # of a module's failure


def sentence(text: str) -> str:
    """A text as a sentence. Its first word keeps its letters where that may be a name or a value."""
    text = text.strip()
    first = text.partition(" ")[0]
    opening = text[:1].upper() if first in OPENINGS else text[:1]
    return f"{opening}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def failed(answer: Mapping[str, Any] | None) -> bool:
    """Whether a module said that it could not do what it was asked for, or was not even reached.

    Where a task may fail its answer says that it did not, and reports the failure all the same.
    """
    return bool(answer and (answer.get("failed") or answer.get("unreachable") or answer.get("failure")))


def code_of(answer: Mapping[str, Any]) -> str:
    return (answer.get("failure") or {}).get("code") or ("unreachable" if answer.get("unreachable") else "")


def refusal(
    category: str,
    where: str,
    what: str,
    answer: Mapping[str, Any],
    state: str = BLOCKS,
    todo: str = "",
    again: str = "preflight",
) -> Finding:
    """What a module refused, as a finding: the sentences of its message in their order, with the advice apart.

    again: the playbook to run after the fix, where the message has no advice.
    """
    text = in_site(" ".join(_reason(answer).split()))
    subject = (answer.get("failure") or {}).get("subject")
    for opening in ("Task failed", "Module failed", "Action failed", subject, where):
        if opening and text.startswith(f"{opening}: "):
            text = text[len(opening) + 2 :]
    sentences = SENTENCES.split(text)
    # Advice comes last, and mostly begins with a known verb; errors of the collection have it as their third sentence.
    advised = [place for place, one in enumerate(sentences) if place and TODO.match(one)]
    turn = next(iter(advised), len(sentences) - 1 if len(sentences) > 2 else None)
    advice = "" if turn is None else " ".join(sentences[turn:])
    found = sentence(" ".join(sentences[:turn]))
    todo = todo or advice or f"Correct this, and run {again} again."
    return Finding(category, where, what, state, found, "", todo, code_of(answer))


def _reason(answer: Mapping[str, Any]) -> str:
    """What an answer says of its failure; modules that end without a message leave it elsewhere."""
    for key in ("msg", "reason", "module_stderr", "stderr", "exception", "module_stdout", "stdout"):
        text = str(answer.get(key) or "").strip()
        if text:
            return text
    return "The task gave no result. Its output is above."


def once(findings: Iterable[Finding]) -> list[Finding]:
    """Without what was reported of a host before: many modules say the same of one that is away."""
    reported: dict[object, Finding] = {}
    for one in findings:
        alike = (one.where, one.found, one.wanted) if one.state == BLOCKS and one.category in ("hosts", "bmc") else one
        reported.setdefault(alike, one)
    return list(reported.values())
