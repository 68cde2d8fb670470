# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The page about data paths says what the code does."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs

ROOT = Path(__file__).parents[6]
PAGE = (ROOT / "docs" / "data_paths.md").read_text()


def codes():
    """The code of every problem that the modules for adapters and for passthrough devices can report."""
    for path in (ROOT / "plugins" / "module_utils" / "vm").glob("*/*.py"):
        for node in ast.walk(ast.parse(path.read_text())) if path.parent.name in ("nic", "pci") else ():
            problem = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem"
            if problem and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value


def test_the_page_holds_the_table_of_costs():
    assert costs.markdown() in PAGE


def test_the_page_lists_every_refusal_and_none_that_does_not_exist():
    table = PAGE.partition("## Rejected requests")[2].partition("\n## ")[0]
    assert set(re.findall(r"(?m)^\| `([a-z_]+)` \|", table)) == set(codes())
