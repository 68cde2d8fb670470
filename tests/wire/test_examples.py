"""The examples in the documentation are whole tasks and plays that work, and change nothing when run again."""

from __future__ import annotations

import importlib
import json
import sys

import pytest
import yaml

from rehearse import playbook

from . import drive_switch, rows
from .drive import MODULES, OURS, load, reaches

VCENTER = "vcenter.example.com"
BMC = "bmc-01.example.com"
GROUP = "esxi_hosts"
CONNECTION = {"vcenter": ("hostname", "username", "password"), "bmc": ("bmc_address", "bmc_username", "bmc_password")}
# What talks to no data centre needs none for its examples.
AT_THE_TWIN = [
    module for module in MODULES if hasattr(importlib.import_module(f"{rows.__name__}.{module}"), "EXAMPLES_SEED")
]


def examples(module):
    """The plays that the examples make, without those that undo what others did, and those alone."""
    entries = yaml.safe_load(load(f"{OURS}.{module}").EXAMPLES)
    plays = [entry if "hosts" in entry else _play(entry) for entry in entries]
    undo = [play for play in plays if _undoes(play, module)]
    return [play for play in plays if play not in undo], undo


def _play(task):
    return {"name": task["name"], "hosts": "localhost", "gather_facts": False, "tasks": [task]}


def _undoes(play, module):
    # A setting has no state absent, so that the rows name what sets it back.
    named = getattr(importlib.import_module(f"{rows.__name__}.{module}"), "EXAMPLES_UNDO", ())
    return any(
        (task.get(f"{OURS}.{module}") or {}).get("state") == "absent" or task["name"] in named for task in play["tasks"]
    )


def write(running, directory, rounds):
    """A playbook of all rounds against this twin; what the examples say of the connection stays in its place."""
    plays = [play for round_plays in rounds for play in round_plays]
    text = json.dumps(plays).replace(VCENTER, running.host)
    for address in list(running.bmc_endpoints.values())[:1]:
        text = text.replace(BMC, address)
    path = directory / "examples.json"
    path.write_text(text)
    return path


def inventory(running, directory):
    """The controller, and the hosts of the twin whose shells or BMCs the examples talk to."""
    shells, bmcs = running.ssh_endpoints, running.bmc_endpoints
    hosts = {name: {} for name in {**shells, **bmcs}}
    for name, (address, port) in shells.items():
        options = f"-o UserKnownHostsFile={running.known_hosts_file}"
        hosts[name].update(ansible_connection="ssh", ansible_host=address, ansible_port=port, ansible_user="root")
        hosts[name].update(ansible_ssh_private_key_file=str(running.ssh_key_file), ansible_ssh_common_args=options)
    for name, address in bmcs.items():
        hosts[name].update(bmc_address=address)
    local = {"localhost": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}
    path = directory / "inventory.json"
    # Plays for Linux hosts find none: the twin has no guests.
    switches = {name: drive_switch.variables(running, name) for name in running.switch_endpoints}
    children = {GROUP: {"hosts": hosts}, "gpu_nodes": {"hosts": {}}, "switches": {"hosts": switches}}
    path.write_text(json.dumps({"all": {"hosts": local, "children": children}}))
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
        AIREADY_BMC_USER=running.bmc_username,
        AIREADY_BMC_PASSWORD=running.bmc_password,
        AIREADY_BMC_CA_FILE=str(running.ca_file),
    )
    variables = json.dumps({"vcenter_password": running.password, "bmc_password": running.bmc_password})
    ended = playbook.run(
        write(running, directory, rounds), "-e", variables, env=env, inventory=inventory(running, directory)
    )
    assert running.password not in ended.output
    assert running.bmc_password not in ended.output
    plays = json.loads(ended.output)["plays"]
    assert [answer["msg"] for play in plays for answer in _answers(play) if answer.get("failed")] == []
    assert ended.status == 0
    played = iter(plays)
    return [[_changed(next(played)) for _play in round_plays] for round_plays in rounds]


def _answers(play):
    return [answer for task in play["tasks"] for answer in task["hosts"].values()]


def _changed(play):
    return any(answer.get("changed") for answer in _answers(play))


def test_examples_that_are_not_run_here_say_where_they_are():
    for module in set(MODULES) - set(AT_THE_TWIN):
        assert "tests/" in importlib.import_module(f"{rows.__name__}.{module}").WHY_NO_ROWS


@pytest.mark.parametrize("module", AT_THE_TWIN)
def test_the_examples_work_and_change_nothing_when_run_again(twin, tmp_path, module):
    file = importlib.import_module(f"{rows.__name__}.{module}")
    running = twin(seed=file.EXAMPLES_SEED, faces=getattr(file, "EXAMPLES_FACES", ()))
    do, undo = examples(module)
    assert do, "a module without examples"
    if hasattr(file, "WHY_NO_ROWS"):
        # What is no state happens each time that it is asked for.
        assert any(run(running, tmp_path, [do])[0])
        return
    changed = run(running, tmp_path, [do, do, undo, undo])
    # A module that only reads has nothing to change.
    assert any(changed[0]) is not module.endswith("_info")
    assert not any(changed[1]), f"the second run changed something: {changed}"
    assert all(changed[2])
    assert not any(changed[3])


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_show_the_smallest_call_first_and_then_a_play(module):
    entries = yaml.safe_load(load(f"{OURS}.{module}").EXAMPLES)
    reached = reaches(module)
    first = entries[0].get(f"{OURS}.{module}") or entries[0]["tasks"][0][f"{OURS}.{module}"]
    # Where vCenter is asked, the BMC is needed for some tasks only.
    for fragment in reached & ({"vcenter"} if "vcenter" in reached else set(CONNECTION)):
        assert set(CONNECTION[fragment]) <= set(first)
    if "vcenter" in reached:
        assert any(f"group/{OURS}.vcenter" in entry.get("module_defaults", {}) for entry in entries)
        assert load(f"{OURS}.{module}").EXAMPLES.count(VCENTER) > 0
    else:
        assert any("hosts" in entry for entry in entries)
