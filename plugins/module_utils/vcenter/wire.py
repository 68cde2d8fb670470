# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One HTTPS connection to one server: TLS that is always verified, a pinned certificate, an optional proxy."""

from __future__ import annotations

import contextlib
import selectors
import ssl
from dataclasses import dataclass
from http.client import HTTPException, HTTPSConnection
from typing import IO, TYPE_CHECKING, Any, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import trust
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import SoapStubAdapter
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.certificate import fingerprint
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.trouble import CertificateChanged

if TYPE_CHECKING:
    import socket
    from http.client import HTTPResponse

    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import ReliableStub

_LARGEST_PAGE = 1 << 20


@dataclass(frozen=True)
class Target:
    """Server to connect to, and its trust settings."""

    host: str
    port: int
    proxy_host: str | None
    proxy_port: int
    validate_certs: bool
    ca_file: str | None
    timeout_s: int
    session_file: str | None = None

    @property
    def name(self) -> str:
        return self.host if self.port == 443 else f"{self.host}:{self.port}"

    @property
    def connect_timeout_s(self) -> int:
        """Return the time to connect: a running server answers the first packets at once, however long its reads
        take.
        """
        return min(self.timeout_s, 15)


class Wire:
    """Send one request at a time, with the session cookie, the API version and the pinned certificate."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.pin: str | None = None
        self.shown: str | None = None
        # True if any part of the latest request has left this machine.
        self.sent = False
        # Sent with LoginByToken alone.
        self.saml_token: str | None = None
        # Time limit of the next answer.
        self.patience_s = target.timeout_s
        self._context = tls_context(target)
        self._adapter: Any = None
        self._new_adapter(None)

    @property
    def cookie(self) -> str:
        """The cookie alone, without the attributes that came along with it."""
        return self._adapter.cookie.partition(";")[0]

    @cookie.setter
    def cookie(self, cookie: str) -> None:
        self._adapter.cookie = cookie

    @property
    def version(self) -> str:
        return self._adapter.version

    def use_version(self, version: str) -> None:
        """Speak this version from now on; pyVmomi's adapter alone can only go up."""
        if version != self._adapter.version:
            self.drop()
            self._new_adapter(version)

    def call(self, mo: Ref, info: Data, args: Sequence[object], stub: ReliableStub) -> tuple[int, Data]:
        """Send one SOAP request; return the HTTP status and the answer or fault."""
        self.sent = False
        by_token = info.wsdlName == "LoginByToken"
        self._adapter.samlToken = self.saml_token if by_token else None
        if by_token or info.wsdlName == "Login":
            # vCenter refuses the login of a session that is logged in, as one is whose answer was lost.
            self.cookie = ""
        self._shed_dead_connections()
        status, answer = self._adapter.InvokeMethod(mo, info, args, stub)
        if status != 200 and not isinstance(answer, Exception):
            raise HTTPException(f"{status} without a SOAP fault")
        return status, answer

    def fetch(self, path: str) -> tuple[int, bytes]:
        """Send one GET; return the HTTP status and the body."""
        self.sent = False
        connection = self._adapter.GetConnection()
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read(_LARGEST_PAGE)
        if response.isclosed():
            self._adapter.ReturnConnection(connection)
        else:
            connection.close()
        if response.status >= 500:
            raise HTTPException(f"{response.status} {response.reason}")
        return response.status, body

    @contextlib.contextmanager
    def exchange(
        self, method: str, path: str, body: bytes | IO[bytes] | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[HTTPResponse]:
        """Send one request of any kind, for the other services of vCenter; the response must be read inside."""
        self.sent = False
        self._shed_dead_connections()
        connection = self._adapter.GetConnection()
        try:
            # A server that refuses a large body may answer and hang up before it has read it.
            with contextlib.suppress(BrokenPipeError):
                connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            yield response
        except BaseException:
            connection.close()
            raise
        if response.isclosed():
            self._adapter.ReturnConnection(connection)
        else:
            connection.close()

    def drop(self) -> None:
        """Close all connections; the next request opens a new one."""
        self._adapter.DropConnections()

    def opened(self, connection: HTTPSConnection) -> None:
        """Called for every new connection, before any secret is sent over it."""
        self.sent = False
        self.shown = fingerprint(cast(bytes, connection.sock.getpeercert(True)))
        if self.pin is None:
            self.pin = self.shown
        if self.shown != self.pin:
            connection.close()
            raise CertificateChanged(self.pin, self.shown)

    def _new_adapter(self, version: str | None) -> None:
        target = self.target
        self._adapter = SoapStubAdapter(
            host=target.host,
            port=target.port,
            path="/sdk",
            version=version,
            sslContext=self._context,
            httpConnectionTimeout=target.timeout_s,
        )
        self._adapter.scheme = _Connection
        self._adapter.schemeArgs["wire"] = self

    def _shed_dead_connections(self) -> None:
        # A connection that the server closed while idle would make the fate of a change unknown for no reason.
        for connection, _idle_since in list(self._adapter.pool):
            if connection.sock is not None and _has_input(connection.sock):
                self.drop()
                return


class _Connection(HTTPSConnection):
    """Report its state to its wire, limit the time to connect, and use the proxy if there is one."""

    def __init__(self, *_address: object, wire: Wire, timeout: float, context: ssl.SSLContext, **_more: object) -> None:
        # Each release of pyVmomi handles a proxy differently, so the address that it hands over is not used.
        self._wire, target = wire, wire.target
        if target.proxy_host:
            super().__init__(target.proxy_host, target.proxy_port, timeout=timeout, context=context)
            self.set_tunnel(target.host, target.port)
        else:
            super().__init__(target.host, target.port, timeout=timeout, context=context)

    def connect(self) -> None:
        patience, self.timeout = self.timeout, self._wire.target.connect_timeout_s
        try:
            super().connect()
        finally:
            self.timeout = patience
            # The data that opens the tunnel at a proxy is not the request.
            self._wire.sent = False
        self._wire.opened(self)

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        self._wire.sent = True
        self.sock.settimeout(self._wire.patience_s)
        super().send(data)


def _has_input(sock: socket.socket) -> bool:
    """Return whether a socket has input although no answer is expected, such as its end."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def tls_context(target: Target) -> ssl.SSLContext:
    """Verification is on for every host name, unless the user has turned it off."""
    if not target.validate_certs:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        try:
            context = ssl.create_default_context(cafile=target.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise OperatorError(
                target.name,
                "cannot connect to vCenter",
                f"The file {target.ca_file} has no usable trusted certificates "
                f"({trust.why_unusable(cast(str, target.ca_file), error)})",
                "Set `ca_file` to a file with certificates in PEM format",
                "ca_file",
            ) from error
        # Strict checks, the default since Python 3.13, refuse certificates that VMCA has issued for years.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        # A file that holds only the server's own or an intermediate certificate is trust enough.
        context.verify_flags |= getattr(ssl, "VERIFY_X509_PARTIAL_CHAIN", 0)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
