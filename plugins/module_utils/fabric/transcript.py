# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Split terminal captures into commands and outputs, and report what no parser understood. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Container, Iterable, Mapping, Optional, Sequence, Tuple, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import (
    cleaned,
    complaint,
    complaints,
    from_json,
    without_terminal,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused, brief
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port, as_data

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch

    # The typed text, the command that the platform reads, and its output.
    Section = Tuple[Optional[str], Optional[str], str]


# A prompt followed by the typed text: leaf-01(config-if-Et1)#, leaf [standalone: master] (config) #,
# admin@leaf-01>, cumulus@leaf:mgmt:~$, {master:0}[edit].
_PROMPT = re.compile(
    r"^\s{0,4}(?P<host>\w[\w.:@/~-]{0,79}(?: ?\[[^\]\n]{1,40}\])?(?: ?\([\w./: -]{1,60}\))?)\s?[#>$]\s*"
    r"(?P<typed>.*?)\s*$"
)
_BARE = re.compile(r"^\s{0,4}[#$>]\s+(?P<typed>\S.*?)\s*$")  # documents omit the host
_READS = re.compile(
    r"(?:sudo\s+|do\s+|run\s+)?(?:sho?w?\s|nv\s|cat\s|sonic-|display\s|redis-cli|docker\s|vtysh\s)",
    re.IGNORECASE,
)
# Files with many outputs have a heading line for each command: ------- show version -------, `show version`.
_HEADINGS = (
    re.compile(r"^\s*[-=#*]{2,}\s*(?P<typed>(?:show|nv show|nv config show)\s.*?)\s*[-=#*:]*\s*$"),
    re.compile(r"^\s*`(?P<typed>(?:show|nv)\s[^`]*)`\s*$"),
    re.compile(r"^\s*!\s*Command:\s*(?P<typed>show\s.*?)\s*$", re.IGNORECASE),
    re.compile(r"^(?P<typed>(?:show|nv show|nv config show)\s\S.*?)\s*$"),
)
_MODE = re.compile(r"\((?:config|conf)-if-([A-Za-z]+[\d/.]+)\)")
# Words of commands that select ports, or the format of the output.
_CHOOSE = (
    "ethernet",
    "interfaces",
    "port-channel",
    "vethernet",
    "module",
    "range",
    "all",
    "slot",
    "vrf",
    "default",
    "default-global",
    "management",
    "json",
    "auto",
    "detail",
    "details",
    "expanded",
)
_KINDS = (
    r"Ethernet|Eth|Et|Port-?Channel|Po|Mpo|Vethernet|Veth|Management|Mgmt|Ma|swp|bond|eth|xe-|et-|ge-|ae|"
    r"(?:Two|Ten|TwentyFive|Forty|Fifty|Hundred|TwoHundred|FourHundred)Gig\w*"
)
# Any word with numbers in steps may be a port; ii1/1/1 are links inside a chassis. `vlt-port-channel 3` is a setting of
# a port channel on OS10.
_ROW = re.compile(
    rf"^[\s|*]*(?:Interface:?\s+)?(?!ii\d|vlt-)"
    rf"((?:[A-Za-z]+-)?(?:{_KINDS})\s?\d+(?:[/:.]\d+)*|[A-Za-z][A-Za-z-]*\d+(?:/\d+)+)"
    r"(?=[\s|:,*(]|$)",
    re.IGNORECASE,
)
# Commands that only prepare the terminal.
_PREPARES = re.compile(
    r"(?:en|enable|conf\w*(?:\s+t\w*)?|term\w*|(?:no\s+)?(?:page|cli)\b.*|set cli\b.*|exit|end|quit|logout|interface)"
    r"(?:\s|$)",
    re.IGNORECASE,
)
SHOWN = 60  # most characters of a text in a sentence


def split(text: str) -> list[tuple[str | None, str]]:
    """[(command, output)] of a capture; the command is None if the capture does not name it."""
    rows = without_terminal(text).split("\n")
    marks = [_named(row) for row in rows]
    hosts = {mark[0] for mark in marks if mark and mark[0] and _READS.match(mark[1])}
    found: list[tuple[str | None, str]]
    command: str | None
    kept: list[str]
    found, command, kept = [], None, []
    for row, mark in zip(rows, marks):
        if mark is None or (mark[0] and not (mark[0] in hosts or (hosts and not mark[1]) or _same(mark[0], hosts))):
            kept.append(row)
            continue
        if command is not None or any(one.strip() for one in kept):
            found.append((command, "\n".join(kept)))
        command, kept = (_at_port(mark) if mark[1] else ""), []
    found.append((command, "\n".join(kept)))
    # Skip typed text without output, such as terminal length 0.
    return [
        (command, output)
        for command, output in found
        if (command and _READS.match(f"{command} "))
        or (_says(output) if not command else output.strip() and not _PREPARES.match(command))
    ]


def _says(text: str) -> bool:
    """Return whether a text has more than comments."""
    return any(re.search(r"\w", line) and not re.match(r"\s*[!#]", line) for line in cleaned(text))


def spelled(typed: str, commands: Iterable[str]) -> str | None:
    """The full command for a typed text, followed by its arguments; None if it is none of these commands.

    Words may be abbreviated (sh int eth1/1), and arguments may be anywhere in between.
    """
    words = re.sub(r"^(?:sudo|do|run)\s+", "", typed.split("|")[0].strip(), flags=re.IGNORECASE).split()
    for command in sorted(commands, key=lambda one: (-len(one.split()), one)):
        arguments = _arguments(words, command.split())
        if arguments is not None:
            return " ".join([command, *arguments])
    return None


def _arguments(words: Iterable[str], command: Sequence[str]) -> list[str] | None:
    """The remaining words after a command, which are its arguments; None if it is another command."""
    place, rest = 0, []
    for word in words:
        expected = command[place] if place < len(command) else ""
        if expected and _is_short(word.lower(), expected):
            place += 1
        elif _is_argument(word.lower()):
            rest.append(word)
        else:
            return None
    return rest if place == len(command) else None


def _is_short(word: str, whole: str) -> bool:
    if whole.startswith("-"):
        return word == whole
    return whole.startswith(word) or (len(word) > 3 and whole.startswith(word.rstrip("s")))


def _is_argument(word: str) -> bool:
    if re.search(r"\d", word) or word == "*" or re.match(r"-{1,2}[\w-]", word):
        return True
    return any(len(word) > 1 and one.startswith(word) for one in _CHOOSE)


def _named(row: str) -> tuple[str, str] | None:
    """(host, typed text) of a heading or a prompt; None for a line of an output."""
    for pattern in _HEADINGS:
        found = pattern.match(row)
        if found:
            return "", found.group("typed")
    found = _PROMPT.match(row)
    if found:
        return found.group("host"), found.group("typed")
    found = _BARE.match(row)
    if found and _READS.match(f"{found.group('typed')} "):
        return "", found.group("typed")
    return None


def _same(host: str, hosts: Iterable[str]) -> bool:
    """Return whether a prompt belongs to a known switch in another mode."""
    return _stem(host) in {_stem(one) for one in hosts}


def _stem(host: str) -> str:
    return re.split(r"[\s(\[:]", host)[0]


def _at_port(mark: tuple[str, str]) -> str:
    """The typed text, with the port of its configuration mode."""
    host, typed = mark
    mode = _MODE.search(host)
    return f"{typed} {mode.group(1)}" if mode and not re.search(r"\d", typed) else typed


def rows_of_ports(output: str) -> list[str]:
    """The port names at the start of lines of an output."""
    if from_json(output) is not None:
        return []
    # A port without a neighbour has no data to lose.
    found = (_ROW.match(line) for line in output.split("\n") if "detected 0 LLDP neighbors" not in line)
    return list(dict.fromkeys(one.group(1).replace(" ", "") for one in found if one))


def first_words(text: str) -> str:
    """The first line of a text, shortened, as its name."""
    line = next((" ".join(one.split()) for one in text.split("\n") if re.search(r"\w", one)), "")
    return line if len(line) <= SHOWN else f"{line[:SHOWN].rstrip()}..."


def sections(platform: Platform, command: str | None, text: str) -> list[Section]:
    """[(typed text, command, output)] of one capture; the command is None if the platform does not read it."""
    found = []
    for typed, output in split(text):
        named = typed or command
        known = platform.spelled(named) if named else None
        # A name that is no command, such as a file name, is ignored; the form of the output decides.
        if known is None and not (named and _READS.match(f"{named.strip()} ")):
            known = platform.command_of(output)
        found.append((typed or command or known, known, output))
    # Report the output of a named command even if it is empty.
    return found or [(command, platform.spelled(command), "")] if command else found


def heard(platform: Platform, parts: Iterable[Section]) -> Switch:
    """The Switch in sections, with everything that was not understood in `unread`."""
    texts: dict[str, str]
    unread: list[str]
    texts, unread = {}, []
    for typed, command, output in parts:
        why = complaint(output)
        if why is not None:
            unread.append(str(Refused(typed or first_words(output), why)))
        elif command is None:
            unread.append(_not_read(platform, typed, output))
        else:
            unread += [str(Refused(cast("str", typed), line)) for line in complaints(output)]
            texts[_unique(command, texts)] = output
    switch = complete(platform.parse(texts))
    switch.unread += unread + unheard(platform, texts, switch)
    return switch


def _unique(command: str, texts: Container[str]) -> str:
    """A unique key with the same meaning, for a command that was run for several ports."""
    while command in texts:
        command += " "
    return command


def unheard(platform: Platform, texts: Mapping[str, str], whole: Switch, live: bool = False) -> list[str]:
    """Sentences about outputs and rows whose content is missing in the Switch.

    live: outputs of a connected switch may be empty, and the platform knows each command.
    """
    found = []
    for command, output in platform.apart(texts).items():
        if live and not output.strip():
            continue
        name = brief(command)
        alone = complete(platform.parse({command: output}))
        if not live and not _reports(alone) and not (alone.config and whole.ports):
            found += [] if alone.unread else [_nothing(platform, name, output, alone)]
            continue
        known = {_alike(port) for port in alone.ports}
        rows = [] if command.strip().startswith(platform.without_ports) or EVERY & known else rows_of_ports(output)
        lost = [row for row in rows if not {_alike(row), _alike(row.partition(":")[0])} & known]
        lost = [row for row in lost if not re.match(platform.management, row, re.IGNORECASE)]
        lost = [row for row in lost if not any(re.search(rf"\b{re.escape(row)}\b", one) for one in alone.unread)]
        if lost:
            found.append(
                f"Cannot read {', '.join(lost[:8])}{' and others' if lost[8:] else ''} in `{name}`. The form of such a "
                f"line is not known for {platform.title}. Look at these ports on the switch."
            )
    return found


def _nothing(platform: Platform, name: str, output: str, alone: Switch) -> str:
    if not output.strip():
        return f"Cannot read `{name}`. Its output is empty. Run the command again, and give its whole output."
    if alone.config:
        return f"Cannot assign `{name}`. It names no port. Give the configuration of the interfaces with it."
    return (
        f"Cannot read `{name}`. No line of its output has a form that is known for {platform.title}. Give the whole "
        "output as the switch prints it."
    )


def complete(switch: Switch) -> Switch:
    """The Switch, with a Port for every name with a running state or a neighbour."""
    for name in (*switch.oper, *switch.neighbours):
        switch.ports.setdefault(name, Port())
    return switch


def _reports(switch: Switch) -> bool:
    """Return whether a Switch has known values, apart from port names."""
    reported = as_data(switch)
    values = [reported[key] for key in ("hostname", "version", "model", "exceptions")]
    return any(values) or reported["unsaved"] is not None or any(map(_known, reported["ports"].values()))


def _known(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_known, value.values())) if {*value} & {"running", "counters"} else bool(value)
    return value not in (None, [])


def _not_read(platform: Platform, typed: str | None, output: str) -> str:
    if typed is None:
        return (
            f"Cannot read the text that begins with {first_words(output)!r}. No command is named for it, and its form "
            f"is not known for {platform.title}. Give it as the value of its command."
        )
    return (
        f"Cannot read `{brief(typed)}`. The module does not read this command on {platform.title}. "
        f"docs/switches/{platform.name}.md lists the commands that it reads."
    )


def _alike(name: str) -> str:
    """One key for the spellings of one port: Et1, Eth1, Ethernet1."""
    found = re.match(r"([A-Za-z][A-Za-z-]*?)-?(\d\S*)$", name)
    if not found:
        return name.lower()
    kind = found.group(1).lower()
    first = next((letter for letter, kinds in _ALIKE.items() if kind in kinds), kind)
    return first + found.group(2).partition(".")[0].strip("*:")


_ALIKE = {
    "e": ("et", "eth", "ethernet"),
    "p": ("po", "port-channel", "portchannel"),
    "m": ("ma", "mgmt", "management"),
    "v": ("veth", "vethernet"),
    "mpo": ("mpo", "mlag-port-channel"),
}
EVERY = {"*", "all"}  # names for all ports
