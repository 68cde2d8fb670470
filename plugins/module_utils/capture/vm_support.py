# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Texts of esxcli in a bundle of vm-support, for the commands that a capture also sends.

A bundle has the output of each command in commands/, such as localcli_software-vib-list.txt. [unsure: the names are
those of public programs that read bundles of ESXi 6.7 to 8.0]
"""

from __future__ import annotations

import os
import re
import tarfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import hosts
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_commands import COMMANDS
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

FOLDER = "commands"
ABSENT = "The bundle has no output of it."
STRANGE = "unreadable"
OTHER = "not read: a capture does not send this command"
# Members of an archive that are read. A bundle of a host has about 10,000.
MOST_MEMBERS = 200_000
# What is read behind the last member, which is padding.
_MOST_PADDING, _BLOCK = 64, 1024 * 1024
_ESXCLI = re.compile(r"(?:localcli|esxcli)_(?P<words>[^/]+)\.txt")
_HOST = re.compile(r"VMkernel\s+(?P<name>[A-Za-z0-9][\w.-]{0,253})\s")
# Words of a command without arguments, which contain nothing of a site.
_WORDS = re.compile(r"[a-z]+[a-z0-9]*(?:-[a-z][a-z0-9]*){1,7}-(?:list|get)")
_UNAME = "uname_-a.txt"
_NAMES = {one.name.lower().replace(".", "-"): one for one in COMMANDS if one.each is None}
_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_PAIR = re.compile(r"\s+(?P<key>[A-Za-z][\w /()-]{0,60}):(?:\s(?P<value>.*))?")


@dataclass
class Bundle:
    """The outputs of one host by the words of their file. others: those that a capture does not use."""

    host: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)


def is_bundle(folder: str, names: Iterable[str]) -> bool:
    """Whether a folder has the outputs of commands."""
    return os.path.basename(folder) == FOLDER and any(_ESXCLI.fullmatch(name) for name in names)


def of_files(names: Iterable[str], text: Callable[[str], str | None]) -> Bundle:
    """A bundle of these files. text: the content of a file, None for one that is not text or too large."""
    made = Bundle()
    for name in sorted(names):
        found = _ESXCLI.fullmatch(name)
        if name == _UNAME:
            reported = _HOST.match(text(name) or "")
            made.host = reported["name"] if reported else ""
        elif found and _is_read(name):
            made.texts[found["words"].lower()] = text(name) or ""
        elif found:
            made.others.append(found["words"])
    return made


def _is_read(name: str) -> bool:
    """Whether a capture has a use for the content of a file; of the others, only the name counts."""
    found = _ESXCLI.fullmatch(name)
    return name == _UNAME or (found is not None and found["words"].lower() in _NAMES)


def of_archive(path: str, largest: int) -> Bundle | None:
    """The bundle in a tgz; None if there is none. Nothing is unpacked, and links are not followed."""
    found: dict[str, str | None] = {}
    with tarfile.open(path, "r:*") as archive:
        for number, one in enumerate(archive):
            folder, _slash, name = one.name.rpartition("/")
            if number > MOST_MEMBERS:
                break
            if not one.isreg() or os.path.basename(folder) != FOLDER:
                continue
            if not (_ESXCLI.fullmatch(name) or name == _UNAME):
                continue
            file = archive.extractfile(one) if one.size <= largest and _is_read(name) else None
            found[name] = file.read().decode("utf-8", "replace") if file is not None else None
        _to_its_end(archive)
    return of_files(found, found.__getitem__) if is_bundle(FOLDER, found) else None


def _to_its_end(archive: tarfile.TarFile) -> None:
    """Read what is behind the last member: the checksum there shows whether the archive is whole."""
    for _number in range(_MOST_PADDING):
        if archive.fileobj is None or not archive.fileobj.read(_BLOCK):
            break


def addition(bundle: Bundle, taken: Iterable[str], table: Table, keep_names: bool) -> Addition:
    """The files of the host. taken: the files of the capture, whose answers of another time stay."""
    answers = hosts.Answers()
    for words, command in _NAMES.items():
        call = hosts.Call(command, " ".join(["esxcli", *command.name.split(".")]), hosts.now())
        answers.calls.append(call)
        if words not in bundle.texts:
            call.skipped = ABSENT
            continue
        value = parsed(bundle.texts[words], command.name.endswith(".list"))
        if value is None:
            call.refused = STRANGE
        else:
            call.value, call.answered = value, True
    made = hosts.addition(bundle.host, answers, keep_names, table)
    if any(name.startswith(made.folders) for name in taken):
        raise OperatorError(
            bundle.host,
            "cannot import the bundle of the host",
            "The capture has the answers of this host from another time.",
            "Use another path for the capture",
            "capture_not_written",
        )
    plain = [words for words in bundle.others if _WORDS.fullmatch(words)]
    for words in plain:
        made.coverage[f"{made.source}/{words}"] = _unread(OTHER)
    rest = len(bundle.others) - len(plain)
    if rest:
        made.coverage[f"{made.source}/commands with arguments"] = _unread(f"not read: {rest} files")
    return made


def _unread(why: str) -> dict[str, Any]:
    return {"answered": False, "refused": {"": why}, "time": None}


def parsed(text: str, many: bool = False) -> Any:
    """The value of an output: rows of a table, blocks of fields, one block, or one line. None for another form.

    many: whether the command prints a list, which can have one block.
    """
    lines = [line.rstrip() for line in text.replace("\r", "").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines or lines[0].startswith("Error"):
        return None
    if len(lines) > 1 and re.fullmatch(r"-+(?:\s+-+)*", lines[1].strip()):
        return _table(lines)
    if len(lines) == 1 and not lines[0].startswith(" "):
        return lines[0]
    return _blocks(lines, many)


def _table(lines: list[str]) -> list[dict[str, str]]:
    spans = [match.span() for match in re.finditer(r"-+", lines[1])]
    # A cell that is longer than its column ends where the next one begins.
    ends = [start for start, _end in spans[1:]] + [None]
    places = [(start, end) for (start, _end), end in zip(spans, ends)]
    names = [lines[0][start:end].strip() for start, end in places]
    return [
        {name: line[start:end].strip() for name, (start, end) in zip(names, places) if name}
        for line in lines[2:]
        if line
    ]


def _blocks(lines: list[str], many: bool) -> Any:
    """Fields are indented. A line without indent, or an empty one, begins the block of one object."""
    blocks: list[dict[str, str]] = [{}]
    headers = 0
    for line in lines:
        pair = _PAIR.fullmatch(line)
        if not line:
            blocks.append({})
        elif not line.startswith(" "):
            headers += 1
            # Some commands print the address of a device only here.
            blocks.append({"Address": line} if _ADDRESS.fullmatch(line) else {})
        elif pair:
            blocks[-1][pair["key"]] = (pair["value"] or "").strip()
        else:
            return None
    blocks = [one for one in blocks if one]
    if not blocks:
        return None
    return blocks if many or len(blocks) > 1 or headers > 1 else blocks[0]
