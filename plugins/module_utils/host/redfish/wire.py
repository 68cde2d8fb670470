# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One HTTPS request to a BMC, over Ansible's own HTTP client.

Every request has a connection of its own: BMCs are known to hang on connections that stay open.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping
from urllib.error import HTTPError

from ansible.module_utils.urls import Request

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.address import Address

# A registry of BIOS attributes is a megabyte on common servers.
_MOST_BYTES = 64 * 1024 * 1024


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
        self._request = Request(
            headers={"Accept": "application/json", "OData-Version": "4.0"},
            validate_certs=validate_certs,
            ca_path=ca_file,
            timeout=timeout_s,
            follow_redirects="none",
            http_agent="aiready.vsphere",
            # The password is the task's, never one that lies in a .netrc for the same name.
            use_netrc=False,
        )

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        basic_auth: tuple[str, str] | None = None,
    ) -> Answer:
        """Return the Answer, whatever its status; connection failures are raised as urllib and ssl raise them."""
        headers = dict(headers or {})
        options: dict[str, Any] = {}
        if body is not None:
            headers["Content-Type"] = "application/json"
            options["data"] = json.dumps(body)
        if basic_auth is not None:
            options.update(url_username=basic_auth[0], url_password=basic_auth[1], force_basic_auth=True)
        try:
            with self._request.open(method, self.address.url + path, headers=headers, **options) as response:
                return _answer(response.status, response)
        except HTTPError as refusal:
            with refusal:
                return _answer(refusal.code, refusal)


def _answer(status: int, response: HTTPResponse | HTTPError) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    text = response.read(_MOST_BYTES)
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
