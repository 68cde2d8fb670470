# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The result of gpu_capacity_info: rows of hosts and clusters, with numbers, sources and causes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.profile_name import parse
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import blocked, check, export
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Wanted
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.params import MIG, PASSTHROUGH, TIME_SLICED
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.server import HOST
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.table import table
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.blocked import Block
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.check import Ask, Check, Place
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.params import CapacityRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Gpu, Host
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import Scope


@dataclass(frozen=True)
class Line:
    """The capacity of one device on one host or cluster."""

    check: Check
    cluster: str
    host: str
    board: str
    mode: str
    # Devices that fit with the memory of the VMs, at most those that are free.
    fits: int
    blocks: tuple[Block, ...]

    @property
    def profile(self) -> str:
        return self.check.wanted.profile

    @property
    def device(self) -> str:
        """The profile, or the kind of a whole GPU."""
        return self.profile or PASSTHROUGH


@dataclass(frozen=True)
class Capacity:
    """All lines, and all checks behind them."""

    hosts: tuple[Line, ...]
    clusters: tuple[Line, ...]

    @property
    def checks(self) -> list[Check]:
        return [line.check for line in (*self.clusters, *self.hosts)]


def capacity_of(ask: Ask, scope: Scope, hosts: Sequence[Host], requested: CapacityRequest) -> Capacity:
    """Return the capacity of the hosts and of their clusters; one request for each of them."""
    offered = {profile for host in hosts for profile in host.offered}
    wanted = {host.moid: _devices(host, offered, requested) for host in hosts}
    clusters, each = check.places_of(scope, hosts)
    lines = [line for place in each for line in _of_host(ask, place, wanted[place.moid], requested)]
    return Capacity(tuple(lines), tuple(line for place in clusters for line in _of_cluster(ask, place, lines)))


def _devices(host: Host, offered: Iterable[str], requested: CapacityRequest) -> list[Wanted]:
    """Return the devices that concern a host, in the order of the result."""
    boards = sorted({gpu.board for gpu in host.gpus if gpu.board})
    found = [Wanted(profile) for board in boards for profile in _profiles(board, offered, requested)]
    if PASSTHROUGH in requested.modes and not requested.profiles:
        ids = sorted({(gpu.vendor_id, gpu.device_id) for gpu in host.gpus if gpu.device_id})
        found += [
            one
            for one in (Wanted("", vendor, device, requested.label) for vendor, device in ids)
            if any(map(one.is_of, host.gpus))
        ]
    return found


def _profiles(board: str, offered: Iterable[str], requested: CapacityRequest) -> list[str]:
    """Return the requested profiles of a board, or those that hosts offer; the largest first.

    No host offers profiles of a board without its driver. The profile of the whole GPU then shows what is missing.
    """
    if requested.profiles:
        return [profile for profile in requested.profiles if capacity.board_in(profile) == board]
    there = [profile for profile in offered if capacity.board_in(profile) == board] or _whole(board)
    return [profile for profile in sorted(there, key=_order) if mode_of(profile) in requested.modes]


def _whole(board: str) -> list[str]:
    owner = catalogue.board_of(f"{board}-1c")
    return catalogue.time_sliced_profiles(owner)[:1] if owner is not None else []


def _order(profile: str) -> tuple[bool, int, int, str]:
    name = parse(profile)
    if name is None:
        return True, 0, 0, profile
    return name.mig_backed, -(name.slices or 0), -name.gb, profile


def mode_of(profile: str) -> str:
    """Return the mode that a GPU needs for a profile; without a profile, passthrough."""
    name = parse(profile)
    if not profile:
        return PASSTHROUGH
    return MIG if name is not None and name.mig_backed else TIME_SLICED


def _of_host(ask: Ask, place: Place, wanted: Sequence[Wanted], requested: CapacityRequest) -> Iterator[Line]:
    (host,) = place.hosts
    for one in check.checks(ask, place, wanted):
        found = blocked.blocks(host, one.wanted)
        free = one.numbers.free
        short = blocked.memory_block(host, free, requested.memory_mb)
        fits = free - short.lost if short is not None else free
        blocks = (*found, *([short] if short is not None else []))
        mode = mode_of(one.wanted.profile)
        yield Line(one, host.cluster, host.name, _title(host.gpus, one.wanted), mode, fits, blocks)


def _title(gpus: Iterable[Gpu], wanted: Wanted) -> str:
    return next((gpu.title for gpu in gpus if wanted.is_of(gpu)), "")


def _of_cluster(ask: Ask, place: Place, lines: Sequence[Line]) -> Iterator[Line]:
    """Sum up the hosts of a cluster; vCenter is asked for the cluster as a whole."""
    mine: dict[Wanted, list[Line]] = {}
    members = {host.moid for host in place.hosts}
    for line in lines:
        if line.check.place.moid in members:
            mine.setdefault(line.check.wanted, []).append(line)
    for one in check.checks(ask, place, list(mine)):
        rows = mine[one.wanted]
        blocks = _summed(block for line in rows for block in line.blocks)
        fits = min(one.numbers.free, sum(line.fits for line in rows))
        yield Line(one, place.name, "", rows[0].board, rows[0].mode, fits, blocks)


def _summed(blocks: Iterable[Block]) -> tuple[Block, ...]:
    lost: dict[str, int] = {}
    gpus: dict[str, tuple[str, ...]] = {}
    for one in blocks:
        lost[one.cause] = lost.get(one.cause, 0) + one.lost
        gpus[one.cause] = ()
    return tuple(blocked.Block(cause, lost[cause], gpus[cause]) for cause in blocked.FIXES if cause in lost)


def result(
    found: Capacity, hosts: Sequence[Host], requested: CapacityRequest, stuns: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return everything that the module returns."""
    entries = export.metrics(found)
    return {
        "source": check.source_of(found.checks),
        "why_model": check.reasons(found.checks),
        "hosts": [row(line) for line in found.hosts],
        "clusters": [row(line) for line in found.clusters],
        "gpus": gpus(hosts),
        "table": table(found),
        "kueue": export.kueue(found, requested),
        "metrics": entries,
        "prometheus": export.prometheus(entries),
        "stun_estimates": list(stuns),
    }


def row(line: Line) -> dict[str, Any]:
    """A line, as the result reports it."""
    numbers, reported = line.check.numbers, line.check.reported.numbers
    found: dict[str, Any] = {
        "cluster": line.cluster or None,
        "board": line.board,
        "mode": line.mode,
        "profile": line.profile or None,
        "device_id": f"{line.check.wanted.vendor_id}:{line.check.wanted.device_id}" if not line.profile else None,
        "label": line.check.wanted.label or None,
        "fits": line.fits,
        "free": numbers.free,
        "in_use": numbers.used,
        "max": numbers.most,
        "reserved": numbers.reserved,
        "source": line.check.source,
        "server_free": reported.free if reported is not None else None,
        "model_free": line.check.model.free,
        "why_model": line.check.reported.why or None,
        "model_maximum": line.check.basis,
        "blocked": [_block(one, bool(line.host)) for one in line.blocks],
    }
    return dict(found, host=line.host, moid=line.check.place.moid) if line.host else found


def _block(one: Block, of_host: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"cause": one.cause, "lost": one.lost, "fix": blocked.FIXES[one.cause]}
    return dict(found, gpus=list(one.gpus), detail=one.detail or None) if of_host else found


def gpus(hosts: Sequence[Host]) -> list[dict[str, Any]]:
    """All GPUs with their modes and users, as the result reports them."""
    return [
        {
            "host": host.name,
            "id": gpu.id,
            "board": gpu.title,
            "mode": gpu.mode,
            "carries": list(gpu.carries),
            "held_by": gpu.held_by or None,
            "label": gpu.label or None,
        }
        for host in hosts
        for gpu in host.gpus
    ]


def warnings(found: Capacity) -> list[str]:
    """Return a sentence for each disagreement between vCenter and the model."""
    return [
        f"{one.warning} The row has the number of vCenter. Instances that nvidia-smi created, or vGPUs that leave gaps "
        f"on a GPU of mixed sizes, can be the reason{'' if one.place.kind == HOST else ' on one of its hosts'}."
        for one in check.disagreements(found.checks)
    ]


def summary(found: Capacity) -> str:
    """The result in one line."""
    hosts = {line.host for line in found.hosts}
    answered = {check.SERVER: "vCenter", check.MODEL: "The model", check.MIXED: "vCenter and the model"}
    fitting = sum(1 for line in found.hosts if line.fits)
    source = answered[check.source_of(found.checks)]
    return f"Rows: {len(found.hosts)}, with free capacity: {fitting}, hosts: {len(hosts)}. {source} answered."
