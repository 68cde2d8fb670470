"""The verification of a role names what is missing, and never ends in a variable that a skipped step did not set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from house.collection import load, roles
from house.role_reads import needs, tasks, used

ROLES = sorted(roles())
# The files of each role that verify or report what was done.
PROOFS = {
    "bios": ("prove.yml", "restart.yml"),
    "container_runtime": ("prove.yml", "prove_container.yml"),
    "esxi_host": ("prove.yml",),
    "guest_vm": ("prove.yml", "restart.yml", "roce.yml"),
    "horovod": ("run.yml",),
    "kubernetes": ("prove.yml",),
    "switch": ("prove.yml", "report.yml", "main.yml"),
    "training_vm": ("prove.yml",),
    "validation": ("judge.yml",),
}
FILES = [(role, name) for role, names in PROOFS.items() for name in names]


def variables(role: str) -> dict:
    path = roles()[role] / "vars" / "main.yml"
    return load(f"roles/{role}/vars/main.yml") if path.exists() else {}


def registered(role: str) -> dict[str, list[Path]]:
    """{variable: files that register or set it}."""
    found: dict[str, list[Path]] = {}
    for path in sorted((roles()[role] / "tasks").glob("*.yml")):
        for task in tasks(path):
            names = [task["register"]] if "register" in task else []
            facts = task.get("ansible.builtin.set_fact")
            names += [name for name in facts if name.startswith("__")] if isinstance(facts, dict) else []
            for name in names:
                found.setdefault(name, []).append(path)
    return found


@pytest.mark.parametrize("role, name", FILES, ids=[f"{role}-{name}" for role, name in FILES])
def test_a_proof_needs_nothing_of_a_step_that_may_be_skipped(role, name):
    made, path = registered(role), roles()[role] / "tasks" / name
    wrong = []
    for task in tasks(path):
        asserts = "ansible.builtin.assert" in task or "ansible.builtin.debug" in task
        own = {task["register"]} if "register" in task else set()
        for variable in sorted((used(task, variables(role)) & set(made)) - own):
            # A task may use what an earlier one in its file has read; an assertion names even that when it is missing.
            if asserts or path not in made[variable]:
                wrong.append(f"{task['name']}: {variable}")
    assert wrong == []


def asserting(path: Path) -> list[str]:
    return [task["name"] for task in tasks(path) if {"ansible.builtin.assert", "ansible.builtin.fail"} & set(task)]


@pytest.mark.parametrize("role", PROOFS)
def test_each_role_ends_its_proof_with_an_assertion(role):
    """A module that returned its result does not fail because of a bad verdict in it; the assertion does."""
    last = {name: asserting(roles()[role] / "tasks" / name) for name in PROOFS[role]}
    assert [name for name in ("prove.yml", "run.yml", "judge.yml") if name in last and not last[name]] == []


GIVEN = re.compile(r"{{ (__\w+(?:\.\w+)*) }}")


def lists_with_conditions():
    """(role, task, the list that a module of this collection gets, the conditions that name the list)."""
    for role in ROLES:
        for path in sorted((roles()[role] / "tasks").glob("*.yml")):
            for task in tasks(path):
                modules = [value for key, value in task.items() if key.startswith("aiready.vsphere.")]
                values = [value for module in modules if isinstance(module, dict) for value in module.values()]
                for given in (GIVEN.fullmatch(value) for value in values if isinstance(value, str)):
                    parts = [part for text in task["when"] for part in str(text).split(" and ")]
                    named = [part for part in parts if given and re.search(rf"{re.escape(given[1])} \| length", part)]
                    if named:
                        yield role, f"{path.stem}: {task['name']}", given[1], named


LISTS = list(lists_with_conditions())


@pytest.mark.parametrize(
    "role, task, given, conditions", LISTS, ids=[f"{role}-{task}-{given}" for role, task, given, ignored in LISTS]
)
def test_a_module_that_gets_a_list_runs_where_the_list_has_items(role, task, given, conditions):
    """A reversed condition skips the step without an error, because a list of no items is a valid request."""
    assert [text for text in conditions if not re.fullmatch(rf"{re.escape(given)} \| length > [01]", text)] == []


def test_the_steps_of_training_vms_depend_on_their_lists():
    found = {(task.partition(":")[0], given) for role, task, given, ignored in LISTS if role == "training_vm"}
    steps = ("config", "power")
    assert {("look", f"__training_vm_steps.{step}") for step in steps} - found == set()


def test_every_role_with_a_proof_is_listed():
    proving = {role for role in ROLES if list((roles()[role] / "tasks").glob("prove*.yml"))}
    assert proving - set(PROOFS) == set()


@pytest.mark.parametrize(
    "text, names",
    [
        pytest.param("{{ a.b.c }}", {"a"}, id="attributes"),
        pytest.param("{{ a.b | default({}) }}", set(), id="default"),
        pytest.param("{{ (a | default({})).b | length }}", set(), id="default within"),
        pytest.param("{{ a is defined and a.b }}", set(), id="asked before"),
        pytest.param("{{ a.b if a is defined else '' }}", set(), id="asked by a condition"),
        pytest.param("{{ a is changed }}", {"a"}, id="another test"),
        pytest.param("{{ a.b | default(c) }}", {"c"}, id="a default that needs something"),
    ],
)
def test_what_a_template_needs(text, names):
    assert needs(text) == names
