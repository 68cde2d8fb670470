"""The versions of packages in the images of a lab: recorded, compared and reported."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("docker")

from vsphere_twin.guests import building

ROW = re.compile(r"[a-z0-9][a-z0-9+.-]+ \S+")


def rows(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_the_record_has_a_version_for_each_package():
    recorded = rows(building.RECORDED)
    assert [row for row in recorded if not ROW.fullmatch(row)] == []
    names = [row.split()[0] for row in recorded]
    assert sorted(set(names)) == sorted(names)


def test_lab_keeps_and_reports_versions_that_are_not_the_recorded_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("VSPHERE_TWIN_STATE", str(tmp_path))
    recorded, said = rows(building.RECORDED), []
    building.compared("aiready-lab/guest:1", recorded, said.append)
    assert len(said) == 1
    building.compared("aiready-lab/guest:2", [*recorded[1:], "sudo 99"], said.append)
    assert "1 packages have other versions" in said[1]
    assert "sudo 99" in said[1]
    assert "sudo 99\n" in (tmp_path / "images" / "aiready-lab_guest_2.txt").read_text()
