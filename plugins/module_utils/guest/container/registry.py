# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Check with the API of a container registry whether it accepts a login.

The registry names the place of the login check: itself (Basic), or a token service (Bearer).
"""

from __future__ import annotations

import base64
import json
import re
import socket
import ssl
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core import trust
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from email.message import Message
    from http.client import HTTPMessage
    from typing import IO

LIMIT_S = 30
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
# Registries whose API lies elsewhere, and the name under which engines keep their logins.
HUB = ("docker.io", "index.docker.io", "registry-1.docker.io")
HUB_API, HUB_KEY = "registry-1.docker.io", "https://index.docker.io/v1/"
NVIDIA, NVIDIA_USER = "nvcr.io", "$oauthtoken"


def login_key(address: str) -> str:
    """Return the key under which an engine searches the login of a registry."""
    return HUB_KEY if address in HUB else address


@dataclass(frozen=True)
class Login:
    """A user and a password, at one registry."""

    address: str
    username: str
    password: str = field(repr=False)

    @property
    def basic(self) -> str:
        return base64.b64encode(f"{self.username}:{self.password}".encode()).decode()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """urllib would carry the login along to wherever it is sent."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


class Registry:
    """The API of one registry."""

    def __init__(
        self,
        address: str,
        insecure: bool = False,
        ca_files: Sequence[str] = (),
        proxy: str = "",
        no_proxy: Sequence[str] = (),
        limit_s: float = LIMIT_S,
    ) -> None:
        self._address = address
        self._host = HUB_API if address in HUB else address
        self._insecure = insecure
        self._limit_s = limit_s
        handlers: list[urllib.request.BaseHandler] = [
            _NoRedirects(),
            urllib.request.HTTPSHandler(context=self._context(insecure, ca_files)),
        ]
        host = self._host.rpartition(":")[0] or self._host
        left_out = urllib.request.proxy_bypass_environment(  # type: ignore[attr-defined]
            host, {"no": ",".join(no_proxy)}
        )
        if proxy:
            handlers.append(urllib.request.ProxyHandler({} if left_out else {"http": proxy, "https": proxy}))
        self._opener = urllib.request.build_opener(*handlers)

    def _context(self, insecure: bool, ca_files: Sequence[str]) -> ssl.SSLContext:
        context = ssl.create_default_context()
        for path in ca_files:
            try:
                context.load_verify_locations(path)
            except (OSError, ssl.SSLError) as error:
                raise OperatorError(
                    path,
                    "cannot be used as certificate authority of a registry",
                    f"The error is: {trust.why_unusable(path, error)}.",
                    "Use a file with one or more certificates in PEM.",
                    "authority_unusable",
                    path=path,
                ) from None
        if insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def answers(self) -> None:
        """Return if a registry answers, with or without a login; raise an error otherwise."""
        _scheme, status, headers = self._first()
        if status != 200 and not (status == 401 and headers.get("WWW-Authenticate")):
            raise self._strange(status)

    def takes(self, login: Login) -> str:
        """Return how the registry checked the login, 'basic', 'token' or 'open'; raise an error if it refuses it."""
        scheme, status, headers = self._first()
        if status == 200:
            return "open"
        challenge = headers.get("WWW-Authenticate") or ""
        if status != 401 or not challenge:
            raise self._strange(status)
        kind = challenge.split(" ", 1)[0].lower()
        api = f"{scheme}://{self._host}/v2/"
        if kind == "basic":
            self._demand(login, self._send(api, f"Basic {login.basic}")[0])
            return "basic"
        if kind != "bearer":
            raise self._strange(status)
        token = self._token(login, dict(ATTRIBUTE.findall(challenge)))
        self._demand(login, self._send(api, f"Bearer {token}")[0])
        return "token"

    def _first(self) -> tuple[str, int, Message]:
        """(scheme, status, headers) of the API's root, without a login."""
        try:
            status, headers, _body = self._send(f"https://{self._host}/v2/")
        except OperatorError as error:
            if not (self._insecure and error.code == "registry_not_encrypted"):
                raise
            status, headers, _body = self._send(f"http://{self._host}/v2/")
            return "http", status, headers
        return "https", status, headers

    def _token(self, login: Login, said: Mapping[str, str]) -> str:
        realm = urllib.parse.urlsplit(said.get("realm", ""))
        if realm.scheme != "https" and not (self._insecure and realm.scheme == "http"):
            raise OperatorError(
                f"Registry {self._address}",
                "cannot check the login",
                f"It sends logins to {said.get('realm') or 'no address'}, which is not encrypted. "
                "The module sent nothing.",
                "Correct the token service of the registry, or set `insecure: true`.",
                "token_service_not_encrypted",
            )
        asked = {name: said[name] for name in ("service", "scope") if said.get(name)}
        asked["account"] = login.username
        query = "&".join(part for part in (realm.query, urllib.parse.urlencode(asked)) if part)
        status, _headers, body = self._send(realm._replace(query=query).geturl(), f"Basic {login.basic}")
        if status != 200:
            self._demand(login, status)
        try:
            answer = json.loads(body)
        except ValueError:
            answer = {}
        token = answer.get("token") or answer.get("access_token") if isinstance(answer, dict) else None
        if not token:
            raise self._strange(status)
        return token

    def _demand(self, login: Login, status: int) -> None:
        if status == 200:
            return
        if status not in (401, 403):
            raise self._strange(status)
        todo = "Correct the user and the password."
        if self._address == NVIDIA:
            todo = "Create a new API key, and check that its organisation may pull images."
            if login.username != NVIDIA_USER:
                todo = (
                    f"Set the user to literally {NVIDIA_USER} and the password to the API key. In YAML, write it in "
                    "single quotes."
                )
        raise OperatorError(
            f"Registry {self._address}",
            f"refuses the login of {login.username}",
            f"It answers with HTTP status {status}.",
            todo,
            "login_refused",
            status=status,
        )

    def _send(self, url: str, authorization: str | None = None) -> tuple[int, Message, bytes]:
        request = urllib.request.Request(url, headers={"User-Agent": "ansible"})
        if authorization is not None:
            # Not for a proxy, and not for another address.
            request.add_unredirected_header("Authorization", authorization)
        try:
            with self._opener.open(request, timeout=self._limit_s) as answer:
                return answer.status, answer.headers, answer.read(1 << 20)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, b""
        except (urllib.error.URLError, OSError) as error:
            raise self._unreachable(url, error) from None

    def _unreachable(self, url: str, error: OSError) -> OperatorError:
        reason = getattr(error, "reason", error)
        host = urllib.parse.urlsplit(url).netloc
        code, found, todo = _trouble(reason)
        return OperatorError(
            f"Registry {self._address}",
            f"cannot be queried at {host}",
            found.format(reason=str(reason).rstrip(".")),
            todo,
            code,
            asked=host,
        )

    def _strange(self, status: int) -> OperatorError:
        moved = 300 <= status < 400
        return OperatorError(
            f"Registry {self._address}",
            "cannot check the login",
            f"It answers with HTTP status {status}, " + ("a redirect." if moved else "not valid for a registry."),
            "Use the address of the registry as in image names, without a path. Or try again later.",
            "registry_strange",
            status=status,
        )


def _trouble(reason: str | BaseException) -> tuple[str, str, str]:
    """Return (code, finding, fix) for an error of the network."""
    if isinstance(reason, ssl.SSLCertVerificationError):
        return (
            "registry_untrusted",
            "Its certificate is not trusted: {reason}.",
            "Set `ca_file` to the certificate authority, and use the name in the certificate.",
        )
    if isinstance(reason, ssl.SSLError) and ("WRONG_VERSION" in str(reason) or "HTTP_REQUEST" in str(reason)):
        return (
            "registry_not_encrypted",
            "It does not use TLS.",
            "Set up TLS on the registry, or set `insecure: true`. The password is then readable on the network.",
        )
    if isinstance(reason, socket.gaierror):
        return (
            "registry_unknown",
            "Its name cannot be resolved: {reason}.",
            "Check the spelling and the name servers of the guest.",
        )
    if isinstance(reason, (socket.timeout, TimeoutError)):
        return (
            "registry_unreachable",
            "It does not answer in time.",
            "Check that the guest reaches it, and whether it needs a proxy.",
        )
    if "407" in str(reason):
        return ("proxy_refused", "The proxy refuses: {reason}.", "Set the user and the password of the proxy.")
    return (
        "registry_unreachable",
        "It is not reachable: {reason}.",
        "Check the address and port, and whether it needs a proxy.",
    )
