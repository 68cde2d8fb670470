# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the readers of outputs share: lines without prefixes, numbers, errors that are known. Pure.

Every reader returns a plain dictionary. `understood` is false where a text is not what the tool prints, and `why` says
so. Where the tool itself tells that it failed, `understood` is true, `why` is its reason, and `error` what is known of
it. Figures count only where `why` is empty.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.training import output, trouble

if TYPE_CHECKING:
    F = TypeVar("F", bound=Callable[..., dict[str, Any]])

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
# What C prints of a number that is none, and what JSON does not know.
_NO_NUMBER = re.compile(r"(?<=[:,\[])\s*[+-]?(?:nan|inf)(?=\s*[,}\]])", re.IGNORECASE)
SHOWN = 160
# Of a text with more documents than these, the others are not looked for.
MOST_DOCUMENTS = 100
# A guest may send anything. No counter has so many digits, and no table so many spaces or empty lines, of which
# patterns may take the square.
_TOO_LONG = (
    (re.compile(r"\d{31,}"), "?"),
    (re.compile(r"[^\S\n]{500,}"), " "),
    (re.compile(r"(?:[^\S\n]{0,20}\n){50,}"), "\n"),
)
# What Python raises where a text has another form than its reader expects.
_NOT_READ = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

# What tools for RDMA say when they fail, besides what trainings do: (code, pattern, what it means, what to do). A cause
# stands before what follows from it.
KNOWN = (
    (
        "no_device",
        r"IB device \S+ not found|No IB devices found|Unable to find the Infiniband|Did not detect devices|"
        r"Failed to get IB devices list|RDMA_CM_EVENT_\w+, error -19|rdma_(bind|resolve)_addr: (No such device|"
        r"Cannot assign)|RDMA_CM_EVENT_ADDR_ERROR",
        "There is no RDMA device with this name or address",
        "Look at the RDMA devices of the guest and at the address of the data path",
    ),
    (
        "wrong_gid",
        r"Failed to modify QP.* to RTR|Invalid GID|Failed to query GID|Couldn't find GID|Unable to Connect the HCA",
        "The GID index belongs to no RoCE v2 address of the data path",
        "Take the index of the RoCE v2 GID with the address of the data path, or let rdma_cm choose it",
    ),
    (
        "port_down",
        r"Port number \d+ state is \w+",
        "The port of the RDMA device is not active",
        "Look at the link of the adapter and at the network interface that belongs to it",
    ),
    (
        "no_gpudirect",
        r"Couldn't allocate MR with error=(14|22|93|95)\b",
        "The adapter cannot reach the memory of the GPU",
        "Load nvidia-peermem, or use DMA-BUF, which needs the open kernel modules of the driver; or test without the "
        "memory of the GPU",
    ),
    (
        "memlock",
        r"(Couldn't|Failed to) (allocate MR|create MR|register)|ibv_reg_mr failed|Cannot allocate memory|"
        r"Failed to allocate (MR|memory)",
        "RDMA may not lock as much memory as it needs",
        "Allow unlimited locked memory to the user and to the container engine",
    ),
    (
        "rdma_path",
        r"[Ff]ailed status 1[23]\b|status=12\b|transport retry counter exceeded|RDMA_CM_EVENT_UNREACHABLE",
        "RDMA packets were sent again and again and never confirmed",
        "Check the MTU of the whole path, flow control and ECN of the switches, and that UDP port 4791 is open",
    ),
    (
        "rdma_protection",
        r"[Ff]ailed status (4|10)\b",
        "The adapter may not reach the memory: access control (ACS) and translation (ATS) in a VM",
        "Switch ATS on for the adapter, or test without the memory of the GPU",
    ),
    (
        "rejected",
        r"RDMA_CM_EVENT_REJECTED|REJECTED, error",
        "The other side refused the connection: nothing listens there, or it takes another one first",
        "Start the server side first, on the address of the data path, one for each client",
    ),
    (
        "no_route",
        r"RDMA_CM_EVENT_ROUTE_ERROR|rdma_resolve_route|Network is unreachable|No route to host",
        "There is no way to the other side",
        "Check addresses and routes of the data path",
    ),
    (
        "no_connection",
        r"Couldn't connect to|Unable to (open|init) .*(socket|connection)|Connection (refused|timed out|reset)|"
        r"unable to connect to server|Unable to perform rdma_client|unable to connect stream|connect error",
        "The other side does not answer",
        "Check that the server side runs, that its port is open, and the address of the data path",
    ),
)
# Errors that say little, where nothing above says more.
VAGUE = (
    (
        "nccl_cuda",
        r"NCCL error: unhandled cuda error|ncclUnhandledCudaError",
        "NCCL could not use the GPU. With a vGPU on vSphere, CUDA's unified memory that is off is the usual reason",
        "Set pciPassthru<N>.cfg.enable_uvm = 1 for every vGPU of the VM, and power it off and on",
    ),
    (
        "nccl_system",
        r"NCCL error: unhandled system error|ncclSystemError|ncclRemoteError",
        "NCCL could not reach another rank, or was refused something by the system",
        "Look at its warnings with NCCL_DEBUG=INFO, and at the data path between the guests",
    ),
)


def reader(tool: str) -> Callable[[F], F]:
    """A reader of the output of a tool that comes to an answer whatever the text is: figures, or why there are none."""

    def decorate(read: F) -> F:
        @functools.wraps(read)
        def guarded(text: str | None, *more: Any) -> dict[str, Any]:
            text = _bounded(text or "")
            try:
                found = read(text, *more)
            except _NOT_READ:
                return not_understood(tool, text)
            return found if _is_finite(found) else not_understood(tool, text, "it has numbers that are none")

        return cast("F", guarded)

    return decorate


def _bounded(text: str) -> str:
    for pattern, instead in _TOO_LONG:
        text = pattern.sub(instead, text)
    return text


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return all(map(_is_finite, value)) if isinstance(value, (list, tuple)) else True


def lines(text: str) -> list[str]:
    """The lines as the program printed them: without colours, carriage returns and what launchers put in front."""
    found: list[str]
    found, pieces = [], output.Lines()
    for raw in _COLOURS.sub("", text or "").lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        found.extend(one.text[: output.LONGEST_TEXT] for one in pieces.of(raw))
    return found + [one.text[: output.LONGEST_TEXT] for one in pieces.rest()]


def number(word: Any) -> float | None:
    """A finite number, or None for anything else, such as N/A and nan. A mark for excess behind it is left out."""
    text = str(word).rstrip("*")
    found = float(text) if _NUMBER.fullmatch(text) else None
    return found if found is not None and math.isfinite(found) else None


def whole(word: Any) -> int | None:
    """A whole number, or None."""
    found = number(word)
    return int(found) if found is not None and found == int(found) else None


def is_number(word: Any) -> bool:
    return number(word) is not None or str(word).lower() in ("n/a", "nan", "-nan", "inf", "-inf")


def from_json(text: str) -> dict[str, Any] | None:
    """What an output holds as a JSON object, behind whatever was printed before it; None where there is none."""
    text = _NO_NUMBER.sub(" null", text or "")
    for start in itertools.islice(re.finditer(r"(?m)^[^\S\n]*\{", text), MOST_DOCUMENTS):
        try:
            found = json.JSONDecoder().raw_decode(text[start.start() :].lstrip())[0]
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def not_understood(tool: str, text: str, why: str = "") -> dict[str, Any]:
    """The answer for a text that is not what a tool prints. It holds no figure at all."""
    said = last_line(text)
    reason = why or (f"its last line is: {said}" if said else "it is empty")
    return {"understood": False, "why": f"The output of {tool} is not understood: {reason}.", "error": known(text)}


def failed(tool: str, reason: str, text: str = "", **values: Any) -> dict[str, Any]:
    """The answer for a tool that tells itself that it failed."""
    return dict(
        values, understood=True, why=f"{tool} failed: {reason.strip().rstrip('.')}.", error=known(text or reason)
    )


def figures(**values: Any) -> dict[str, Any]:
    """The answer for a text whose figures count."""
    return dict(values, understood=True, why="", error=None)


def meaning(code: str | None) -> tuple[str, str] | None:
    """(what it means, what to do) of the code of a known error; None for another."""
    trainings = [(one.code, one.pattern, one.means, one.todo) for one in trouble.KNOWN]
    return next(((means, todo) for name, _pattern, means, todo in (*KNOWN, *trainings, *VAGUE) if name == code), None)


def last_line(text: str) -> str:
    said = [line.strip() for line in lines(text) if line.strip().strip("-=* ")]
    return said[-1][:SHOWN] if said else ""


def known(text: str) -> dict[str, str] | None:
    """{code, means, todo, line} of the first error that others had before; None where there is none."""
    said = [line for line in lines(text) if not trouble.HARMLESS.search(line)]
    trainings = [(one.code, one.pattern, one.means, one.todo) for one in trouble.KNOWN]
    for code, pattern, means, todo in (*KNOWN, *trainings, *VAGUE):
        line = next((line.strip() for line in said if re.search(pattern, line)), None)
        if line is not None:
            return {"code": code, "means": means, "todo": todo, "line": line[:SHOWN]}
    return None
