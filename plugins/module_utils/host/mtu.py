# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""MTU of VMkernel adapters, and of the switches that they can be no larger than. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Switch, Vmkernel

    T = TypeVar("T", Switch, Vmkernel)

# IPv6 needs the smallest, and ESXi allows the largest.
SMALLEST, LARGEST = 1280, 9000


@dataclass(frozen=True)
class Mtu:
    """Adapters of a task and the switches below them; unknown are those that the host does not have."""

    adapters: tuple[Vmkernel, ...]
    switches: tuple[Switch, ...]
    unknown: tuple[str, ...] = ()
    there: tuple[str, ...] = ()


@dataclass(frozen=True)
class MtuRequest:
    """The MTU of some VMkernel adapters."""

    devices: Sequence[str]
    mtu: int
    switch: str


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters, one sentence each."""
    if SMALLEST <= params["mtu"] <= LARGEST:
        return []
    return [f"mtu is {params['mtu']}; a VMkernel adapter takes {SMALLEST} to {LARGEST}."]


def state_of(network: Network, devices: Sequence[str]) -> Mtu:
    """The state of the adapters with these names."""
    found = [network.adapter(device) for device in dict.fromkeys(devices)]
    adapters = tuple(one for one in found if one is not None)
    names = dict.fromkeys(one.switch for one in adapters)
    return Mtu(
        adapters=adapters,
        switches=tuple(one for one in map(network.switch, names) if one is not None),
        unknown=tuple(device for device in devices if network.adapter(device) is None),
        there=tuple(one.device for one in network.vmkernel),
    )


def want(subject: str, now: Mtu, requested: MtuRequest) -> Mtu:
    """The desired adapters and their switches."""
    size = requested.mtu
    small = [one for one in now.switches if one.mtu < size]
    problems = [
        (f"There is no VMkernel adapter {device}; there are: {', '.join(now.there)}.", "Correct `devices`.")
        for device in now.unknown
    ]
    problems += [problem for switch in small for problem in _too_small(switch, requested)]
    if problems:
        raise OperatorError(
            subject,
            f"cannot set an MTU of {size} on {', '.join(requested.devices)}",
            " ".join(found for found, todo in problems),
            " ".join(dict.fromkeys(todo for found, todo in problems)),
            "mtu_impossible",
            problems=[found for found, todo in problems],
        )
    return replace(
        now,
        adapters=tuple(replace(one, mtu=size) for one in now.adapters),
        switches=tuple(replace(one, mtu=size) if one in small else one for one in now.switches),
    )


def compare(now: Mtu, wanted: Mtu) -> list[Change]:
    """Switches first: an adapter cannot be larger than its switch."""
    changes = [
        Change(f"mtu.{old.name}", old.mtu, new.mtu, of=old.name)
        for old, new in _different(now.switches, wanted.switches)
    ]
    return changes + [
        Change(f"mtu.{old.device}", old.mtu, new.mtu) for old, new in _different(now.adapters, wanted.adapters)
    ]


def raised(now: Mtu, wanted: Mtu) -> list[tuple[Switch, int]]:
    """[(switch, its new MTU)]."""
    return [(old, new.mtu) for old, new in _different(now.switches, wanted.switches)]


def resized(now: Mtu, wanted: Mtu) -> list[tuple[str, int]]:
    """[(VMkernel adapter, its new MTU)]."""
    return [(old.device, new.mtu) for old, new in _different(now.adapters, wanted.adapters)]


def project(state: Mtu) -> dict[str, dict[str, int]]:
    """MTU as a user sees it."""
    return {
        "vmkernel": {one.device: one.mtu for one in state.adapters},
        "switches": {one.name: one.mtu for one in state.switches},
    }


def _too_small(switch: Switch, requested: MtuRequest) -> Iterator[tuple[str, str]]:
    if not switch.distributed:
        yield (
            f"The standard switch {switch.name} has an MTU of {switch.mtu}.",
            "Use community.vmware.vmware_vswitch to raise it, or move the adapter to a distributed switch.",
        )
    elif requested.switch == "refuse":
        yield (
            f"The switch {switch.name} has an MTU of {switch.mtu}, which all its hosts share.",
            "Set `switch: raise` to raise it.",
        )


def _different(before: Iterable[T], after: Iterable[T]) -> list[tuple[T, T]]:
    return [(old, new) for old, new in zip(before, after) if old.mtu != new.mtu]
