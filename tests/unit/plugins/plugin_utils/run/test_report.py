"""The report of a run is beside its record, and no trouble with it reaches the run."""

from __future__ import annotations

import errno
import os

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import files, report

FAILED = {"object": "job-01", "task": "Shape the VM", "msg": "No room.", "codes": ["no_room"]}
RECORD = {"stages": [{"name": "machines", "state": "failed", "failures": [FAILED]}]}


@pytest.fixture
def warnings():
    return []


def test_page_and_summary_are_written_with_the_place_of_each_code(tmp_path, warnings):
    path = report.write(str(tmp_path / "run"), RECORD, warnings.append)
    assert (path, warnings) == (str(tmp_path / "run" / "run.html"), [])
    assert sorted(os.listdir(tmp_path / "run")) == ["run.html", "run.md"]
    for name in ("run.html", "run.md"):
        text = (tmp_path / "run" / name).read_text()
        assert "docs/failure_codes.md#no_room" in text
        assert "No room." in text


def test_folder_that_cannot_be_written_gives_one_warning_and_no_path(tmp_path, warnings):
    (tmp_path / "file").write_text("no folder")
    assert report.write(str(tmp_path / "file" / "run"), RECORD, warnings.append) == ""
    (warning,) = warnings
    assert str(tmp_path / "file" / "run" / "run.html") in warning


def test_full_disk_gives_one_warning_and_leaves_no_half_file(tmp_path, warnings, monkeypatch):
    def full(_source, _target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "replace", full)
    assert report.write(str(tmp_path), RECORD, warnings.append) == ""
    (warning,) = warnings
    assert "No space left on device" in warning
    assert os.listdir(tmp_path) == []
