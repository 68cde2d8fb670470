# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The login of a task: user and password, a SAML token, or an existing session; for SOAP and REST alike."""

from __future__ import annotations

import base64
import os
import re
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import saml
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain, vendor_messages

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, vmodl

TOKEN, TOKEN_FILE = "AIREADY_SAML_TOKEN", "AIREADY_SAML_TOKEN_FILE"
# The domain of local accounts, unless vCenter was installed with another one.
LOCAL_DOMAIN = "vsphere.local"
# vCenter 9.0 blocks passwords of federated users (product support notes of 9.0). [unsure: 9.1 does not restate it]
_BLOCKS_FEDERATED = 9
_SESSION = re.compile(r"[A-Za-z0-9._:-]{8,256}\Z")
_ENVIRONMENT = {
    "username": "VMWARE_USER",
    "password": "VMWARE_PASSWORD",
    "saml_token_file": TOKEN_FILE,
    "session_id": "AIREADY_SESSION_ID",
    "rest_session_id": "AIREADY_REST_SESSION_ID",
}


class Login:
    """One kind of login; the classes below differ in how they get a session, and in what explains a refusal."""

    # False for a session of somebody else, which is neither renewed nor ended here.
    own = True
    cookie = ""
    rest_session = ""

    @property
    def user(self) -> str:
        """Return the user in messages; of an existing session, it is known once the session is open."""
        raise NotImplementedError

    @property
    def identity(self) -> str:
        """Return a name for the saved session of this login; another user or token has another one."""
        raise NotImplementedError

    @property
    def token(self) -> str | None:
        """Return the SAML token for the header of LoginByToken."""
        return None

    def soap(self, content: Data) -> None:
        """Log in."""
        raise NotImplementedError

    def rest(self) -> str:
        """Return the Authorization header of POST /api/session."""
        raise NotImplementedError

    def refused(self, server: str, about: Data, said: str) -> OperatorError | None:
        """Return the error for a login that the server refused as wrong, where there is a better one than its words."""
        return None

    def explain(self, fault: vmodl.MethodFault, server: str, about: Data) -> OperatorError:
        """Return the error for a fault of soap()."""
        error = None
        if isinstance(fault, vim.fault.InvalidLogin):
            error = self.refused(server, about, _said(fault))
        return error or explain(fault, server, f"cannot log in as {self.user}")


class Password(Login):
    """A user and a password."""

    def __init__(self, username: str, password: str) -> None:
        self._username, self._password = username, password

    @property
    def user(self) -> str:
        return self._username

    @property
    def identity(self) -> str:
        return self._username

    def soap(self, content: Data) -> None:
        content.sessionManager.Login(userName=self._username, password=self._password)

    def rest(self) -> str:
        words = f"{self._username}:{self._password}"
        return f"Basic {base64.b64encode(words.encode('utf-8')).decode('ascii')}"

    def refused(self, server: str, about: Data, said: str) -> OperatorError | None:
        domain = _domain(self._username)
        if about.apiType != "VirtualCenter" or _major(about) < _BLOCKS_FEDERATED or domain in ("", LOCAL_DOMAIN):
            return None
        return OperatorError(
            server,
            f"cannot log in as {self._username}",
            f"{said}. The password is wrong, or vCenter {about.version} blocks it: since 9.0, vCenter accepts no "
            f"passwords of federated users, and its answer is the same [unsure: derived from the notes of 9.0]. "
            f"{domain} is not {LOCAL_DOMAIN}, so it can be a federated domain",
            "Check `username` and `password`, or for a federated domain use a service account of the SSO domain (such "
            f"as automation@{LOCAL_DOMAIN}) or a SAML token in `saml_token_file`",
            "federated_login",
        )


class Token(Login):
    """A SAML bearer token."""

    def __init__(self, assertion: saml.Assertion) -> None:
        self._assertion = assertion

    @property
    def user(self) -> str:
        return self._assertion.user

    @property
    def identity(self) -> str:
        return f"SAML token\n{self._assertion.identity}"

    @property
    def token(self) -> str | None:
        return self._assertion.xml

    def soap(self, content: Data) -> None:
        content.sessionManager.LoginByToken()

    def rest(self) -> str:
        return self._assertion.authorization

    def refused(self, server: str, about: Data, said: str) -> OperatorError | None:
        return self._assertion.refused(server, said)


class Existing(Login):
    """A session that somebody else has opened and will end."""

    own = False

    def __init__(self, session_id: str, rest_session_id: str = "") -> None:
        self.cookie = f'vmware_soap_session="{session_id}"'
        self.rest_session = rest_session_id or session_id
        self._rest_given = bool(rest_session_id)
        self._user = ""

    @property
    def user(self) -> str:
        return self._user or "the user of the existing session"

    @property
    def identity(self) -> str:
        raise NotImplementedError("An existing session is not saved.")

    def soap(self, content: Data) -> None:
        found = content.sessionManager.currentSession
        if found is None:
            raise vim.fault.NotAuthenticated()
        self._user = found.userName

    def explain(self, fault: vmodl.MethodFault, server: str, about: Data) -> OperatorError:
        if isinstance(fault, vim.fault.NotAuthenticated):
            return self.unknown(server)
        return super().explain(fault, server, about)

    def unknown(self, server: str) -> OperatorError:
        """Return the error for a session that the SOAP service does not know."""
        return OperatorError(
            server,
            "cannot use the existing session",
            "vCenter does not know the session of `session_id`. It has expired, its owner has ended it, or it is a "
            "session of the REST services",
            "Open a new SOAP session (cookie vmware_soap_session) and set `session_id` to it, or remove `session_id` "
            "and log in with `username` and `password` or with `saml_token_file`",
            "session_unknown",
        )

    def unknown_to_rest(self, server: str) -> OperatorError:
        """Return the error for a session that the REST services do not know."""
        if self._rest_given:
            found = "vCenter does not know the session of `rest_session_id`. It has expired, or its owner has ended it"
        else:
            found = "This task needs the REST services too, and these do not know the session of `session_id`"
        return OperatorError(
            server,
            "cannot use the existing session for the REST services",
            found,
            "Open a session with POST /api/session and set `rest_session_id` to it",
            "session_unknown",
        )

    def check_rest_user(self, server: str, rest_user: str) -> None:
        """Raise an error if the two sessions belong to different users: their privileges would differ."""
        if self._user and rest_user and not same_user(self._user, rest_user):
            raise OperatorError(
                server,
                "cannot use the existing sessions",
                f"The SOAP session belongs to {self._user}, and the REST session to {rest_user}",
                "Set `session_id` and `rest_session_id` to two sessions of one user",
                "session_users_differ",
            )


def problems(params: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> list[str]:
    """Everything that is wrong with the options of the login, one sentence each."""
    environment = os.environ if environment is None else environment
    kinds = _kinds(params, environment)
    if len(kinds) > 1:
        return [
            f"{_listed(list(kinds.values()))} are set. Set one of them: a login has either a user and a password, "
            "a SAML token, or an existing session."
        ]
    found = []
    if "password" in kinds or not kinds:
        found += [
            f"{name} is not set; give it to the task, to module_defaults, or by the environment variable "
            f"{_ENVIRONMENT[name]}."
            for name in ("username", "password")
            if name in params and not _text(params, name)
        ]
    elif _in_task(params, "username", environment):
        found.append(
            f"`username` is set beside `{next(iter(kinds.values()))}`. Remove it: this login has its own user."
        )
    if _in_task(params, "rest_session_id", environment) and "session" not in kinds:
        found.append("`rest_session_id` is set without `session_id`. Set both, or neither.")
    # The values are secret and not repeated.
    found += [
        f"`{name}` is no session ID: these have 8 to 256 letters, digits and hyphens."
        for name in ("session_id", "rest_session_id")
        if _text(params, name) and not _SESSION.match(_session(params, name))
    ]
    return found


def chosen(params: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Login:
    """Return the login that the options ask for; problems() has found none."""
    environment = os.environ if environment is None else environment
    kinds = _kinds(params, environment)
    if "session" in kinds:
        return Existing(_session(params, "session_id"), _session(params, "rest_session_id"))
    if kinds.get("token") == TOKEN:
        return Token(saml.parsed(environment[TOKEN].encode("utf-8"), f"the environment variable {TOKEN}"))
    if "token" in kinds:
        return Token(saml.read(_text(params, "saml_token_file")))
    return Password(params["username"], params["password"])


def same_user(one: str, other: str) -> bool:
    """Return whether two names are of one user: DOMAIN\\user, user@domain.example.com and user are all written."""
    (name, domain), (other_name, other_domain) = _parts_of(one), _parts_of(other)
    return name == other_name and (domain == other_domain or "" in (domain, other_domain))


def _kinds(params: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """{kind: the option or variable that asks for it}. A login of the task has precedence over the environment."""
    options = {"password": "password", "token": "saml_token_file", "session": "session_id"}
    given = {kind: name for kind, name in options.items() if _text(params, name)}
    of_task = {kind: name for kind, name in given.items() if _in_task(params, name, environment)}
    if of_task:
        return of_task
    if (environment.get(TOKEN) or "").strip():
        given["token" if "token" not in given else "second token"] = TOKEN
    return given


def _in_task(params: Mapping[str, Any], name: str, environment: Mapping[str, str]) -> bool:
    return bool(_text(params, name)) and params[name] != environment.get(_ENVIRONMENT[name])


def _text(params: Mapping[str, Any], name: str) -> str:
    return (params.get(name) or "").strip()


def _session(params: Mapping[str, Any], name: str) -> str:
    """The ID alone: the cookie has quotes around it, and clients print it in both forms."""
    return _text(params, name).strip('"')


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _domain(user: str) -> str:
    domain, backslash, dummy = user.partition("\\")
    return (domain if backslash else user.partition("@")[2]).strip().lower()


def _parts_of(user: str) -> tuple[str, str]:
    """The name and the first label of the domain."""
    domain, backslash, name = user.lower().partition("\\")
    if not backslash:
        name, dummy, domain = user.lower().partition("@")
    return name, domain.partition(".")[0]


def _major(about: Data) -> int:
    found = re.match(r"\d+", about.version or "")
    return int(found[0]) if found else 0


def _said(fault: vmodl.MethodFault) -> str:
    messages = " / ".join(vendor_messages(fault)).rstrip(".")
    return f"vCenter answered {fault._wsdlName}" + (f": {messages}" if messages else "")
