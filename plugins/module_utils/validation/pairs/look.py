# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""State of a guest before tests: network, RDMA, programs, leftovers of earlier runs. Parses scripts.LOOK. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.training import look as training

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.params import GuestRequest

# The package of a program, by distribution family.
PACKAGES = {
    "ping": "iputils-ping, or iputils on Red Hat",
    "rping": "rdmacm-utils, or librdmacm-utils on Red Hat",
    "ib_write_lat": "perftest",
    "ib_write_bw": "perftest",
    "iperf3": "iperf3",
    "timeout": "coreutils",
    "setsid": "util-linux",
}
TOOLS = tuple(PACKAGES)
# From this version on, one process of iperf3 uses one core for each stream.
THREADS_SINCE = (3, 16)
PROCESSES = 4
_VERSION = re.compile(r"\d[\w.+:~-]*")


@dataclass(frozen=True)
class Look:
    """The state of a guest."""

    network: training.Look
    # {program: its version, or an empty text}
    tools: dict[str, str]
    leftovers: tuple[tuple[str, bool], ...] = ()  # (run, whether its programs are alive)

    @property
    def version_of_iperf3(self) -> tuple[int, int] | None:
        numbers = re.match(r"(\d{1,9})\.(\d{1,9})", self.tools.get("iperf3", ""))
        return (int(numbers.group(1)), int(numbers.group(2))) if numbers else None


@dataclass(frozen=True)
class End:
    """One end of a test: a guest with its connection to the data path."""

    name: str
    address: str
    interface: str
    mtu: int
    device: str
    port: int
    gid_index: int | None
    gpu: int


def parse(name: str, text: str) -> Look:
    """The state of a guest from the output of the script."""
    tools, left = {}, []
    for line in text.splitlines():
        word, _space, rest = line.strip().partition(" ")
        first, _space, more = rest.partition(" ")
        if word == "tool":
            version = _VERSION.search(more)
            tools[first] = version.group(0) if version else ""
        elif word == "left" and training.RUN.fullmatch(first):
            left.append((first, more == "alive"))
    # A training would mistake these lines for its own leftovers.
    network = "\n".join(line for line in text.splitlines() if not line.startswith(("left ", "tool ")))
    return Look(training.parse(name, network), tools, tuple(left))


def end_of(guest: GuestRequest, seen: Look) -> tuple[End, str]:
    """(the end of a guest, the reason without RDMA or an empty text)."""
    network = seen.network
    interface = guest.interface or network.interface_of(guest.address) or ""
    mtu = network.interfaces.get(interface, (0, False))[0]
    gid = next((one for one in network.gids if _fits(one, guest, interface)), None)
    device = guest.device or (gid.device if gid else "")
    port = guest.port or (gid.port if gid else 1)
    index = guest.gid_index if guest.gid_index is not None else (gid.index if gid else None)
    made = End(guest.name, guest.address, interface, mtu, device, port, index, guest.gpu)
    return made, _why_no_rdma(made, network)


def why_not(guest: GuestRequest, seen: Look) -> str:
    """Reason for which a guest cannot take part in any test, or an empty text."""
    network = seen.network
    if network.interface_of(guest.address) is None:
        held = sorted(address for one in network.addresses.values() for address, _length in one)
        return f"No interface of {guest.name} has the address {guest.address}. It has {', '.join(held) or 'none'}."
    for tool in ("timeout", "setsid"):
        if tool not in seen.tools:
            return f"The program {tool} is missing on {guest.name}. Install {PACKAGES[tool]}."
    if network.work_dir != "ok":
        what = "is not writable" if network.work_dir == "closed" else "has no free space"
        return f"The folder for the run {what} on {guest.name}. Use become, free space, or set another work_dir."
    return ""


def processes(wanted: int | None, seen: Look) -> int:
    """Number of iperf3 processes on a client."""
    if wanted is not None:
        return wanted
    version = seen.version_of_iperf3
    return 1 if version is not None and version >= THREADS_SINCE else PROCESSES


def _fits(gid: training.Gid, guest: GuestRequest, interface: str) -> bool:
    if guest.device and gid.device != guest.device:
        return False
    if guest.gid_index is not None:
        return gid.index == guest.gid_index and (bool(guest.device) or gid.interface == interface)
    return "v2" in gid.kind.lower() and gid.address == guest.address


def _why_no_rdma(end: End, network: training.Look) -> str:
    if not end.device:
        return f"{end.name} has no RDMA device with a RoCE v2 GID of {end.address}."
    down = [one for one in network.ports_down if one.startswith(f"{end.device} port {end.port}:")]
    if down:
        return f"On {end.name} the RDMA device {down[0]}."
    if end.gid_index is None:
        return f"The RDMA device {end.device} of {end.name} has no RoCE v2 GID of {end.address}."
    return ""
