# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""SSH keys that guests report, as lines for the files of the other guests. Pure.

A guest is not trusted: its answer goes into files of its peers, where a line break or an option would add another key.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any

# Types that OpenSSH 8 to 10 accept, without certificates.
TYPES = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
)
HOST_KEYS = ("ed25519", "ecdsa", "rsa")
# known_hosts reads commas, blanks, `*`, `?`, `!`, `@` and `#` in names as its own syntax.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
SHOWN = 60


class NotAKey(ValueError):
    """What a guest reports is no single SSH public key."""


def peer_keys(peers: Iterable[Mapping[str, Any]], variables: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """{authorized, known: lines; missing: guests without a key yet; problems: sentences} of all peers."""
    made: dict[str, list[str]] = {"authorized": [], "known": [], "missing": [], "problems": []}
    for peer in peers:
        name = str(peer["name"])
        reported = variables.get(name) or {}
        try:
            addresses = [address_of(one) for one in peer.get("addresses") or []]
            key = (reported.get("__guest_vm_user_now") or {}).get("ssh_public_key")
            if key:
                sources = f'from="{",".join(addresses)}" ' if addresses else ""
                made["authorized"].append(f"{sources}{key_of(key)} {name if NAME.fullmatch(name) else ''}".rstrip())
            else:
                made["missing"].append(name)
            names = ",".join(dict.fromkeys([*([name] if NAME.fullmatch(name) else []), *addresses]))
            made["known"] += [f"{names} {one}" for one in _host_keys(reported.get("ansible_facts") or {}) if names]
        except NotAKey as problem:
            made["problems"].append(
                f"Cannot give the SSH keys of {name} to the other guests. {problem}. Check who changed this guest, "
                "and generate its keys again."
            )
    return made


def key_of(text: object) -> str:
    """The type and the key of one public key in OpenSSH's form, without options and comment; raises NotAKey."""
    if not isinstance(text, str) or not text.strip().isprintable():
        raise NotAKey(f"It reports more than one line or control characters as a key: {_shown(text)}")
    kind, blob = [*text.split(), "", ""][:2]
    if kind not in TYPES:
        raise NotAKey(f"It reports a key whose type is not one of {', '.join(TYPES)}: {_shown(text)}")
    try:
        raw = base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    # The first field of the key repeats its type, behind its length (RFC 4253, 6.6).
    if raw[: 4 + len(kind)] != len(kind).to_bytes(4, "big") + kind.encode() or len(raw) <= 4 + len(kind):
        raise NotAKey(f"It reports a key that is not the base64 of a key of type {kind}: {_shown(text)}")
    return f"{kind} {blob}"


def address_of(text: object) -> str:
    """An IP address in its plain form; raises NotAKey. A scope behind `%` may be any text, so it is refused."""
    try:
        if "%" not in str(text):
            return str(ipaddress.ip_address(str(text)))
    except ValueError:
        pass
    raise NotAKey(f"It reports an address that is not an IP address: {_shown(text)}")


def _host_keys(facts: Mapping[str, Any]) -> list[str]:
    found = []
    for kind in HOST_KEYS:
        key = facts.get(f"ssh_host_key_{kind}_public")
        if key is not None:
            found.append(key_of(f"{facts.get(f'ssh_host_key_{kind}_public_keytype')} {key}"))
    return found


def _shown(text: object) -> str:
    return repr(str(text)[:SHOWN])
