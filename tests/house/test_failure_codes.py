"""Pages that list what can go wrong list all of it, since machines decide by these codes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import failure

from house.collection import ROOT
from house.failure_codes import PLUGINS, places

PAGES = {
    "training.md": ("module_utils/training/*.py", "plugin_utils/training/*.py"),
    "container_runtime.md": ("module_utils/guest/container/*.py",),
    "guest_driver.md": ("module_utils/guest/driver/*.py", "module_utils/guest/licence/*.py"),
}
# Functions that make the error; the code is the fifth of their arguments.
MAKERS = ("OperatorError", "_error")
PLACE = 4


def codes(pattern: str) -> Iterator[str]:
    for path in sorted((ROOT / "plugins").glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS and len(node.args) > PLACE:
                code = node.args[PLACE]
                if isinstance(code, ast.Constant):
                    yield code.value


@pytest.mark.parametrize("page", PAGES)
def test_a_page_lists_every_code_of_its_errors(page):
    raised = {code for pattern in PAGES[page] for code in codes(pattern)}
    assert raised, "nothing was found, so nothing was compared"
    listed = set(re.findall(r"`([a-z_]+)`", (ROOT / "docs" / page).read_text()))
    assert sorted(raised - listed) == []


def rows() -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "failure_codes.md").read_text(), re.MULTILINE)


def test_the_index_has_a_row_for_every_code_that_plugins_name():
    assert {code: where for code, where in places().items() if code not in rows()} == {}


def test_the_index_has_each_code_once_and_in_order():
    assert len(rows()) == len(set(rows())) > 500
    text = (ROOT / "docs" / "failure_codes.md").read_text()
    for section in text.split("\n## ")[1:]:
        named = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
        assert named == sorted(named)


def test_each_row_has_the_anchor_that_a_failed_run_prints():
    page, _anchor, _code = failure.explained("x").partition("#")
    found = re.findall(r'^\| `(\w+)` \| <a id="([^"]+)"></a>', (ROOT / page).read_text(), re.MULTILINE)
    assert [code for code, _id in found] == rows()
    assert [(code, f"{page}#{anchor}") for code, anchor in found] == [
        (code, failure.explained(code)) for code in rows()
    ]


def test_the_index_has_no_code_that_is_in_no_plugin():
    words = {
        node.value
        for path in PLUGINS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    # vSphere's own states of connection, from which a code is made.
    states = {f"vm_{state}" for state in ("disconnected", "inaccessible", "invalid", "orphaned")}
    assert set(rows()) - words - states == set()
