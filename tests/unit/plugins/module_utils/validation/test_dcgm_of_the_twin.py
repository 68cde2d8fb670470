"""The product reads what dcgmi of the twin prints: healthy GPUs, memory errors, wrong results, watches that are off."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import dcgm

from twin_labs.guest_pair import Pair
from vsphere_twin.model import gpu_errors


@pytest.fixture
def guest():
    made = Pair().guests[0]
    made.state["installed"]["datacenter-gpu-manager"] = {"version": "4.2.3"}
    return made


def test_a_diagnostic(guest):
    reported = dcgm.diag(guest.run("dcgmi", "diag", "--run", "1", "--json")[1])
    assert (reported["why"], reported["gpus"], [one["status"] for one in reported["tests"]]) == ("", [0], ["pass"])


def test_watches(guest):
    check = ("dcgmi", "health", "--check", "--json")
    assert dcgm.health(guest.run(*check)[1])["error"]["code"] == "no_watches"
    guest.run("dcgmi", "health", "--set", "a")
    gpu_errors.report(guest.world, guest.vm, 48)
    reported = dcgm.health(guest.run(*check)[1])
    assert reported["incidents"] == [
        {"what": "GPU 0 Memory system", "state": "Failure", "text": "A DBE has occurred on GPU 0."}
    ]


def test_a_host_engine_that_does_not_run(guest):
    guest.state["installed"].pop("datacenter-gpu-manager")
    assert dcgm.diag(guest.run("dcgmi", "diag", "--run", "1", "--json")[1])["error"]["code"] == "no_dcgm"
