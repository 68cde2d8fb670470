# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Public data of the client configuration token, without showing the token. Pure.

Every token that was seen in public has the form of a JSON web token, but NVIDIA does not document that. Unreadable
parts are unknown, and no reason to refuse a token.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

MODE = 0o744
ENDING = ".tok"
NAME = "client_configuration_token_aiready.tok"
# Tolerance for a guest clock behind the server's before a token counts as issued in the future.
SKEW_S = 60
# Digits of a digest that distinguish two tokens, and reveal nothing of either.
SHOWN = 12


@dataclass(frozen=True)
class Token:
    """Times of a token in seconds, and the servers that it names; None and empty if it does not contain them."""

    made: int | None = None
    begins: int | None = None
    ends: int | None = None
    servers: tuple[str, ...] = ()


def fingerprint(text: str) -> str:
    """Return a few digits that distinguish a token from another one."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:SHOWN]


def problem(text: str) -> str | None:
    """Return why a text is not a token, as a sentence; None if it is valid."""
    stripped = text.strip()
    if not stripped:
        return "It is empty"
    if re.match(r"(?i)<(!doctype|html|\?xml)", stripped):
        return "It is a web page, such as the login page of the portal"
    if stripped.startswith("-----BEGIN"):
        return "It is a key or a certificate"
    return None


def read(text: str) -> Token:
    """The Token in a text."""
    claims = _claims(text.strip())
    return Token(
        made=_seconds(claims, "iat"),
        begins=_seconds(claims, "nbf"),
        ends=_seconds(claims, "exp"),
        servers=tuple(_servers(claims)),
    )


def wrong_time(token: Token, now: float) -> tuple[str, str] | None:
    """Return why a token is not valid at this time, as (code, sentence); None for a valid one, or one without times."""
    begin = max((at for at in (token.made, token.begins) if at is not None), default=None)
    if begin is not None and now < begin - SKEW_S:
        return "clock_wrong", "By the clock of the guest, the token is from the future, so the clock is behind"
    if token.ends is not None and now > token.ends:
        return "token_expired", "By the clock of the guest, the token has expired"
    return None


def _claims(text: str) -> dict[str, Any]:
    parts = text.split(".")
    if len(parts) != 3:
        return {}
    try:
        raw = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims = json.loads(raw.decode())
    except ValueError:
        return {}
    return claims if isinstance(claims, dict) else {}


def _seconds(claims: Mapping[str, Any], name: str) -> int | None:
    value = claims.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _servers(claims: Mapping[str, Any]) -> Iterator[str]:
    """The hosts in the list of nodes of a service instance."""
    instance = claims.get("service_instance_configuration")
    nodes = instance.get("node_url_list") if isinstance(instance, dict) else None
    for node in nodes if isinstance(nodes, list) else []:
        url = node.get("url") if isinstance(node, dict) else None
        host = re.sub(r"\A[a-z]+://", "", url).split("/")[0] if isinstance(url, str) else ""
        if re.match(r"[\w.:\[\]-]+\Z", host):
            yield host
