# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One HTTPS request to a BMC, over the HTTP client of Python: the capture command runs without Ansible.

Every request has a connection of its own: BMCs are known to hang on connections that stay open.
"""

from __future__ import annotations

import base64
import gzip
import json
import ssl
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping
from urllib import request
from urllib.error import HTTPError

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.address import Address

# A registry of BIOS attributes is a megabyte on common servers.
_MOST_BYTES = 64 * 1024 * 1024


_HEADERS = {"Accept": "application/json", "OData-Version": "4.0", "User-agent": "aiready.vsphere"}


class _NoRedirect(request.HTTPRedirectHandler):
    """A redirect is an answer: the session decides whether its target is on this BMC."""

    def redirect_request(self, *_given: Any) -> None:
        return None


class Clock:
    """Time as retries and waits see it; replaced in tests."""

    now = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)


class NotJson(ValueError):
    """The response body is no JSON document."""


@dataclass(frozen=True)
class Answer:
    """Response of a BMC."""

    status: int
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def etag(self) -> str | None:
        return self.headers.get("etag") or self.body.get("@odata.etag")

    @property
    def location(self) -> str | None:
        return self.headers.get("location")

    @property
    def retry_after_s(self) -> int | None:
        said = self.headers.get("retry-after", "")
        return int(said) if said.isdecimal() else None


class Wire:
    """Send requests to one address, without knowledge of their content."""

    def __init__(self, address: Address, validate_certs: bool, ca_file: str | None, timeout_s: int) -> None:
        self.address = address
        context = ssl.create_default_context(cafile=ca_file)
        if not validate_certs:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        self._timeout_s = timeout_s
        self._opener = request.build_opener(request.HTTPSHandler(context=context), _NoRedirect)

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        basic_auth: tuple[str, str] | None = None,
    ) -> Answer:
        """Return the Answer, whatever its status; connection failures are raised as urllib and ssl raise them."""
        sent = request.Request(self.address.url + path, method=method, headers={**_HEADERS, **(headers or {})})
        if body is not None:
            sent.add_header("Content-Type", "application/json")
            sent.data = json.dumps(body).encode("utf-8")
        if basic_auth is not None:
            login = base64.b64encode(":".join(basic_auth).encode("utf-8")).decode("ascii")
            sent.add_header("Authorization", f"Basic {login}")
        try:
            with self._opener.open(sent, timeout=self._timeout_s) as response:
                return _answer(response.status, response)
        except HTTPError as refusal:
            with refusal:
                return _answer(refusal.code, refusal)


def _answer(status: int, response: HTTPResponse | HTTPError) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    packed = headers.get("content-encoding", "").lower() == "gzip"
    text = gzip.GzipFile(fileobj=response).read(_MOST_BYTES) if packed else response.read(_MOST_BYTES)
    if not text.strip():
        return Answer(status, {}, headers)
    try:
        body = json.loads(text)
    except ValueError as error:
        # The status of a web server's error page is sufficient.
        if status >= 300:
            return Answer(status, {}, headers)
        raise NotJson(f"{len(text)} bytes that are not JSON ({error})") from error
    return Answer(status, body if isinstance(body, dict) else {"Members": body}, headers)
