# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""guest_interface: one adapter of a guest, its running and its saved configuration."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Callable, Container, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import Clock, wait
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import adapter, reach, services
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.interface_params import InterfaceRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.kept import Kept

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.kept import Service


# IPv6 does not work on an adapter with a smaller MTU.
SMALLEST_IPV6 = 1280
# Number of consecutive correct readings of an adapter, which take about two seconds.
CALM_LOOKS = 5
# The service may be faster.
DONE_ALREADY = re.compile("File exists|already assigned")


@dataclass
class State:
    """An adapter as it runs, and as it will be after the next start."""

    link: Link
    kept: Kept
    backend: str
    way_in: bool = False  # Ansible connects through it
    others: list[Link] = field(default_factory=list)  # the other adapters
    gone: list[str] = field(default_factory=list)  # in a desired state: addresses to remove


class Interface(Noun[InterfaceRequest, State]):
    """One adapter."""

    def __init__(
        self,
        requested: InterfaceRequest,
        commands: Commands,
        files: Files,
        warn: Callable[[str], None],
        clock: Clock | type[Clock] = Clock,
    ) -> None:
        self._requested = requested
        self._commands = commands
        self._files = files
        self._warn = warn
        self._clock = clock
        self._service: Service = None  # type: ignore[assignment]

    def read(self, items: Sequence[Item[InterfaceRequest, State]]) -> None:
        for item in items:
            item.now = self._look()
            item.ids.update(name=item.now.link.name, mac=item.now.link.mac)

    def _look(self) -> State:
        links = adapter.read_all(self._commands)
        mac = adapter.mac_of(self._requested.mac) if self._requested.mac else None
        link = adapter.find(links, mac, self._requested.name)
        if self._service is None:
            self._service = services.choose(self._requested.backend, link, self._commands, self._files)
        came = adapter.way_in(self._files)
        own = [one.partition("/")[0] for one in link.addresses]
        return State(
            link,
            self._service.read(link),
            services.name_of(self._service),
            # Without a visible connection, it is the adapter of the default route.
            came in own if came else link.name in adapter.default_routes(self._files),
            [one for one in links if one.name != link.name],
        )

    def want(self, item: Item[InterfaceRequest, State]) -> State:
        now, mtu, address = item.now, self._requested.mtu, self._requested.address
        gone: list[str]
        link, kept, gone = replace(now.link), replace(now.kept), []
        if mtu is not None:
            self._refuse_mtu(now, mtu)
            link.mtu = kept.mtu = mtu
        if address is not None:
            address = str(ipaddress.IPv4Interface(address))
            self._refuse_address(now, address)
            gone = [one for one in now.kept.ours if one != address]
            link.addresses = _with(now.link.addresses, gone, address)
            kept.addresses = _with(now.kept.addresses, gone, address)
        link.up = True
        return replace(now, link=link, kept=kept, gone=gone)

    def _refuse_mtu(self, now: State, mtu: int) -> None:
        subject, wanted = f"Adapter {now.link.name}", f"cannot set the MTU {mtu}"
        if now.link.largest_mtu and mtu > now.link.largest_mtu:
            raise OperatorError(
                subject,
                wanted,
                f"Its driver supports at most {now.link.largest_mtu}",
                f"Use {now.link.largest_mtu} or less, such as 9000",
                "mtu_impossible",
                largest=now.link.largest_mtu,
            )
        if mtu < SMALLEST_IPV6 and any(":" in one for one in now.link.addresses):
            raise OperatorError(
                subject,
                wanted,
                f"The adapter has an IPv6 address, and IPv6 needs at least {SMALLEST_IPV6}",
                f"Use {SMALLEST_IPV6} or more",
                "mtu_impossible",
            )

    def _refuse_address(self, now: State, address: str) -> None:
        subject, wanted = f"Adapter {now.link.name}", f"cannot set the address {address}"
        plain = address.split("/")[0]
        holder = [one.name for one in now.others if plain in [had.split("/")[0] for had in one.addresses]]
        if holder:
            raise OperatorError(
                subject,
                wanted,
                f"{holder[0]} of this guest already has this address",
                "Correct the MAC address or the address in the task",
                "address_taken",
                holder=holder[0],
            )
        if now.way_in and (address not in now.link.addresses or address not in now.kept.addresses):
            raise OperatorError(
                subject,
                wanted,
                "Ansible connects to the guest through this adapter, so an error would cut the connection",
                "Use a separate adapter for the data path, or set this address by other means",
                "way_in",
            )

    def compare(self, now: State, wanted: State) -> list[Change]:
        found = [Change("up", now.link.up, True)] if not now.link.up else []
        mtu, address = self._requested.mtu, self._requested.address
        for path, before, after in (("", now.link, wanted.link), ("kept.", now.kept, wanted.kept)):
            if mtu is not None and before.mtu != after.mtu:
                found.append(Change(f"{path}mtu", before.mtu, after.mtu))
            # Addresses that other sources added in the meantime, by DHCP or IPv6, are not managed here.
            missing = not set(after.addresses) <= set(before.addresses)
            if address is not None and (missing or set(wanted.gone) & set(before.addresses)):
                found.append(Change(f"{path}addresses", sorted(before.addresses), sorted(after.addresses)))
        return found

    def keep(self, items: Sequence[Item[InterfaceRequest, State]]) -> None:
        for item in items:
            self._prove_reach(item, item.now)

    def apply(self, items: Sequence[Item[InterfaceRequest, State]]) -> None:
        for item in items:
            network = [one for one in item.now.others for had in one.addresses if _shares(self._requested.address, had)]
            if network and any(change.path == "addresses" for change in item.changes):
                self._warn(
                    f"{item.now.link.name} and {network[0].name} are in one network, so packets may leave by either. "
                    "Use a separate network for the data path."
                )
            self._change(item)

    def _change(self, item: Item[InterfaceRequest, State]) -> None:
        now, wanted, service = item.now, item.wanted, self._service
        item.touched = True
        try:
            if any(change.path.startswith("kept.") for change in item.changes):
                address = self._requested.address and str(ipaddress.IPv4Interface(self._requested.address))
                service.write(now.link, now.kept, self._requested.mtu, address)
            self._activate(now)
            self._set(wanted.link, wanted.gone)
            # An adapter that had no link before needs none now: it may not be connected yet.
            self._settle(wanted, now.link.carrier or not now.link.up)
        except OperatorError as error:
            service.undo()
            self._go_back(now, wanted)
            item.error = error

    def _set(self, wanted: Link, gone: Container[str]) -> None:
        """Set directly the values that the service did not apply at once, without any other change."""
        now = adapter.find(adapter.read_all(self._commands), name=wanted.name)
        words = (["up"] if not now.up else []) + (["mtu", str(wanted.mtu)] if now.mtu != wanted.mtu else [])
        if words:
            self._ip(wanted, ["ip", "link", "set", "dev", wanted.name, *words])
        for address in now.addresses:
            if address in gone:
                self._commands.run(["ip", "addr", "del", address, "dev", wanted.name])
        # With an address the kernel may remove others of its network, so the remaining ones are read.
        left = adapter.find(adapter.read_all(self._commands), name=wanted.name).addresses if gone else now.addresses
        for address in wanted.addresses:
            if address not in left and ":" not in address:
                self._ip(wanted, ["ip", "addr", "add", address, "brd", "+", "dev", wanted.name])

    def _ip(self, link: Link, argv: Sequence[str]) -> None:
        done = self._commands.run(argv)
        if not done.ok and not DONE_ALREADY.search(done.stderr):
            raise OperatorError(
                f"Adapter {link.name}",
                f"the kernel refuses `{' '.join(argv)}`",
                done.outcome,
                "Check the output. An MTU may be too large for the driver, or for the device below a VLAN",
                "kernel_refused",
                command=argv,
            )

    def _settle(self, wanted: State, with_carrier: bool) -> None:
        """Wait until the adapter has the desired state and keeps it: services reset it after their command."""
        seen: list[Link]
        seen, calm = [], [0]

        def right() -> bool:
            now = adapter.find(adapter.read_all(self._commands), name=wanted.link.name)
            seen.append(now)
            same = now.up and now.mtu == wanted.link.mtu and set(wanted.link.addresses) <= set(now.addresses)
            calm[0] = calm[0] + 1 if same and (now.carrier or not with_carrier) else 0
            return calm[0] >= CALM_LOOKS

        wait(right, self._requested.wait_s, self._clock)
        if calm[0]:
            return
        now = seen[-1]
        found = f"It has the MTU {now.mtu} and the addresses {', '.join(now.addresses) or 'none'}"
        raise OperatorError(
            f"Adapter {now.name}",
            f"did not come up with the MTU {wanted.link.mtu} and {', '.join(wanted.link.addresses) or 'no address'}",
            f"{found} after {self._requested.wait_s} s"
            + ("" if now.carrier else " and has no link")
            + ". The module restored the earlier settings",
            "Check the journal of the service"
            if now.carrier
            else "Connect the adapter in vCenter, then run the task again",
            "not_up",
            mtu=now.mtu,
            addresses=now.addresses,
            carrier=now.carrier,
        )

    def _activate(self, now: State) -> None:
        """Set the values directly that a service does not apply now: a later reading verifies the result."""
        done = self._service.activate(now.link)
        if done is not None and not done.ok:
            self._warn(f"{self._service.NAME} saved the settings but cannot apply them. {done.outcome}")

    def _go_back(self, now: State, wanted: State) -> None:
        """Restore as much as possible; the result shows the state afterwards."""
        try:
            self._activate(now)
            self._set(now.link, [one for one in wanted.link.addresses if one not in now.link.addresses])
        except OperatorError as error:
            self._warn(f"Cannot restore all earlier settings of the adapter. {error.message}")

    def prove(self, items: Sequence[Item[InterfaceRequest, State]]) -> None:
        for item in items:
            item.proved = self._look()
            left = self.compare(item.proved, item.wanted)
            if left and item.error is None:
                item.error = not_proved(
                    f"Adapter {item.now.link.name}",
                    "is not in the desired state after the change",
                    left,
                    f"Check for another file of {item.now.backend} that sets other values, then run the task again",
                )
            if item.error is None:
                self._prove_reach(item, item.proved)

    def _prove_reach(self, item: Item[InterfaceRequest, State], state: State) -> None:
        """Peers may be listed with all their addresses; only those in the networks of the adapter count."""
        near = [peer for peer in self._requested.ping if _is_near(peer, state.link.addresses)]
        try:
            reach.prove(self._commands, state.link, state.link.mtu, near, self._requested.wait_s)
            item.ids["reached"] = near
        except OperatorError as error:
            item.error = error

    def project(self, state: State) -> dict[str, Any]:
        link, kept = state.link, state.kept
        return {
            "up": link.up,
            "carrier": link.carrier,
            "mtu": link.mtu,
            "addresses": sorted(link.addresses),
            "kept": {"mtu": kept.mtu, "addresses": sorted(kept.addresses), "where": kept.where},
            "backend": state.backend,
            "way_in": state.way_in,
        }


def _with(addresses: Iterable[str], gone: Container[str], address: str) -> list[str]:
    left = [one for one in addresses if one not in gone]
    return left if address in left else [*left, address]


def _is_near(peer: str, addresses: Iterable[str]) -> bool:
    own = [ipaddress.ip_interface(one) for one in addresses if ":" not in one]
    address = ipaddress.IPv4Address(peer)
    return any(address in one.network for one in own) and address not in [one.ip for one in own]


def _shares(address: str | None, other: str) -> bool:
    return address is not None and ":" not in other and adapter.same_network(address, other)
