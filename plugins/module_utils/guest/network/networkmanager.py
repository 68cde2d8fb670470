# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""NetworkManager: its connection profiles, by nmcli, wherever they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import mac_of
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.kept import Kept, Service

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands, Done
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link


MTU, MAC = "802-3-ethernet.mtu", "802-3-ethernet.mac-address"
AUTO = "connection.autoconnect"
METHOD, ADDRESSES = "ipv4.method", "ipv4.addresses"
FIELDS = ("connection.id", "connection.uuid", "connection.interface-name", AUTO, MAC, MTU, METHOD, ADDRESSES)
UNMANAGED = "10"
# Profiles of the same adapter: the one with the higher priority is taken at the next start.
PRIORITY = "100"
# Profiles have no room for a remark, so that the address that this module put into one is noted here.
NOTES = "/var/lib/aiready/adapters"


class NetworkManager(Service):
    NAME = "NetworkManager"

    def __init__(self, commands: Commands, files: Files) -> None:
        super().__init__(commands, files)
        # Commands that undo the written settings, the last one first.
        self._back: list[list[str]] = []

    def claims(self, link: Link) -> str | None:
        state = self._device(link).get("GENERAL.STATE", "")
        if not state or state.split()[0] == UNMANAGED:
            return None
        return "owner" if self._profile(link) else "able"

    def read(self, link: Link) -> Kept:
        said = self._profile(link)
        if not said:
            return Kept()
        addresses, ours = _addresses(said), [one for one in _addresses(said) if one == self._note(link)]
        if said[AUTO] != "yes":
            # Such as a connection that NetworkManager generated from the running state: the next start would not
            # restore it.
            return Kept(said["connection.id"], None, [], ours, said)
        mtu = int(said[MTU]) if said[MTU].isdecimal() else 0
        return Kept(said["connection.id"], mtu or None, addresses, ours, said)

    def write(self, link: Link, kept: Kept, mtu: int | None, address: str | None) -> None:
        said = kept.detail
        if not said:
            uuid = self._added(link, address)
        elif said["connection.interface-name"] == link.name or mac_of(said[MAC]) == link.mac:
            uuid = said["connection.uuid"]
        else:
            # The profile fits any adapter: this one gets its own, with all that held for it.
            uuid = self._cloned(link, said)
        words = [AUTO, "yes", *([] if mtu is None else [MTU, str(mtu)])]
        if address is not None:
            words += _address_words(kept, address)
        if said.get("connection.uuid") == uuid:
            # A method that needs addresses is refused without them, hence in one command.
            before = [(name, said[name]) for name in (AUTO, MTU, "ipv4.method", "ipv4.addresses")]
            words_back = [word for name, value in before for word in (name, value)]
            self._back.append(["nmcli", "connection", "modify", uuid, *words_back])
        self._modify(link, uuid, words)
        if address is not None:
            self.put(_notes(link), f"{address}\n")

    def activate(self, link: Link) -> Done:
        # Apply changes without a restart of the adapter; the others are set directly.
        done = self.commands.run(["nmcli", "device", "reapply", link.name])
        return done if done.ok or link.carrier else self.commands.run(["nmcli", "device", "connect", link.name])

    def undo(self) -> None:
        super().undo()
        for argv in reversed(self._back):
            self.commands.run(argv)
        self._back = []

    def _added(self, link: Link, address: str | None) -> str:
        name = f"aiready-{link.name}"
        # An unmanaged adapter gets only the requested settings.
        words = ["ipv4.method", "manual", "ipv4.addresses", address] if address else ["ipv4.method", "disabled"]
        words += ["ipv6.method", "link-local", "connection.autoconnect-priority", PRIORITY]
        argv = ["nmcli", "connection", "add", "type", "ethernet", "con-name", name, "ifname", link.name, *words]
        self._run(link, argv)
        return self._new(name)

    def _cloned(self, link: Link, said: Mapping[str, str]) -> str:
        name = f"aiready-{link.name}"
        self._run(link, ["nmcli", "connection", "clone", said["connection.uuid"], name])
        uuid = self._new(name)
        words = ["connection.interface-name", link.name, "connection.autoconnect-priority", PRIORITY]
        self._modify(link, uuid, words)
        return uuid

    def _new(self, name: str) -> str:
        self._back.append(["nmcli", "connection", "delete", "id", name])
        reported = self.commands.run(["nmcli", "-g", "connection.uuid", "connection", "show", "id", name])
        return reported.stdout.strip().splitlines()[0] if reported.stdout.strip() else name

    def _modify(self, link: Link, uuid: str, words: Sequence[str]) -> None:
        self._run(link, ["nmcli", "connection", "modify", uuid, *words])

    def _run(self, link: Link, argv: Sequence[str]) -> None:
        done = self.commands.run(argv)
        if not done.ok:
            raise self.refused(link, "cannot save the settings with NetworkManager", done)

    def _note(self, link: Link) -> str:
        return (self.files.text(_notes(link)) or "").strip()

    def _device(self, link: Link) -> dict[str, str]:
        fields = "GENERAL.STATE,GENERAL.CON-UUID"
        return _pairs(self.commands.run(["nmcli", "-t", "-e", "no", "-f", fields, "device", "show", link.name]).stdout)

    def _profile(self, link: Link) -> dict[str, str]:
        """Return the profile that an adapter uses, or will use; {} if there is none."""
        uuid = self._device(link).get("GENERAL.CON-UUID", "")
        # A connection of this module that a killed run did not activate.
        for chosen in (["uuid", uuid] if uuid else None, ["id", f"aiready-{link.name}"]):
            if chosen is None:
                continue
            done = self.commands.run(["nmcli", "-t", "-e", "no", "-f", "all", "connection", "show", *chosen])
            if done.ok:
                said = _pairs(done.stdout)
                return {name: said.get(name, "") for name in FIELDS}
        return {}


def _pairs(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, _colon, value = line.partition(":")
        found.setdefault(name, "" if value == "--" else value)
    return found


def _addresses(said: Mapping[str, str]) -> list[str]:
    return [one.strip() for one in said.get("ipv4.addresses", "").split(",") if one.strip()]


def _notes(link: Link) -> str:
    return f"{NOTES}/{link.mac.replace(':', '-')}"


def _address_words(kept: Kept, address: str) -> list[str]:
    others = [one for one in _addresses(kept.detail) if one not in kept.ours]
    method = kept.detail.get("ipv4.method", "manual")
    wanted = others if address in others else [*others, address]
    # With DHCP it gets the address beside the leased one.
    return ["ipv4.addresses", ",".join(wanted), "ipv4.method", method if method == "auto" else "manual"]
