# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Hosts in a capture: esxcli through vCenter, several hosts at the same time, and what each refused."""

from __future__ import annotations

import datetime
import functools
import json
import re
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, Mapping
from xml.etree.ElementTree import ParseError

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import esxcli_fields
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition, Part
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.args import CAPTURE
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import origin
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_commands import (
    COMMANDS,
    MODULES,
    PARAMETERS_OF,
    SOURCES,
    Command,
    plain,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args, pool
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Esxcli
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import find_hosts, over
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.trouble import NoConnection

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

ARGUMENTS = dict(
    args.CONNECTION,
    hosts={"type": "list", "elements": "str", "default": []},
    hosts_at_once={"type": "int", "default": pool.AT_ONCE},
    command_timeout_s={"type": "int", "default": 120},
    **CAPTURE,
)
# Requests beside those that find the hosts; docs/capture_requests.md lists them.
METHODS = ("RetrieveManagedMethodExecuter", "ExecuteSoap")
MOST_AT_ONCE = 32
# Bytes of one answer in the capture. That of `hardware pci list` is about 1 kB for each device.
LARGEST = 4 * 1024 * 1024
# Calls of one command for one host, one for each port or module.
MOST_CALLS = 64
# After these refusals a host can answer the next command; after any other one, it is not asked again.
_OF_THE_COMMAND = ("esxcli_failed", "esxcli_unknown")


@dataclass(frozen=True)
class HostCaptureRequest:
    """The capture of hosts as a task requests it."""

    dest: str
    keep: List[str]
    hosts: List[str]
    hosts_at_once: int
    command_timeout_s: int


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters together, one sentence each."""
    problems = args.check_common(params)
    for name, most in (("hosts_at_once", MOST_AT_ONCE), ("command_timeout_s", 3600)):
        if not 1 <= params[name] <= most:
            problems.append(f"{name} is {params[name]}; it must be between 1 and {most}.")
    return problems


@dataclass
class Call:
    """One call of a command. Without an answer, refused or skipped has the reason."""

    command: Command
    words: str
    time: str
    value: Any = None
    answered: bool = False
    refused: str = ""
    skipped: str = ""


@dataclass
class Answers:
    """The answers of one host by its esxcli, before any text is replaced."""

    calls: list[Call] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)


def read(esxcli: Any) -> Answers:
    """Ask a host all commands."""
    found = Answers()
    lost = ""
    for command in COMMANDS:
        for arguments in _arguments(command, found):
            call = Call(command, _words(command, arguments), now())
            found.calls.append(call)
            if lost:
                call.skipped = lost
                continue
            if arguments is None:
                call.skipped = "The answer with the values of its argument is missing."
                continue
            lost = _ask(esxcli, call, arguments)
            if call.answered:
                _learn(command, call.value, found)
    return found


def _ask(esxcli: Any, call: Call, arguments: Mapping[str, str]) -> str:
    """Fill in the answer; the reason why the host must not be asked again, if there is one."""
    try:
        value = esxcli.call(call.command.name, **arguments)
        size = len(json.dumps(value))
    except OperatorError as error:
        if isinstance(error, NoConnection):
            raise
        call.refused = error.code
        return "" if error.code in _OF_THE_COMMAND else f"An earlier command failed: {error.code}."
    except (ParseError, RecursionError, ValueError):
        call.refused = "unreadable"
        return ""
    if size > LARGEST:
        call.refused = "too_large"
        return ""
    call.value, call.answered = value, True
    return ""


def _arguments(command: Command, found: Answers) -> Iterator[dict[str, str] | None]:
    """The arguments of each call; None if it is not known which ones there are."""
    if command.each is None:
        yield {}
        return
    name, source = command.each
    values = found.values.get(source)
    if values is None:
        yield None
        return
    for value in values[:MOST_CALLS]:
        yield {name: value}


def _learn(command: Command, value: Any, found: Answers) -> None:
    """Keep the values that later commands have as an argument."""
    for source, (name, wanted) in SOURCES.items():
        if name == command.name:
            rows = value if isinstance(value, list) else []
            pairs = [pair for row in rows if isinstance(row, dict) for pair in row.items()]
            texts = [str(one) for key, one in pairs if plain(key) == wanted]
            allowed = [text for text in texts if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,31}", text)]
            found.values[source] = [one for one in PARAMETERS_OF if one in allowed] if source == MODULES else allowed


def _words(command: Command, arguments: Mapping[str, str] | None) -> str:
    """The command as a person types it."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in (arguments or {}).items()]
    return " ".join(["esxcli", *command.name.split("."), *options])


def addition(name: str, answers: Answers, keep_names: bool, table: Table) -> Addition:
    """The files of one host."""
    own = table.learn("host", name)
    scrub = Scrubber(table, keep_names)
    source, folder = f"esxcli {own}", f"hosts/{own}/esxcli/"
    made = Addition(source, (folder,), texts=scrub.counts, dropped=scrub.dropped)
    listed: list[dict[str, Any]] = []
    for number, call in enumerate(answers.calls, 1):
        label = f"{number:03}-{re.sub(r'[^A-Za-z0-9]+', '-', call.words)}"
        file = f"{label}.json" if call.answered else None
        if call.answered:
            text = json.dumps(esxcli_fields.answer(scrub, call.command, call.value), indent=1, sort_keys=True)
            made.files[folder + f"{label}.json"] = text + "\n"
        row: dict[str, Any] = {"answered": call.answered, "time": call.time}
        row["refused"] = {"": call.refused} if call.refused else {}
        if call.skipped:
            row["skipped"] = call.skipped
        made.coverage[f"{source}/{label}"] = row
        listed.append({"command": call.words, "file": file})
    made.files[f"{folder}commands.json"] = json.dumps({"commands": listed}, indent=1) + "\n"
    return made


def unread(name: str, why: str, table: Table) -> Addition:
    """A host that was not asked."""
    own = table.learn("host", name)
    source = f"esxcli {own}"
    row = {"answered": False, "refused": {}, "skipped": why, "time": now()}
    return Addition(source, (f"hosts/{own}/esxcli/",), coverage={source: row})


def capture(vcenter: VCenter, request: HostCaptureRequest) -> dict[str, Any]:
    """Add the hosts to the capture, and return what it has of them."""
    keep_names = "names" in request.keep
    part = Part(request.dest, "hosts", keep_names, origin(vcenter))
    left = [one for one in find_hosts(vcenter, request.hosts) if one.moid not in part]
    for one in left:
        if one.connection != "connected":
            part.keep(one.moid, functools.partial(unread, one.name, f"vCenter reports {one.connection}."))
    keeping = Lock()

    def one_host(mine: VCenter, found: HostFound) -> None:
        answers = read(Esxcli(mine, over(mine, found), read_s=request.command_timeout_s))
        # Kept at once: a kill loses only the hosts that are being read.
        with keeping:
            part.keep(found.moid, functools.partial(addition, found.name, answers, keep_names))

    pool.each(vcenter, [one for one in left if one.connection == "connected"], one_host, request.hosts_at_once)
    resumed = part.resumed
    made = part.finish()
    rows = {name: row for one in made for name, row in one.coverage.items()}
    answered = sum(1 for row in rows.values() if row["answered"])
    return {
        "dest": request.dest,
        "secret": f"{request.dest}.secret.json",
        "resumed": resumed,
        "anonymised": not keep_names,
        "captured": [one.source for one in made],
        "sources": {"answered": answered, "unread": len(rows) - answered},
        "refused": {name: row["refused"] for name, row in sorted(rows.items()) if row["refused"]},
        "skipped": {name: row["skipped"] for name, row in sorted(rows.items()) if row.get("skipped")},
        "texts": _sum(one.texts for one in made),
        "dropped": _sum(one.dropped for one in made),
    }


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for key, number in one.items():
            total[key] = total.get(key, 0) + number
    return total


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
