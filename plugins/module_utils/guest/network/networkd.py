# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""systemd-networkd: .network files and their drop-ins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import ini
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import mac_of
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.kept import Kept, Service, our_addresses

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Done
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.ini import Section


FOLDERS = ("/etc/systemd/network", "/run/systemd/network", "/usr/lib/systemd/network", "/lib/systemd/network")
MINE = "90-aiready.conf"


class Networkd(Service):
    NAME = "systemd-networkd"

    def claims(self, link: Link) -> str | None:
        if not self.commands.run(["systemctl", "is-active", "--quiet", "systemd-networkd"]).ok:
            return None
        return "owner" if self._file(link) else "able"

    def read(self, link: Link) -> Kept:
        path = self._file(link)
        if path is None:
            return Kept()
        base = ini.parse(self.files.text(path))
        sections = [section for part in self._drop_ins(path) for section in ini.parse(self.files.text(part))]
        mtus = ini.values(base + sections, "Link", "MTUBytes")
        ours = ini.parse(self.files.text(_addition(path)))
        return Kept(
            where=path,
            mtu=ini.size(mtus[-1]) if mtus else None,
            addresses=_addresses(base + sections),
            ours=_addresses(ours),
            detail={"base": base, "sections": sections, "addition": ours},
        )

    def write(self, link: Link, kept: Kept, mtu: int | None, address: str | None) -> None:
        path, addition = kept.where or own_file(link), kept.detail.get("addition", [])
        if not kept.where:
            self.put(path, ini.render(_fresh(link)))
        elif not _only(kept.detail["base"], link):
            # The file is for several adapters: this one gets its own, with all that held for it.
            path = own_file(link)
            self.put(path, ini.render(_copy(link, kept.detail["base"] + kept.detail["sections"])))
        mtus = ini.values(addition, "Link", "MTUBytes")[-1:] if mtu is None else [str(mtu)]
        link_part = [("MTUBytes", one) for one in mtus]
        network_part = [("Address", one) for one in our_addresses(kept, address)]
        sections = [("Link", link_part), ("Network", network_part)]
        self.put(_addition(path), ini.render([section for section in sections if section[1]]))

    def activate(self, link: Link) -> Done:
        # Only adapters with changed files are configured again.
        return self.commands.run(["networkctl", "reload"])

    def _file(self, link: Link) -> str | None:
        done = self.commands.run(["networkctl", "status", "--no-pager", link.name])
        for line in done.stdout.splitlines():
            name, _colon, value = line.partition(":")
            if name.strip() == "Network File" and value.strip().startswith("/"):
                return value.strip()
        # Written by a run that was killed before the service read it.
        return own_file(link) if self.files.exists(own_file(link)) else None

    def _drop_ins(self, path: str) -> list[str]:
        """The drop-ins of a file in the order in which they act; one in /etc hides others of its name."""
        found: dict[str, str]
        base, found = path.rpartition("/")[2], {}
        for folder in FOLDERS:
            for name in self.files.names(f"{folder}/{base}.d"):
                if name.endswith(".conf"):
                    found.setdefault(name, f"{folder}/{base}.d/{name}")
        return [found[name] for name in sorted(found)]


def own_file(link: Link) -> str:
    """Sorts before the files of distributions, since the first one that fits is taken."""
    return f"/etc/systemd/network/05-aiready-{link.name}.network"


def _addresses(sections: Sequence[Section]) -> list[str]:
    return ini.values(sections, "Network", "Address") + ini.values(sections, "Address", "Address")


def _only(sections: Iterable[Section], link: Link) -> bool:
    """Return whether a file is for this adapter alone."""
    reported = [pair for section, pairs in sections if section == "Match" for pair in pairs]
    macs = [mac_of(value) for key, value in reported if key in ("MACAddress", "PermanentMACAddress")]
    names = [value for key, value in reported if key in ("Name", "OriginalName")]
    return macs == [link.mac] or (not macs and names == [link.name])


def _addition(path: str) -> str:
    """Return the drop-in with the additions of this module to a file."""
    return f"/etc/systemd/network/{path.rpartition('/')[2]}.d/{MINE}"


def _copy(link: Link, sections: Iterable[Section]) -> list[Section]:
    return [("Match", [("MACAddress", link.mac)]), *(section for section in sections if section[0] != "Match")]


def _fresh(link: Link) -> list[Section]:
    """Return sections for an unmanaged adapter: only the requested settings, and it keeps its present ones."""
    quiet = [("DHCP", "no"), ("LinkLocalAddressing", "ipv6"), ("IPv6AcceptRA", "no"), ("KeepConfiguration", "static")]
    return [("Match", [("MACAddress", link.mac)]), ("Network", quiet)]
