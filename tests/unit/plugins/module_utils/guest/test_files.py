# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import errno
import os

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


@pytest.fixture
def files(tmp_path):
    return Files(str(tmp_path))


def test_a_file_is_written_whole_with_its_folder_and_mode(files, tmp_path):
    files.write("/etc/nvidia/a.tok", "text\n", 0o744)
    assert files.text("/etc/nvidia/a.tok") == "text\n"
    assert files.mode("/etc/nvidia/a.tok") == 0o744
    assert os.listdir(tmp_path / "etc/nvidia") == ["a.tok"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(files, tmp_path, monkeypatch):
    files.write("/etc/a.conf", "old\n")

    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OperatorError, match="/etc/a.conf: cannot write the file. The disk is full. Free space"
    ) as raised:
        files.write("/etc/a.conf", "new\n")
    assert raised.value.code == "disk_full"
    assert files.text("/etc/a.conf") == "old\n"
    assert os.listdir(tmp_path / "etc") == ["a.conf"]


@pytest.mark.parametrize(
    "number, todo",
    [(errno.EROFS, "Make that file system writable"), (errno.EACCES, "become: true"), (errno.EIO, "Check that path")],
)
def test_what_cannot_be_written_says_what_to_do(files, monkeypatch, number, todo):
    def refuse(*_args, **_more):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "makedirs", refuse)
    with pytest.raises(OperatorError, match=todo):
        files.write("/etc/a.conf", "new\n")


def test_what_is_not_there_is_none_and_can_be_removed(files):
    assert files.text("/none") is files.mode("/none") is files.changed_at("/none") is None
    assert files.names("/none") == []
    files.remove("/none")


def test_a_folder_in_the_place_of_a_file_is_an_error_with_words(files, tmp_path):
    (tmp_path / "etc/a.conf").mkdir(parents=True)
    with pytest.raises(OperatorError, match="/etc/a.conf"):
        files.write("/etc/a.conf", "new\n")
    assert os.listdir(tmp_path / "etc") == ["a.conf"]
