"""A guest that dies in the middle of a run is lost, in whatever words Ansible says so."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training_reach import Guest, Guests, UnreachableError

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
    guests.close()
    assert (given, lost) == ({}, {"job-01": "It gave no answer within 12 seconds."})


def test_a_guest_that_never_answered_may_wait_for_a_password():
    with pytest.raises(UnreachableError) as trouble:
        guest(AnsibleConnectionFailure(SILENT)).run(["true"])
    assert str(trouble.value) == (
        "It gave no answer within 12 seconds. It hangs, or waits for a password to become another user, such as "
        "ansible_become_password."
    )


def test_a_connection_that_ends_is_told_in_its_own_words():
    with pytest.raises(UnreachableError) as trouble:
        guest(AnsibleConnectionFailure(DEAD)).run(["true"])
    assert str(trouble.value) == DEAD


def test_what_is_no_trouble_of_the_connection_stays_what_it_is():
    with pytest.raises(AnsibleError, match="Incorrect sudo password"):
        guest(AnsibleError("Incorrect sudo password")).run(["true"])
