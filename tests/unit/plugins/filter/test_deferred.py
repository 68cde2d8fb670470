# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Ansible opens the files of all filters to find one, in each worker: opening them must cost next to nothing."""

from __future__ import annotations

import ast
import importlib
import pathlib

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils import deferred as deferred_filters

FILTERS = sorted((pathlib.Path(__file__).resolve().parents[4] / "plugins" / "filter").glob("*.py"))
DEFERRED = "ansible_collections.aiready.vsphere.plugins.plugin_utils.deferred"


def tree_of(path):
    return ast.parse(path.read_text())


@pytest.mark.parametrize("path", FILTERS, ids=lambda path: path.stem)
def test_a_filter_imports_what_it_works_with_when_it_is_used(path):
    imported = {node.module for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"__future__", DEFERRED}
    assert not [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Import)]


@pytest.mark.parametrize("path", FILTERS, ids=lambda path: path.stem)
def test_what_a_filter_names_is_there(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "deferred":
            module, function = (ast.literal_eval(argument) for argument in node.args)
            assert callable(
                getattr(importlib.import_module(f"ansible_collections.aiready.vsphere.plugins.{module}"), function)
            )


def test_texts_of_a_result_are_no_templates():
    """Until ansible-core 2.18, the text of a guest would otherwise run a template on the controller."""
    found = {"why": "{{ 1 }}", "rows": [("{{ 2 }}", 3, None, True)], "{{ 4 }}": {}}
    reported = {"<why>": "<{{ 1 }}>", "<rows>": [("<{{ 2 }}>", 3, None, True)], "<{{ 4 }}>": {}}
    assert deferred_filters.as_data(found, lambda text: f"<{text}>") == reported


@pytest.mark.parametrize("evaluates", [True, False])
def test_a_core_that_evaluates_results_gets_them_as_data(monkeypatch, evaluates):
    seen = []
    monkeypatch.setattr(deferred_filters, "EVALUATES", evaluates)
    monkeypatch.setattr(deferred_filters, "as_data", lambda value: seen.append(value) or value)
    deferred_filters.deferred("plugin_utils.health.quarantine", "held")({}, {})
    assert seen == ([[]] if evaluates else [])
