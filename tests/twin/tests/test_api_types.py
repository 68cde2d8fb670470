"""The objects of the vSphere API that the twin builds: each type exists, and has the fields that it is given."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from pyVmomi import pbm, vim, vmodl, vslm

import vsphere_twin

ROOT = Path(vsphere_twin.__file__).parent
SPACES = {"vim": vim, "vmodl": vmodl, "pbm": pbm, "vslm": vslm}


def built(tree):
    """(name of the type, fields, line) of each object that a file builds by the name of its type."""
    short = {
        one.targets[0].id: ast.unparse(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
    }
    for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call)):
        made = isinstance(call.func, ast.Name) and call.func.id == "make" and call.args
        head, dot, rest = ast.unparse(call.args[0] if made else call.func).partition(".")
        name = short.get(head, head) + dot + rest
        if name.partition(".")[0] in SPACES and all(part.isidentifier() for part in name.split(".")):
            yield name, [one.arg for one in call.keywords if one.arg], call.lineno


def problems(name, fields):
    """The type if it does not exist, else its unknown fields."""
    found = SPACES[name.partition(".")[0]]
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            return [name]
    known = {one.name for one in found._GetPropertyList()} if hasattr(found, "_GetPropertyList") else set(fields)
    return [f"{name}.{field}" for field in fields if field not in known]


def test_each_object_has_a_type_and_fields_of_the_api():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {problem}"
        for path in sorted(ROOT.rglob("*.py"))
        for name, fields, line in built(ast.parse(path.read_text()))
        for problem in problems(name, fields)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "text, expected",
    [
        ("vim.fault.NotFound(msg='x')", []),
        ("vim.fault.NotFound(name='x')", ["vim.fault.NotFound.name"]),
        ("vim.fault.HostNotConnected()", ["vim.fault.HostNotConnected"]),
        ("KIND = vim.host\nmake(KIND.DnsConfig, colour='red')", ["vim.host.DnsConfig.colour"]),
    ],
)
def test_a_wrong_type_or_field_is_found(text, expected):
    assert [one for name, fields, _line in built(ast.parse(text)) for one in problems(name, fields)] == expected
