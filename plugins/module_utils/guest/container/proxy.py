# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The proxy by which an engine reaches registries, in a file that its service reads. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Mapping
from urllib.parse import quote, urlsplit

LINE = re.compile(r'(HTTP_PROXY|HTTPS_PROXY|NO_PROXY)="?([^"]*)"?')
URL = re.compile(r"https?://[^/@\s]+/?")


@dataclass(frozen=True)
class Proxy:
    """Addresses without credentials; the credentials beside them are compared and never shown."""

    http: str = ""
    https: str = ""
    no_proxy: tuple[str, ...] = ()
    credentials: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.http!r}, {self.https!r}, {self.no_proxy!r})"

    @property
    def url(self) -> str:
        """Return one complete address, for a request of the module itself."""
        return _with(self.https or self.http, self.credentials)


def from_params(params: Mapping[str, Any]) -> Proxy:
    """The proxy that a task asks for; one without an address when it asks for none."""
    http = (params["http"] or "").rstrip("/")
    credentials = quote(params["username"] or "", safe="")
    if credentials and params["password"]:
        credentials += ":" + quote(params["password"], safe="")
    return Proxy(http, (params["https"] or http).rstrip("/"), tuple(params["no_proxy"] or ()), credentials)


def problems(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the proxy options."""
    found: list[str] = []
    for name in ("http", "https"):
        value = params[name] or ""
        if value and URL.fullmatch(value) is None:
            found.append(
                f"`proxy.{name}`: it is not a URL such as http://proxy.example.com:3128. Set credentials with "
                "`username` and `password`."
            )
    for word in params["no_proxy"] or ():
        if re.search(r"[\s,\"]", word):
            found.append(f"`proxy.no_proxy`: {word} is not a single name.")
    if params["password"] and not params["username"]:
        found.append("`proxy.password`: it needs `proxy.username`.")
    return found


def as_text(proxy: Proxy) -> str | None:
    """The file; None for no proxy."""
    if not (proxy.http or proxy.https):
        return None
    lines = [
        "# Made by Ansible, aiready.vsphere.container_engine. Readable for root alone, since it may hold a password.",
        f'HTTP_PROXY="{_with(proxy.http, proxy.credentials)}"' if proxy.http else "",
        f'HTTPS_PROXY="{_with(proxy.https, proxy.credentials)}"' if proxy.https else "",
        f'NO_PROXY="{",".join(proxy.no_proxy)}"' if proxy.no_proxy else "",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def parse(text: str | None) -> Proxy:
    """Parse the content of a file."""
    said = {}
    for line in (text or "").splitlines():
        found = LINE.fullmatch(line.strip())
        if found is not None:
            said[found[1]] = found[2]
    http, credentials = _without(said.get("HTTP_PROXY", ""))
    https, others = _without(said.get("HTTPS_PROXY", ""))
    left_out = tuple(word for word in said.get("NO_PROXY", "").split(",") if word)
    return Proxy(http, https, left_out, credentials or others)


def _with(url: str, credentials: str) -> str:
    return url.replace("://", f"://{credentials}@", 1) if credentials else url


def _without(url: str) -> tuple[str, str]:
    """(address, credentials) of an address."""
    credentials, at, place = urlsplit(url).netloc.rpartition("@")
    return (url.replace(f"{credentials}@", "", 1), credentials) if at else (url, "")
