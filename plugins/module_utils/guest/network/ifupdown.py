# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""ifupdown: stanzas of /etc/network/interfaces and of the files that it includes."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING, Sequence, TypedDict, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.kept import Kept, Service, our_addresses

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link

    class Reported(TypedDict):
        """A stanza as stanzas() begins it."""

        name: str
        family: str
        method: str
        mtu: int | None
        address: str | None

    class Stanza(Reported, total=False):
        """The same; netmask only until it is a part of the address, file if it is one of an existing stanza."""

        netmask: str
        file: str


MAIN = "/etc/network/interfaces"
# Words that end the stanza before them.
BEGINNERS = (
    *("iface", "auto", "mapping", "source", "source-directory"),
    *("no-auto-down", "no-scripts", "rename", "template"),
)
_SET_MTU = re.compile(r"\b(?:ip\s+link\s+set|ifconfig)\b.*\bmtu\s+(\d+)")
# Methods whose stanzas take the option mtu; others get a command.
WITH_MTU = ("static", "manual")


class Ifupdown(Service):
    NAME = "ifupdown"

    def claims(self, link: Link) -> str | None:
        if self.commands.find("ifup") is None or not self.files.exists(MAIN):
            return None
        return "owner" if self._stanzas(link) else "able"

    def read(self, link: Link) -> Kept:
        found = self._stanzas(link)
        mtus = [stanza["mtu"] for stanza in found if stanza["mtu"] is not None]
        addresses = [stanza["address"] for stanza in found if stanza["address"]]
        ours = [stanza["address"] for stanza in found if stanza["file"] == own_file(link) and stanza["address"]]
        where = list(dict.fromkeys(stanza["file"] for stanza in found))
        return Kept(", ".join(where), mtus[-1] if mtus else None, addresses, ours, {"stanzas": found})

    def write(self, link: Link, kept: Kept, mtu: int | None, address: str | None) -> None:
        own = [stanza for stanza in kept.detail.get("stanzas", []) if stanza["name"] == link.name]
        others = [stanza for stanza in own if stanza["file"] != own_file(link)]
        if mtu is not None and others:
            for path in {stanza["file"] for stanza in others}:
                text = self.files.text(path)
                self.put(path, with_mtu(cast("str", text), link.name, mtu))
        ours = our_addresses(kept, address)
        own_mtu = None if others else kept.mtu if mtu is None else mtu
        if ours or (not others and own_mtu is not None):
            self.put(own_file(link), _stanza(link.name, ours, own_mtu))
            self._take_in(link)
        elif self.files.exists(own_file(link)):
            self.put(own_file(link), "")
        done = self.commands.run(["ifquery", link.name])
        if not done.ok:
            raise self.refused(link, "cannot save the settings with ifupdown", done)

    def activate(self, link: Link) -> None:
        # A restart of the adapter would cut its traffic; differences are set directly.
        return None

    def _take_in(self, link: Link) -> None:
        """Make the main file include our own."""
        if own_file(link) not in self._files():
            text = self.files.text(MAIN) or ""
            self.put(MAIN, f"{text.rstrip()}\n\nsource {own_file(link)}\n")

    def _stanzas(self, link: Link) -> list[Stanza]:
        """Return the stanzas of an adapter and of its further addresses, which have names such as eth0:1."""
        return [
            cast("Stanza", dict(stanza, file=path))
            for path in self._files()
            for stanza in stanzas(self.files.text(path))
            if stanza["name"].partition(":")[0] == link.name and stanza["family"] == "inet"
        ]

    def _files(self) -> list[str]:
        found: list[str] = []
        for line in _lines(self.files.text(MAIN)):
            words = line.split()
            if words[0] == "source" and len(words) > 1:
                found += self._matching(words[1])
            elif words[0] == "source-directory" and len(words) > 1:
                found += [path for path in self._matching(words[1] + "/*") if re.search(r"/[\w-]+$", path)]
        return [MAIN, *found]

    def _matching(self, pattern: str) -> list[str]:
        folder, _slash, name = pattern.rpartition("/")
        folder = folder if folder.startswith("/") else f"/etc/network/{folder}"
        if any(sign in folder for sign in "*?["):
            raise OperatorError(
                MAIN,
                "cannot read the files that it includes",
                f"It includes {pattern}, a pattern of folders",
                "List the folders one by one, then run the task again",
                "pattern_of_folders",
            )
        # Patterns do not match names with a leading dot, such as backup files of editors.
        names = [one for one in self.files.names(folder) if not one.startswith(".") or name.startswith(".")]
        return [f"{folder}/{one}" for one in names if fnmatch.fnmatch(one, name)]


def own_file(link: Link) -> str:
    return f"/etc/network/interfaces.d/aiready-{link.name}"


def stanzas(text: str | None) -> list[Stanza]:
    """[{name, family, method, mtu, address}] of a file."""
    found: list[Stanza]
    current: Stanza | None
    found, current = [], None
    for line in _lines(text):
        words = line.split()
        if words[0] == "iface" and len(words) > 1:
            name, family, method = _begun(words)
            current = {"name": name, "family": family, "method": method, "mtu": None, "address": None}
            found.append(current)
        elif words[0] in BEGINNERS or words[0].startswith("allow-"):
            current = None
        elif current is not None:
            _option(current, words, line)
    for stanza in found:
        mask = stanza.pop("netmask", None)
        if stanza["address"] and "/" not in stanza["address"] and mask:
            stanza["address"] += f"/{prefix_of(mask)}"
    return found


def prefix_of(mask: str) -> int | str:
    """24 of '255.255.255.0' and of '24'."""
    if not re.fullmatch(r"\d+(\.\d+){3}", mask):
        return mask
    return sum(bin(int(part)).count("1") for part in mask.split("."))


def with_mtu(text: str, name: str, mtu: int) -> str:
    """The text of a file whose stanzas of an adapter set an MTU."""
    made, inside, method = [], False, ""
    for line in text.splitlines():
        words = line.split()
        begins = bool(words) and (words[0] in BEGINNERS or words[0].startswith("allow-"))
        if begins:
            begun = _begun(words) if words[0] == "iface" and len(words) > 1 else ()
            inside, method = begun[:2] == (name, "inet"), "".join(begun[2:])
        elif inside and words and (words[0] == "mtu" or _set_mtu(line, name)):
            continue
        made.append(line)
        if inside and begins:
            made.append(f"    mtu {mtu}" if method in WITH_MTU else f"    up ip link set dev {name} mtu {mtu}")
    return "\n".join(made) + "\n"


def _option(stanza: Stanza, words: Sequence[str], line: str) -> None:
    if words[0] == "mtu" and words[1:] and words[1].isdecimal():
        stanza["mtu"] = int(words[1])
    elif words[0] in ("up", "pre-up", "post-up") and _set_mtu(line, stanza["name"]):
        stanza["mtu"] = _set_mtu(line, stanza["name"])
    elif words[0] == "netmask" and words[1:]:
        stanza["netmask"] = words[1]
    elif words[0] == "address" and words[1:] and (stanza["family"] != "inet" or ":" not in words[1]):
        # A stanza without a family may have addresses of both.
        stanza["address"] = words[1]


def _begun(words: Sequence[str]) -> tuple[str, str, str]:
    """(name, family, method) of 'iface eth0 inet static'; ifupdown2 and ifupdown-ng need no more than the name."""
    family, method = words[2:4] if len(words) > 3 and words[2] != "inherits" else ("inet", "static")
    return words[1], family, method


def _set_mtu(line: str, name: str) -> int | None:
    """The MTU that a command sets; None for a command that sets none, or that of another adapter such as a bond's."""
    match = _SET_MTU.search(line)
    named = {"$IFACE", "${IFACE}", name} & {*re.split(r"[\s\"';]+", line)}
    return int(match.group(1)) if match and named else None


def _stanza(name: str, addresses: Sequence[str], mtu: int | None) -> str:
    lines = [f"auto {name}"]
    for place, address in enumerate(addresses or [None]):
        lines.append(f"iface {name} inet {'static' if address else 'manual'}")
        lines += [f"    address {address}"] if address else []
        lines += [f"    mtu {mtu}"] if mtu is not None and place == 0 else []
    return "\n".join(lines) + "\n"


def _lines(text: str | None) -> list[str]:
    """Lines without comments and empty ones; a line may go on behind a backslash."""
    joined = re.sub(r"\\\n", " ", text or "")
    return [line.strip() for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]
