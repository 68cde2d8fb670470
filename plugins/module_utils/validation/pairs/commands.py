# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The commands of each test, for server and client. Pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import params as names

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.look import End
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.params import PairRequest

# Placeholder of the port in a command line; the guest of the server chooses it.
PORT = "@port@"
HEADERS = 28
# Tried after the requested size was lost, to find the size that arrives.
SMALLER_MTUS = (1500, 576)
# Signs of a ready server: its TCP port, or one second of life if the kernel shows no port.
BY_PORT, BY_TIME = "tcp", "cm"


@dataclass(frozen=True)
class Test:
    """One run of a program on both sides."""

    check: str
    tool: str
    servers: tuple[tuple[str, ...], ...]  # of words each
    clients: tuple[tuple[str, ...], ...]
    ready: str
    seconds: int  # longest normal duration


def runs(check: str, request: PairRequest, server: End, client: End, processes: int = 1) -> list[Test]:
    """All runs for one figure of one direction, in their order."""
    if check == names.PING:
        return [ping(request, server, client, (request.mtu or client.mtu))]
    if check == names.RPING:
        return [_rping(request, server)]
    if check == names.TCP:
        return [_iperf3(request, server, client, processes)]
    sizes = request.latency_sizes if check == names.LATENCY else request.sizes
    return [_perftest(check, request, server, client, size) for size in sorted(sizes)]


def ping(request: PairRequest, server: End, client: End, mtu: int) -> Test:
    """Packets of exactly this size that must not be fragmented."""
    argv = ["ping", "-n", "-M", "do", "-c", request.messages, "-i", "0.2", "-W", "2"]
    argv += ["-I", client.interface] if client.interface else []
    argv += ["-s", max(0, mtu - HEADERS), server.address]
    return _test(names.PING, [], [argv], BY_PORT, request.messages + 2)


def _rping(request: PairRequest, server: End) -> Test:
    common = ["-a", server.address, "-p", PORT, "-v", "-C", request.messages]
    return _test(names.RPING, [["rping", "-s", *common]], [["rping", "-c", *common]], BY_TIME, 5)


def _perftest(check: str, request: PairRequest, server: End, client: End, size: int) -> Test:
    latency = check == names.LATENCY
    tool = "ib_write_lat" if latency else "ib_write_bw"
    sides = []
    for end in (server, client):
        argv = [tool, "-d", end.device, "-i", end.port, "-x", end.gid_index, "-p", PORT, "-F", "-s", size]
        argv += ["-n", request.iterations] if latency else ["--report_gbits", "-q", request.qps]
        argv += [] if latency else ["-D", request.seconds]
        argv += ["-b"] if check == names.BOTH else []
        argv += [f"--tclass={request.traffic_class}"] if request.traffic_class is not None else []
        if check == names.OF_GPU:
            argv += [f"--use_cuda={end.gpu}"]
            argv += ["--use_cuda_dmabuf"] if request.gpu_memory == "dmabuf" else []
        sides.append(argv)
    return _test(check, [sides[0]], [[*sides[1], server.address]], BY_PORT, 5 if latency else request.seconds)


def _iperf3(request: PairRequest, server: End, client: End, processes: int) -> Test:
    serve = ["iperf3", "-s", "-1", "-B", server.address, "-p", PORT]
    call = ["iperf3", "-J", "-c", server.address, "-B", client.address, "-p", PORT, "-t", request.seconds]
    # The streams are divided among processes, so that their number is the same in all versions.
    call += ["-P", max(1, request.streams // processes)]
    return _test(names.TCP, [serve] * processes, [call] * processes, BY_PORT, request.seconds)


def _test(
    check: str, servers: Sequence[Sequence[object]], clients: Sequence[Sequence[object]], ready: str, seconds: int
) -> Test:
    def plain(commands: Sequence[Sequence[object]]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(str(word) for word in argv) for argv in commands)

    return Test(check, cast("str", clients[0][0]), plain(servers), plain(clients), ready, seconds)


def line(argv: Sequence[str], port: int | None = None) -> str:
    """A command line for a shell in which the port is a variable, or the port itself."""
    if port is not None:
        return shlex.join(word.replace(PORT, str(port)) for word in argv)
    return " ".join('"$port"' if word == PORT else shlex.quote(word) for word in argv)


def shown(argv: Sequence[str], port: int | None = None) -> str:
    """A command as typed in a shell."""
    return shlex.join(word.replace(PORT, "PORT" if port is None else str(port)) for word in argv)
