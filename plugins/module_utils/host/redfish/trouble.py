# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Connection failures of a BMC, in words that an operator can act on."""

from __future__ import annotations

import re
import socket
import ssl
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Mapping
from urllib.error import URLError

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import NotJson
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import certificate

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.address import Address
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Answer

PASSING_STATUS = (408, 429, 502, 503, 504)
ON_THE_WAY = (OSError, HTTPException, NotJson)
_MESSAGES_SHOWN = 5


class FateUnknown(OperatorError):
    """The BMC may or may not have executed the request: only a new read shows it."""


@dataclass(frozen=True)
class _Target:
    host: str
    port: int
    connect_timeout_s: int
    proxy_host: str = ""
    proxy_port: int = 0


def root_cause(error: BaseException) -> BaseException:
    """Return the cause: urllib wraps the exceptions of ssl and socket."""
    return error.reason if isinstance(error, URLError) and isinstance(error.reason, BaseException) else error


def is_passing(error: BaseException) -> bool:
    """Return whether the same attempt may succeed a moment later."""
    cause = root_cause(error)
    if isinstance(cause, (ssl.SSLCertVerificationError, socket.gaierror, ConnectionRefusedError)):
        return False
    return isinstance(cause, (ConnectionError, HTTPException, ssl.SSLError)) or _timed_out(cause)


def was_not_sent(error: BaseException) -> bool:
    """Return whether the BMC has certainly not received the request."""
    return isinstance(root_cause(error), (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError))


def explain(error: BaseException, address: Address, timeout_s: int) -> OperatorError:
    """An OperatorError for anything that urllib, http.client, ssl and socket raise."""
    cause = root_cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _untrusted(cause, address)
    if isinstance(cause, socket.gaierror):
        found = f"The name {address.host} cannot be resolved ({cause.strerror or cause})"
        return _reported(address, found, "Check `bmc_address` and this machine's DNS", code="bmc_unresolvable")
    if isinstance(cause, ConnectionRefusedError):
        found = f"{address.host} refuses connections on port {address.port}"
        todo = "Check `bmc_address`, and that the BMC is up and serves Redfish"
        return _reported(address, found, todo, code="bmc_refused")
    if _timed_out(cause):
        found = f"No answer came within {timeout_s} seconds"
        todo = "Check the route from this machine to the management network, or raise `bmc_timeout_s`"
        return _reported(address, found, todo, code="bmc_timeout")
    if isinstance(cause, NotJson):
        found = f"The answer is {cause}"
        return _reported(address, found, "Check that `bmc_address` is the address of a BMC", code="not_redfish")
    found = f"The connection broke ({str(cause) or type(cause).__name__})"
    todo = "Check the network between this machine and the BMC, and the proxy in HTTPS_PROXY"
    return _reported(address, found, todo, code="bmc_unreachable")


def fate_unknown(address: Address, what: str, why: str) -> FateUnknown:
    return FateUnknown(
        str(address),
        f"{what} got no answer",
        why,
        "Run again, which reads first. The BMC may have executed the request",
        code="bmc_fate_unknown",
    )


def link_elsewhere(address: Address, link: str) -> OperatorError:
    return OperatorError(
        str(address),
        "cannot read a resource of the BMC",
        f"The BMC links to {link}, which is not a path on this BMC",
        "Check that `bmc_address` is the address of a BMC. Nothing was sent to the other address",
        code="bmc_link",
    )


def refused(address: Address, what: str, answer: Answer) -> OperatorError:
    """An OperatorError for an answer that is no success."""
    said = sentences(answer)
    reported = " Its message: " + " ".join(said) if said else ""
    data = {"status": answer.status, "messages": said}
    if answer.status == 401:
        return OperatorError(
            str(address),
            "cannot log in to the BMC",
            f"The BMC rejects the user or the password.{reported}",
            "Check `bmc_username` and `bmc_password`. BMCs lock a user, or an address, after a few wrong tries",
            code="bmc_login_refused",
            **data,
        )
    if answer.status == 403:
        todo = "Give the user the privileges to log in, to configure the server and to control its power"
        return OperatorError(
            str(address),
            what,
            f"The user lacks the privilege for this request.{reported}",
            todo,
            code="bmc_privilege_missing",
            **data,
        )
    if answer.status in PASSING_STATUS:
        todo = "Wait until the server has finished its self-test or the BMC its restart, then run again"
        return OperatorError(
            str(address),
            what,
            f"The BMC is busy (HTTP status {answer.status}).{reported}",
            todo,
            code="bmc_busy",
            **data,
        )
    found = f"The BMC rejects the request with HTTP status {answer.status}.{reported}"
    return OperatorError(
        str(address), what, found, "Correct the settings that the BMC names, then run again", code="bmc_rejects", **data
    )


def sentences(answer: Answer) -> list[str]:
    """The messages in a Redfish error, without the general ones."""
    error = answer.body.get("error") or {}
    error = error if isinstance(error, dict) else {"message": error}
    extended = error.get("@Message.ExtendedInfo") or answer.body.get("@Message.ExtendedInfo") or []
    extended = [extended] if isinstance(extended, dict) else extended
    said = [_sentence(entry) for entry in extended if isinstance(entry, dict)]
    said = [text for text in said if text] or [_finished(_plain(error.get("message")))]
    return list(dict.fromkeys(text for text in said if text))[:_MESSAGES_SHOWN]


def _sentence(entry: Mapping[str, Any]) -> str:
    text = str(entry.get("Message") or "")
    words = entry.get("MessageArgs")
    arguments = [str(word) for word in words] if isinstance(words, list) else []
    for number, word in enumerate(arguments, start=1):
        text = text.replace(f"%{number}", word)
    # iLO sends identifiers alone and leaves the text to the registry.
    return _finished(text or " ".join(filter(None, (str(entry.get("MessageId") or ""), *arguments))))


def _plain(message: Any) -> str:
    """A message without extended ones; iDRACs of old firmware put its language beside it."""
    return str((message.get("value") if isinstance(message, dict) else message) or "")


def _finished(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return text if not text or text.endswith((".", "!", "?")) else text + "."


def _timed_out(error: BaseException) -> bool:
    # Before Python 3.10 a handshake that times out is an SSLError with this text and no type of its own.
    return isinstance(error, (socket.timeout, TimeoutError)) or "timed out" in str(error)


def _reported(address: Address, found: str, todo: str, code: str, **data: object) -> OperatorError:
    return OperatorError(str(address), "cannot connect to the BMC", found, todo, code, **data)


def _untrusted(error: ssl.SSLCertVerificationError, address: Address) -> OperatorError:
    shown = certificate.presented(_Target(address.host, address.port, 10))
    found = f"Its certificate is not trusted: {getattr(error, 'verify_message', '') or error}"
    if shown is not None:
        found += (
            f". It shows subject {shown.subject}, issuer {shown.issuer}, valid until {shown.not_after}, "
            f"SHA-256 fingerprint {shown.fingerprint}"
        )
    todo = (
        "Set `bmc_ca_file` to the authority that signed it (or to this certificate, after you have compared the "
        "fingerprint), and `bmc_address` to a name in the certificate"
    )
    return _reported(address, found, todo, code="bmc_certificate_not_trusted")
