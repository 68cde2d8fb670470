# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the reachable addresses, the free disk space and the time of a machine. Standard library only; no changes."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import ssl
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.registry import Login, Registry

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.environment.params import (
        AddressRequest,
        RegistryRequest,
        SurroundingsRequest,
    )

AT_ONCE = 8
GB = 1 << 30
# The file of a repository's key has about 4 kB.
LARGEST_KEY = 1 << 20
# Servers that accept only GET report this.
NO_HEAD = (405, 501)


def look(requested: SurroundingsRequest) -> dict[str, Any]:
    """{addresses, registries, disks, time}; everything on the network is asked side by side."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        addresses = [pool.submit(address, one, requested.timeout_s) for one in requested.addresses]
        registries = [pool.submit(registry, one, requested.timeout_s) for one in requested.registries]
        reported = {
            "addresses": [one.result() for one in addresses],
            "registries": [one.result() for one in registries],
        }
    return dict(reported, disks=[disk(path) for path in requested.paths], time=time.time())


def address(
    requested: AddressRequest, timeout_s: float, opener: urllib.request.OpenerDirector | None = None
) -> dict[str, Any]:
    """Return whether one address answers as required."""
    reported: dict[str, Any] = {
        "url": requested.url,
        "reached": False,
        "status": None,
        "why": "",
        "code": "",
        "content": None,
    }
    try:
        opener = opener or _opener(requested.ca_file)
        if requested.expect == "key":
            return _key(reported, opener, timeout_s)
        status = _status(opener, requested.url, timeout_s)
    except (OSError, ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", error)
        stranger = isinstance(reason, ssl.SSLCertVerificationError)
        return dict(reported, why=_reason(reason, timeout_s), code="certificate" if stranger else "")
    right = status < 500 if requested.expect == "server" else 200 <= status < 300
    return dict(reported, reached=right, status=status, why="" if right else _refused(status))


def _key(reported: dict[str, Any], opener: urllib.request.OpenerDirector, timeout_s: float) -> dict[str, Any]:
    """The same with the content of a key file."""
    status, content = _ask(opener, "GET", reported["url"], timeout_s, LARGEST_KEY + 1)
    if not 200 <= status < 300:
        return dict(reported, status=status, why=_refused(status))
    if len(content) > LARGEST_KEY:
        return dict(reported, status=status, why="It has more than 1 MiB, which is too large for a key file.")
    return dict(reported, reached=True, status=status, content=base64.b64encode(content).decode("ascii"))


def _refused(status: int) -> str:
    return f"It answers with HTTP status {status}{': it does not exist' if status in (404, 410) else ''}."


def registry(requested: RegistryRequest, timeout_s: float) -> dict[str, Any]:
    """Return whether a registry answers, and whether it accepts the login if there is one."""
    reported: dict[str, Any] = {"address": requested.address, "reached": False, "login": "none", "why": "", "code": ""}
    login = Login(requested.address, requested.username or "", requested.password or "")
    known = bool(requested.username and requested.password)
    try:
        ours = [requested.ca_file] if requested.ca_file else []
        found = Registry(requested.address, insecure=requested.insecure, ca_files=ours, limit_s=timeout_s)
        if known:
            return dict(reported, reached=True, login=found.takes(login))
        found.answers()
    except OperatorError as error:
        reached = error.code == "login_refused"
        return dict(
            reported, reached=reached, login="refused" if reached else "none", why=error.message, code=error.code
        )
    return dict(reported, reached=True)


def disk(path: str) -> dict[str, Any]:
    """Free space where a path is, or would be made."""
    where = os.path.abspath(os.path.expanduser(path))
    while not os.path.exists(where) and os.path.dirname(where) != where:
        where = os.path.dirname(where)
    try:
        return {"path": path, "free_gb": round(shutil.disk_usage(where).free / GB, 1), "why": ""}
    except OSError as error:
        return {"path": path, "free_gb": None, "why": f"It cannot be read: {error.strerror}."}


def _opener(ca_file: str | None) -> urllib.request.OpenerDirector:
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))


def _status(opener: urllib.request.OpenerDirector, url: str, timeout_s: float) -> int:
    status, dummy = _ask(opener, "HEAD", url, timeout_s)
    return _ask(opener, "GET", url, timeout_s)[0] if status in NO_HEAD else status


def _ask(
    opener: urllib.request.OpenerDirector, method: str, url: str, timeout_s: float, most: int = 0
) -> tuple[int, bytes]:
    """The status, and so many bytes of the content."""
    request = urllib.request.Request(url, method=method, headers={"User-Agent": "ansible"})
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            return answer.status, answer.read(most)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b""


def _reason(reason: str | BaseException, timeout_s: float) -> str:
    """Return the failure as a sentence."""
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"Its certificate is not trusted: {str(reason.verify_message).rstrip('.')}."
    if isinstance(reason, socket.gaierror):
        return f"Its name cannot be resolved: {reason.strerror}."
    if isinstance(reason, (socket.timeout, TimeoutError)):
        return f"It does not answer within {timeout_s} seconds."
    return f"It is not reachable: {str(reason).rstrip('.')}."
