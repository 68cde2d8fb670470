# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The address of a BMC: the text of the user, as host and port."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

HTTPS_PORT = 443


@dataclass(frozen=True)
class Address:
    """The address of a Redfish service."""

    host: str
    port: int

    @property
    def url(self) -> str:
        return f"https://{self}"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == HTTPS_PORT else f"{host}:{self.port}"


def parse(text: str) -> Address:
    """An Address from a name, an address with or without a port, or an https URL."""
    text = text.strip()
    if text.count(":") > 1 and "[" not in text and "//" not in text:
        text = f"[{text}]"
    parts = urlsplit(text if "//" in text else f"//{text}", scheme="https")
    return Address(parts.hostname or "", parts.port or HTTPS_PORT)


def problem_with(text: str) -> str:
    """The reason why a text is not the address of a BMC; empty if it is one."""
    try:
        address = parse(text)
    except ValueError as error:
        return f"bmc_address is {text}; it is not an address ({error})."
    if "//" in text and not text.strip().lower().startswith("https://"):
        return f"bmc_address is {text}; use https, because other schemes send the password in clear text."
    if not address.host or "@" in text:
        return f"bmc_address is {text if '@' not in text else '...@...'}; give a name or an address, without a user."
    return ""
