# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""vCenter's REST services, over the same TLS rules, proxy and pinned certificate as its SOAP service."""

from __future__ import annotations

import contextlib
import json
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.login import Existing, same_user
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.pauses import Pauses
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import persist

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import Clock

_SESSION = "/api/session"
_HEADER = "vmware-api-session-id"
_RENEWALS = 1


class Answered(Exception):
    """The service refused; status, kind (such as NOT_FOUND) and messages are its own."""

    def __init__(self, status: int, kind: str, messages: Sequence[str]) -> None:
        self.status = status
        self.kind = kind
        self.messages = messages
        super().__init__(f"{status} {kind}: {' / '.join(messages)}")


class Rest:
    """A session of the REST services, opened by the first request."""

    def __init__(self, vcenter: VCenter) -> None:
        self._vcenter = vcenter
        self._token: str | None = None

    @property
    def clock(self) -> type[Clock]:
        return self._vcenter.clock

    def call(self, method: str, path: str, body: Any = None, repeatable: bool | None = None) -> Any:
        """The decoded answer to a request; Answered for a refusal. repeatable: whether a POST only reads."""
        for renewals_left in range(_RENEWALS, -1, -1):
            if self._token is None:
                self._token = self._log_in()
            status, answer = self._send(method, path, body, {_HEADER: self._token}, repeatable)
            if status == 401 and isinstance(self._vcenter.login, Existing):
                raise self._vcenter.login.unknown_to_rest(self._vcenter.name)
            if status != 401 or not renewals_left:
                break
            self._token = None
        if status >= 400:
            raise _refusal(status, answer)
        return answer

    def task(
        self,
        method: str,
        path: str,
        body: Any,
        label: str,
        wanted: str,
        timeout_s: int,
        on_progress: Callable[[int, str], None] | None = None,
    ) -> Any:
        """The result of a request that starts a task, once that has ended; on_progress gets (percent, text)."""
        name = self.call(method, path, body)
        reported: tuple[int, str] | None
        pauses, reported = Pauses(self.clock, timeout_s), None
        while True:
            info = self.call("GET", f"/api/cis/tasks/{name}")
            seen = _progress(info)
            if on_progress is not None and seen != reported:
                on_progress(*seen)
                reported = seen
            if info["status"] == "SUCCEEDED":
                return info.get("result")
            if info["status"] == "FAILED":
                messages = messages_in(info.get("error") or {}) or messages_in(info.get("result") or {})
                raise OperatorError(
                    label,
                    wanted,
                    f"vCenter's task {name} failed: {' / '.join(messages) or 'it gave no message'}",
                    "Check the task and the cluster's updates in vCenter",
                    "rest_task_failed",
                    task=name,
                    messages=messages,
                )
            if pauses.over:
                raise OperatorError(
                    label,
                    wanted,
                    f"vCenter's task {name} did not end within {timeout_s} seconds; last seen: {seen[0]} % {seen[1]}",
                    "Wait for the task in vCenter, where it still runs, then run again. Nothing was cancelled",
                    "task_timeout",
                    task=name,
                )
            pauses.sleep()

    def is_image_managed(self, host: HostFound) -> bool:
        """Return whether one image manages the software of the host's cluster, instead of baselines."""
        if host.cluster_ref is None or not self._vcenter.is_vcenter:
            return False
        path = f"/api/esx/settings/clusters/{host.cluster_ref._GetMoId()}/enablement/software"
        try:
            return bool(self.call("GET", path).get("enabled"))
        except Answered as error:
            # Unknown to a vCenter before 7.0, and for a cluster that was never asked to be managed by an image.
            if error.status == 404:
                return False
            raise refused(error, f"Cluster {host.cluster}", "cannot read how its software is managed") from error

    def is_user(self, owner: str) -> bool:
        """Return whether a user name from vCenter is the user of this session."""
        return same_user(owner, self._vcenter.user)

    def close(self) -> None:
        """Log out of a session of our own."""
        if self._token is not None and self._vcenter.login.own:
            token, self._token = self._token, None
            with contextlib.suppress(OperatorError):
                self._send("DELETE", _SESSION, None, {_HEADER: token})

    def _log_in(self) -> str:
        login = self._vcenter.login
        if isinstance(login, Existing):
            return self._existing(login)
        status, answer = self._send("POST", _SESSION, None, {"Authorization": login.rest()}, repeatable=True)
        wanted = "cannot log in to the REST services"
        if status == 404:
            raise OperatorError(
                self._vcenter.name,
                wanted,
                f"There is no REST service at {_SESSION} (HTTP status 404)",
                "Use vCenter 7.0 Update 2 or newer, and check that no proxy answers in its place",
                "rest_missing",
                status=status,
            )
        if status >= 400:
            name, error = self._vcenter.name, _refusal(status, answer)
            general = refused(error, name, wanted, "the REST services")
            raise (
                login.refused(name, self._vcenter.content.about, general.found) if status == 401 else None
            ) or general
        return answer

    def _existing(self, login: Existing) -> str:
        """The session that was given, if the service knows it and it is of the same user."""
        name = self._vcenter.name
        status, answer = self._send("GET", _SESSION, None, {_HEADER: login.rest_session})
        if status in (401, 403):
            raise login.unknown_to_rest(name)
        if status < 400 and isinstance(answer, dict):
            login.check_rest_user(name, str(answer.get("user") or ""))
        return login.rest_session

    def _send(
        self, method: str, path: str, body: Any, headers: Mapping[str, str], repeatable: bool | None = None
    ) -> tuple[int, Any]:
        wire = self._vcenter.wire
        if body is not None:
            headers = dict(headers, **{"Content-Type": "application/json"})
            body = json.dumps(body).encode("utf-8")
        elif method in ("POST", "PUT", "PATCH"):
            headers = dict(headers, **{"Content-Length": "0"})
        headers = dict(headers, Accept="application/json")

        def attempt() -> tuple[int, bytes]:
            with wire.exchange(method, path, body=body, headers=headers) as response:
                status, text = response.status, response.read()
            if status in (502, 503, 504):
                raise HTTPException(f"{status} {response.reason}")
            return status, text

        may_repeat = method in ("GET", "DELETE", "PUT") if repeatable is None else repeatable
        status, text = persist(attempt, wire, f"{method} {path}", may_repeat, self._vcenter.clock)
        try:
            return status, json.loads(text) if text.strip() else None
        except ValueError as error:
            if status >= 400:
                return status, None
            raise trouble.not_vsphere(wire.target, f"the answer to {path} is not JSON") from error


def refused(error: Answered, label: str, wanted: str, field: str = "vSphere Lifecycle Manager") -> OperatorError:
    """Return an OperatorError for a refusal of the REST services; field is the object of the required privileges."""
    todo = f"Check the messages, and the user's privileges for {field}"
    if error.status == 401:
        todo = "Check `username` and `password`"
    said = " / ".join(error.messages)
    found = f"vCenter's REST service answered {error.status} {error.kind}".rstrip()
    return OperatorError(
        label, wanted, f"{found}: {said}" if said else found, todo, "rest_refused", status=error.status, kind=error.kind
    )


def _refusal(status: int, answer: Any) -> Answered:
    answer = answer if isinstance(answer, dict) else {}
    return Answered(status, answer.get("error_type", ""), messages_in(answer))


def messages_in(answer: Any) -> list[str]:
    """Every message in an error or a result, wherever the service has put it."""
    found: list[str] = []
    if isinstance(answer, dict):
        text = answer.get("default_message")
        if isinstance(text, str) and text:
            found.append(text)
        for value in answer.values():
            found += messages_in(value)
    elif isinstance(answer, list):
        for value in answer:
            found += messages_in(value)
    return list(dict.fromkeys(found))


def _progress(info: Mapping[str, Any]) -> tuple[int, str]:
    progress = info.get("progress") or {}
    total, done = progress.get("total") or 0, progress.get("completed") or 0
    message = progress.get("message") or {}
    return (100 * done // total if total else 0), message.get("default_message", "")
