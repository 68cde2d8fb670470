"""A guest that dies in the middle of a run is lost, in whatever words Ansible says so."""

from __future__ import annotations

import threading
from concurrent.futures import wait
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import (
    Guest,
    Guests,
    Late,
    UnreachableError,
    _Reach,
)

SILENT = "Timeout (12s) waiting for privilege escalation prompt: "
DEAD = "Failed to connect to the host via ssh: Timeout, server 192.0.2.11 not responding."
ANSWER = {"rc": 0, "stdout": "up", "stderr": ""}


def guest(*turns):
    """A guest whose commands end in these turns, answers or errors."""
    left = list(turns)

    def execute(_argv, _data):
        turn = left.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    return Guest("job-01", execute)


@pytest.mark.parametrize("kind", [AnsibleConnectionFailure, AnsibleError], ids=["now", "before ansible-core 2.19"])
def test_a_guest_that_answered_and_then_is_silent_is_lost_and_nobody_talks_of_privileges(kind):
    asked = guest(ANSWER, kind(SILENT))
    assert asked.run(["true"]).stdout == "up"
    guests = Guests([asked])
    given, lost = guests.ask(["job-01"], lambda one: one.run(["true"]))
    assert (given, lost) == ({}, {"job-01": "It gave no answer within 12 seconds."})


def test_a_guest_that_never_answered_may_wait_for_a_password():
    with pytest.raises(UnreachableError) as trouble:
        guest(AnsibleConnectionFailure(SILENT)).run(["true"])
    assert str(trouble.value) == (
        "It gave no answer within 12 seconds. It hangs, or waits for a password to become another user, such as "
        "ansible_become_password."
    )


def test_a_connection_that_ends_is_reported_in_its_own_words():
    with pytest.raises(UnreachableError) as trouble:
        guest(AnsibleConnectionFailure(DEAD)).run(["true"])
    assert str(trouble.value) == DEAD


def test_what_is_no_trouble_of_the_connection_stays_what_it_is():
    with pytest.raises(AnsibleError, match="Incorrect sudo password"):
        guest(AnsibleError("Incorrect sudo password")).run(["true"])


def test_python_waits_at_its_end_for_no_guest_that_never_answers():
    ended = threading.Event()
    guests = Guests([Guest("job-01", lambda _argv, _data: ended.wait() and ANSWER)])
    assert guests.ask(["job-01"], lambda one: one.run(["true"]), 0.05)[0] == {}
    waiting = [thread.daemon for thread in threading.enumerate() if thread.name == "asks job-01"]
    ended.set()
    assert waiting == [True]


def test_a_guest_that_owes_an_answer_is_not_asked_again_before_it_has_given_it():
    ready = threading.Event()
    guests = Guests([Guest("job-01", lambda _argv, _data: ready.wait() and ANSWER)])
    ask = [["job-01"], lambda one: one.run(["true"]).stdout]
    assert guests.ask(*ask, 0.05)[1] == {"job-01": "It gave no answer within 0.05 seconds."}
    assert guests.ask(*ask)[1] == {"job-01": "It still does not answer an earlier question."}
    ready.set()
    assert guests.ask(*ask, patience_s=60) == ({"job-01": "up"}, {})


def test_a_guest_that_is_lost_is_heard_when_it_answers_and_nobody_waits_for_it():
    ready, asked = threading.Event(), []
    guests = Guests([Guest("job-01", lambda argv, _data: asked.append(argv) or (ready.wait() and ANSWER))])
    ask = [["job-01"], lambda one: one.run(["true"]).stdout]
    assert isinstance(guests.ask(*ask, 0.05)[1]["job-01"], Late)
    assert guests.hear(*ask) == ({}, {"job-01": "It still does not answer an earlier question."})
    ready.set()
    wait(guests._waiting.values())
    assert guests.hear(*ask) == ({"job-01": "up"}, {})
    wait(guests._waiting.values())
    assert len(asked) == 2


def test_a_guest_that_cannot_be_reached_is_not_late():
    guests = Guests([guest(AnsibleConnectionFailure(DEAD), AnsibleConnectionFailure(DEAD))])
    ask = [["job-01"], lambda one: one.run(["true"])]
    assert guests.ask(*ask) == ({}, {"job-01": DEAD})
    assert not isinstance(guests.ask(*ask)[1]["job-01"], Late)
    assert guests.hear(*ask) == ({}, {"job-01": DEAD})


@pytest.mark.parametrize("transport, reported", [("ssh", True), ("local", False)])
def test_connections_are_ended_also_where_a_command_hangs(tmp_path, transport, reported):
    """Ansible's own reset would only let nobody else use them."""
    program, sockets, closed = tmp_path / "ssh", tmp_path / "sockets", []
    program.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/reported\nexit 255\n')
    program.chmod(0o755)
    sockets.mkdir()
    (sockets / "one").touch()
    connection = SimpleNamespace(
        transport=transport, get_option={"ssh_executable": str(program)}.get, close=lambda: closed.append(True)
    )
    _Reach.close(SimpleNamespace(_connection=connection), str(sockets))
    said = (tmp_path / "reported").read_text() if reported else ""
    assert said == (f"-o ControlPath={sockets}/one -O exit guest\n" if reported else "")
    assert closed == [True]
