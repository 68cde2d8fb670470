"""The role container_runtime gives its inputs and what it has read to its plan, and its tasks follow that plan."""

from __future__ import annotations

from dataclasses import fields

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.runtime_plan import Inputs

from unit.roles.variables import holds, made_by, value_of

UBUNTU = {"os_family": "Debian", "distribution": "Ubuntu"}
ROCKY = {"os_family": "RedHat", "distribution": "Rocky"}
THERE = {"stdout_lines": ["ii docker.io 1"], "rc": 1}


def found(name, facts=UBUNTU, **given):
    return value_of("container_runtime", f"__container_runtime_{name}", ansible_facts=facts, **given)


def test_the_plan_gets_every_input_that_it_reads():
    names = made_by("container_runtime")["__container_runtime_names"]
    assert [name.removeprefix("container_runtime_") for name in names] == [one.name for one in fields(Inputs)]


def test_the_plan_follows_from_inputs_facts_and_results():
    given = {"container_runtime_engine": "podman", "container_runtime_gpu": False}
    plan = found("plan", ROCKY, **given)
    assert (plan["family"], plan["packages"]["missing"], plan["reads"]) == (
        "redhat",
        ["podman"],
        {"settings": False, "gpus": False},
    )
    plan = found("plan", __container_runtime_listed=THERE, __container_runtime_info={"stdout": '{"Driver": "vfs"}'})
    assert (plan["packages"]["missing"], plan["drivers"]["storage"]) == ([], "vfs")
    assert plan["gaps"][0]["object"] == "train-01"


# (file, task, what its result was, whether it runs)
TASKS = [
    ("engine", "Add the Docker repository on a Debian or Ubuntu guest", {"container_runtime_source": "vendor"}, True),
    ("engine", "Add the Docker repository on a Debian or Ubuntu guest", {}, False),
    ("engine", "Install the engine on a Debian or Ubuntu guest", {}, True),
    ("engine", "Install the engine on a Debian or Ubuntu guest", {"__container_runtime_listed": THERE}, False),
    ("engine", "Install the engine on a Debian or Ubuntu guest", {"ansible_check_mode": True}, False),
    ("engine", "Report engine packages that would be installed", {"ansible_check_mode": True}, True),
    ("engine", "Start and enable the engine", {"ansible_check_mode": True}, False),
    (
        "engine",
        "Start and enable the engine",
        {"ansible_check_mode": True, "__container_runtime_listed": THERE},
        True,
    ),
    ("toolkit", "Install the toolkit on a Debian or Ubuntu guest", {}, True),
    ("toolkit", "Install the toolkit on a RHEL or Rocky Linux guest", {}, False),
    ("prove", "Read the settings of the engine again", {}, True),
    ("prove", "Read the settings of the engine again", {"__container_runtime_settings": {"changed": False}}, False),
    ("prove", "Report that no test container runs", {}, True),
    ("prove", "Verify the engine with a test container", {}, False),
    ("prove", "Verify the engine with a test container", {"container_runtime_proof_image": "proof:1"}, True),
]


@pytest.mark.parametrize("file, task, given, runs", TASKS)
def test_a_task_runs_where_the_plan_has_something_for_it(file, task, given, runs):
    assert holds("container_runtime", file, task, ansible_facts=UBUNTU, **given) is runs


@pytest.mark.parametrize(
    "facts, status, failed", [(UBUNTU, 1, False), (UBUNTU, 2, True), (ROCKY, 7, False), (ROCKY, 8, True)]
)
def test_a_list_of_packages_fails_only_where_more_went_wrong_than_packages_that_are_missing(facts, status, failed):
    given = {"__container_runtime_listed": {"rc": status}}
    task = "List the packages of the guest"
    assert holds("container_runtime", "check", task, keyword="failed_when", ansible_facts=facts, **given) is failed


@pytest.mark.parametrize("distribution, versions", [("Ubuntu", ["20.04", "22.04", "24.04"]), ("Arch", [])])
def test_releases_are_those_that_the_role_has_packages_for(distribution, versions):
    assert found("versions", {"distribution": distribution}) == versions
