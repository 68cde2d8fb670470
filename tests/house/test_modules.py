"""Every module is in every list that speaks of modules, and in no list stands one that does not exist."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

from house.collection import NAME, ROOT, constants, documentation, load, modules, parsed

MODULES = sorted(modules())


def fragments(module: str) -> list[str]:
    return documentation(modules()[module]).get("extends_documentation_fragment", [])


def attributes(module: str) -> dict:
    """The attributes of a module, put together from its fragments and its own documentation as ansible-doc does."""
    merged: dict = {}
    for fragment in fragments(module):
        name, variant = (*fragment.removeprefix(f"{NAME}.").split("."), "documentation")[:2]
        written = importlib.import_module(f"ansible_collections.{NAME}.plugins.doc_fragments.{name}")
        shared = parsed(getattr(written.ModuleDocFragment, variant.upper()))
        for attribute, said in shared.get("attributes", {}).items():
            merged[attribute] = {**said, **merged.get(attribute, {})}
    for attribute, said in documentation(modules()[module]).get("attributes", {}).items():
        merged[attribute] = {**merged.get(attribute, {}), **said}
    return merged


def test_there_are_modules_to_compare():
    assert MODULES


def test_the_action_group_holds_exactly_the_modules_that_take_the_connection_options():
    group = load("meta/runtime.yml")["action_groups"]["vcenter"]
    assert sorted(group) == [module for module in MODULES if f"{NAME}.vcenter" in fragments(module)]


def declared(module: str) -> dict[str, object]:
    """What the source of a module gives AnsibleModule as plain values; empty where an action plugin does the work."""
    calls = [one for one in ast.walk(ast.parse(modules()[module].read_text())) if isinstance(one, ast.Call)]
    made = [one for one in calls if getattr(one.func, "id", "") == "AnsibleModule"]
    return {word.arg: word.value.value for one in made for word in one.keywords if isinstance(word.value, ast.Constant)}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_supports_check_mode_as_its_documentation_says(module):
    if words := declared(module):
        supported = attributes(module)["check_mode"]["support"] in ("full", "partial")
        assert words.get("supports_check_mode", False) is supported


@pytest.mark.parametrize("module", load("meta/runtime.yml")["action_groups"]["vcenter"])
def test_a_module_of_the_action_group_says_so_in_its_attributes(module):
    assert attributes(module)["action_group"]["membership"] == [f"{NAME}.vcenter"]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_says_what_it_does_in_check_and_diff_mode_and_where_it_runs(module):
    said = attributes(module)
    assert set(said) >= {"check_mode", "diff_mode", "platform"}
    assert {attribute["support"] for attribute in said.values()} - {"full", "partial", "none"} == set()
    limited = [name for name, attribute in said.items() if attribute["support"] != "full"]
    assert [name for name in limited if not said[name].get("details")] == []


# Modules that run on a guest have their rows beside the tests that have guests.
LEVELS = ("wire", "guests")


def row_file(module: str):
    (level,) = (level for level in LEVELS if (ROOT / "tests" / level / "rows" / f"{module}.py").is_file())
    return importlib.import_module(f"{level}.rows.{module}")


def test_every_module_has_one_file_of_contract_rows_and_no_file_is_left_over():
    named = [path.stem for level in LEVELS for path in (ROOT / "tests" / level / "rows").glob("*.py")]
    assert sorted(name for name in named if name != "__init__") == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_the_contract_rows_of_a_module_are_about_that_module(module):
    file = row_file(module)
    rows = [*getattr(file, "ROWS", []), *getattr(file, "LOOKS", [])]
    assert {row.module for row in rows} == (set() if getattr(file, "WHY_NO_ROWS", "") else {module})


def test_a_module_without_contract_rows_names_the_tests_that_cover_it():
    why = {module: getattr(row_file(module), "WHY_NO_ROWS", "") for module in MODULES}
    named = {module: re.findall(r"tests/[\w/]+\.py", text) for module, text in why.items() if text}
    assert [module for module, paths in named.items() if not paths] == []
    assert [path for paths in named.values() for path in paths if "def test_" not in (ROOT / path).read_text()] == []


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_only_reads_is_named_for_it_and_supplies_looks_instead_of_rows(module):
    file = row_file(module)
    assert bool(getattr(file, "LOOKS", [])) is module.endswith("_info")


def test_an_action_plugin_is_documented_by_the_module_of_its_name():
    actions = {path.stem for path in (ROOT / "plugins" / "action").glob("*.py")} - {"__init__"}
    assert actions <= set(MODULES)


def test_every_failure_in_a_stage_is_shortened():
    routed = load("meta/runtime.yml")["plugin_routing"]["modules"]
    folder = ROOT / "plugins" / "action"
    own = {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}
    assert set(routed) == set(MODULES) - own
    assert {entry["action_plugin"] for entry in routed.values()} == {f"{NAME}.vcenter_access_info"}
    bases = ("RemoteAction", "ShellCaptureAction", "SwitchAction", "GuestsAction", "failure.answer")
    assert [name for name in own if not any(base in (folder / f"{name}.py").read_text() for base in bases)] == []


@pytest.mark.parametrize("module", load("meta/runtime.yml")["action_groups"]["vcenter"])
def test_the_examples_show_the_action_group_in_a_play(module):
    plays = [entry for entry in parsed(constants(modules()[module])["EXAMPLES"]) if "tasks" in entry]
    assert [play for play in plays if f"group/{NAME}.vcenter" in play.get("module_defaults", {})]


def test_what_no_release_has_names_the_version_in_preparation():
    released, version = load("changelogs/changelog.yaml")["releases"], load("galaxy.yml")["version"]
    if not list((ROOT / "changelogs" / "fragments").glob("*.yml")):
        pytest.skip("a release consumed the fragments")
    assert version not in released
    known = {one["name"]: number for number, release in released.items() for one in release.get("modules", ())}
    added = {module: documentation(modules()[module])["version_added"] for module in MODULES}
    assert added == {name: known.get(name, version) for name in added}


def test_an_option_names_a_version_only_if_it_is_newer_than_its_module():
    def inside(options):
        for name, option in options.items():
            yield name, option.get("version_added")
            yield from inside(option.get("suboptions", {}))

    for module in MODULES:
        found = documentation(modules()[module])
        older = [name for name, number in inside(found.get("options", {})) if number == found["version_added"]]
        assert not older, module
