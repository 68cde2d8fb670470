# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The result of a test as a measurement, and the file with its full output. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.measured import (
    DONE,
    FAILED,
    MISSING,
    TIMEOUT,
    readings,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params as names
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.commands import shown
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import iperf3, perftest, ping, rping
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.commands import Test

# Exit codes of `timeout`: program ended, program killed; and that of a missing program.
LATE, NOT_FOUND = (124, 137), 127


@dataclass(frozen=True)
class Side:
    """Output of one side of a test: {number: (status or None, text)}; trouble is the reason for a failed start."""

    outputs: dict[str, tuple[int | None, str]] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    ended: bool = False
    trouble: str = ""

    @property
    def late(self) -> bool:
        return any(status in LATE for status, _text in self.outputs.values())

    def text(self) -> str:
        return "\n".join(text for _number, (_status, text) in sorted(self.outputs.items()))


@dataclass(frozen=True)
class Ran:
    """One test that ran, with both sides."""

    test: Test
    server: Side
    client: Side


def side(text: str) -> Side:
    """Parse the output of SERVE, CALL and COLLECT."""
    status, output, ports, trouble, ended = {}, {}, [], "", False
    for line in text.splitlines():
        word, _space, rest = line.partition(" ")
        number, _space, value = rest.partition(" ")
        if word == "status":
            status[number] = plain_text.whole(value)
        elif word == "output":
            output[number] = plain_text.decoded(value).decode("utf-8", "replace")
        elif word == "port" and plain_text.whole(value) is not None:
            ports.append(cast("int", plain_text.whole(value)))
        elif word == "trouble":
            trouble = rest
        elif word == "ended":
            ended = True
    outputs = {number: (status.get(number), text) for number, text in output.items()}
    return Side(outputs, tuple(ports), ended, trouble)


def judged(rans: Sequence[Ran], count: int | None) -> tuple[str, str, dict[str, Any]]:
    """(status, why, values) of the runs of one figure; the values are those of the parser of the tool."""
    late = next((ran for ran in rans if ran.client.late), None)
    trouble = next((one.trouble for ran in rans for one in (ran.server, ran.client) if one.trouble), "")
    if trouble:
        known = texts.known("\n".join(ran.server.text() for ran in rans))
        if known and known["code"] == "no_cuda":
            return MISSING, f"{known['means']}. {known['todo']}.", {}
        return FAILED, f"{trouble[:1].upper()}{trouble[1:]}.", {"error": known["code"]} if known else {}
    check = rans[0].test.check
    reported = _read(check, [ran.client for ran in rans], count)
    values = readings(reported)
    if reported["error"] is not None:
        values["error"] = reported["error"]["code"]
    # ping exits with 1 if packets are lost, which is a figure.
    if late is not None:
        seconds = late.test.seconds
        return TIMEOUT, f"{late.test.tool} timed out. It normally takes {seconds} seconds.{_of(rans)}", values
    if reported["why"]:
        return FAILED, reported["why"] + _of(rans), values
    return DONE, "", values


def _read(check: str, sides: Sequence[Side], count: int | None) -> dict[str, Any]:
    if check == names.TCP:
        return iperf3.together(iperf3.parse(text) for _status, text in sides[0].outputs.values())
    whole = "\n".join(one.text() for one in sides)
    if check == names.PING:
        return ping.parse(whole)
    return rping.parse(whole, count) if check == names.RPING else perftest.parse(whole)


def _of(rans: Sequence[Ran]) -> str:
    """Last line of the server, if it failed itself."""
    for ran in rans:
        for status, text in ran.server.outputs.values():
            if status not in (0, None) and texts.last_line(text):
                return f" The server reports: {texts.last_line(text)}."
    return ""


def evidence(rans: Sequence[Ran], source: str, target: str) -> str:
    """The full output, with its commands."""
    parts = []
    for ran in rans:
        for place, side_of, commands in (
            (target, ran.server, ran.test.servers),
            (source, ran.client, ran.test.clients),
        ):
            for number, argv in enumerate(commands, start=1):
                port = ran.server.ports[number - 1] if len(ran.server.ports) >= number else None
                status, text = side_of.outputs.get(str(number), (None, ""))
                ending = "stopped by the test" if status is None else f"exit code {status}"
                parts.append(f"### {place}: {shown(argv, port)}\n### {ending}\n{text.rstrip()}\n")
            if side_of.trouble:
                parts.append(f"### {place}: {side_of.trouble}\n")
    return "\n".join(parts)
