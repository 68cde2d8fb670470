# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One thing that was looked at before a run, and how the answer of a module becomes one. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

OK, CHANGED, OPEN, BLOCKS = "ok", "will be changed", "open", "blocks"
# The worst last.
STATES = (OK, CHANGED, OPEN, BLOCKS)
SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z`]|vCenter\b)")
# How sentences begin that say what to do.
TODO = re.compile(
    r"(Add|Ask|Check|Choose|Connect|Correct|Create|Free|Give|Install|List|Look|Make|Mend|Move|Name|Open|Power|Put|Remove|Repair|"
    r"Run|See|Set|Shut|Start|Stop|Switch|Take|Update|Use|Wait|Write)\b"
)


@dataclass(frozen=True)
class Finding:
    """where, what of it, and its state; what was found, what was wanted, what to do."""

    category: str
    where: str
    what: str
    state: str
    found: str = ""
    wanted: str = ""
    todo: str = ""


def sentence(text):
    """A text as a sentence."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def failed(answer):
    """Whether a module said that it could not do what it was asked for, or was not even reached.

    Where a task may fail its answer says that it did not, and tells the failure all the same.
    """
    return bool(answer and (answer.get("failed") or answer.get("unreachable") or answer.get("failure")))


def code_of(answer):
    return (answer.get("failure") or {}).get("code") or ("unreachable" if answer.get("unreachable") else "")


def refusal(category, where, what, answer, state=BLOCKS, todo=""):
    """What a module refused, as a finding; its message tells what was wanted, what is there, what to do, in order."""
    text = " ".join(str(answer.get("msg") or "No reason was told.").split())
    subject = (answer.get("failure") or {}).get("subject")
    for opening in ("Task failed", "Module failed", subject, where):
        if opening and text.startswith(f"{opening}: "):
            text = text[len(opening) + 2 :]
    sentences = SENTENCES.split(text)
    wanted = sentences.pop(0) if len(sentences) > 1 else ""
    # What is left begins with what is there, and ends with what to do.
    turn = next((place for place, one in enumerate(sentences) if place and TODO.match(one)), len(sentences) - 1)
    turn = turn or len(sentences)
    advice = " ".join(sentences[turn:])
    found = " ".join(sentences[:turn])
    return Finding(category, where, what, state, found, wanted, todo or advice or "See the message, and mend it.")


def once(findings):
    """Without what was told of a host before: many modules say the same of one that is away."""
    told = {}
    for one in findings:
        alike = (one.where, one.found, one.wanted) if one.state == BLOCKS and one.category in ("hosts", "bmc") else one
        told.setdefault(alike, one)
    return list(told.values())
