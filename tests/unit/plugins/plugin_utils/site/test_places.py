"""Where a key of a site stands: the file and the line that a problem names."""

from __future__ import annotations

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import checks
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.places import placed

SITE = """\
site:
  gpu:
    mode: vgpu
    profile: grid_a100-40c
    per_vm: 0
  vms:
    - prefix: train-
      count: 2
    - name: other
      profiles: [grid_a100-3-20c]
  netwrk:
    path: tcp
"""


@pytest.fixture
def read(tmp_path, monkeypatch):
    """What Ansible makes of a site in a file of the folder that the run begins in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site.yml").write_text(SITE)
    return DataLoader().load_from_file(str(tmp_path / "site.yml"))["site"]


@pytest.mark.parametrize(
    "problem, line",
    [
        ("site.gpu.per_vm: 0 is no number.", 5),
        ("site.vms[1].profiles[0]: it is unknown.", 10),
        ("site.vms[1].nics: it is not set.", 9),
        ("site.gpu.max_per_vm: it is not set.", 2),
        ("these VMs, site.vms[0].prefix and site.vms[1].name, are one.", 7),
    ],
)
def test_a_problem_names_the_line_of_its_key_or_of_the_nearest_one_that_is_there(read, problem, line):
    assert placed([problem], read) == [f"{problem} (site.yml, line {line})"]


@pytest.mark.parametrize("problem", ["nothing of it is named.", "site_host.gpu: it cannot differ.", "sites are two."])
def test_a_problem_of_something_else_has_no_line(read, problem):
    assert placed([problem], read) == [problem]


def test_a_site_that_no_file_holds_has_no_lines():
    assert placed(["site.gpu.per_vm: 0 is no number."], {"gpu": {"per_vm": 0}}) == ["site.gpu.per_vm: 0 is no number."]


def test_a_file_elsewhere_is_named_in_full(read, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    assert placed(["site.gpu: wrong."], read)[0].endswith(f"({str(tmp_path)[1:]}/site.yml, line 2)")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert placed(["site.gpu: wrong."], read) == [f"site.gpu: wrong. ({tmp_path}/site.yml, line 2)"]


def test_an_unknown_key_does_not_hide_other_mistakes(read):
    unknown, number, profile = checks.problems(read)
    assert unknown.startswith("site.netwrk: the key is unknown. Did you mean network?")
    assert unknown.endswith("(site.yml, line 11)")
    assert number.startswith("site.gpu.per_vm: 0 is not a valid number of GPUs.")
    assert profile.startswith("site.vms[1]")


def test_what_follows_from_a_misspelled_key_is_not_reported():
    given = {"gpu": {"mode": "vgpu", "profil": "grid_a100-40c"}, "vms": [{"name": "a"}]}
    (reported,) = checks.problems(given)
    assert reported == "site.gpu.profil: the key is unknown. Did you mean profile?"


def test_a_key_that_is_there_was_not_meant_by_another():
    given = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c", "per_vm": 0}, "gpus": {}, "vms": [{"name": "a"}]}
    unknown, number = checks.problems(given)
    assert unknown == "site.gpus: the key is unknown. Did you mean gpu?"
    assert number.startswith("site.gpu.per_vm: 0 is not a valid number of GPUs.")


def test_a_problem_of_one_host_names_the_line_of_what_differs(tmp_path, monkeypatch, read):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "host.yml").write_text("site_host:\n  vcenter:\n    hostname: other\n  gpu:\n    mode: passthrough\n")
    own = DataLoader().load_from_file(str(tmp_path / "host.yml"))["site_host"]
    reported = checks.problems(dict(read, netwrk=None), own)
    assert reported[0].startswith("site_host.vcenter: it cannot differ between hosts.")
    assert reported[0].endswith("(host.yml, line 2)")
