# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session, session_file
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeClock, FakeWire, assertion


class Server:
    """The fake vCenter behind every wire of a test."""

    def __init__(self, directory):
        self.wires = []
        self.warnings = []
        self.directory = directory
        self.changes = {}
        self.live_cookie = None

    def connect(self, **changes):
        params = {
            "hostname": "vc.example",
            "port": 443,
            "username": "ops@vsphere.local",
            "password": "secret",
            "validate_certs": True,
            "ca_file": None,
            "proxy_host": None,
            "proxy_port": 80,
            "session": "reuse",
            "session_dir": str(self.directory),
            "request_timeout_s": 60,
        }
        return session.connect(
            {**params, **changes}, warn=self.warnings.append, clock=FakeClock(), make_wire=self._wire
        )

    def _wire(self, to):
        wire = FakeWire(to)
        wire.handlers["CurrentTime"] = lambda mo: "now"
        vars(wire).update(self.changes)
        if self.wires:
            wire.logins = self.wires[-1].logins
            wire.live_cookie = self.wires[-1].live_cookie
        self.wires.append(wire)
        return wire


@pytest.fixture
def server(tmp_path):
    return Server(tmp_path / "sessions")


def test_the_second_task_logs_in_with_no_request_at_all(server):
    server.connect()
    again = server.connect()
    assert not server.wires[1].requests
    assert again.si.CurrentTime() == "now"
    assert server.wires[1].requests == {"CurrentTime": 1}


def test_what_the_server_is_survives_in_the_kept_session(server):
    first, again = server.connect(), server.connect()
    for one in (again, first):
        assert one.offers("8.0.0.1")
        assert not one.offers("99.0.0.0")
    assert again.api_version_text == "8.0.3.0"
    assert again.is_vcenter
    assert again.content.rootFolder == first.content.rootFolder
    assert isinstance(again.content.rootFolder, vim.Folder)
    assert again.content.rootFolder._GetStub() is again.stub


def test_the_first_request_after_vcenter_dropped_the_session_logs_in_again(server):
    server.connect()
    again = server.connect()
    server.wires[1].end_session()
    assert again.si.CurrentTime() == "now"
    assert server.wires[1].requests == {
        "CurrentTime": 2,
        "GET": 1,
        "RetrieveServiceContent": 1,
        "Login": 1,
    }
    assert server.connect().si.CurrentTime() == "now"
    assert server.wires[2].requests == {"CurrentTime": 1}


def test_another_user_has_another_session(server):
    server.connect()
    server.connect(username="root")
    assert server.wires[1].requests["Login"] == 1


def test_the_password_is_nowhere_in_the_session_directory(server):
    server.connect()
    assert all(b"secret" not in path.read_bytes() for path in server.directory.iterdir())


def test_a_session_for_once_logs_out_and_writes_nothing(server):
    vcenter = server.connect(session="once")
    vcenter.close()
    assert server.wires[0].requests["Logout"] == 1
    assert not server.directory.exists()


def test_a_kept_session_is_not_ended_by_the_task(server):
    server.connect().close()
    assert server.wires[0].requests["Logout"] == 0


def test_a_session_that_could_not_be_kept_is_ended_by_the_task(server, monkeypatch):
    def full(*_paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session_file.os, "replace", full)
    server.connect().close()
    assert server.wires[0].requests["Logout"] == 1
    assert len(server.warnings) == 1


def test_a_wrong_password_is_one_readable_error_without_the_password(server):
    with pytest.raises(OperatorError) as caught:
        server.connect(password="hunter2")
    assert caught.value.code == "wrong_password"
    assert "log in as ops@vsphere.local" in caught.value.message
    assert "hunter2" not in caught.value.message + str(caught.value.failure)
    assert server.wires[0].requests["Login"] == 1


def test_the_session_is_pinned_to_the_certificate_of_the_login(server):
    server.connect()
    server.connect()
    assert server.wires[1].pin == server.wires[0].shown


def test_another_vcenter_at_the_same_address_is_not_taken_for_the_first(server):
    vcenter = server.connect()
    server.wires[0].end_session()
    server.wires[0].instance_uuid = "another"
    with pytest.raises(OperatorError, match="Another vCenter answers at this address") as caught:
        vcenter.si.CurrentTime()
    assert caught.value.code == "another_vcenter"


def test_without_a_place_for_the_session_the_task_works_and_warns_once(server, tmp_path):
    (tmp_path / "file").write_text("")
    vcenter = server.connect(session_dir=str(tmp_path / "file" / "x"))
    assert vcenter.si.CurrentTime() == "now"
    assert len(server.warnings) == 1
    vcenter.close()


def test_numbers_out_of_range_are_all_named_before_anything_is_asked(server):
    with pytest.raises(OperatorError, match=r"port is 0;.*request_timeout_s is -1;"):
        server.connect(port=0, request_timeout_s=-1)
    assert not server.wires


NO_WORDS = {"username": None, "password": None}


def token_file(tmp_path, name="token", **parts):
    path = tmp_path / name
    path.touch(mode=0o600)
    path.write_text(assertion(**parts))
    return str(path)


def test_a_token_is_sent_with_its_login_alone(server, tmp_path):
    vcenter = server.connect(saml_token_file=token_file(tmp_path), **NO_WORDS)
    assert server.wires[0].requests["LoginByToken"] == 1
    assert server.wires[0].requests["Login"] == 0
    assert server.wires[0].tokens == [assertion()]
    assert server.wires[0].saml_token is None
    assert vcenter.user == "Ops@VSPHERE.LOCAL"


def test_the_session_of_a_token_is_reused_by_this_token_alone(server, tmp_path):
    first, other = token_file(tmp_path), token_file(tmp_path, "other", user="Other@VSPHERE.LOCAL")
    for path in (first, first, other):
        server.connect(saml_token_file=path, **NO_WORDS)
    server.connect()
    assert [wire.requests["LoginByToken"] for wire in server.wires] == [1, 0, 1, 0]
    assert server.wires[3].requests["Login"] == 1
    assert all(b"saml2" not in path.read_bytes() for path in server.directory.iterdir())


def test_a_refused_token_is_explained_by_the_token(server, tmp_path):
    server.changes = {"token_is_good": False}
    path = token_file(tmp_path, begins="2020-01-01T00:00:00.000Z", ends="2020-01-01T00:05:00.000Z")
    with pytest.raises(OperatorError) as caught:
        server.connect(saml_token_file=path, **NO_WORDS)
    assert caught.value.code == "saml_token_expired"
    assert path in caught.value.message


def test_a_federated_user_is_named_as_such(server):
    server.changes = {"release": "9.1.0"}
    with pytest.raises(OperatorError) as caught:
        server.connect(username="jo@corp.example", password="wrong")
    assert caught.value.code == "federated_login"


def existing(server, user="VSPHERE.LOCAL\\Ops", live="0123456789"):
    server.changes = {"user": user, "live_cookie": f'vmware_soap_session="{live}"'}
    return server.connect(session_id="0123456789", **NO_WORDS)


def test_an_existing_session_is_used_and_neither_opened_nor_ended_nor_saved(server):
    vcenter = existing(server)
    assert vcenter.si.CurrentTime() == "now"
    assert vcenter.user == "VSPHERE.LOCAL\\Ops"
    vcenter.close()
    assert server.wires[0].requests["Logout"] == server.wires[0].requests["Login"] == 0
    assert not server.directory.exists()


@pytest.mark.parametrize("case", [{"user": None}, {"live": "another"}])
def test_an_existing_session_that_vcenter_does_not_know_is_named(server, case):
    with pytest.raises(OperatorError) as caught:
        existing(server, **case)
    assert caught.value.code == "session_unknown"


def test_an_existing_session_that_ends_is_not_replaced(server):
    vcenter = existing(server)
    server.wires[0].end_session()
    with pytest.raises(OperatorError) as caught:
        vcenter.si.CurrentTime()
    assert caught.value.code == "session_unknown"
    assert server.wires[0].requests["Login"] == 0


@pytest.mark.parametrize("session_of, logins", [("reuse", 1), ("once", 2)])
def test_another_connection_shares_a_saved_session_or_has_its_own(server, session_of, logins):
    first = server.connect(session=session_of)
    other = first.another()
    assert (other.name, other.user) == (first.name, first.user)
    assert other.wire is not first.wire
    assert other.wire.requests["Login"] == logins - 1
    other.close()
    assert other.wire.requests["Logout"] == logins - 1


def test_a_thread_that_is_still_in_a_request_does_not_log_in_after_the_logout(server):
    vcenter = server.connect(session="once")
    si = vcenter.si
    vcenter.close()
    with pytest.raises(vim.fault.NotAuthenticated):
        si.CurrentTime()
    assert server.wires[0].requests["Login"] == 1


def test_a_further_connection_to_another_vcenter_is_refused(server, monkeypatch):
    first, made = server.connect(session="once"), FakeWire.__init__

    def elsewhere(wire, to):
        made(wire, to)
        wire.instance_uuid = "another"

    monkeypatch.setattr(FakeWire, "__init__", elsewhere)
    with pytest.raises(OperatorError) as caught:
        first.another()
    assert caught.value.code == "another_vcenter"
