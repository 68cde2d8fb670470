# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""All that each reader makes of its text, whole and cut, as it was approved."""

from __future__ import annotations

import pytest

from unit import approved

from .test_readers import READERS


@pytest.mark.parametrize("name", READERS)
def test_a_text_is_read_as_a_whole(name):
    read, text = READERS[name]
    lines = text.splitlines(keepends=True)
    whole = {"whole": read(text)}
    approved.check(__file__, name, whole)
    cut = {f"{end} lines": read("".join(lines[:end])) for end in sorted({0, 1, len(lines) // 2, len(lines) - 1})}
    approved.check(__file__, f"{name}: cut", cut)
