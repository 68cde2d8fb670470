# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Compare the capacity that vCenter reports with the model of this collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import server
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Numbers, basis, numbers, total
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.server import CLUSTER, HOST, Reported

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Wanted
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Host
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import Scope

    # ask(kind, MoID, devices): the answer of vCenter for each device.
    Ask = Callable[[str, str, Sequence[Wanted]], Mapping[Wanted, Reported]]

SERVER, MODEL, MIXED = "server", "model", "mixed"


@dataclass(frozen=True)
class Place:
    """A host, or a cluster with its hosts, of which capacity is asked."""

    kind: str
    moid: str
    name: str
    hosts: tuple[Host, ...]


@dataclass(frozen=True)
class Check:
    """Both numbers for one device on one host or cluster."""

    place: Place
    wanted: Wanted
    model: Numbers
    reported: Reported

    @property
    def differs(self) -> bool:
        """Return whether vCenter and the model disagree about what still fits."""
        return self.reported.numbers is not None and self.reported.numbers.free != self.model.free

    @property
    def basis(self) -> str:
        """Return the origin of the maximum that the model used."""
        return basis(self.place.hosts, self.wanted)

    @property
    def source(self) -> str:
        return MODEL if self.reported.numbers is None else SERVER

    @property
    def numbers(self) -> Numbers:
        """The numbers of the source."""
        return self.model if self.reported.numbers is None else self.reported.numbers

    @property
    def warning(self) -> str:
        """The disagreement in one sentence for people."""
        known = self.reported.numbers or Numbers()
        return (
            f"Capacity for {self.wanted.text} on {self.place.name}: vCenter reports {known.free} free, the model of "
            f"this collection computes {self.model.free}."
        )


def places_of(scope: Scope, hosts: Sequence[Host]) -> tuple[list[Place], list[Place]]:
    """Return the clusters and the hosts, each with the hosts that the model has of them."""
    each = [Place(HOST, host.moid, host.name, (host,)) for host in hosts]
    parents = {moid: row.get("parent") for moid, (row, dummy) in scope.hosts.items()}
    grouped: dict[str, list[Host]] = {}
    for host in hosts:
        parent = parents.get(host.moid)
        if parent is not None and parent._wsdlName == CLUSTER:
            grouped.setdefault(parent._GetMoId(), []).append(host)
    return [Place(CLUSTER, moid, members[0].cluster, tuple(members)) for moid, members in grouped.items()], each


def asking(vcenter: VCenter) -> Ask:
    """Return the function that asks this vCenter, or one that gives the reason why it cannot."""
    why = server.why_not(vcenter)
    if why:
        return silent(why)
    return lambda kind, moid, wanted: server.ask(vcenter, kind, moid, wanted)


def silent(why: str) -> Ask:
    """Return the function that only gives a reason."""
    return lambda kind, moid, wanted: dict.fromkeys(wanted, Reported(why=why))


def checks(ask: Ask, place: Place, wanted: Sequence[Wanted]) -> list[Check]:
    """Both numbers for each device in one place; at most one request."""
    reported = ask(place.kind, place.moid, wanted) if wanted else {}
    return [Check(place, one, total(numbers(host, one) for host in place.hosts), reported[one]) for one in wanted]


def sparing(ask: Ask, scope: Scope, hosts: Sequence[Host], wanted: Sequence[Wanted]) -> list[Check]:
    """Ask each cluster once; ask its hosts only for devices that its number does not confirm."""
    clusters, each = places_of(scope, hosts)
    alone = {host.moid for host in hosts} - {host.moid for cluster in clusters for host in cluster.hosts}
    found: list[Check] = []
    for cluster in clusters:
        first = checks(ask, cluster, wanted)
        found += first
        unsure = [one.wanted for one in first if one.differs]
        for place in each if unsure else ():
            if place.hosts[0] in cluster.hosts and place.hosts[0].gpus and not place.hosts[0].out_of_use:
                found += checks(ask, place, unsure)
    for place in each:
        if place.moid in alone:
            found += checks(ask, place, wanted)
    return found


def source_of(found: Sequence[Check]) -> str:
    """Return who answered: vCenter, the model, or each for a part."""
    sources = {one.source for one in found}
    return MIXED if len(sources) > 1 else sources.pop() if sources else MODEL


def reasons(found: Sequence[Check]) -> list[str]:
    """Return the reasons why the model answered, each once."""
    return list(dict.fromkeys(one.reported.why for one in found if one.source == MODEL))


def disagreements(found: Sequence[Check]) -> Iterator[Check]:
    """Yield the checks that differ: those of hosts, and of clusters whose hosts all agree."""
    hosts = [one for one in found if one.differs and one.place.kind == HOST]
    yield from hosts
    explained = {(host.moid, one.wanted) for one in hosts for host in one.place.hosts}
    for one in found:
        of_cluster = one.differs and one.place.kind == CLUSTER
        if of_cluster and not any((host.moid, one.wanted) in explained for host in one.place.hosts):
            yield one


def row(one: Check) -> dict[str, Any]:
    """A check, as results report it."""
    known = one.reported.numbers
    return {
        "place": one.place.name,
        "kind": "host" if one.place.kind == HOST else "cluster",
        "device": one.wanted.text,
        "source": one.source,
        "server_free": known.free if known is not None else None,
        "model_free": one.model.free,
        "why_model": one.reported.why or None,
        "model_maximum": one.basis,
    }
