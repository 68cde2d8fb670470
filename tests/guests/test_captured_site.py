# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A rehearsal on a captured site whose new VM has real Linux. One commit in three runs it."""

from __future__ import annotations

import os

import pytest
import yaml

from e2e.conftest import Lab
from e2e.fabric import ready
from e2e.test_first_site import captured as first_site
from rehearse import __main__ as rehearsal
from rehearse import captured
from vsphere_twin.guests import engine
from vsphere_twin.launch import launch

from .conftest import REQUIRED

SITE = "group_vars/all/site.yml"
# All stages with two VMs, about 7 minutes on two idle cores.
WHOLE = os.environ.get("AIREADY_CAPTURED_SITE") == "whole"
# The lab replaces both with its own. Without a driver, the stage runtime has no GPU.
DRIVER = {
    "driver": {"package": "/srv/nvidia-linux-grid-550_550.90.07_amd64.deb"},
    "licence": {"token_file": "/srv/licence.tok"},
}
STAGES = {
    "guests": {
        "user": "operator",
        "host_keys": "accept_new",
        "reboot": "allow",
        "training_user": "scientist",
        **(DRIVER if WHOLE else {}),
    },
    "runtime": {"engine": "docker"},
    "training": {"image": "images.example.org/horovod:1", "command": ["python3", "/srv/train.py"]},
    "validation": {"seconds": 5},
}


@pytest.fixture
def site(tmp_path):
    """The capture and the inventory of a site that is gone before the rehearsal."""
    with launch(seed=ready(), faces=captured.FACES) as twin:
        (tmp_path / "live").mkdir()
        made = first_site(Lab(twin, tmp_path / "live"), tmp_path / "site.zip")
    folder = tmp_path / "own"
    for name, text in made.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    variables = yaml.safe_load((folder / SITE).read_text())
    names = tuple(STAGES) if WHOLE else ("guests",)
    variables["site"].update({name: STAGES[name] for name in names})
    variables["site"]["hosts"]["reboot"] = "allow"
    variables["site"]["vms"] = [{"prefix": "job-", "count": 2 if WHOLE else 1}]
    (folder / SITE).write_text(yaml.safe_dump(variables))
    return folder


@pytest.mark.turn(2, of=3)
def test_the_stages_of_guests_run_on_real_linux(site, tmp_path):
    try:
        engine.have(print, install=os.environ.get(REQUIRED) == "required")
    except engine.EngineProblem as problem:
        if os.environ.get(REQUIRED) == "required":
            raise
        pytest.skip(f"no guests: {' '.join(str(problem).split())}")
    (tmp_path / "work").mkdir()
    said, results = [], tmp_path / "results"
    outcome = captured.rehearse(
        rehearsal.Report(), tmp_path / "work", results, str(tmp_path / "site.zip"), str(site), said.append, "all"
    )
    output = "\n".join([*said, *outcome.lines()])
    assert (outcome.verdict, outcome.problems, outcome.left_out) == (captured.PASSED, [], []), output
    ran = (results / "run" / "stages.json").read_text()
    assert all(f'"{name}"' in ran for name in STAGES if WHOLE or name == "guests"), ran[:2000]
    assert any(row["object"] == "site.guests" for row in outcome.assumptions)
    assert outcome.validation.startswith("Verdict: ") is WHOLE
