"""A role's inputs are the same in its specification, its defaults and its tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from house.collection import ROOT, load, modules, option_type_fits, parsed, roles
from house.handover import defaults

ROLES = sorted(roles())
# What a role leaves behind for the roles that follow it.
FACTS = {
    "kubernetes": {"kubernetes_preview", "kubernetes_restored"},
    "esxi_host": {"esxi_host_preview", "esxi_host_restored", "esxi_host_settled", "esxi_host_undone"},
    "guest_vm": {"guest_vm_preview", "guest_vm_seen"},
    "switch": {"switch_restored"},
    "training_vm": {"training_vm_machines", "training_vm_preview", "training_vm_restored", "training_vm_restored_off"},
}


def options(role: str) -> dict:
    return load(f"roles/{role}/meta/argument_specs.yml")["argument_specs"]["main"]["options"]


def text_of(role: str) -> str:
    folders = ("tasks", "handlers", "templates", "vars")
    files = [path for folder in folders for path in (roles()[role] / folder).rglob("*") if path.is_file()]
    return "\n".join(path.read_text() for path in files)


def leaves(name: str, option: dict):
    yield name, option
    for inner, value in option.get("options", {}).items():
        yield from leaves(f"{name}.{inner}", value)


def test_there_are_roles_to_compare():
    assert ROLES


@pytest.mark.parametrize("role", ROLES)
def test_every_input_has_a_default_or_is_required_and_nothing_else_has_one(role):
    required = {name for name, option in options(role).items() if option.get("required")}
    assert set(defaults(role)) == set(options(role)) - required


@pytest.mark.parametrize("role", ROLES)
def test_a_default_is_the_same_in_both_files_and_fits_its_type(role):
    for name, value in defaults(role).items():
        option = options(role)[name]
        assert option_type_fits(value, option), f"{name}: {value!r} does not fit {option}"
        assert option.get("default", value) == value, name


@pytest.mark.parametrize("role", ROLES)
def test_every_input_has_a_type_and_a_description_at_every_depth(role):
    for name, option in (leaf for entry in options(role).items() for leaf in leaves(*entry)):
        assert option.get("type"), name
        assert option.get("description"), name
        assert bool(option.get("elements")) is (option["type"] == "list"), name


@pytest.mark.parametrize("role", ROLES)
def test_every_input_carries_the_name_of_its_role(role):
    assert [name for name in options(role) if name != role and not name.startswith(f"{role}_")] == []


@pytest.mark.parametrize("role", ROLES)
def test_every_input_is_used_and_every_variable_of_the_role_is_an_input(role):
    used = set(re.findall(rf"(?<![\w.])({role}_\w+)", text_of(role)))
    readers = text_of(role) + "".join(path.read_text() for path in (ROOT / "playbooks").glob("*.yml"))
    assert {name for name in options(role) if not re.search(rf"\b{name}\b", readers)} == set()
    # The result of a module has its name.
    modules = {path.stem for path in (ROOT / "plugins" / "modules").glob("*.py")}
    assert used - set(options(role)) - modules == FACTS.get(role, set())


@pytest.mark.parametrize("role", ROLES)
def test_a_role_has_a_molecule_scenario(role):
    assert [path for path in (ROOT / "extensions" / "molecule").glob(f"{role}*/molecule.yml") if path.is_file()]


def test_a_molecule_scenario_belongs_to_a_role_or_is_the_one_that_starts_the_twin():
    scenarios = {path.parent.name for path in (ROOT / "extensions" / "molecule").glob("*/molecule.yml")}
    assert [name for name in scenarios if name != "default" and not name.startswith(tuple(ROLES))] == []


@pytest.mark.parametrize("role", ROLES)
def test_a_role_uses_no_shell(role):
    tasks = parsed((roles()[role] / "tasks" / "main.yml").read_text())
    assert tasks
    assert not re.search(r"ansible\.builtin\.(shell|raw)\b", text_of(role))
    # Variables are worked out by filters. What is set is a result, and documented, or what many conditions would work
    # out anew: that is set from a variable of the role.
    facts = re.findall(r"ansible\.builtin\.set_fact:\n +(\w+): (.*)", text_of(role))
    assert text_of(role).count("set_fact") == len(facts)
    assert sorted(name for name, _value in facts if not name.startswith("__")) == sorted(FACTS.get(role, ()))
    for _name, value in (fact for fact in facts if fact[0].startswith("__")):
        assert re.fullmatch(rf'"{{{{ __{role}_\w+ }}}}"', value), value


@pytest.mark.parametrize("role", ROLES)
def test_a_fact_is_made_without_secrets_because_ansible_shows_it(role):
    secrets = [name for name, option in options(role).items() if option.get("no_log")]
    path = ROOT / "roles" / role / "vars" / "main.yml"
    made = load(path) if path.exists() else {}
    for name in re.findall(r"ansible\.builtin\.set_fact:\n +\w+: \"\{\{ (\w+) \}\}\"", text_of(role)):
        # The variable itself, and those that it is made of.
        read, waiting = set(), {name}
        while waiting:
            read |= waiting
            waiting = {word for one in waiting for word in re.findall(r"\w+", str(made.get(one, "")))} - read
        assert [secret for secret in secrets if secret in read] == [], name


@pytest.mark.parametrize("role", ROLES)
def test_a_variable_of_its_own_that_a_role_reads_is_made_there(role):
    # With a default behind it, one that nobody makes is never missed.
    text = text_of(role)
    made = re.findall(r"^[\s-]*(__\w+):", text, re.M) + re.findall(r"(?:register|loop_var|index_var): (__\w+)", text)
    made += re.findall(r"{%-? *(?:set|for) (__\w+)", text)
    assert sorted(set(re.findall(rf"\b__{role}_\w+", text)) - set(made)) == []


@pytest.mark.parametrize("role", ROLES)
def test_no_value_is_read_by_the_name_of_a_method(role):
    # `x.keys` is what every dict can do, and not its entry of that name.
    methods = "|".join(name for name in dir(dict) if not name.startswith("_"))
    read = re.findall(r"\{[{%].*?[%}]\}", text_of(role), re.S)
    assert [found for part in read for found in re.findall(rf"[\w\])]\.(?:{methods})\b(?!\()", part)] == []


MANAGING = [module for module in sorted(modules()) if not module.endswith("_info")]
NOUN = re.compile(r"module_utils\.(vm\.\S*noun) import")


@pytest.mark.parametrize("module", MANAGING)
def test_a_module_that_manages_something_is_used_by_a_role(module):
    """Or the part of a VM that it manages is, as one of those that vm_config configures together."""
    noun = NOUN.search(modules()[module].read_text())
    together = (ROOT / "plugins/module_utils/vm/config/noun.py").read_text()
    using = "vm_config" if noun and f"{noun[1]} import" in together else module
    assert [role for role in ROLES if f"aiready.vsphere.{using}:" in text_of(role)]


BLOCKS = ("tasks", "pre_tasks", "post_tasks", "block", "rescue", "always")


def tasks_of(entries: list | None, above: dict | None = None) -> Iterator[dict]:
    """Each task that calls a module, with the keywords of the blocks around it."""
    for entry in entries or ():
        inherited = {key: (above or {}).get(key) for key in ("check_mode",) if key in (above or {})}
        task = {**inherited, **entry}
        if not any(key in entry for key in BLOCKS):
            yield task
        for key in BLOCKS:
            yield from tasks_of(entry.get(key), task)


def reports_changes(task: dict) -> bool:
    """Whether it calls a command, or a module of this collection that predicts changes."""
    names = [key for key in task if key.startswith("ansible.builtin.command")]
    if task.get("check_mode") is True:
        names += [key for key in task if key.startswith("aiready.vsphere.") and not key.endswith("_info")]
    return bool(names)


TASK_FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("roles/*/tasks/*.yml", "playbooks/*.yml")
    for path in ROOT.glob(pattern)
)


@pytest.mark.parametrize("file", TASK_FILES)
def test_a_task_that_only_looks_says_what_counts_as_a_change(file):
    """What a look predicts is a change of the task that makes it, and is counted there."""
    entries = parsed((ROOT / file).read_text())
    looking = [task for task in tasks_of(entries) if reports_changes(task)]
    assert [task["name"] for task in looking if "changed_when" not in task] == []
    assert [task["name"] for task in looking if "check_mode" in task and task["changed_when"] is True] == []
