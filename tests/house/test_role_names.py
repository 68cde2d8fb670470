"""A registered result has precedence over a variable of the role: no role may have both under one name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROLES = sorted(path for path in (Path(__file__).resolve().parents[2] / "roles").iterdir() if path.is_dir())


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_no_result_hides_a_variable_of_its_role(role):
    variables = role / "vars" / "main.yml"
    named = set(yaml.safe_load(variables.read_text()) or {}) if variables.is_file() else set()
    tasks = "\n".join(path.read_text() for path in (role / "tasks").rglob("*.yml"))
    assert named & set(re.findall(r"(?m)^\s*register: (\w+)", tasks)) == set()
