# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Files of the role guest_vm have real line breaks: Ansible keeps a backslash in a literal block as it is."""

from __future__ import annotations

import re

import pytest

from house.collection import ROOT

FILES = sorted((ROOT / "roles").glob("*/tasks/*.yml"))
# A literal block of YAML does not resolve backslashes, and Ansible keeps them in expressions.
LITERAL = re.compile(r"^( *)content: \|\n((?:\1 +.*\n|\n)+)", re.MULTILINE)


@pytest.mark.parametrize("file", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_no_content_writes_a_backslash_in_place_of_a_line_break(file):
    found = [body for _indent, body in LITERAL.findall(file.read_text(encoding="utf-8")) if "'\\n'" in body]
    assert found == []
