# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reading of a guest before a run: network, RDMA, engine, image, GPUs. Parses the output of scripts.LOOK. Pure."""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text

if TYPE_CHECKING:

    class ImageReport(TypedDict):
        """The report of the engine on an image, as far as a run needs it."""

        id: str
        digests: list[str]
        environment: dict[str, str]
        architecture: str


GROUP = re.compile(r"[0-9a-fA-F]{1,4}")
RUN = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Gid:
    """One entry of the GID table of a port."""

    device: str
    port: int
    index: int
    gid: str
    kind: str
    interface: str

    @property
    def address(self) -> str:
        """The IPv4 address that the GID represents, or an empty text."""
        groups = self.gid.split(":")
        if len(groups) != 8 or groups[:6] != ["0000"] * 5 + ["ffff"] or not all(map(GROUP.fullmatch, groups)):
            return ""
        number = int(groups[6] + groups[7], 16)
        return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


@dataclass(frozen=True)
class Leftover:
    """A container of an earlier run, or of one in progress."""

    container: str
    run: str
    running: bool
    # Seconds since the last heartbeat of the controller; None if there is no heartbeat.
    silent_s: int | None


@dataclass(frozen=True)
class Look:
    """A guest as it was found."""

    name: str
    # {interface: (MTU, whether it is up)}, {interface: [(IPv4 address, length of the prefix)]}
    interfaces: dict[str, tuple[int, bool]] = field(default_factory=dict)
    addresses: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    gids: tuple[Gid, ...] = ()
    ports_down: tuple[str, ...] = ()  # RDMA ports that are not active
    rdma_files: tuple[str, ...] = ()  # of /dev/infiniband
    gpus: int = 0
    engine: str = ""  # the version of the engine; empty when it does not answer
    engine_said: str = ""
    image: ImageReport | None = None
    leftovers: tuple[Leftover, ...] = ()
    work_dir: str = "ok"
    ports_taken: tuple[int, ...] = ()  # of those that the run needs

    def interface_of(self, address: str) -> str | None:
        """The interface that holds an address, or None."""
        return next((name for name, held in self.addresses.items() if address in [one for one, _length in held]), None)

    def gid_of(self, interface: str, address: str) -> Gid | None:
        """The GID of RoCE v2 by which an interface is reached, or None."""
        fitting = [gid for gid in self.gids if gid.interface == interface and gid.address == address]
        return next((gid for gid in fitting if "v2" in gid.kind.lower()), None)


def parse(name: str, text: str) -> Look:
    """Parse the output of the script: one line each, a word for its kind and the rest."""
    lines: dict[str, list[str]] = {}
    for line in text.splitlines():
        word, _space, rest = line.strip().partition(" ")
        lines.setdefault(word, []).append(rest)
    devices = [_fields(rest, 6) for rest in lines.get("gid", [])]
    return Look(
        name=name,
        interfaces={place: (_number(mtu), state != "down") for place, mtu, state in _rows(lines, "net", 3)},
        addresses=_addresses(_rows(lines, "addr", 2)),
        gids=tuple(
            Gid(device, _number(port), _number(index), gid, kind.replace("_", " "), place)
            for device, port, index, gid, place, kind in devices
        ),
        ports_down=tuple(f"{device} port {port}: {state}" for device, port, state in _rows(lines, "down", 3)),
        rdma_files=tuple(lines.get("rdma", [])),
        gpus=len(lines.get("gpu", [])),
        engine=lines.get("engine", [""])[0],
        engine_said=" ".join(lines.get("said", [])),
        image=_image(lines.get("image", [""])[0]),
        leftovers=tuple(
            Leftover(container, run, running == "true", None if silent == "-" else _number(silent))
            for container, run, running, silent in _rows(lines, "left", 4)
            # Its name becomes a path that is removed.
            if RUN.fullmatch(run)
        ),
        work_dir=lines.get("work", ["ok"])[0],
        ports_taken=tuple(sorted(_number(port) for port in lines.get("taken", []))),
    )


def _rows(lines: Mapping[str, Sequence[str]], word: str, count: int) -> list[tuple[str, ...]]:
    return [_fields(rest, count) for rest in lines.get(word, [])]


def _fields(rest: str, count: int) -> tuple[str, ...]:
    """Exactly so many words; the last has whatever is left."""
    words = rest.split(None, count - 1)
    return tuple(words + [""] * (count - len(words)))


def _number(text: str) -> int:
    return cast(int, plain_text.whole(text, 0))


def _addresses(rows: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, int]]]:
    held: dict[str, list[tuple[str, int]]] = {}
    for place, address in rows:
        try:
            one = ipaddress.IPv4Interface(address)
        except ValueError:
            continue
        held.setdefault(place, []).append((str(one.ip), one.network.prefixlen))
    return held


def _image(encoded: str) -> ImageReport | None:
    """Return the engine's report on the image, shortened to the needs of a run; None if the image is missing."""
    if not encoded:
        return None
    try:
        reported = json.loads(plain_text.decoded(encoded).decode())
    except (ValueError, RecursionError):
        return None
    reported = reported[0] if isinstance(reported, list) and reported else reported
    if not isinstance(reported, dict):
        return None
    config = reported["Config"] if isinstance(reported.get("Config"), dict) else {}
    return {
        "id": str(reported.get("Id") or ""),
        "digests": sorted(_texts(reported.get("RepoDigests"))),
        "environment": dict(entry.partition("=")[::2] for entry in _texts(config.get("Env"))),
        "architecture": str(reported.get("Architecture") or ""),
    }


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
