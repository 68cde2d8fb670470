# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import os

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import wait

from .a_guest import Clock


@pytest.fixture
def run():
    return commands.Commands().run


def test_a_command_reports_its_status_and_both_its_outputs(run):
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.rc, done.stdout, done.stderr, done.ok) == (3, "out\n", "err\n", False)
    assert done.outcome == "`sh -c echo out; echo err >&2; exit 3` exited with status 3: err."


def test_a_program_that_is_missing_is_no_exception(run):
    done = run(["no-such-program-anywhere"])
    assert done.missing
    assert done.outcome == "The program no-such-program-anywhere is not installed."


def test_a_command_that_hangs_ends_in_time_with_its_children(run):
    for limit_s in (0.3, 5, 120):  # a busy machine may not begin it in so little time
        done = run(["sh", "-c", "echo begun; sleep 900 & sleep 900"], limit_s=limit_s)
        if "begun" in done.outcome:
            break
    assert done.timed_out
    assert not done.ok
    assert "timed out: begun" in done.outcome


def test_no_secret_of_the_task_reaches_a_command(run, monkeypatch):
    monkeypatch.setenv("VMWARE_PASSWORD", "canary")
    monkeypatch.setenv("https_proxy", "http://user:canary@proxy")
    assert "canary" not in run(["env"]).stdout


def test_only_a_command_that_talks_to_the_network_gets_the_proxy(run, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    assert "https_proxy=http://proxy:3128" in run(["env"], network=True).stdout


def test_what_a_command_says_does_not_depend_on_the_language_of_the_user(run, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert "LC_ALL=C" in run(["env"]).stdout.splitlines()


def test_a_command_gets_what_is_written_to_it_and_else_nothing(run):
    assert run(["cat"], stdin="words").stdout == "words"
    assert run(["cat"]).stdout == ""


def test_what_is_no_text_is_reported_all_the_same(run):
    assert run(["printf", "a\\377b"]).stdout == "a�b"


def test_a_command_that_must_succeed_is_an_error_with_its_last_words():
    with pytest.raises(OperatorError) as raised:
        commands.Commands().must(
            ["sh", "-c", "echo one; echo two >&2; exit 1"], "train-01", "does not work", "Do it", "broken"
        )
    assert "exited with status 1: two. Do it." in str(raised.value)
    assert raised.value.failure["rc"] == 1


def test_a_program_is_found_where_administrators_have_them():
    found = commands.Commands().find("sh")
    assert (os.path.basename(found), os.access(found, os.X_OK)) == ("sh", True)
    assert commands.Commands().find("no-such-program-anywhere") is None


def test_waiting_ends_with_the_first_answer_that_is_true():
    clock, answers = Clock(), [None, None, "there"]
    assert wait(lambda: answers.pop(0), 60, clock)[0] == "there"
    assert answers == []


def test_waiting_ends_in_time_with_the_last_answer():
    clock = Clock()
    answer, seconds = wait(lambda: None, 10, clock)
    assert answer is None
    assert seconds == pytest.approx(10)
