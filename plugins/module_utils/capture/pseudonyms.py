# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Pseudonyms: one table for all sources, so that equal values stay equal. The table itself is secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass, field
from typing import Any

MAC = re.compile(r"[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}")
UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
# The identifier of a distributed switch: 16 bytes, written as two halves.
DVS_UUID = re.compile(r"(?:[0-9a-fA-F]{2}[ -]){15}[0-9a-fA-F]{2}")
VERSION = 1
# Networks that say what an address is for, not whose it is: they map to themselves.
_FIXED = tuple(
    ipaddress.ip_network(text)
    for text in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "::/127", "fe80::/16", "ff00::/8")
)
_PRIVATE = tuple(ipaddress.ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"))


@dataclass
class Table:
    """The pseudonyms of a site by kind and original, and the salt of its addresses."""

    salt: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    names: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    # Pseudonyms of names that vCenter lists, by the name in lower case and without its domain.
    known: dict[str, str] = field(default_factory=dict, repr=False)

    def name(self, kind: str, original: str) -> str:
        """The pseudonym of a text, such as host-001; the same for each spelling of its case."""
        mine = self.names.setdefault(kind, {})
        key = original.lower()
        if key not in mine:
            mine[key] = f"{kind}-{len(mine) + 1:03}"
        return mine[key]

    def learn(self, kind: str, original: str) -> str:
        """The pseudonym of the name of an object. The same name in another field gets the same one."""
        made = self.known.get(original.lower()) or self.name(kind, original)
        self.known.setdefault(original.lower(), made)
        if not _address(original):
            self.known.setdefault(original.lower().partition(".")[0], made)
        return made

    def address(self, text: str) -> str | None:
        """The pseudonym of an IP address, with the prefixes it shares with others; None for another text."""
        plain, slash, length = text.partition("/")
        found = _address(plain)
        if found is None:
            return None
        if any(found in network for network in _FIXED if network.version == found.version):
            return text
        networks = [network for network in _PRIVATE if network.version == found.version and found in network]
        kept = networks[0].prefixlen if networks else 0
        made = self._flipped(int(found), found.max_prefixlen, kept)
        return f"{ipaddress.ip_address(made) if found.version == 4 else ipaddress.IPv6Address(made)}{slash}{length}"

    def mac(self, text: str) -> str:
        """The vendor part stays; the rest is replaced."""
        plain = re.sub("[:-]", "", text).lower()
        made = plain[:6] + self._digest(f"mac {plain}").hex()[:6]
        separator = "-" if "-" in text else ":"
        return separator.join(made[place : place + 2] for place in range(0, 12, 2))

    def uuid(self, text: str) -> str:
        made = self._digest(f"uuid {text.lower()}").hex()
        return "-".join((made[:8], made[8:12], made[12:16], made[16:20], made[20:32]))

    def dvs_uuid(self, text: str) -> str:
        made = self._digest(f"uuid {text.lower()}").hex()
        pairs = [made[place : place + 2] for place in range(0, 32, 2)]
        return f"{' '.join(pairs[:8])}-{' '.join(pairs[8:])}"

    def _flipped(self, number: int, bits: int, kept: int) -> int:
        """Xu et al.: flip each bit by a keyed function of the bits before it, so equal prefixes stay equal."""
        made = 0
        for place in range(bits):
            bit = number >> (bits - 1 - place) & 1
            if place >= kept:
                before = number >> (bits - place)
                bit ^= self._digest(f"ip{bits} {place} {before}")[-1] & 1
            made = made << 1 | bit
        return made

    def _digest(self, text: str) -> bytes:
        return hmac.new(self.salt, text.encode("utf-8"), hashlib.sha256).digest()

    def as_data(self) -> dict[str, Any]:
        """The table as data for a file that only its owner can read."""
        return {
            "secret": "This file reveals the names behind a capture. Do not send it with the capture.",
            "version": VERSION,
            "salt": base64.b64encode(self.salt).decode("ascii"),
            "names": self.names,
            "known": self.known,
        }

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> Table:
        return cls(base64.b64decode(data["salt"]), data["names"], data["known"])


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
