# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Shared functions of the parsers: lines without prefixes, numbers, known errors. Pure.

Every parser returns a plain dictionary. `understood` is false if a text is not the output of the tool; `why` has the
reason. If the tool reports its own failure, `understood` is true, `why` is its reason, and `error` the known error.
Figures count only if `why` is empty.
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
# Non-numbers that C prints and that JSON does not allow.
_NO_NUMBER = re.compile(r"(?<=[:,\[])\s*[+-]?(?:nan|inf)(?=\s*[,}\]])", re.IGNORECASE)
SHOWN = 160
# Number of JSON documents that a text is searched for.
MOST_DOCUMENTS = 100
# A guest may send anything. No counter has so many digits, and no table so many spaces or empty lines, for which
# patterns may need quadratic time.
_TOO_LONG = (
    (re.compile(r"\d{31,}"), "?"),
    (re.compile(r"[^\S\n]{500,}"), " "),
    (re.compile(r"(?:[^\S\n]{0,20}\n){50,}"), "\n"),
)
# Exceptions of Python for a text in an unexpected format.
_NOT_READ = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

# Known errors of RDMA tools, besides those of trainings: (code, pattern, meaning, fix). A cause precedes its
# consequences.
KNOWN = (
    (
        "no_device",
        r"IB device \S+ not found|No IB devices found|Unable to find the Infiniband|Did not detect devices|"
        r"Failed to get IB devices list|RDMA_CM_EVENT_\w+, error -19|rdma_(bind|resolve)_addr: (No such device|"
        r"Cannot assign)|RDMA_CM_EVENT_ADDR_ERROR",
        "No RDMA device has this name or address",
        "Check the RDMA devices of the guest and the address of the data path",
    ),
    (
        "driver_mismatch",
        r"Driver/library version mismatch",
        "The loaded kernel module and the libraries of the NVIDIA driver have different versions",
        "Restart the guest, which loads the module of the installed driver",
    ),
    (
        "no_cuda",
        r"unrecognized option '--use_cuda",
        "This perftest was built without CUDA, as those of distributions",
        "Install a perftest with CUDA and name its package in site.validation.perftest, or skip the check",
    ),
    (
        "no_dcgm",
        r"Unable to connect to host engine|unable to establish a connection to the specified host",
        "The host engine of DCGM does not run",
        "Start the service nvidia-dcgm in the guest",
    ),
    (
        "no_watches",
        r"Health watches not enabled",
        "The health watches of DCGM are off, because its host engine was restarted",
        "Run the validation again, which enables them",
    ),
    (
        "wrong_gid",
        r"Failed to modify QP.* to RTR|Invalid GID|Failed to query GID|Couldn't find GID|Unable to Connect the HCA",
        "The GID index has no RoCE v2 GID of the data path",
        "Use the index of the RoCE v2 GID with the address of the data path, or let rdma_cm select it",
    ),
    (
        "port_down",
        r"Port number \d+ state is \w+",
        "The port of the RDMA device is not active",
        "Check the link of the adapter and its network interface",
    ),
    (
        "no_gpudirect",
        r"Couldn't allocate MR with error=(14|22|93|95)\b",
        "The adapter cannot access GPU memory",
        "Load nvidia-peermem, or use DMA-BUF with the open kernel modules of the driver, or test with host memory",
    ),
    (
        "memlock",
        r"(Couldn't|Failed to) (allocate MR|create MR|register)|ibv_reg_mr failed|Cannot allocate memory|"
        r"Failed to allocate (MR|memory)",
        "The locked memory limit (memlock) is too low for RDMA",
        "Allow unlimited locked memory for the user and the container engine",
    ),
    (
        "rdma_path",
        r"[Ff]ailed status 1[23]\b|status=12\b|(?:transport|RNR) retry counter exceeded|RDMA_CM_EVENT_UNREACHABLE",
        "RDMA packets were retransmitted and never acknowledged",
        "Check the path MTU, PFC and ECN of the switches, and that UDP port 4791 is open",
    ),
    (
        "rdma_protection",
        r"[Ff]ailed status (4|10|local protection error|remote access error)\b",
        "The adapter has no access to the memory: access control (ACS) and translation (ATS) in a VM",
        "Enable ATS for the adapter, or test with host memory",
    ),
    (
        "rejected",
        r"RDMA_CM_EVENT_REJECTED|REJECTED, error",
        "The server refused the connection: no program listens, or it serves another client",
        "Start the server first, on the address of the data path, one for each client",
    ),
    (
        "no_route",
        r"RDMA_CM_EVENT_ROUTE_ERROR|rdma_resolve_route|Network is unreachable|No route to host",
        "There is no route to the other guest",
        "Check addresses and routes of the data path",
    ),
    (
        "no_connection",
        r"Couldn't connect to|Unable to (open|init) .*(socket|connection)|Connection (refused|timed out|reset)|"
        r"unable to connect to server|Unable to perform rdma_client|unable to connect stream|connect error",
        "The other guest does not answer",
        "Check that the server runs, that its port is open, and the address of the data path",
    ),
)
# Vague errors, used if no error above matches.
VAGUE = (
    (
        "nccl_cuda",
        r"NCCL error: unhandled cuda error|ncclUnhandledCudaError",
        "NCCL could not use the GPU. With a vGPU on vSphere, the usual cause is disabled CUDA unified memory",
        "Set pciPassthru<N>.cfg.enable_uvm = 1 for every vGPU of the VM, and power cycle the VM",
    ),
    (
        "nccl_system",
        r"NCCL error: unhandled system error|ncclSystemError|ncclRemoteError",
        "NCCL could not reach another rank, or the operating system refused a request",
        "Check its warnings with NCCL_DEBUG=INFO, and the data path between the guests",
    ),
)


def reader(tool: str) -> Callable[[F], F]:
    """A parser that returns an answer for any text: figures, or the reason without figures."""

    def decorate(read: F) -> F:
        @functools.wraps(read)
        def guarded(text: str | None, *more: Any) -> dict[str, Any]:
            text = _bounded(text or "")
            try:
                found = read(text, *more)
            except _NOT_READ:
                return not_understood(tool, text)
            return found if _is_finite(found) else not_understood(tool, text, "it has invalid numbers")

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
    """The lines as the program printed them: without colours, carriage returns and prefixes of launchers."""
    found: list[str]
    found, pieces = [], output.Lines()
    for raw in _COLOURS.sub("", text or "").lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        found.extend(one.text[: output.LONGEST_TEXT] for one in pieces.of(raw))
    return found + [one.text[: output.LONGEST_TEXT] for one in pieces.rest()]


def number(word: Any) -> float | None:
    """A finite number, or None for anything else, such as N/A and nan. A trailing * is ignored."""
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
    """The first JSON object of an output, after any other text; None without one."""
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
    """The answer for a text that is not the output of the tool. It has no figure."""
    said = last_line(text)
    reason = why or (f"its last line is: {said}" if said else "it is empty")
    return {"understood": False, "why": f"Cannot parse the output of {tool}: {reason}.", "error": known(text)}


def failed(tool: str, reason: str, text: str = "", **values: Any) -> dict[str, Any]:
    """The answer for a tool that reports its own failure."""
    return dict(
        values, understood=True, why=f"{tool} failed: {reason.strip().rstrip('.')}.", error=known(text or reason)
    )


def figures(**values: Any) -> dict[str, Any]:
    """The answer for a text with valid figures."""
    return dict(values, understood=True, why="", error=None)


def meaning(code: str | None) -> tuple[str, str] | None:
    """(meaning, fix) of the code of a known error; None for another code."""
    trainings = [(one.code, one.pattern, one.means, one.todo) for one in trouble.KNOWN]
    return next(((means, todo) for name, _pattern, means, todo in (*KNOWN, *trainings, *VAGUE) if name == code), None)


def last_line(text: str) -> str:
    said = [line.strip() for line in lines(text) if line.strip().strip("-=*# ")]
    return said[-1][:SHOWN] if said else ""


def known(text: str) -> dict[str, str] | None:
    """{code, means, todo, line} of the first known error; None without one."""
    said = [line for line in lines(text) if not trouble.HARMLESS.search(line)]
    trainings = [(one.code, one.pattern, one.means, one.todo) for one in trouble.KNOWN]
    for code, pattern, means, todo in (*KNOWN, *trainings, *VAGUE):
        line = next((line.strip() for line in said if re.search(pattern, line)), None)
        if line is not None:
            return {"code": code, "means": means, "todo": todo, "line": line[:SHOWN]}
    return None
