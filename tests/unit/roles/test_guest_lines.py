# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Texts have real line breaks: a block of YAML keeps a backslash, and so does Ansible in an expression of a block."""

from __future__ import annotations

import pytest

from house.collection import ROOT

FILES = sorted([*(ROOT / "roles").glob("*/tasks/*.yml"), *(ROOT / "roles").glob("*/vars/*.yml")])
FILES += sorted((ROOT / "playbooks").rglob("*.yml"))


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_block_writes_a_backslash_in_place_of_a_line_break(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "'\\n" in line and '"' not in line] == []
