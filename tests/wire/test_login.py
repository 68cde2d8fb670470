"""What login and connection meet on the way to a vCenter."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session

from .drive import connection


def connect(running, tmp_path):
    options = {"validate_certs": True, "request_timeout_s": 10, "session": "once"}
    return session.connect({**connection(running, tmp_path / "sessions"), **options})


def test_a_login_whose_answer_was_lost_is_repeated_as_a_new_session(twin, tmp_path):
    running = twin(faults=[("close_after", {"method": "Login"})])
    vcenter = connect(running, tmp_path)
    assert running.requests["Login"] == 2
    assert vcenter.content.sessionManager.currentSession.userName == r"VSPHERE.LOCAL\Administrator"
    vcenter.close()


def test_a_login_is_never_that_of_a_session_that_is_logged_in(twin, tmp_path):
    """vCenter refuses that one, and the refusal reads as a wrong password."""
    running = twin()
    vcenter = connect(running, tmp_path)
    vcenter.content.sessionManager.Login(userName=running.username, password=running.password)
    vcenter.close()


def test_a_change_is_not_sent_over_a_connection_that_the_server_has_closed(twin, tmp_path):
    """Sent there, nobody could report whether it was carried out."""
    running = twin()
    vcenter = connect(running, tmp_path)
    (machine,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == "train-01"]
    running.hang_up()
    vcenter.managed("VirtualMachine", machine.moid).PowerOnVM_Task()
    assert running.requests["PowerOnVM_Task"] == 1
    vcenter.close()
