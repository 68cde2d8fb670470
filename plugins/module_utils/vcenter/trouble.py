# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Connection failures of vCenter, in words that an operator can act on."""

from __future__ import annotations

import re
import socket
import ssl
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Callable
from xml.parsers.expat import ExpatError

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import certificate

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.wire import Target

_PASSING_STATUS = (408, 429, 502, 503, 504)


class NoConnection(OperatorError):
    """vCenter cannot be reached, whatever the request."""


class CertificateChanged(OSError):
    """The certificate of the server differs from the one at the start of the session."""

    def __init__(self, pinned: str, shown: str) -> None:
        super().__init__(f"the certificate {pinned} was expected, the server shows {shown}")
        self.pinned = pinned
        self.shown = shown


def http_status(error: BaseException) -> int | None:
    """Return the status code inside the exception that pyVmomi raises for an unexpected HTTP answer."""
    match = re.match(r"([1-5]\d\d)\b", str(error)) if error.__class__ is HTTPException else None
    return int(match.group(1)) if match else None


def is_passing(error: BaseException) -> bool:
    """Return whether the same attempt may succeed a moment later."""
    if isinstance(error, (ssl.SSLCertVerificationError, socket.gaierror, ConnectionRefusedError, CertificateChanged)):
        return False
    if isinstance(error, ssl.SSLError):
        return isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)) or _timed_out(error)
    if isinstance(error, (ConnectionError, ExpatError)) or _timed_out(error):
        return True
    status = http_status(error)
    if status is not None:
        return status in _PASSING_STATUS
    return isinstance(error, HTTPException)


def reason(error: BaseException) -> str:
    """Return one clause that describes the failure on the wire."""
    status = http_status(error)
    if status is not None:
        return f"The server answered with HTTP status {error}"
    if _timed_out(error):
        return "No answer came within the time limit"
    if isinstance(error, ExpatError):
        return f"The answer was cut off or is not XML ({error})"
    text = str(error) or type(error).__name__
    return f"The connection broke ({text})"


def explain(error: BaseException, target: Target) -> NoConnection:
    """A NoConnection for anything that http.client, ssl and socket raise while talking to a target."""
    if _timed_out(error):
        return _reported(
            target,
            f"No answer came within {target.timeout_s} seconds",
            "Check the route and the firewall, or raise `request_timeout_s`",
            "vcenter_timeout",
        )
    for kind, teller in _TELLERS:
        if isinstance(error, kind):
            return teller(error, target)
    return _reported(
        target,
        reason(error),
        "Check the network between this machine and vCenter, and whether its services are up",
        "vcenter_unreachable",
    )


def not_vsphere(target: Target, found: str) -> NoConnection:
    """There is something at the address, but not a vSphere API."""
    return _reported(
        target,
        f"There is no vSphere API at https://{target.host}:{target.port}/sdk: {found}",
        "Check `hostname` and `port`; they must be those of vCenter's web services",
        "not_a_vcenter",
    )


def _reported(target: Target, found: str, todo: str, code: str, **data: object) -> NoConnection:
    return NoConnection(target.name, "cannot connect to vCenter", found, todo, code, **data)


def _timed_out(error: BaseException) -> bool:
    # Before Python 3.10 a handshake that times out is an SSLError with this text and no type of its own.
    return isinstance(error, (socket.timeout, TimeoutError)) or "timed out" in str(error)


def _name_unknown(error: BaseException, target: Target) -> NoConnection:
    name = target.proxy_host or target.host
    option = "proxy_host" if target.proxy_host else "hostname"
    return _reported(
        target,
        f"The name {name} cannot be resolved ({getattr(error, 'strerror', None) or error})",
        f"Check `{option}` (a name or an address, without a scheme or a port) and this machine's DNS",
        "vcenter_unresolvable",
    )


def _refused(error: BaseException, target: Target) -> NoConnection:
    if target.proxy_host:
        found = f"The proxy {target.proxy_host} refuses connections on port {target.proxy_port}"
        todo = "Check `proxy_host` and `proxy_port`"
    else:
        found = f"{target.host} refuses connections on port {target.port}"
        todo = "Check `hostname` and `port`, and whether vCenter's services are up"
    return _reported(target, found, todo, "vcenter_refused")


def _changed(error: CertificateChanged, target: Target) -> NoConnection:
    return _reported(
        target,
        f"The server shows the certificate {error.shown}, but the session was opened with {error.pinned}, "
        "and `validate_certs` is false, so the identity of the server is unknown",
        "Set `ca_file` and turn validation on. Or, if the certificate was replaced on purpose, remove the file "
        f"{target.session_file or 'of the session'} and run again",
        "certificate_changed",
        pinned=error.pinned,
        shown=error.shown,
    )


def _untrusted(error: BaseException, target: Target) -> NoConnection:
    shown = certificate.presented(target)
    said = getattr(error, "verify_message", "") or str(error)
    found = f"Its certificate is not trusted: {said}"
    if shown is not None:
        found += (
            f". It shows subject {shown.subject}, issuer {shown.issuer}, valid until {shown.not_after}, "
            f"SHA-256 fingerprint {shown.fingerprint}"
        )
    if "match" in said and ("hostname" in said.lower() or "ip address" in said.lower()):
        names = f" ({', '.join(shown.names)})" if shown is not None and shown.names else ""
        todo = f"Use one of the names of the certificate{names} as `hostname`, or replace the certificate"
        code = "certificate_hostname"
    elif "expired" in said:
        todo = "Check the clock of this machine, and renew the certificate of vCenter"
        code = "certificate_expired"
    else:
        todo = (
            f"Set `ca_file` to vCenter's root certificates (https://{target.name}/certs/download.zip), after a check "
            f"of their fingerprints with their owner; the file in use is {target.ca_file or 'that of the system'}"
        )
        code = "certificate_untrusted"
    return _reported(target, found, todo, code, fingerprint=shown.fingerprint if shown is not None else "")


def _not_tls(error: BaseException, target: Target) -> NoConnection:
    return _reported(
        target,
        f"The TLS handshake failed ({getattr(error, 'reason', None) or error})",
        "Check `port`: it must speak HTTPS, with TLS 1.2 or newer",
        "vcenter_tls",
    )


_TELLERS: tuple[tuple[type[BaseException], Callable[[Any, Target], NoConnection]], ...] = (
    (ssl.SSLCertVerificationError, _untrusted),
    (CertificateChanged, _changed),
    (socket.gaierror, _name_unknown),
    # Python raises this for a name with an empty label or for one that is too long.
    (UnicodeError, _name_unknown),
    (ConnectionRefusedError, _refused),
    (ssl.SSLError, _not_tls),
)
