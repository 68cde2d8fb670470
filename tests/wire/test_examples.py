"""The examples in the documentation are whole tasks and plays that work, and change nothing when run again."""

from __future__ import annotations

import importlib
import json
import sys

import pytest
import yaml

from rehearse import playbook

from . import rows
from .drive import MODULES, OURS, load

VCENTER = "vcenter.example.com"
CONNECTION = ("hostname", "username", "password")


def examples(module):
    """The plays that the examples make, without those that undo what others did, and those alone."""
    entries = yaml.safe_load(load(f"{OURS}.{module}").EXAMPLES)
    plays = [entry if "hosts" in entry else _play(entry) for entry in entries]
    undo = [play for play in plays if _undoes(play, module)]
    return [play for play in plays if play not in undo], undo


def _play(task):
    return {"name": task["name"], "hosts": "localhost", "gather_facts": False, "tasks": [task]}


def _undoes(play, module):
    return any(task.get(f"{OURS}.{module}", {}).get("state") == "absent" for task in play["tasks"])


def write(running, directory, rounds):
    """A playbook of all rounds against this twin; what the examples say of the connection stays in its place."""
    plays = [play for round_plays in rounds for play in round_plays]
    text = json.dumps(plays).replace(VCENTER, running.host)
    path = directory / "examples.json"
    path.write_text(text)
    return path


def run(running, directory, rounds):
    """For each round, whether each of its plays changed something."""
    env = playbook.environment(
        directory,
        ANSIBLE_STDOUT_CALLBACK="ansible.posix.json",
        ANSIBLE_LOCALHOST_WARNING="false",
        ANSIBLE_DEPRECATION_WARNINGS="false",
        VMWARE_HOST=running.host,
        VMWARE_PORT=str(running.port),
        VMWARE_USER=running.username,
        VMWARE_PASSWORD=running.password,
        AIREADY_VCENTER_CA_FILE=str(running.ca_file),
    )
    variables = json.dumps({"vcenter_password": running.password, "ansible_python_interpreter": sys.executable})
    ended = playbook.run(
        write(running, directory, rounds), "--connection", "local", "-e", variables, env=env, inventory="localhost,"
    )
    assert running.password not in ended.output
    plays = json.loads(ended.output)["plays"]
    assert [answer["msg"] for play in plays for answer in _answers(play) if answer.get("failed")] == []
    assert ended.status == 0
    played = iter(plays)
    return [[_changed(next(played)) for _play in round_plays] for round_plays in rounds]


def _answers(play):
    return [answer for task in play["tasks"] for answer in task["hosts"].values()]


def _changed(play):
    return any(answer.get("changed") for answer in _answers(play))


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_work_and_change_nothing_when_run_again(twin, tmp_path, module):
    running = twin(seed=importlib.import_module(f"{rows.__name__}.{module}").EXAMPLES_SEED)
    do, undo = examples(module)
    assert do, "a module without examples"
    changed = run(running, tmp_path, [do, do, undo, undo])
    assert any(changed[0])
    assert not any(changed[1]), f"the second run changed something: {changed}"
    assert all(changed[2])
    assert not any(changed[3])


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_show_the_smallest_call_first_and_then_a_play(module):
    entries = yaml.safe_load(load(f"{OURS}.{module}").EXAMPLES)
    first = entries[0][f"{OURS}.{module}"]
    assert set(CONNECTION) <= set(first)
    assert any(f"group/{OURS}.vcenter" in entry.get("module_defaults", {}) for entry in entries)
    assert load(f"{OURS}.{module}").EXAMPLES.count(VCENTER) > 0
