# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read a server's certificate, also an untrusted one: for error messages only."""

from __future__ import annotations

import hashlib
import socket
import ssl
from dataclasses import dataclass
from http.client import HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Protocol, Sequence, cast

if TYPE_CHECKING:

    class Server(Protocol):
        """Address to connect to, through a proxy or directly."""

        @property
        def host(self) -> str: ...
        @property
        def port(self) -> int: ...
        @property
        def connect_timeout_s(self) -> int: ...
        @property
        def proxy_host(self) -> str | None: ...
        @property
        def proxy_port(self) -> int: ...


_EXPLICIT_0, _EXPLICIT_3 = 0xA0, 0xA3
_UTC_TIME = 0x17
_BMP_STRING = 0x1E
_NAMES = {b"\x55\x04\x03": "CN", b"\x55\x04\x0a": "O", b"\x55\x04\x0b": "OU", b"\x55\x04\x06": "C"}
_ALT_NAME = b"\x55\x1d\x11"
_DNS_NAME, _IP_ADDRESS = 0x82, 0x87


@dataclass(frozen=True)
class Certificate:
    """The fields by which a person recognises a certificate."""

    subject: str
    issuer: str
    not_after: str
    names: tuple[str, ...]
    fingerprint: str


def fingerprint(der: bytes) -> str:
    """SHA-256 in the notation of browsers and vCenter."""
    digest = hashlib.sha256(der).hexdigest().upper()
    return ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))


def presented(target: Server) -> Certificate | None:
    """The certificate that a server shows; None when it cannot be had."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if target.proxy_host:
        connection = HTTPSConnection(
            target.proxy_host, target.proxy_port, timeout=target.connect_timeout_s, context=context
        )
        connection.set_tunnel(target.host, target.port)
    else:
        connection = HTTPSConnection(target.host, target.port, timeout=target.connect_timeout_s, context=context)
    try:
        connection.connect()
        return parse(cast(bytes, connection.sock.getpeercert(True)))
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()


def parse(der: bytes) -> Certificate:
    """Read a DER certificate; the ssl module only parses certificates that it trusts."""
    try:
        whole = _elements(der)[0][1]
        fields = _elements(_elements(whole)[0][1])
        if fields[0][0] == _EXPLICIT_0:
            fields = fields[1:]
        issuer, validity, subject = fields[2][1], fields[3][1], fields[4][1]
        return Certificate(
            subject=_name(subject),
            issuer=_name(issuer),
            not_after=_time(_elements(validity)[1]),
            names=_alternative_names(fields[5:]),
            fingerprint=fingerprint(der),
        )
    except (IndexError, ValueError) as error:
        raise ValueError(f"not a certificate: {error}") from error


def _elements(data: bytes) -> list[tuple[int, bytes]]:
    """The tag and content of every element in a piece of DER."""
    found = []
    at = 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length & 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(data[at : at + size], "big"), at + size
        if at + length > len(data):
            raise ValueError("truncated")
        found.append((tag, data[at : at + length]))
        at += length
    return found


def _name(data: bytes) -> str:
    parts = []
    pairs = [_elements(pair[1]) for entry in _elements(data) for pair in _elements(entry[1])]
    for oid, value in pairs:
        if oid[1] in _NAMES:
            text = value[1].decode("utf-16-be" if value[0] == _BMP_STRING else "utf-8", "replace")
            parts.append(f"{_NAMES[oid[1]]}={text}")
    return ", ".join(parts) or "(empty)"


def _time(element: tuple[int, bytes]) -> str:
    kind, value = element
    text = value.decode("ascii")
    if kind == _UTC_TIME:
        text = ("19" if text[:2] >= "50" else "20") + text
    return f"{text[:4]}-{text[4:6]}-{text[6:8]}"


def _alternative_names(fields: Sequence[tuple[int, bytes]]) -> tuple[str, ...]:
    names: list[str] = []
    for tag, content in fields:
        if tag != _EXPLICIT_3:
            continue
        for extension in _elements(_elements(content)[0][1]):
            parts = _elements(extension[1])
            if parts[0][1] == _ALT_NAME:
                names += [_alternative_name(*entry) for entry in _elements(_elements(parts[-1][1])[0][1])]
    return tuple(name for name in names if name)


def _alternative_name(tag: int, value: bytes) -> str:
    if tag == _DNS_NAME:
        return value.decode("ascii", "replace")
    if tag == _IP_ADDRESS:
        return socket.inet_ntop(socket.AF_INET if len(value) == 4 else socket.AF_INET6, value)
    return ""
