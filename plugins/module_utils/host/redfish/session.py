# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A login to a BMC, and requests that survive a busy one and are never carried out twice."""

from __future__ import annotations

import contextlib
import os
import random
from typing import TYPE_CHECKING, Any, Callable, Mapping
from urllib.parse import urlsplit

from ansible_collections.aiready.vsphere.plugins.module_utils.core import controller, trust
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import address, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Clock, Wire

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Answer

ROOT = "/redfish/v1/"
_PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)
_REDIRECTS = (301, 302, 307, 308)


def connect(
    params: Mapping[str, Any], clock: type[Clock] = Clock, warn: Callable[[str], None] = controller.warn
) -> Bmc:
    """A Bmc from a module's parameters; it logs in with the first request that needs it."""
    where = address.parse(params["bmc_address"])
    reported = trust.warning(trust.BMC, str(where), params, os.environ)
    if reported:
        warn(reported)
    wire = Wire(where, params["bmc_validate_certs"], params["bmc_ca_file"], params["bmc_timeout_s"])
    return Bmc(wire, params["bmc_username"], params["bmc_password"], params["bmc_timeout_s"], clock)


class Bmc:
    """A Redfish service."""

    def __init__(self, wire: Wire, username: str, password: str, timeout_s: int, clock: type[Clock] = Clock) -> None:
        self.address = wire.address
        self.clock = clock
        self._wire = wire
        self._credentials = (username, password)
        self._timeout_s = timeout_s
        self._token: str | None = None
        self._session: str | None = None
        self._basic = False
        self._root: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return str(self.address)

    def root(self) -> dict[str, Any]:
        """The service root, which is read without a login."""
        if self._root is None:
            answer = self._persist("GET", ROOT)
            if answer.status in trouble.PASSING_STATUS:
                raise trouble.refused(self.address, "cannot read the Redfish service", answer)
            if answer.status != 200 or "RedfishVersion" not in answer.body:
                raise OperatorError(
                    self.name,
                    "has no Redfish service",
                    f"The answer at {self.address.url}{ROOT} is not Redfish (HTTP status {answer.status})",
                    "Check `bmc_address`, and that Redfish is enabled in the BMC",
                    code="not_redfish",
                )
            self._root = answer.body
        return self._root

    def get(self, path: str, wanted: str | None = None) -> Answer:
        """Read a resource; a refusal is an OperatorError."""
        answer = self.look(path)
        if answer.status != 200:
            raise trouble.refused(self.address, wanted or f"cannot read {path}", answer)
        return answer

    def look(self, path: str) -> Answer:
        """Read a resource that may not exist."""
        return self._authorised("GET", path)

    def members(self, path: str) -> list[dict[str, Any]]:
        """The resources of a collection, in one request where the BMC can expand it."""
        answer = self.look(f"{path}?$expand=.($levels=1)")
        found = self._pages(answer if answer.status == 200 else self.get(path))
        return [member if set(member) - {"@odata.id"} else self.get(member["@odata.id"]).body for member in found]

    def links(self, path: str) -> list[str]:
        """The paths of the resources of a collection."""
        return [member["@odata.id"] for member in self._pages(self.get(path))]

    def change(
        self, method: str, path: str, wanted: str, body: Mapping[str, Any] | None = None, etag: str | None = None
    ) -> Answer:
        """Send a changing request; it is repeated only if the BMC has not processed it."""
        answer = self._authorised(method, path, body, {"If-Match": etag} if etag else None)
        if answer.status == 412 and etag and etag.startswith("W/"):
            # Some BMCs hand out weak ETags and compare strong ones.
            answer = self._authorised(method, path, body, {"If-Match": etag[2:]})
        if answer.status == 412:
            raise OperatorError(
                self.name,
                wanted,
                "Another user or task changed the same settings at the same time",
                "Run again, which reads first",
                code="bmc_changed_meanwhile",
            )
        if answer.status >= 300:
            raise trouble.refused(self.address, wanted, answer)
        return answer

    def close(self) -> None:
        """Log out: a BMC has room for a handful of sessions, and keeps them for half an hour."""
        if self._session is not None:
            # A failed logout does not undo the work of the task.
            with contextlib.suppress(OperatorError, *trouble.ON_THE_WAY):
                self._send("DELETE", self._session, None, None)
        self._session = self._token = None

    def _pages(self, answer: Answer) -> list[dict[str, Any]]:
        """The members of a collection that may come in several parts, such as the job queue of an iDRAC."""
        found = list(answer.body.get("Members") or ())
        while answer.body.get("Members@odata.nextLink"):
            answer = self.get(answer.body["Members@odata.nextLink"])
            found += answer.body.get("Members") or ()
        return found

    def _authorised(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        if self._token is None and not self._basic:
            self._login()
        answer = self._persist(method, path, body, headers)
        if answer.status == 401 and self._token is not None:
            self._token = self._session = None
            self._login()
            answer = self._persist(method, path, body, headers)
        return answer

    def _login(self) -> None:
        links = self.root().get("Links", {})
        path = links.get("Sessions", {}).get("@odata.id", f"{ROOT}SessionService/Sessions")
        user, password = self._credentials
        answer = self._persist("POST", path, {"UserName": user, "Password": password}, repeatable=True)
        if answer.status in (200, 201) and "x-auth-token" in answer.headers:
            self._token = answer.headers["x-auth-token"]
            self._session = urlsplit(answer.location or answer.body.get("@odata.id", "")).path or None
        elif answer.status in (401, 403) or answer.status in trouble.PASSING_STATUS:
            raise trouble.refused(self.address, "cannot log in to the BMC", answer)
        else:
            # Without a session service, or with too many sessions, basic authentication remains.
            self._basic = True

    def _headers(self) -> dict[str, str]:
        return {"X-Auth-Token": self._token} if self._token else {}

    def _persist(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
    ) -> Answer:
        """The answer of a BMC that had time for one, within bounds."""
        repeatable = method == "GET" if repeatable is None else repeatable
        what = f"{method} {path}"
        began = self.clock.now()
        pauses = list(_PAUSES_S)
        while True:
            try:
                answer = self._send(method, path, body, headers)
            except trouble.ON_THE_WAY as error:
                reported = trouble.explain(error, self.address, self._timeout_s)
                if not repeatable and not trouble.was_not_sent(error):
                    raise trouble.fate_unknown(self.address, what, reported.found) from error
                if not trouble.is_passing(error) or not pauses or self.clock.now() - began > self._timeout_s:
                    raise reported from error
                pause = pauses.pop(0)
            else:
                # 408, 502 and 504 come from a proxy in between: the BMC may have executed the request.
                busy = trouble.PASSING_STATUS if repeatable else (429, 503)
                if answer.status not in busy or not pauses or self.clock.now() - began > self._timeout_s:
                    return answer
                pause = min(answer.retry_after_s or pauses[0], self._timeout_s)
                pauses.pop(0)
            self.clock.sleep(pause * random.uniform(0.8, 1.0))

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str] | None
    ) -> Answer:
        if not self._is_here(path):
            raise trouble.link_elsewhere(self.address, path)
        path, basic = _path(path), self._credentials if self._basic else None
        headers = {**self._headers(), **(headers or {})}
        answer = self._wire.send(method, path, body, headers, basic)
        if method == "GET" and answer.status in _REDIRECTS and answer.location and self._is_here(answer.location):
            answer = self._wire.send(method, _path(answer.location), body, headers, basic)
        return answer

    def _is_here(self, link: str) -> bool:
        # Neither token nor password may follow a link to another machine: "@elsewhere" behind an address is one.
        there = urlsplit(link).netloc
        mine = not there or there in (str(self.address), f"{self.address.host}:{self.address.port}")
        return mine and _path(link).startswith("/")


def _path(link: str) -> str:
    """The part of a link that is sent to the BMC."""
    there = urlsplit(link)
    return f"{there.path}?{there.query}" if there.query else there.path
