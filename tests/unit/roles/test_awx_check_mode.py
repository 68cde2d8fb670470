"""In check mode, modules of awx.awx fail on objects that do not exist yet. The role counts these as changes."""

from __future__ import annotations

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import jinja2
import pytest
import yaml

from house.collection import ROOT

ROLE = ROOT / "roles" / "awx"


def expression(check_mode):
    text = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())["__awx_later"]
    return jinja2.Environment().from_string(text).render(ansible_check_mode=check_mode)


def messages():
    """Messages about a missing object, of the modules that the role uses."""
    used = set(re.findall(r"awx\.awx\.(\w+):", (ROLE / "tasks" / "objects.yml").read_text()))
    folder = Path(find_spec("ansible_collections.awx.awx").submodule_search_locations[0]) / "plugins"
    files = [*(folder / "modules" / f"{name}.py" for name in used), folder / "module_utils" / "controller_api.py"]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "fail_json":
                for one in ast.walk(node):
                    text = one.value if isinstance(one, ast.Constant) else None
                    if isinstance(text, str) and re.search(r"not found|Could not find|items, expected", text):
                        yield text.replace("{1} items", "0 items")


def test_every_message_about_a_missing_object_is_a_change_in_check_mode():
    found = set(messages())
    # inventory_source, workflow_job_template_node, and the look-up by name
    assert len(found) > 4
    assert {text for text in found if not re.search(expression(True), text)} == set()
    assert [text for text in found if re.search(expression(False), text)] == []


def test_check_mode_reaches_every_task():
    tasks = yaml.safe_load((ROLE / "tasks" / "objects.yml").read_text())
    conditions = [task["when"] for task in tasks if "when" in task]
    assert [one for one in conditions if "check_mode" in one] == []


@pytest.mark.parametrize("text", ["Request to /api/v2/x returned 2 items, expected 1", "HTTP Error 404: not found"])
def test_other_failures_stay_failures(text):
    assert not re.search(expression(True), text)
