# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The outputs of one switch for a capture: the commands of roce_qos_info and of captures, and what was refused."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, List

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.args import CAPTURE
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import MAC
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_text import SwitchText
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_words import WORDS
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.params import PLATFORM
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.text import MARK
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, Refused, again

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

ARGUMENTS = dict(CAPTURE, **PLATFORM)
# Characters of one output. The running configuration of a switch with 64 ports has about 100 kB.
LARGEST = 4 * 1024 * 1024
_LONGEST = 48
NOTHING = "It printed nothing."
TOO_LARGE = "too_large"


@dataclass(frozen=True)
class SwitchCaptureRequest:
    """The capture of one switch as a task requests it."""

    dest: str
    keep: List[str]


@dataclass
class Outputs:
    """What one switch answered: outputs, refusals and times by command; lost is the end of the session."""

    texts: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    lost: Lost | None = None


def read(platform: Platform, session: Session) -> Outputs:
    """The outputs of all commands for all ports."""
    found = Outputs()
    try:
        _ask(platform.reads([]), session, found)
        # Some commands need the names of the ports.
        _ask(platform.reads(sorted(platform.parse(found.texts).ports)), session, found)
        _ask(platform.captured, session, found)
    except Lost as loss:
        found.lost = loss
    return found


def _ask(commands: Iterable[str], session: Session, found: Outputs) -> None:
    for command in commands:
        if command not in found.times:
            found.times[command] = _now()
            try:
                text = again(session, lambda asked=command: session.run(asked))  # type: ignore[misc]
                if len(text) > LARGEST:
                    raise Refused(command, TOO_LARGE)
                found.texts[command] = text
            except Refused as refusal:
                found.refused[command] = refusal.complaint


def addition(
    platform: Platform, name: str, names: Iterable[str], outputs: Outputs, table: Table, keep_names: bool
) -> Addition:
    """The files of one switch. names: the inventory's names of all switches."""
    switch = platform.parse(outputs.texts)
    own = _learn(table, name, names, switch)
    scrub = Scrubber(table, keep_names)
    text = SwitchText(scrub, [switch.model, switch.version], platform.reads([]))
    source, folder = f"switch {own}", f"switches/{own}/"
    config = f"snapshot/configs/{own}.cfg"
    made = Addition(source, (folder, config), texts=scrub.counts, dropped=scrub.dropped)
    listed: list[dict[str, Any]] = []
    for number, (command, time) in enumerate(outputs.times.items(), 1):
        label = f"{number:02}-{_slug(command)}"
        answered = command in outputs.texts
        if answered:
            made.files[f"{folder}{label}.txt"] = text.output(outputs.texts[command])
        refused = _silent(command, outputs.texts[command]) if answered else {"": "The session ended."}
        if command in outputs.refused:
            complaint = outputs.refused[command]
            refused = {"": complaint if complaint == TOO_LARGE else text.output(complaint)}
        made.coverage[f"{source}/{label}"] = {"answered": answered, "refused": refused, "time": time}
        listed.append({"command": command, "file": f"{label}.txt" if answered else None})
    if outputs.lost is not None:
        made.coverage[source] = {"answered": False, "refused": {"": type(outputs.lost).__name__}, "time": _now()}
    first = next(iter(made.files.items()), None)
    if first is not None and not platform.shell:
        made.files[config] = first[1]
    reported = {"platform": platform.name, "version": switch.version, "model": switch.model, "commands": listed}
    made.files[f"{folder}commands.json"] = json.dumps(reported, indent=1) + "\n"
    return made


def _learn(table: Table, name: str, names: Iterable[str], switch: Switch) -> str:
    """Teach the table the names of all switches and of their neighbours; the pseudonym of this switch."""
    for one in sorted({*names, name}):
        if _is_name(table, one):
            table.learn("switch", one)
    own = table.known.get(name.lower()) or table.name("switch", name)
    if switch.hostname and _is_name(table, switch.hostname):
        table.known.setdefault(switch.hostname.lower(), own)
    systems = [one.system for neighbours in switch.neighbours.values() for one in neighbours]
    for system in systems:
        if system and _is_name(table, system) and system.lower().partition(".")[0] not in table.known:
            table.learn("device", system)
    return own


def _is_name(table: Table, text: str) -> bool:
    """Whether a text identifies a device. The default name of a platform, such as sonic, does not."""
    return not (text.lower() in WORDS or text.isdecimal() or MAC.fullmatch(text) or table.address(text))


def _silent(command: str, output: str) -> dict[str, str]:
    """The parts of a joined command that printed nothing. Their errors are lost, so their content is unknown."""
    if "2>/dev/null" not in command:
        return {}
    parts = re.split(rf"^{MARK}(.+?)\s*$", output, flags=re.MULTILINE)
    named = zip(parts[1::2], parts[2::2]) if len(parts) > 1 else [("", output)]
    return {name: NOTHING for name, text in named if not text.strip()}


def _slug(command: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", command.lower()).strip("-")[:_LONGEST].rstrip("-")


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
