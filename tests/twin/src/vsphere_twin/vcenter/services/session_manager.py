"""SessionManager: login, logout, and other sessions."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from ...model import accounts
from .. import calls, codec
from ..registry import method, prop


@method("SessionManager", "Login")
def login(call, this, userName="", password="", locale=None):
    if call.session is not None:
        raise vim.fault.InvalidLogin(msg="Cannot complete login due to an incorrect user name or password.")
    call.session = call.sessions.login(userName, password, call.client, locale)
    call.new_cookie = call.session.key
    return call.session.describe()


@method("SessionManager", "LoginByToken")
def login_by_token(call, this, locale=None):
    """PYV: the token is in the WS-Security header of the message (API 5.1)."""
    if call.session is not None:
        raise vim.fault.InvalidLogin(msg="Cannot complete login due to an incorrect user name or password.")
    call.session = call.sessions.login_by_token(codec.security_token(call.message), call.client, locale)
    call.new_cookie = call.session.key
    return call.session.describe()


@method("SessionManager", "Logout")
def logout(call, this):
    call.sessions.end(call.session)
    call.session = None


@method("SessionManager", "SessionIsActive")
def session_is_active(call, this, sessionID, userName):
    user = accounts.account(call.world, userName)
    return any(session.public_key == sessionID and session.user == user for session in call.sessions.living())


@method("SessionManager", "TerminateSession")
def terminate_session(call, this, sessionId):
    by_key = {session.public_key: session for session in call.sessions.living()}
    for key in sessionId:
        if key not in by_key:
            raise vim.fault.NotFound(msg=f"There is no session {key}.")
        if by_key[key] is call.session:
            raise vmodl.fault.InvalidArgument(msg="A session cannot terminate itself.", invalidProperty="sessionId")
        call.sessions.end(by_key[key])


@method("SessionManager", "SetLocale")
def set_locale(call, this, locale):
    call.session.locale = locale


@prop("SessionManager", "currentSession")
def current_session(entity, world):
    call = calls.current()
    return call.session.describe() if call and call.session else None


@prop("SessionManager", "sessionList")
def session_list(entity, world):
    calls.current().require_session(vim.SessionManager(entity.moid))
    return [session.describe() for session in entity.living()]


@prop("SessionManager", "defaultLocale")
def default_locale(entity, world):
    return "en"


@prop("SessionManager", "supportedLocaleList")
def supported_locale_list(entity, world):
    return ["en"]


@prop("SessionManager", "messageLocaleList")
def message_locale_list(entity, world):
    return ["en"]
