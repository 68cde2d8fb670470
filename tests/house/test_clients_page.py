"""The twin's page of third-party clients names tests that exist, and every file of these tests."""

from __future__ import annotations

import ast
import re

import pytest

from house.collection import ROOT

PAGE = (ROOT / "tests" / "twin" / "docs" / "clients.md").read_text()
WIRE = ROOT / "tests" / "wire"
TWIN = ROOT / "tests" / "twin" / "tests"
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| (?!Request of|-)", line)]
NAMED = sorted(set(re.findall(r"`(\w+\.py)::(test_\w+)`", PAGE)))


def test_every_row_names_its_test():
    assert len(ROWS) > 36
    assert [row for row in ROWS if not re.search(r"`\w+\.py::test_\w+` \|$", row)] == []


@pytest.mark.parametrize("file, name", NAMED, ids="::".join)
def test_a_test_of_the_page_exists(file, name):
    (path,) = [*WIRE.glob(file), *TWIN.rglob(file)]
    functions = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    assert name in functions


def test_every_file_of_these_tests_is_on_the_page():
    named = {file for file, _name in NAMED if (WIRE / file).exists()}
    assert named == {path.name for path in WIRE.glob("test_clients_*.py")}
