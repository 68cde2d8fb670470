"""The files of a validation follow the umask, and what machines printed is for the owner alone."""

from __future__ import annotations

import os

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import record


@pytest.mark.parametrize("mask, mode", [(0o022, 0o644), (0o077, 0o600), (0o027, 0o640)])
def test_the_result_follows_the_umask_and_evidence_is_for_the_owner_alone(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        record.write(str(tmp_path), {"made": 1}, {"evidence/guest.kernel.job-01.txt": "all"})
    finally:
        os.umask(before)
    assert (tmp_path / record.NAME).stat().st_mode & 0o777 == mode
    assert (tmp_path / "evidence" / "guest.kernel.job-01.txt").stat().st_mode & 0o777 == 0o600
