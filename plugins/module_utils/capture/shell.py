# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The shell of a host or guest in a capture: only the listed commands, and what was refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Protocol, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import esxcli_fields, hosts
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.args import CAPTURE
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_text import HostText
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.shell_commands import (
    DEVICE,
    GUEST_LIMIT,
    GUEST_LINES,
    HOST_LINES,
    XML,
    Line,
    devices,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

    class Done(Protocol):
        """A command that ended."""

        @property
        def rc(self) -> int: ...

        @property
        def stdout(self) -> str: ...

        @property
        def text(self) -> str: ...


ARGUMENTS = CAPTURE
HOST_ARGUMENTS = dict(CAPTURE, esxcli={"type": "bool", "default": False})
# Characters of one output. `lspci -vvv` has about 3 kB for each device.
LARGEST = 4 * 1024 * 1024
_NOT_FOUND = (126, 127)
# Exit statuses of `timeout` itself.
_TIMED_OUT = (124, 137)
_WORDS_OF_REFUSAL = 200
_NAME = 60


@dataclass(frozen=True)
class ShellCaptureRequest:
    """The capture of one host or guest as a task requests it."""

    dest: str
    keep: List[str]
    esxcli: bool = False


@dataclass(frozen=True)
class Kind:
    """Hosts or guests: their folder, the kind of their pseudonyms, their commands, and what limits the time of each."""

    folder: str
    pseudonym: str
    source: str
    lines: Sequence[Line]
    limit: tuple[str, ...] = ()


HOST = Kind("hosts", "host", "shell", HOST_LINES)
GUEST = Kind("guests", "vm", "guest", GUEST_LINES, GUEST_LIMIT)


class Unreachable(Exception):
    """The connection to a host or guest failed."""


@dataclass
class Output:
    """One command. Without an answer, refused or skipped has the reason."""

    words: tuple[str, ...]
    form: str
    time: str
    text: str = ""
    answered: bool = False
    refused: str = ""
    # Words of the program itself.
    complaint: str = ""
    skipped: str = ""


@dataclass
class Outputs:
    """What one host or guest answered, before any text is replaced."""

    outputs: list[Output] = field(default_factory=list)
    esxcli: hosts.Answers = field(default_factory=hosts.Answers)
    lost: bool = False


def read(kind: Kind, run: Callable[[Iterable[str]], Done], esxcli: bool = False) -> Outputs:
    """Send all commands. run raises Unreachable if the connection fails."""
    found = Outputs()
    try:
        if esxcli:
            found.esxcli = hosts.read(ShellEsxcli(run))
        for line in kind.lines:
            for words in _each(line, found):
                _ask(Output(words, line.form, hosts.now()), lambda asked: run((*kind.limit, *asked)), found)
    except Unreachable:
        found.lost = True
    return found


def _each(line: Line, found: Outputs) -> list[tuple[str, ...]]:
    """The words of each call."""
    if DEVICE not in line.words:
        return [line.words]
    source = next((one for one in found.outputs if one.words == line.after and one.answered), None)
    if source is None:
        why = "The answer with the adapters is missing."
        found.outputs.append(Output(line.words, line.form, hosts.now(), skipped=why))
        return []
    return [tuple(device if word == DEVICE else word for word in line.words) for device in devices(source.text)]


def _ask(asked: Output, run: Callable[[Iterable[str]], Done], found: Outputs) -> None:
    found.outputs.append(asked)
    try:
        done = run(asked.words)
    except Unreachable:
        asked.refused = "unreachable"
        raise
    # A command whose output was cut has no status of its own.
    if len(done.stdout) >= LARGEST:
        asked.refused = "too_large"
    elif done.rc in _NOT_FOUND:
        asked.refused = "not_found"
    elif done.rc in _TIMED_OUT:
        asked.refused = "timed_out"
    elif done.rc != 0:
        asked.refused, asked.complaint = f"status {done.rc}", done.text[:_WORDS_OF_REFUSAL]
    else:
        # A program can print bytes that are no text.
        asked.text = done.stdout.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")
        asked.answered = True


class ShellEsxcli:
    """esxcli in the shell of a host, for hosts.read()."""

    def __init__(self, run: Callable[[Iterable[str]], Done]) -> None:
        self._run = run

    def call(self, command: str, **arguments: str) -> Any:
        """The answer of a command."""
        options = [f"--{name.replace('_', '-')}={value}" for name, value in arguments.items()]
        done = self._run(["esxcli", "--formatter=json", *command.split("."), *options])
        if len(done.stdout) >= LARGEST:
            raise OperatorError("esxcli", "failed", "Its answer is too large", "", "esxcli_failed")
        if done.rc != 0:
            raise OperatorError("esxcli", "failed", "It was refused", "", "esxcli_failed")
        text = done.stdout.strip()
        # A command without fields prints a plain text.
        return json.loads(text) if text[:1] in ('"', "[", "{") else text


def addition(kind: Kind, names: Sequence[str], outputs: Outputs, keep_names: bool, table: Table) -> Addition:
    """The files of one host or guest. names: those of the inventory; the first one that vCenter knows counts."""
    own = _own(kind, names, table)
    scrub = Scrubber(table, keep_names)
    text = HostText(scrub)
    source, folder = f"{kind.source} {own}", f"{kind.folder}/{own}/shell/"
    made = Addition(source, (folder,), texts=scrub.counts, dropped=scrub.dropped)
    listed: list[dict[str, Any]] = []
    for call in outputs.esxcli.calls:
        words = call.words.split()
        value = json.dumps(esxcli_fields.answer(scrub, call.command, call.value), indent=1, sort_keys=True)
        _put(made, listed, folder, words, (value + "\n", "json") if call.answered else None, call)
    for one in outputs.outputs:
        reported = (text.reported(one.form, one.text), "xml" if one.form == XML else "txt") if one.answered else None
        if one.complaint:
            one.refused = f"{one.refused}: {' '.join(text.reported('text', one.complaint).split())}"
        _put(made, listed, folder, [one.words[0].rpartition("/")[2], *one.words[1:]], reported, one)
    if outputs.lost:
        made.coverage[source] = {"answered": False, "refused": {"": "unreachable"}, "time": hosts.now()}
    made.files[f"{folder}commands.json"] = json.dumps({"commands": listed}, indent=1) + "\n"
    return made


def _put(
    made: Addition,
    listed: list[dict[str, Any]],
    folder: str,
    words: Sequence[str],
    reported: tuple[str, str] | None,
    call: Output | hosts.Call,
) -> None:
    label = f"{len(listed) + 1:03}-{re.sub(r'[^A-Za-z0-9]+', '-', ' '.join(words))[:_NAME].rstrip('-')}"
    file = f"{label}.{reported[1]}" if reported else None
    if reported and file:
        made.files[folder + file] = reported[0]
    row: dict[str, Any] = {"answered": call.answered, "time": call.time}
    row["refused"] = {"": call.refused} if call.refused else {}
    if call.skipped:
        row["skipped"] = call.skipped
    made.coverage[f"{made.source}/{label}"] = row
    listed.append({"command": " ".join(words), "file": file})


def _own(kind: Kind, names: Sequence[str], table: Table) -> str:
    """The pseudonym of a host or guest."""
    given = [name for name in names if name]
    shorts = [name.lower().partition(".")[0] for name in given if not table.address(name)]
    own = next((table.known[name] for name in [*map(str.lower, given), *shorts] if name in table.known), None)
    if own is None:
        return table.learn(kind.pseudonym, given[0])
    table.known.setdefault(given[0].lower(), own)
    return own


def result(dest: str, made: Addition, keep_names: bool) -> dict[str, Any]:
    """What the modules return."""
    answered = sum(1 for one in made.coverage.values() if one["answered"])
    return {
        "dest": dest,
        "secret": f"{dest}.secret.json",
        "source": made.source,
        "anonymised": not keep_names,
        "sources": {"answered": answered, "unread": len(made.coverage) - answered},
        "refused": {name: one["refused"] for name, one in made.coverage.items() if one["refused"]},
        "skipped": {name: one["skipped"] for name, one in made.coverage.items() if one.get("skipped")},
        "texts": dict(made.texts),
        "dropped": dict(made.dropped),
    }
