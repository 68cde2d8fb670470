"""A play is checked before its VMs exist: what earlier tasks will have made of them is reported by `planned`."""

from __future__ import annotations

import pytest

from .lab import A100, NVAIE, lab, result
from .observe import gpu_setup

TEMPLATE = {"name": "golden", "template": True, "hardware_version": 17}
SECOND = {"name": "esx-02", "driver": NVAIE, "gpus": [{**A100, "board": "a40"}]}
NEW = {"name": "train-09", "planned": {"template": "golden", "host": "esx-01"}}
WHOLE = ["grid_a100-40c"]


@pytest.fixture
def world(twin, drive):
    """A template, a VM that is off, and a second host with another board."""
    running = twin(seed=lab(TEMPLATE, {"name": "train-01"}, others=(SECOND,)))
    return running, drive(running)


def test_a_vm_that_is_not_there_yet_is_planned_from_its_template(world):
    _running, drive = world
    answer = drive("vgpu_profile", check=True, vms=[NEW], profiles=WHOLE)
    found = result(answer, "train-09")
    assert (answer["failed"], found["changed"], found["moid"], found["path"]) == (False, True, None, None)
    assert (found["host"], found["cluster"]) == ("esx-01", "gpu")
    assert found["before"]["profiles"] == []
    assert found["after"]["profiles"] == WHOLE
    assert [entry["before_header"] for entry in answer["diff"]] == ["train-09"]


def test_several_planned_vms_of_one_template_are_planned_beside_those_that_exist(world):
    _running, drive = world
    vms = [NEW, dict(NEW, name="train-10"), {"name": "train-01", "planned": NEW["planned"]}]
    answer = drive("vgpu_profile", check=True, vms=vms, profiles=WHOLE)
    assert [(vm["name"], vm["moid"] is None) for vm in answer["vms"]] == [
        ("train-09", True),
        ("train-10", True),
        ("train-01", False),
    ]


def test_rules_of_the_host_hold_where_a_vm_is_planned(world):
    _running, drive = world
    elsewhere = dict(NEW, planned={"template": "golden", "host": "esx-02"})
    answer = drive("vgpu_profile", check=True, vms=[elsewhere], profiles=WHOLE)
    assert answer["failure"]["code"] == "profile_on_other_host"
    assert result(answer, "train-09")["host"] == "esx-02"


@pytest.mark.parametrize(
    "planned, code, words",
    [
        ({"template": "golden", "host": "esx-77"}, "host_not_found", "vCenter has no host of this name"),
        ({"template": "silver", "host": "esx-01"}, "vm_not_found", "VM silver: "),
        ({"host": "esx-01"}, "vm_not_found", "VM train-09: "),
    ],
    ids=["no such host", "no such template", "no template reported"],
)
def test_a_plan_that_names_what_is_not_there_is_refused(world, planned, code, words):
    _running, drive = world
    answer = drive("vgpu_profile", check=True, name="train-09", planned=planned, profiles=WHOLE)
    assert answer["failure"]["code"] == code
    assert words in answer["msg"]


def test_in_a_real_run_a_vm_that_is_not_there_is_an_error_whatever_was_planned(world):
    running, drive = world
    before = gpu_setup(running, "golden")
    answer = drive("vgpu_profile", vms=[NEW], profiles=WHOLE)
    assert answer["failure"]["code"] == "vm_not_found"
    assert gpu_setup(running, "golden") == before


def test_what_is_planned_of_a_vm_that_exists_counts_only_in_check_mode(world):
    _running, drive = world
    asked = {"name": "train-01", "profiles": WHOLE, "planned": {"memory_reservation": "all"}}
    paths = [
        {change["path"] for change in result(drive("vgpu_profile", check=check, **asked))["changes"]}
        for check in (True, False)
    ]
    assert ("memory_reservation" in paths[0], "memory_reservation" in paths[1]) == (False, True)
