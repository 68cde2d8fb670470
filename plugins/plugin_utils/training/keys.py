# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""SSH keys of one run: created for it, sent over its connections, and removed with it. No user's key is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable


@dataclass(frozen=True)
class Keys:
    """The key by which the launcher enters, and those by which each container is known."""

    private: str
    public: str
    host_private: dict[str, str]
    host_public: dict[str, str]

    def __repr__(self) -> str:
        return "Keys(...)"


def make(nodes: Iterable[str]) -> Keys:
    """New keys for these nodes."""
    private, public = _pair()
    hosts = {node: _pair() for node in nodes}
    return Keys(
        private,
        public,
        {node: pair[0] for node, pair in hosts.items()},
        {node: pair[1] for node, pair in hosts.items()},
    )


def _pair() -> tuple[str, str]:
    # Ansible itself needs this library, so that it is there.
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), public.decode()
