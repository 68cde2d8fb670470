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
    for text in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "::/127", "ff00::/8")
)
_PRIVATE = tuple(ipaddress.ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"))


_LINK_LOCAL = ipaddress.ip_network("fe80::/10")
_HALF = (1 << 64) - 1
# An address with a smaller number was chosen by a person, and is in many networks.
_SMALL = 1 << 16
# Characters of an IPv6 address without abbreviation, as tools print GIDs.
_LONG = 39


# RFC 6996 and 5398.
_PRIVATE_SYSTEMS = ((0, 0), (64496, 65534), (4200000000, 4294967294))


@dataclass
class Table:
    """The pseudonyms of a site by kind and original, and the salt of its addresses."""

    salt: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    names: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    # Pseudonyms of names that vCenter lists, by the name in lower case and without its domain.
    known: dict[str, str] = field(default_factory=dict, repr=False)
    # Originals by their lower case, as they were spelled first.
    spelled: dict[str, str] = field(default_factory=dict, repr=False)
    # The pseudonym of each address, MAC address and UUID, by the original in lower case.
    addresses: dict[str, str] = field(default_factory=dict, repr=False)

    def name(self, kind: str, original: str) -> str:
        """The pseudonym of a text, such as host-001; the same for each spelling of its case."""
        mine = self.names.setdefault(kind, {})
        key = original.lower()
        self.spelled.setdefault(key, original)
        if key not in mine:
            mine[key] = f"{kind}-{len(mine) + 1:03}"
        return mine[key]

    def learn(self, kind: str, original: str) -> str:
        """The pseudonym of the name of an object. The same name in another field gets the same one."""
        made = self.known.get(original.lower()) or self.name(kind, original)
        self.known.setdefault(original.lower(), made)
        first = original.lower().partition(".")[0]
        # That of a network such as 192.168.1.x is a number, and no name.
        if not _address(original) and not first.isdecimal():
            self.known.setdefault(first, made)
        return made

    def address(self, text: str) -> str | None:
        """The pseudonym of an IP address, with the prefixes it shares with others; None for another text."""
        plain, slash, length = text.partition("/")
        found = _address(plain)
        if found is None:
            return None
        long = len(plain) == _LONG
        if found.version == 6 and (found.ipv4_mapped or found in _LINK_LOCAL):
            return f"{self._embedded(found, long)}{slash}{length}"
        if any(found in network for network in _FIXED if network.version == found.version):
            return text
        networks = [network for network in _PRIVATE if network.version == found.version and found in network]
        kept = networks[0].prefixlen if networks else 0
        made = self._flipped(int(found), found.max_prefixlen, kept)
        shown = str(ipaddress.ip_address(made)) if found.version == 4 else _spelled(ipaddress.IPv6Address(made), long)
        self.addresses[plain.lower()] = shown
        return f"{shown}{slash}{length}"

    def _embedded(self, found: ipaddress.IPv6Address, long: bool) -> str:
        """An address that contains another one: that of IPv4, or the MAC address of its adapter."""
        number = int(found)
        if found.ipv4_mapped is not None:
            inner = str(self.address(str(found.ipv4_mapped)))
            whole = ipaddress.IPv6Address(number >> 32 << 32 | int(ipaddress.IPv4Address(inner)))
            return whole.exploded if long else f"::ffff:{inner}"
        part = f"{number & _HALF:016x}"
        if part[6:10] == "fffe":
            # Modified EUI-64: the bit for universal addresses is flipped.
            plain = f"{int(part[:2], 16) ^ 2:02x}{part[2:6]}{part[10:]}"
            made = re.sub(":", "", self.mac(":".join(plain[place : place + 2] for place in range(0, 12, 2))))
            lower = int(f"{int(made[:2], 16) ^ 2:02x}{made[2:6]}fffe{made[6:]}", 16)
        else:
            lower = self._flipped(number & _HALF, 64, 0) if number & _HALF >= _SMALL else number & _HALF
        return _spelled(ipaddress.IPv6Address(number & ~_HALF | lower), long)

    def guid(self, text: str) -> str:
        """The GUID of an RDMA device. One that was made of a MAC address is made of the pseudonym of the address."""
        plain = text.replace(":", "").lower()
        if plain in (16 * "0", 16 * "f"):
            return text
        if plain[6:10] in ("fffe", "0300"):
            mac = self.mac(":".join((plain[:2], plain[2:4], plain[4:6], plain[10:12], plain[12:14], plain[14:])))
            made = mac.replace(":", "")[:6] + plain[6:10] + mac.replace(":", "")[6:]
        else:
            made = self._digest(f"guid {plain}").hex()[:16]
        return ":".join(made[place : place + 4] for place in range(0, 16, 4)) if ":" in text else made

    def mac(self, text: str) -> str:
        """The vendor part stays; the rest is replaced. Addresses of all stations and of none stay."""
        plain = re.sub("[:-]", "", text).lower()
        if plain in (12 * "0", 12 * "f"):
            return text
        made = plain[:6] + self._digest(f"mac {plain}").hex()[:6]
        pairs = [made[place : place + 2] for place in range(0, 12, 2)]
        self.addresses[":".join(plain[place : place + 2] for place in range(0, 12, 2))] = ":".join(pairs)
        return ("-" if "-" in text else ":").join(pairs)

    def uuid(self, text: str) -> str:
        """The same for both orders of bytes: vCenter, Redfish and dmidecode differ about that of a system."""
        plain = text.lower()
        # That of a machine without an identity.
        if not plain.strip("0-"):
            return text
        # The order that came first decides, so that a table of an earlier capture keeps its pseudonyms.
        made = self.addresses.get(plain) or self.addresses.get(swapped(plain))
        if made is None:
            digest = self._digest(f"uuid {plain}").hex()
            made = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
        self.addresses[plain] = made
        return made

    def autonomous(self, number: str) -> str:
        """The number of an autonomous system, also as 3.10. Private ones and those of documents belong to nobody."""
        high, _dot, low = number.rpartition(".")
        plain = int(high or 0) * 65536 + int(low)
        if any(first <= plain <= last for first, last in _PRIVATE_SYSTEMS):
            return number
        first, last = _PRIVATE_SYSTEMS[-1]
        return str(first + int.from_bytes(self._digest(f"as {plain}")[:8], "big") % (last - first))

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
            "spelled": self.spelled,
            "addresses": self.addresses,
        }

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> Table:
        spelled, addresses = data.get("spelled", {}), data.get("addresses", {})
        return cls(base64.b64decode(data["salt"]), data["names"], data["known"], spelled, addresses)


def swapped(uuid: str) -> str:
    """The same UUID with the first three parts in the other order of bytes, as SMBIOS has them."""
    first, second, third, rest = uuid.split("-", 3)
    return "-".join("".join(reversed(re.findall("..", part))) for part in (first, second, third)) + f"-{rest}"


def _spelled(address: ipaddress.IPv6Address, long: bool) -> str:
    return address.exploded if long else str(address)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
