# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Retry calls after transient failures, and never send a change twice.

pyVmomi calls a stub for every method; ReliableStub takes that position and sends the calls through a Wire.
"""

from __future__ import annotations

import random
import time
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Callable, Sequence, TypeVar, cast
from xml.parsers.expat import ExpatError

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import SoapStubAdapter, vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.trouble import CertificateChanged

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.wire import Wire

    T = TypeVar("T")

PAUSES_S = (0.25, 0.5, 1.0, 2.0, 4.0)
_RENEWALS = 2

# Methods that may be sent again although the first one may have been carried out.
_REPEATABLE = (
    "Retrieve",
    "Query",
    "DirectPathProfileManagerQueryCapacity",
    "Find",
    "Fetch",
    "WaitForUpdates",
    "CheckForUpdates",
    "Cancel",
    "CreateFilter",
    "CreatePropertyCollector",
    "CreateListView",
    "CreateContainerView",
    "ModifyListView",
    "ResetListView",
    "DestroyPropertyFilter",
    "DestroyPropertyCollector",
    "DestroyView",
    "CurrentTime",
    "SessionIsActive",
    "Login",
    "Logout",
)
# Exceptions to the prefixes above: CancelTask stops a task of another client.
_ONCE = ("CancelTask", "CancelStorageDrsRecommendation")
# The login itself, and calls that a new session cannot continue.
_NEVER_RENEW = (
    "RetrieveServiceContent",
    "Login",
    "LoginByToken",
    "Logout",
    "ContinueRetrievePropertiesEx",
    "CancelRetrievePropertiesEx",
)


class Clock:
    """Time as the retries and waits see it; replaced in tests."""

    now = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)


class FateUnknown(OperatorError):
    """The request may or may not have been executed: only a new read shows it."""

    def __init__(self, server: str, method: str, why: str, http_status: int | None = None) -> None:
        super().__init__(
            server,
            f"{method} got no answer",
            why,
            "Check the object before you repeat the request: vCenter may have executed it.",
            code="fate_unknown",
            method=method,
        )
        self.http_status = http_status


class ReliableStub:
    """Stub of pyVmomi's managed objects: one retry policy for every call."""

    def __init__(self, wire: Wire, renew: Callable[[str], None], clock: type[Clock] = Clock) -> None:
        self.wire = wire
        # False once the session is logged out.
        self.renews = True
        self._renew = renew
        self._clock = clock

    @property
    def version(self) -> str:
        return self.wire.version

    def InvokeAccessor(self, mo: Ref, info: Data) -> Data:
        return SoapStubAdapter.InvokeAccessor(cast(Any, self), mo, info)

    def InvokeMethod(self, mo: Ref, info: Data, args: Sequence[object]) -> Data:
        """Call a method; vendor faults are raised unchanged, network errors as OperatorError."""
        renewals = 0
        while True:
            cookie = self.wire.cookie
            may_renew = renewals < _RENEWALS and info.wsdlName not in _NEVER_RENEW
            try:
                status, answer = self._answered(mo, info, args)
            except CertificateChanged as error:
                # A new certificate that verifies is no attack, but the old session's cookie stays here.
                if not may_renew or not self.wire.target.validate_certs:
                    raise trouble.explain(error, self.wire.target) from error
            else:
                if status == 200:
                    return answer
                # The server refuses before it processes the request, so even a change may be sent again.
                if not (may_renew and self.renews) or not isinstance(answer, vim.fault.NotAuthenticated):
                    raise answer
            self._renew(cookie)
            renewals += 1

    def SupportServerGUIDs(self) -> bool:
        return False

    def __deepcopy__(self, memo: object) -> ReliableStub:
        return self

    def _answered(self, mo: Ref, info: Data, args: Sequence[object]) -> tuple[int, Data]:
        return persist(
            lambda: self.wire.call(mo, info, args, self),
            self.wire,
            info.wsdlName,
            repeatable=is_repeatable(info.wsdlName),
            clock=self._clock,
        )


def is_repeatable(method: str) -> bool:
    """Return whether a method may be sent twice without harm."""
    return method.startswith(_REPEATABLE) and method not in _ONCE


def persist(attempt: Callable[[], T], wire: Wire, what: str, repeatable: bool, clock: type[Clock] = Clock) -> T:
    """Run an attempt until the server answers, within bounds.

    A permanent failure becomes an OperatorError; the caller decides about a changed certificate.
    """
    began = clock.now()
    pauses = list(PAUSES_S)
    while True:
        try:
            return attempt()
        except CertificateChanged:
            wire.drop()
            raise
        except (OSError, HTTPException, ExpatError, UnicodeError) as error:
            wire.drop()
            status = trouble.http_status(error)
            if wire.sent and not repeatable and (status is None or status >= 500):
                raise FateUnknown(wire.target.name, what, trouble.reason(error), status) from error
            out_of_time = clock.now() - began > wire.target.timeout_s
            if not trouble.is_passing(error) or not pauses or out_of_time:
                raise trouble.explain(error, wire.target) from error
            # Many forks meet the same failure at the same moment; they must not retry at the same moment.
            clock.sleep(pauses.pop(0) * random.uniform(0.5, 1.0))
