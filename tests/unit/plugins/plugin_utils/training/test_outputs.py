# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The files of a run on the controller: written as a whole or reported as a remark. They never end a training."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.outputs import Outputs

RUN = "20260301-081530-6ed2"


def test_the_log_grows_and_the_result_comes_in_one_piece(tmp_path):
    outputs = Outputs(str(tmp_path / "results"), RUN)
    outputs.write("one\n")
    outputs.write("two\n")
    assert outputs.save({"run": RUN}) == []
    names = outputs.names()
    assert sorted(os.listdir(tmp_path / "results")) == [f"training-{RUN}.json", f"training-{RUN}.log"]
    assert Path(names["log"]).read_text() == "one\ntwo\n"
    assert json.loads(Path(names["file"]).read_text()) == {"run": RUN}


def test_without_a_folder_nothing_is_written():
    outputs = Outputs(None, RUN)
    outputs.write("one\n")
    assert (outputs.names(), outputs.save({}), outputs.log) == ({}, [], None)


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(tmp_path):
    (tmp_path / "results").write_text("a file")
    with pytest.raises(OperatorError) as refused:
        Outputs(str(tmp_path / "results"), RUN)
    assert refused.value.code == "no_result_dir"


def test_a_disk_that_fills_up_is_reported_and_leaves_no_half_result(tmp_path, monkeypatch):
    outputs = Outputs(str(tmp_path), RUN)

    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(outputs._file, "flush", full, raising=False)
    monkeypatch.setattr("json.dump", full)
    outputs.write("one\n")
    outputs.write("two\n")
    troubles = outputs.save({"run": RUN})
    assert [trouble.split(":")[0] for trouble in troubles] == [
        "The log on the controller is incomplete",
        "The result could not be written on the controller",
    ]
    assert os.listdir(tmp_path) == [f"training-{RUN}.log"]


@pytest.mark.parametrize("mask", [0o022, 0o000])
def test_what_ranks_printed_is_for_the_owner_alone(tmp_path, mask):
    before = os.umask(mask)
    try:
        (tmp_path / f"training-{RUN}.log").write_text("of an earlier run")
        outputs = Outputs(str(tmp_path), RUN)
        outputs.write("one\n")
        outputs.save({"run": RUN})
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        f"training-{RUN}.json": 0o600,
        f"training-{RUN}.log": 0o600,
    }
