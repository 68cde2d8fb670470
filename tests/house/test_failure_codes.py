"""Pages that list what can go wrong list all of it, since machines decide by these codes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from house.collection import ROOT

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
