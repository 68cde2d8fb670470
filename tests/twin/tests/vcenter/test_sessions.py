"""Login, logout, and what a session ends with."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

USER, PASSWORD = "someone@vsphere.local", "Secret1!"  # of the inventory that all tests here share


@pytest.mark.parametrize("user, password", [(USER, "wrong"), ("nobody", PASSWORD), (USER, "")])
def test_wrong_user_or_password_is_an_invalid_login(connect, user, password):
    with pytest.raises(vim.fault.InvalidLogin, match="incorrect user name or password"):
        connect(login=False).content.sessionManager.Login(user, password)


def test_without_login_only_the_service_itself_can_be_seen(connect, specs):
    stranger = connect(login=False)
    assert stranger.content.about.apiType == "VirtualCenter"
    assert stranger.content.sessionManager.currentSession is None
    for attempt in (
        lambda: stranger.content.rootFolder.name,
        lambda: stranger.view(vim.VirtualMachine),
        lambda: stranger.read(specs[0]([stranger.content.rootFolder], {vim.Folder: ["name"]})),
        stranger.content.sessionManager.Logout,
    ):
        with pytest.raises(vim.fault.NotAuthenticated):
            attempt()


def test_cookie_of_another_run_is_not_authenticated(client):
    client.stub.cookie = 'vmware_soap_session="0123456789abcdef"'
    with pytest.raises(vim.fault.NotAuthenticated):
        client.content.rootFolder.name  # noqa: B018 - reading it is the request


def test_current_session_is_the_callers_own(client, connect):
    other = connect()
    mine, theirs = (one.content.sessionManager.currentSession for one in (client, other))
    assert mine.userName == theirs.userName == r"VSPHERE.LOCAL\someone"
    assert mine.key != theirs.key
    assert {one.key for one in client.content.sessionManager.sessionList} == {mine.key, theirs.key}
    assert client.content.sessionManager.SessionIsActive(theirs.key, USER)


def test_logout_ends_the_session(client):
    client.content.sessionManager.Logout()
    with pytest.raises(vim.fault.NotAuthenticated):
        client.content.rootFolder.name  # noqa: B018 - reading it is the request


def test_session_can_be_terminated_by_another_but_not_by_itself(client, connect):
    other = connect()
    manager = client.content.sessionManager
    manager.TerminateSession([other.content.sessionManager.currentSession.key])
    with pytest.raises(vim.fault.NotAuthenticated):
        other.content.rootFolder.name  # noqa: B018 - reading it is the request
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.TerminateSession([manager.currentSession.key])
    with pytest.raises(vim.fault.NotFound):
        manager.TerminateSession(["nonsense"])


def test_dropped_sessions_must_log_in_again(client, world):
    world.faults.drop_sessions()
    with pytest.raises(vim.fault.NotAuthenticated):
        client.content.rootFolder.name  # noqa: B018 - reading it is the request
    client.content.sessionManager.Login(USER, PASSWORD)
    assert client.content.rootFolder.name


def test_session_expires_when_it_is_not_used(dispatcher, client):
    now = dispatcher.sessions.clock()
    dispatcher.sessions.clock = lambda: now + dispatcher.sessions.idle_s - 1
    assert client.content.rootFolder.name
    dispatcher.sessions.clock = lambda: now + 2 * dispatcher.sessions.idle_s
    with pytest.raises(vim.fault.NotAuthenticated):
        client.content.rootFolder.name  # noqa: B018 - reading it is the request
