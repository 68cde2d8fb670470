"""The fixed mutations are found by their content, and what was tried is not tried again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench import mutations
from mutation.mutant import replaced

FILE = "plugins/module_utils/one.py"
TEXT = """\
def larger(one, other):
    return one > other


def largest(one, other):
    if one > other:
        return one
    if one > other:
        return other
    return None
"""


@pytest.fixture
def tree(tmp_path):
    def write(text, file=FILE):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path

    return write


def of(text, function, nth=0, kind="comparison", file=FILE):
    found = [one for one, _mutant in mutations.mutants(file, text) if (one.function, one.kind) == (function, kind)]
    return [one for one in found if one.nth == nth][0]


def test_a_mutation_is_found_after_lines_were_added(tree):
    entry = of(TEXT, "larger")
    later = "# A line.\n" * 3 + TEXT
    mutant = mutations.find(entry, tree(later))
    assert mutant.line == 5
    assert "return (one >= other)" in replaced(later, mutant)


@pytest.mark.parametrize("nth, line", [(0, 6), (1, 8)])
def test_the_same_lines_of_a_function_are_reported_apart_by_their_order(tree, nth, line):
    assert mutations.find(of(TEXT, "largest", nth), tree(TEXT)).line == line


@pytest.mark.parametrize(
    "text", [TEXT.replace("one > other", "one > 1"), TEXT.replace("larger", "wider"), "", "larger = None\n"]
)
def test_a_mutation_whose_line_or_function_is_gone_is_missing(tree, text):
    assert mutations.find(of(TEXT, "larger"), tree(text)) is None


def test_a_mutation_of_a_file_that_is_gone_is_missing(tree):
    assert mutations.find(replace(of(TEXT, "larger"), file="plugins/none.py"), tree(TEXT)) is None


def test_a_task_is_found_by_its_first_line(tree):
    tasks = "- name: First\n  debug:\n\n- name: Second\n  debug:\n  when: here\n"
    file = "roles/one/tasks/main.yml"
    entry = of(tasks, "", kind="condition negated", file=file)
    added = "- name: Zero\n  debug:\n\n" + tasks
    assert "when: 'not (here)'" in replaced(added, mutations.find(entry, tree(added, file)))


def test_the_list_has_150_different_mutations():
    entries = mutations.listed()
    assert [entry.id for entry in entries] == list(range(1, 151))
    assert len({(entry.file, entry.same, entry.nth) for entry in entries}) == 150
    assert len({entry.file for entry in entries}) > 100


def test_results_of_a_killed_command_are_read_without_the_line_that_is_cut(tmp_path, monkeypatch):
    lines = [{"id": 1, "verdict": "killed", "by": "near: a"}, {"id": 2, "verdict": "survived", "by": ""}]
    file = tmp_path / "fixed.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + '\n{"id": 3, "verd')
    monkeypatch.setattr(mutations, "RESULTS", file)
    assert mutations.known() == {1: lines[0], 2: lines[1]}


def test_the_summary_lists_survivors_and_counts():
    one = of(TEXT, "larger")
    entries = [replace(one, id=number) for number in (1, 2, 3, 4)]
    results = {1: {"verdict": "killed"}, 2: {"verdict": "survived"}, 3: {"verdict": "missing"}}
    assert list(mutations.summary(entries, results)) == [
        f"survived   2 {FILE} larger: comparison: return one > other",
        f"missing    3 {FILE} larger: comparison: return one > other",
        "1 killed, 1 survived, 1 missing, 1 not tried, 50% of those tried.",
    ]


@pytest.mark.parametrize(
    "wire, names", [(False, ["near", "imported", "around"]), (True, ["near", "imported", "around", "contract"])]
)
def test_a_mutation_of_python_is_tried_by_unit_tests_and_on_request_over_the_wire(wire, names):
    file = "plugins/module_utils/vm/vgpu/noun.py"
    mutant = next(mutant for _one, mutant in mutations.mutants(file, (mutations.ROOT / file).read_text()))
    found = list(mutations.stages(mutant, mutations.ROOT, None, wire=wire))
    assert [stage.name for stage in found if stage.tests] == names
    assert all(test.startswith("tests/unit/") for stage in found[:3] for test in stage.tests)


def test_tests_of_a_filter_belong_to_the_code_that_it_calls():
    file = "plugins/plugin_utils/stages/host_gaps.py"
    mutant = next(mutant for _one, mutant in mutations.mutants(file, (mutations.ROOT / file).read_text()))
    tests = [test for stage in mutations.stages(mutant, mutations.ROOT, None) for test in stage.tests]
    assert "tests/unit/plugins/filter/test_host_gaps.py" in tests


def test_the_package_around_a_file_has_its_tests_where_it_has_none():
    file = "plugins/module_utils/validation/judge/check_fabric.py"
    mutant = next(mutant for _one, mutant in mutations.mutants(file, (mutations.ROOT / file).read_text()))
    near, *_others = mutations.stages(mutant, mutations.ROOT, None)
    assert near.tests == ("tests/unit/plugins/module_utils/validation",)


def test_a_mutation_of_tasks_is_tried_by_tests_that_read_them():
    file = "roles/training_vm/tasks/main.yml"
    mutant = next(mutant for _one, mutant in mutations.mutants(file, (mutations.ROOT / file).read_text()))
    (stage,) = mutations.stages(mutant, mutations.ROOT, None)
    assert "tests/house/test_guest_tasks.py" in stage.tests
    assert "tests/unit/roles" in stage.tests
