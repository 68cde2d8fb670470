# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arguments of pair_test, and the checks of its parameters; documented in the module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated

PING, RPING, LATENCY = "pair.ping_mtu", "pair.rping", "pair.write_lat"
BANDWIDTH, BOTH, OF_GPU, TCP = "pair.write_bw", "pair.write_bw_both", "pair.write_bw_gpu", "pair.iperf3"
# Cheap checks first, so that a broken path is found early.
CHECKS = (PING, RPING, LATENCY, BANDWIDTH, BOTH, OF_GPU, TCP)
PERFTEST = (LATENCY, BANDWIDTH, BOTH, OF_GPU)
WITH_RDMA = (RPING, *PERFTEST)
LIMITS = {"test_s": 30, "look_s": 60}
PORTS = {"first": 18515, "count": 32}
SMALLEST_MTU, LARGEST_MTU = 68, 65535

ARGUMENTS: dict[str, dict[str, Any]] = {
    "guests": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "required": True},
            "address": {"type": "str", "required": True},
            "interface": {"type": "str"},
            "device": {"type": "str"},
            "port": {"type": "int"},
            "gid_index": {"type": "int"},
            "gpu": {"type": "int", "default": 0},
        },
    },
    "checks": {"type": "list", "elements": "str", "choices": list(CHECKS), "default": [PING, TCP]},
    "rounds": {"type": "int"},
    "mtu": {"type": "int"},
    "seconds": {"type": "int", "default": 5},
    "sizes": {"type": "list", "elements": "int", "default": [1048576]},
    "latency_sizes": {"type": "list", "elements": "int", "default": [2]},
    "iterations": {"type": "int", "default": 1000},
    "messages": {"type": "int", "default": 5},
    "qps": {"type": "int", "default": 1},
    "traffic_class": {"type": "int"},
    "gpu_memory": {"type": "str", "choices": ["dmabuf", "peermem"], "default": "dmabuf"},
    "streams": {"type": "int", "default": 4},
    "processes": {"type": "int"},
    "ports": {
        "type": "dict",
        "options": {name: {"type": "int", "default": value} for name, value in PORTS.items()},
        "apply_defaults": True,
    },
    "limits": {
        "type": "dict",
        "options": {name: {"type": "int", "default": value} for name, value in LIMITS.items()},
        "apply_defaults": True,
    },
    "simulated": {"type": "list", "elements": "str", "choices": list(simulated.WORDS), "default": []},
    "work_dir": {"type": "path", "default": "/run/aiready-pairs"},
    "result_dir": {"type": "path"},
}
RELATIONS: dict[str, Any] = {}
WORK_DIR = re.compile(r"(/[A-Za-z0-9._-]+){2,}")
ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}")


@dataclass(frozen=True)
class GuestRequest:
    """One guest with its connection to the data path; None lets the test detect it."""

    name: str
    address: str
    interface: str | None
    device: str | None
    port: int | None
    gid_index: int | None
    gpu: int


@dataclass(frozen=True)
class PortsRequest:
    """The ports of the servers."""

    first: int
    count: int


@dataclass(frozen=True)
class LimitsRequest:
    """Time limits in seconds."""

    test_s: int
    look_s: int


@dataclass(frozen=True)
class PairRequest:
    """Tests between all pairs of some guests."""

    guests: Sequence[GuestRequest]
    checks: Sequence[str]
    rounds: int | None
    mtu: int | None
    seconds: int
    sizes: Sequence[int]
    latency_sizes: Sequence[int]
    iterations: int
    messages: int
    qps: int
    traffic_class: int | None
    gpu_memory: str
    streams: int
    processes: int | None
    ports: PortsRequest
    limits: LimitsRequest
    simulated: Sequence[str]
    work_dir: str
    result_dir: str | None


def request_of(params: Mapping[str, Any]) -> PairRequest:
    """Return the request of a task."""
    return request(
        PairRequest,
        params,
        guests=[request(GuestRequest, guest) for guest in params["guests"]],
        ports=request(PortsRequest, params["ports"]),
        limits=request(LimitsRequest, params["limits"]),
    )


def check_params(params: Mapping[str, Any]) -> list[str]:
    """All problems of the parameters, as sentences."""
    return [*_guests(params["guests"]), *_numbers(params), *_ports(params)]


def _guests(guests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(guests) < 2:
        yield "guests: a pair needs at least two guests."
    for key, what in (("name", "guest"), ("address", "address")):
        values = [guest[key] for guest in guests]
        for value in sorted({value for value in values if values.count(value) > 1}):
            yield f"guests: the {what} {value} is listed twice."
    for guest in guests:
        if not ADDRESS.fullmatch(guest["address"]):
            yield f"guests: the address {guest['address']} of {guest['name']} is not an IPv4 address."


def _numbers(params: Mapping[str, Any]) -> Iterator[str]:
    for name in ("seconds", "iterations", "messages", "qps", "streams", "processes", "rounds"):
        if params[name] is not None and params[name] < 1:
            yield f"{name}: {params[name]} is too small. Use at least 1."
    for name in ("sizes", "latency_sizes"):
        if not params[name]:
            yield f"{name}: the list is empty. Name at least one size."
        for size in params[name]:
            if size < 1:
                yield f"{name}: a message size of {size} bytes is invalid. Use at least 1."
    for name, value in params["limits"].items():
        if value < 1:
            yield f"limits: {name} of {value} seconds is invalid. Use at least 1."
    if params["mtu"] is not None and not SMALLEST_MTU <= params["mtu"] <= LARGEST_MTU:
        yield f"mtu: {params['mtu']} is not a valid MTU. Use {SMALLEST_MTU} to {LARGEST_MTU}."
    if params["traffic_class"] is not None and not 0 <= params["traffic_class"] <= 255:
        yield f"traffic_class: {params['traffic_class']} is not a traffic class. Use 0 to 255, four times the DSCP."
    if not params["checks"]:
        yield "checks: the list is empty. Name at least one check."
    if not WORK_DIR.fullmatch(params["work_dir"]):
        yield f"work_dir: {params['work_dir']} is removed after the run. Name a dedicated folder, such as /run/pairs."


def _ports(params: Mapping[str, Any]) -> Iterator[str]:
    first, count = params["ports"]["first"], params["ports"]["count"]
    if first < 1 or count < 1 or first + count - 1 > 65535:
        yield f"ports: {count} ports from {first} on exceed the range 1 to 65535."
    elif count < (params["processes"] or 1):
        yield f"ports: {params['processes']} processes need as many ports, but count is {count}."
