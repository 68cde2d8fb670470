"""The table of docs/contributing.md that says where a change goes names files that exist."""

from __future__ import annotations

import re

import pytest

from house.collection import ROOT

PAGE = (ROOT / "docs" / "contributing.md").read_text()
SECTION = PAGE.partition("## Files of each change\n")[2].partition("\n## ")[0]
TOP = {path.name for path in ROOT.iterdir()}
# A path from the root of the repository; <name> is in the place of any name.
PATHS = sorted({one for one in re.findall(r"`([\w<>.*/-]+)`", SECTION) if one.partition("/")[0] in TOP and "/" in one})


def test_the_section_names_paths():
    assert len(PATHS) > 40


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_the_section_exists(path):
    assert list(ROOT.glob(re.sub(r"<\w+>", "*", path).rstrip("/"))), path
