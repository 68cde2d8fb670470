"""dcgmi runs the tests of its level, finds errors of GPUs, and forgets its watches at a restart."""

from __future__ import annotations

import json

import pytest

from vsphere_twin.model import gpu_errors


@pytest.fixture
def guest(guest_of):
    made = guest_of({"driver": {"family": "nvaie", "version": "550.54.16"}}).driver("550.54.15").boot()
    made.state["installed"]["datacenter-gpu-manager"] = {"version": "4.2.3"}
    return made


def diag(guest, level="1"):
    status, text = guest.run("dcgmi", "diag", "--run", level, "--json")
    tests = [test for category in json.loads(text)["DCGM Diagnostic"]["test_categories"] for test in category["tests"]]
    return status, {test["name"]: test["test_summary"]["status"] for test in tests}


def test_a_vgpu_passes_the_software_test_and_skips_those_of_the_hardware(guest):
    assert diag(guest) == (0, {"software": "Pass"})
    assert diag(guest, "medium") == (0, {"software": "Pass", "memory": "Skip", "pcie": "Skip"})


def test_watches_are_off_until_they_are_set_and_after_a_restart(guest):
    off = (255, "Error: Health watches not enabled. Please enable watches. \n")
    check = ("dcgmi", "health", "--check", "--json")
    assert guest.run(*check) == off
    assert guest.run("dcgmi", "health", "--set", "a") == (0, "Health monitor systems set successfully.\n")
    assert json.loads(guest.run(*check)[1])["body"] == {"Overall Health": {"value": "Healthy"}}
    gpu_errors.report(guest.world, guest.vm, 48)
    assert json.loads(guest.run(*check)[1])["body"]["Overall Health"] == {"value": "Failure"}
    guest.now += 60
    guest.boot()
    assert guest.run(*check) == off


@pytest.mark.parametrize(
    "words", [("diag",), ("diag", "--run", "5", "--json"), ("health", "--set", "q"), ("health",), ("topo",), ()]
)
def test_other_words_are_refused(guest, words):
    assert guest.run("dcgmi", *words)[0] == 255


def test_without_package_or_driver_no_host_engine_answers(guest):
    del guest.state["installed"]["datacenter-gpu-manager"]
    status, text = guest.run("dcgmi", "diag", "--run", "1", "--json")
    assert (status, "Unable to connect to host engine" in text) == (255, True)
