"""A check is repeated for another content, whatever the difference is."""

from __future__ import annotations

import pytest

from gates.tree import digest


def filled(folder, name="a.py", text="one", mode=0o644):
    (folder / ".git").mkdir(parents=True)
    file = folder / "plugins" / name
    file.parent.mkdir()
    file.write_text(text)
    file.chmod(mode)
    return folder


def test_two_copies_of_the_same_files_have_one_digest(tmp_path):
    first, second = filled(tmp_path / "first"), filled(tmp_path / "second")
    (second / ".git" / "HEAD").write_text("ref")
    assert digest(first, "lock") == digest(second, "lock")


@pytest.mark.parametrize("other", [{"name": "b.py"}, {"text": "two"}, {"mode": 0o755}], ids=lambda one: next(iter(one)))
def test_another_name_text_or_mode_has_another_digest(tmp_path, other):
    assert digest(filled(tmp_path / "first")) != digest(filled(tmp_path / "second", **other))


def test_another_target_of_a_link_has_another_digest(tmp_path):
    link = filled(tmp_path / "first") / "link"
    link.symlink_to("one")
    before = digest(link.parent)
    link.unlink()
    link.symlink_to("two")
    assert digest(link.parent) != before


def test_another_lock_has_another_digest(tmp_path):
    copy = filled(tmp_path / "first")
    assert digest(copy, "lock") != digest(copy, "other lock")
