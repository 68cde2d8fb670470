# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The OpenPGP keys in the key file of a package repository, compared with the expected fingerprints. Pure.

The parser refuses everything that it does not know. Whatever it skipped, apt or dnf might read as a key.
Sources: RFC 9580 and RFC 4880, sections 4.2 (packets), 5.5 (keys), 6.2 (armor) and 12.2 (fingerprints).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The keyring of all Debian developers has fewer bytes; NVIDIA's and Docker's files have about 4 kB.
LARGEST = 1 << 20
FINGERPRINT = re.compile(r"[0-9A-F]{40}")
# The vendors' keys by the family of the distribution.
# NVIDIA: as gpg and dnf print it for https://nvidia.github.io/libnvidia-container/gpgkey. NVIDIA has no page with it.
# Docker: as Docker's instructions for Debian, Ubuntu, CentOS and RHEL name them.
NVIDIA = ("C95B321B61E88C1809C4F759DDCAE044F796ECB0",)
DOCKER = {
    "debian": ("9DC858229FC7DD38854AE2D88D81803C0EBFCD88",),
    "redhat": ("060A61C51B558A7F742B77AAC52FEB6B621E9F35",),
}
PRIMARY = 6
# Packets of a public key: signature, primary key, trust, user ID, subkey, user attribute.
ALLOWED = (2, PRIMARY, 12, 13, 14, 17)
_BEGIN, _END = "-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----"
_HEADER = re.compile(r"[A-Za-z]+: .*")
_DATA = re.compile(r"[A-Za-z0-9+/]{1,96}={0,2}")
_CHECKSUM = re.compile(r"=[A-Za-z0-9+/]{4}")


class Unreadable(ValueError):
    """A key file that this parser refuses."""


def key_problems(content: str, expected: Iterable[str]) -> list[str]:
    """[text] of what is wrong with a key file, as base64; nothing is compared where no fingerprint is expected."""
    requested_one = [normal(one) for one in expected]
    wrong = [one for one in requested_one if not FINGERPRINT.fullmatch(one)]
    if wrong:
        return [f"The expected fingerprint {one} does not have 40 hexadecimal digits." for one in wrong]
    if not requested_one:
        return []
    try:
        found = fingerprints(base64.b64decode(content, validate=True))
    except (Unreadable, binascii.Error) as problem:
        return [f"The file holds no readable OpenPGP key: {problem}."]
    return [f"The file holds the key {one}." for one in dict.fromkeys(found) if one not in requested_one]


def normal(fingerprint: str) -> str:
    """A fingerprint without the spaces that gpg prints, in capital letters."""
    return "".join(str(fingerprint).split()).upper()


def fingerprints(data: bytes) -> list[str]:
    """The fingerprints of all primary keys of a key file, armored or binary."""
    if len(data) > LARGEST:
        raise Unreadable(f"it has {len(data)} bytes, and {LARGEST} are accepted")
    if not data.strip():
        raise Unreadable("it is empty")
    blocks = [data] if data[0] & 0x80 else list(_blocks(data))
    if not blocks:
        raise Unreadable("it has no PGP PUBLIC KEY BLOCK")
    return [one for block in blocks for one in _primaries(block)]


def _blocks(data: bytes) -> Iterator[bytes]:
    """The bytes of each armored block. Text around blocks is allowed where nothing takes it for a block."""
    try:
        lines = data.decode("ascii").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError:
        raise Unreadable("it is neither ASCII armor nor a binary key") from None
    held: list[str]
    part, held = "outside", []
    for number, line in enumerate((line.rstrip(" \t") for line in lines), 1):
        if part == "outside":
            if line == _BEGIN:
                part, held = "headers", []
            elif "-----" in line:
                raise Unreadable(f"line {number} begins another kind of block")
        elif part == "headers":
            if not line:
                part = "data"
            elif not _HEADER.fullmatch(line):
                raise Unreadable(f"line {number} is not a header of an armored block")
        elif line == _END:
            yield _decoded(held, number)
            part = "outside"
        elif part == "data" and _DATA.fullmatch(line):
            held.append(line)
            part = "padded" if line.endswith("=") else "data"
        elif part in ("data", "padded") and _CHECKSUM.fullmatch(line):
            part = "checksum"
        else:
            raise Unreadable(f"line {number} is not base64 of an armored block")
    if part != "outside":
        raise Unreadable("its last block has no end")


def _decoded(lines: Iterable[str], number: int) -> bytes:
    try:
        return base64.b64decode("".join(lines), validate=True)
    except binascii.Error:
        raise Unreadable(f"the block before line {number} is not complete base64") from None


def _primaries(data: bytes) -> list[str]:
    place, found = 0, []
    while place < len(data):
        tag, start, end = _packet(data, place)
        if tag not in ALLOWED:
            raise Unreadable(f"byte {place} begins a packet of type {tag}, which no public key has")
        if tag == PRIMARY:
            found.append(_fingerprint(data[start:end], place))
        elif not found:
            raise Unreadable("it does not begin with a primary key")
        place = end
    if not found:
        raise Unreadable("a block is empty")
    return found


def _packet(data: bytes, place: int) -> tuple[int, int, int]:
    """(type, start, end) of the packet's body; partial and unknown lengths are for messages and not for keys."""
    head = data[place]
    if not head & 0x80:
        raise Unreadable(f"byte {place} does not begin a packet")
    if head & 0x40:
        tag, first = head & 0x3F, _number(data, place + 1, 1)
        if first < 192:
            start, size = place + 2, first
        elif first < 224:
            start, size = place + 3, ((first - 192) << 8) + _number(data, place + 2, 1) + 192
        elif first == 255:
            start, size = place + 6, _number(data, place + 2, 4)
        else:
            raise Unreadable(f"byte {place} begins a packet of partial length")
    else:
        tag, octets = head >> 2 & 0x0F, (1, 2, 4, 0)[head & 3]
        if not octets:
            raise Unreadable(f"byte {place} begins a packet of unknown length")
        start, size = place + 1 + octets, _number(data, place + 1, octets)
    if start + size > len(data):
        raise Unreadable(f"byte {place} begins a packet that ends after the file")
    return tag, start, start + size


def _number(data: bytes, place: int, octets: int) -> int:
    if place + octets > len(data):
        raise Unreadable(f"it ends in the length of a packet, at byte {len(data)}")
    return int.from_bytes(data[place : place + octets], "big")


def _fingerprint(body: bytes, place: int) -> str:
    if not body or body[0] != 4:
        version = body[0] if body else "none"
        raise Unreadable(f"byte {place} begins a key of version {version}, and this release reads version 4")
    if len(body) > 0xFFFF:
        raise Unreadable(f"byte {place} begins a key of {len(body)} bytes")
    return hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body).hexdigest().upper()
