# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from http.client import HTTPException, RemoteDisconnected
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import transport, trouble, wire
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeClock, FakeWire, opened, target

SENT, NOT_SENT = True, False


def answering(wire, value="done"):
    wire.handlers.update(
        CurrentTime=lambda mo: value, ReconfigVM_Task=lambda mo, spec: vim.Task("task-1", mo._GetStub())
    )


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def reach(clock):
    vcenter, wire = opened(clock=clock)
    answering(wire)
    return vcenter, wire


def reconfigure(vcenter):
    return vcenter.managed("VirtualMachine", "vm-1").ReconfigVM_Task(spec=vim.vm.ConfigSpec())


@pytest.mark.parametrize(
    "happening",
    [
        (ConnectionResetError(104, "Connection reset by peer"), SENT),
        (RemoteDisconnected("Remote end closed connection without response"), SENT),
        (TimeoutError("timed out"), SENT),
        (HTTPException("503 Service Unavailable"), SENT),
        (ConnectionResetError(104, "Connection reset by peer"), NOT_SENT),
    ],
    ids=["reset", "disconnect", "timeout", "503", "reset-in-handshake"],
)
def test_a_read_survives_passing_trouble(reach, happening):
    vcenter, wire = reach
    wire.trouble["CurrentTime"] = [happening, happening]
    assert vcenter.si.CurrentTime() == "done"
    assert wire.requests["CurrentTime"] == 3


def test_the_pauses_between_attempts_grow_and_end(reach, clock):
    vcenter, wire = reach
    wire.trouble["CurrentTime"] = [(ConnectionResetError(104, "reset"), SENT)] * 50
    with pytest.raises(trouble.NoConnection) as caught:
        vcenter.si.CurrentTime()
    assert caught.value.code == "vcenter_unreachable"
    assert wire.requests["CurrentTime"] == len(transport.PAUSES_S) + 1
    assert all(pause <= bound for pause, bound in zip(clock.sleeps, transport.PAUSES_S, strict=True))
    assert clock.sleeps[-1] > clock.sleeps[0]


def test_attempts_that_take_long_end_with_the_time_limit_of_a_request(clock):
    begun = []

    def attempt():
        begun.append(clock.now())
        clock.time += 6
        raise TimeoutError("timed out")

    with pytest.raises(trouble.NoConnection) as caught:
        transport.persist(attempt, FakeWire(target(timeout_s=10)), "CurrentTime", repeatable=True, clock=clock)
    assert caught.value.code == "vcenter_timeout"
    assert len(begun) == 2


def test_a_refused_connection_is_not_tried_again(reach, clock):
    vcenter, wire = reach
    wire.trouble["CurrentTime"] = [(ConnectionRefusedError(111, "Connection refused"), NOT_SENT)]
    with pytest.raises(trouble.NoConnection, match="vc.example refuses connections on port 443"):
        vcenter.si.CurrentTime()
    assert not clock.sleeps


@pytest.mark.parametrize(
    "error",
    [RemoteDisconnected("closed"), TimeoutError("timed out"), HTTPException("503 Service Unavailable")],
    ids=["cut", "timeout", "503"],
)
def test_a_change_that_may_have_been_taken_is_never_sent_again(reach, error):
    vcenter, wire = reach
    wire.trouble["ReconfigVM_Task"] = [(error, SENT)]
    with pytest.raises(transport.FateUnknown, match="Check the object before you repeat") as caught:
        reconfigure(vcenter)
    assert wire.requests["ReconfigVM_Task"] == 1
    assert caught.value.http_status == (503 if "503" in str(error) else None)


def test_a_change_that_never_left_this_machine_is_sent_again(reach):
    vcenter, wire = reach
    wire.trouble["ReconfigVM_Task"] = [(ConnectionResetError(104, "reset"), NOT_SENT)]
    assert reconfigure(vcenter)._GetMoId() == "task-1"
    assert wire.requests["ReconfigVM_Task"] == 2


def test_a_change_that_the_server_refuses_by_status_is_not_called_uncertain(reach):
    vcenter, wire = reach
    wire.trouble["ReconfigVM_Task"] = [(HTTPException("403 Forbidden"), SENT)]
    with pytest.raises(trouble.NoConnection, match="403 Forbidden"):
        reconfigure(vcenter)


@pytest.mark.parametrize("call", [lambda vc: vc.si.CurrentTime(), reconfigure], ids=["read", "change"])
def test_a_dropped_session_costs_one_login_and_the_call_goes_through(reach, call):
    vcenter, wire = reach
    wire.end_session()
    assert call(vcenter)
    assert wire.requests["Login"] == 1


def test_a_session_that_never_holds_is_given_up_after_a_few_logins(reach):
    vcenter, wire = reach

    def refuse(mo):
        raise vim.fault.NotAuthenticated()

    wire.handlers["CurrentTime"] = refuse
    with pytest.raises(vim.fault.NotAuthenticated):
        vcenter.si.CurrentTime()
    assert wire.requests["Login"] == 2


def test_a_wrong_password_is_tried_once(clock):
    wire = FakeWire()
    wire.password = "another"
    with pytest.raises(transport.OperatorError) as caught:
        opened(wire, clock)
    assert caught.value.code == "wrong_password"
    assert wire.requests["Login"] == 1
    assert "secret" not in caught.value.message


def test_a_new_certificate_that_verifies_means_a_new_session(reach):
    vcenter, wire = reach
    wire.trouble["CurrentTime"] = [(trouble.CertificateChanged("AA", "BB"), NOT_SENT)]
    assert vcenter.si.CurrentTime() == "done"
    assert wire.requests["Login"] == 1


def test_a_new_certificate_that_nobody_verifies_is_refused(clock):
    wire = FakeWire(target(validate_certs=False, session_file="/home/ops/session.json"))
    vcenter, wire = opened(wire, clock)
    wire.trouble["CurrentTime"] = [(trouble.CertificateChanged("AA", "BB"), NOT_SENT)]
    with pytest.raises(trouble.NoConnection, match=r"remove the file /home/ops/session\.json") as caught:
        vcenter.si.CurrentTime()
    assert caught.value.code == "certificate_changed"
    assert wire.requests["Login"] == 0


@pytest.mark.parametrize("validate, pin", [(True, None), (False, "AA:BB")])
def test_a_new_login_trusts_a_new_certificate_only_where_it_is_verified(clock, validate, pin):
    vcenter, wire = opened(FakeWire(target(validate_certs=validate)), clock)
    answering(wire)
    wire.end_session()
    wire.pins.clear()
    assert vcenter.si.CurrentTime() == "done"
    assert wire.pins == [pin]


@pytest.mark.parametrize(
    "method, repeatable",
    [
        ("RetrievePropertiesEx", True),
        ("ContinueRetrievePropertiesEx", False),
        ("WaitForUpdatesEx", True),
        ("FindAllByUuid", True),
        ("QueryConfigTarget", True),
        ("CreateFilter", True),
        ("CreateVM_Task", False),
        ("CancelTask", False),
        ("ReconfigVM_Task", False),
        ("PowerOnVM_Task", False),
        ("Destroy_Task", False),
        ("DestroyView", True),
        ("UpdateGraphicsConfig", False),
        ("ExecuteSoap", False),
    ],
)
def test_only_methods_that_change_nothing_may_be_repeated(method, repeatable):
    assert transport.is_repeatable(method) is repeatable


def test_a_connection_that_the_server_closed_after_its_answer_is_opened_again(monkeypatch):
    opened = []

    class Sock:
        """Takes what is sent."""

        def settimeout(self, _seconds):
            pass

        def sendall(self, data):
            opened[-1].append(data)

    def connect(connection):
        opened.append([])
        connection.sock = Sock()

    monkeypatch.setattr(wire._Connection, "connect", connect)
    over = SimpleNamespace(target=target(), patience_s=5)
    connection = wire._Connection(wire=over, timeout=5, context=None)
    connection.send(b"GET /first")
    connection.sock = None
    connection.send(b"GET /second")
    assert opened == [[b"GET /first"], [b"GET /second"]]
