# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Connecting: one login for all tasks and forks of a play, and a new one when vCenter has dropped it."""

from __future__ import annotations

import atexit
import contextlib
import os
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import controller, trust
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import api_version, login, session_file, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import managed_type, vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import check_common
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.transport import Clock, ReliableStub, persist
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.trouble import CertificateChanged
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.wire import Target, Wire

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref


def connect(
    params: Mapping[str, Any],
    warn: Callable[[str], None] = controller.warn,
    clock: type[Clock] = Clock,
    make_wire: Callable[[Target], Wire] = Wire,
) -> VCenter:
    """Return a VCenter for connection parameters as args.CONNECTION describes them; warn gets one sentence."""
    problems = check_common(params) + trust.contradictions(trust.VCENTER, params, os.environ)
    if problems:
        raise OperatorError(
            params["hostname"] or "vCenter", "cannot connect to vCenter", " ".join(problems), "", "invalid_parameters"
        )
    reported = trust.warning(trust.VCENTER, params["hostname"], params, os.environ)
    if reported:
        warn(reported)
    chosen = login.chosen(params)
    store = None
    if chosen.own and params.get("session", "reuse") == "reuse":
        server = f"{params['hostname']}:{params['port']}"
        store = session_file.open_store(
            params.get("session_dir"),
            server,
            chosen.identity,
            api_version.newest_known(),
            patience_s=4 * params["request_timeout_s"],
            warn=warn,
        )
    target = Target(
        host=params["hostname"],
        port=params["port"],
        proxy_host=params.get("proxy_host"),
        proxy_port=params.get("proxy_port") or 80,
        validate_certs=params["validate_certs"],
        ca_file=params.get("ca_file"),
        timeout_s=params["request_timeout_s"],
        session_file=store.path if store is not None else None,
    )
    vcenter = VCenter(make_wire(target), chosen, store, clock)
    vcenter.open()
    return vcenter


class VCenter:
    """An open session with one vCenter; everything else in this package works on it."""

    def __init__(
        self,
        wire: Wire,
        chosen: login.Login,
        store: session_file.SessionStore | None = None,
        clock: type[Clock] = Clock,
    ) -> None:
        self.clock = clock
        self.stub = ReliableStub(wire, self.renew, clock)
        self.si: Ref = vim.ServiceInstance("ServiceInstance", self.stub)
        self.content: Data = None
        self._wire = wire
        self.login = chosen
        self._store = store
        self._instance_uuid: str | None = None

    @property
    def name(self) -> str:
        """Return the name of this server in messages."""
        return self._wire.target.name

    @property
    def request_timeout_s(self) -> int:
        """Return the time limit of one request."""
        return self._wire.target.timeout_s

    @property
    def api_version_text(self) -> str:
        """The server's own API version, such as 8.0.3.0."""
        return self.content.about.apiVersion

    def offers(self, version_id: str) -> bool:
        """Return whether this connection has what came with an API version, such as 9.1.0.0."""
        return api_version.includes(self._wire.version, version_id)

    @property
    def is_vcenter(self) -> bool:
        """False for a host that was addressed directly."""
        return self.content.about.apiType == "VirtualCenter"

    @property
    def wire(self) -> Wire:
        """Return the wire for requests other than SOAP."""
        return self._wire

    @property
    def user(self) -> str:
        """The user of the session."""
        return self.login.user

    @contextlib.contextmanager
    def patience(self, seconds: int) -> Iterator[None]:
        """Answers may take this long in here: for requests that carry out long work before they answer."""
        wire = self._wire
        usual, wire.patience_s = wire.patience_s, max(seconds, wire.patience_s)
        try:
            yield
        finally:
            wire.patience_s = usual

    def managed(self, kind: str, moid: str) -> Ref:
        """A reference to an object by its kind and MoID; costs no request."""
        return managed_type(kind)(moid, self.stub)

    def open(self) -> None:
        """Use the saved session without a check, or log in; the first request shows whether the session is still
        valid.
        """
        if self._store is None:
            self._adopt(self._log_in())
            atexit.register(self.close)
        else:
            self._adopt(self._store.fresh(None, self._log_in))

    def another(self) -> VCenter:
        """One more open connection by the same login, for a thread of its own."""
        one = VCenter(type(self._wire)(self._wire.target), self.login, self._store, self.clock)
        one._instance_uuid = self._instance_uuid
        one.open()
        return one

    def renew(self, stale: str | None = None) -> None:
        """Replace a session that vCenter has dropped; of many processes only one logs in."""
        if isinstance(self.login, login.Existing):
            raise self.login.unknown(self.name)
        stale = self._wire.cookie if stale is None else stale
        self._adopt(self._log_in() if self._store is None else self._store.fresh(stale, self._log_in))

    def close(self) -> None:
        """Log out, unless the session is saved for later tasks, or is not our own."""
        if self.login.own and self.content is not None and (self._store is None or not self._store.kept):
            atexit.unregister(self.close)
            sessions, self.content = self.content.sessionManager, None
            # After Ctrl-C, a thread can still be in a request. It must not log in again.
            self.stub.renews = False
            with contextlib.suppress(vmodl.MethodFault, OperatorError):
                sessions.Logout()
        self._wire.drop()

    def _adopt(self, state: session_file.State) -> None:
        if self._instance_uuid not in (None, state.instance_uuid):
            raise OperatorError(
                self.name,
                "cannot renew the session",
                f"Another vCenter answers at this address (instance {state.instance_uuid}, not {self._instance_uuid})",
                "Check why the address has moved. Objects that were found earlier are not valid there",
                "another_vcenter",
            )
        self._instance_uuid = state.instance_uuid
        self._wire.use_version(state.version)
        self._wire.cookie = state.cookie
        self._wire.pin = state.fingerprint
        self.content = _content(state, self.stub)

    def _log_in(self) -> session_file.State:
        wire = self._wire
        wire.cookie = ""
        if wire.target.validate_certs:
            # The session is pinned to the certificate that is verified now.
            wire.pin = None
        try:
            status, page = persist(
                lambda: wire.fetch(api_version.PATH), wire, api_version.PATH, repeatable=True, clock=self.clock
            )
        except CertificateChanged as error:
            raise trouble.explain(error, wire.target) from error
        wire.use_version(api_version.negotiate(wire.target, status, page))
        # Another version starts without a cookie.
        wire.cookie, wire.saml_token = self.login.cookie, self.login.token
        content = None
        try:
            content = self.si.RetrieveContent()
            self.login.soap(content)
        except vmodl.MethodFault as fault:
            raise self.login.explain(fault, self.name, content.about if content is not None else None) from fault
        finally:
            wire.saml_token = None
        return _state(wire, content)


def _state(wire: Wire, content: Data) -> session_file.State:
    services = {}
    for entry in content._GetPropertyList():
        value = getattr(content, entry.name)
        if hasattr(value, "_GetMoId"):
            services[entry.name] = [value._wsdlName, value._GetMoId()]
    about = {entry.name: getattr(content.about, entry.name) for entry in content.about._GetPropertyList()}
    return session_file.State(
        cookie=wire.cookie,
        version=wire.version,
        fingerprint=cast(str, wire.shown),
        instance_uuid=content.about.instanceUuid or "",
        about={name: value for name, value in about.items() if isinstance(value, str)},
        services=services,
    )


def _content(state: session_file.State, stub: ReliableStub) -> Data:
    """The service content as the server sent it, without asking again."""
    content = vim.ServiceInstanceContent(about=vim.AboutInfo(**state.about))
    for name, (kind, moid) in state.services.items():
        setattr(content, name, managed_type(kind)(moid, stub))
    return content
