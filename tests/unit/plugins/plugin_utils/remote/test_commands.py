from __future__ import annotations

import pytest
from ansible.plugins import loader as plugins
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Completed, Remote, RemoteAction

from unit.plugins.action.local import action_of

# Drops its own options and runs the rest.
SUDO = """#!/bin/sh
echo "$@" > {trace}
while [ "$1" != /bin/sh ]; do shift; done
exec "$@"
"""


class Echo(RemoteAction):
    """Runs the given commands and says what came back."""

    ARGUMENTS = {
        "argv": {"type": "list", "elements": "str", "required": True},
        "times": {"type": "int", "default": 1},
        "how": {"type": "str", "choices": ["well", "badly"], "default": "well"},
    }
    RELATIONS = {"mutually_exclusive": [("argv", "other")]}

    def work(self, module, remote):
        done = remote.run(module.params["argv"] * module.params["times"])
        leave = module.exit_json if module.params["how"] == "well" else module.fail_json
        leave(msg=done.stdout, rc=done.rc, mode=(module.check_mode, module._diff))


def action(arguments, check=False):
    """The action on this machine, over Ansible's own connection."""
    return action_of(Echo, "echo", arguments, check)


@pytest.mark.parametrize("word", ["a b", "$HOME", "it's", 'say "x"', ";id", "*", "`id`", "a\\b", "9:4,19:0"])
def test_an_argument_arrives_as_it_is(word):
    assert Remote(action({})).run(["printf", "%s", word]).stdout == word


def test_a_command_that_fails_is_an_answer_with_its_outputs_apart():
    done = Remote(action({})).run(["sh", "-c", "echo out; echo err >&2; exit 23"])
    assert (done.rc, done.stdout.strip(), done.stderr.strip()) == (23, "out", "err")
    assert done.command == "sh -c 'echo out; echo err >&2; exit 23'"


@pytest.mark.parametrize("word", ["a b", "$HOME", "it's", ";id", "aiready-status 0", "two\nlines\n", ""])
def test_a_limited_command_has_its_output_and_status(word):
    done = Remote(action({})).run_limited(["sh", "-c", 'printf %s "$1"; echo err >&2; exit 23', "sh", word], 100)
    assert (done.rc, done.stdout, done.stderr.strip()) == (23, word, "err")


def test_the_host_ends_an_output_that_is_too_long():
    done = Remote(action({})).run_limited(["yes"], 1000)
    assert done.rc != 0
    assert 1000 <= len(done.stdout) < 1100


def test_with_become_a_command_runs_as_the_other_user(tmp_path):
    """The become plugin is Ansible's own; in the place of sudo stands a program that leaves a trace."""
    sudo = tmp_path / "sudo"
    sudo.write_text(SUDO.format(trace=tmp_path / "asked"))
    sudo.chmod(0o755)
    become = plugins.become_loader.get("sudo")
    become.set_options(direct={"become_exe": str(sudo), "become_user": "root"})
    asking = action({})
    asking._connection.set_become_plugin(become)
    asking._get_remote_user = lambda: "operator"
    done = Remote(asking).run(["printf", "%s", "it's"])
    assert (done.rc, done.text) == (0, "it's")
    assert "-u root /bin/sh -c" in (tmp_path / "asked").read_text()


def test_the_text_of_both_outputs_has_no_ends_of_lines_from_a_terminal():
    said = Completed(("x",), 0, "one\r\n\r\ntwo  \r\n", "three\nShared connection to 10.0.0.1 closed.\r\n")
    assert said.text == "one\ntwo\nthree"


@pytest.mark.parametrize("check", [True, False])
def test_an_action_leaves_as_a_module_does(check):
    answer = action({"argv": ["printf", "hello"]}, check).run(task_vars={})
    assert (answer["msg"], answer["rc"], answer["mode"]) == ("hello", 0, (check, True))
    assert not answer.get("failed")
    assert action({"argv": ["printf", "no"], "how": "badly"}).run(task_vars={})["failed"]


def test_parameters_are_converted_and_defaults_filled_in():
    assert action({"argv": "printf,%s-,x", "times": "1"}).run(task_vars={})["msg"] == "x-"


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({}, "missing required arguments: argv."),
        ({"argv": ["true"], "how": "so so"}, "value of how must be one of: well, badly, got: so so."),
        ({"argv": ["true"], "colour": "red"}, "There is no parameter colour. Supported parameters include: argv, how"),
        ({"argv": ["true"], "times": "many"}, "argument 'times' is of type"),
    ],
)
def test_wrong_parameters_end_the_task_before_anything_runs(arguments, said):
    answer = action(arguments).run(task_vars={})
    assert answer["failed"]
    assert said in answer["msg"]
    assert answer["failure"]["code"] == "invalid_parameters"


def test_all_wrong_parameters_are_reported_at_once():
    answer = action({"how": "so so", "times": "many"}).run(task_vars={})
    assert len(answer["failure"]["problems"]) >= 2
