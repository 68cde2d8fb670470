"""What must not be installed is refused before anything is touched, with the reason and with the way out."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from .vib_lab import ESX, depot_name, ready, seed, software, stored

DEPOT = stored("550.54.16")


class Case(NamedTuple):
    """A host, what is wanted there, and what is said to it."""

    name: str
    seed: dict
    params: dict
    code: str
    says: str


CASES = [
    Case(
        "graphics package for compute",
        seed(),
        {"depot": stored("550.54.16", "graphics")},
        "wrong_family",
        "never offers a compute profile. Use the package of the other product",
    ),
    Case(
        "compute package for graphics",
        seed(),
        {"depot": DEPOT, "family": "graphics"},
        "wrong_family",
        "the package has no driver of NVIDIA vGPU (graphics)",
    ),
    Case(
        "graphics driver is there",
        ready(family="graphics"),
        {"depot": DEPOT},
        "other_family_installed",
        "is installed: graphics 550.54.16-1OEM.800.1.0.20613240, of NVIDIA vGPU (graphics). Set replace=true",
    ),
    Case(
        "a newer driver is there",
        ready("570.124.03"),
        {"depot": DEPOT},
        "downgrade",
        "A newer one is installed: 570.124.03-1OEM.800.1.0.20613240.",
    ),
    Case(
        "an older ESXi",
        seed(release="7.0.3"),
        {"depot": DEPOT},
        "wrong_esxi_release",
        "It was built for ESXi 8.0.0, and the host runs 7.0.3.",
    ),
    Case(
        "a host that takes only certified software",
        seed(acceptance="VMwareCertified"),
        {"depot": DEPOT},
        "acceptance_level",
        "Its acceptance level is VMwareAccepted, and the host accepts VMwareCertified or stricter.",
    ),
    Case(
        "the management daemon instead of the driver",
        seed(files=[{"path": "depots/daemon.zip", "package": "nvd-gpu-mgmt-daemon"}]),
        {"depot": "[datastore-01] depots/daemon.zip"},
        "no_driver_in_package",
        "This is the GPU management daemon, which NVIDIA ships apart from the driver.",
    ),
    Case(
        "a text",
        seed(files=[{"path": "depots/readme.zip", "text": "not a depot"}]),
        {"depot": "[datastore-01] depots/readme.zip"},
        "depot_unreadable",
        "It is not a usable depot: it is neither a zip archive nor a VIB",
    ),
    Case(
        "no file",
        seed(),
        {"depot": "[datastore-01] depots/missing.zip"},
        "depot_not_found",
        "The datastore has no such file. Correct `depot`, or use `file` to upload the file.",
    ),
    Case(
        "no datastore",
        seed(),
        {"depot": "[datastore-77] depots/x.zip"},
        "datastore_not_found",
        "has no datastore datastore-77. It has: datastore-01.",
    ),
    Case(
        "a path as shells take it",
        seed(),
        {"depot": f"depots/{depot_name()}"},
        "depot_path",
        "It is not an absolute path on a datastore, and esxcli accepts no other.",
    ),
    Case(
        "another checksum",
        seed(),
        {"depot": DEPOT, "checksum": "sha256:" + "0" * 64},
        "checksum",
        "Its checksum is sha256:",
    ),
    Case(
        "a zip by its address",
        seed(),
        {"url": f"http://repo.example.com/{depot_name()}"},
        "url_not_for_esxcli",
        "esxcli takes a zip depot only from a datastore of the host",
    ),
    Case(
        "an address that reports nothing",
        seed(),
        {"url": "http://repo.example.com/latest"},
        "depot_unreadable",
        "the host cannot read it, and its name is not that of a driver",
    ),
    Case(
        "an image where there is none",
        seed(),
        {"depot": DEPOT, "method": "image"},
        "not_image_managed",
        "Baselines manage the software of its cluster, so the cluster has no image.",
    ),
    Case(
        "drift from an image",
        seed(image="managed"),
        {"depot": DEPOT, "method": "esxcli"},
        "image_managed",
        "the host would drift from it",
    ),
    Case(
        "vCenter without baselines",
        ready("595.71.03", image="managed", release="9.1.0"),
        {"state": "absent", "method": "esxcli"},
        "image_required",
        "vCenter 9 and newer manage the software of a cluster only by its image",
    ),
    Case("host away", seed(connection="disconnected"), {"depot": DEPOT}, "host_not_connected", "disconnected"),
    Case("no such host", seed(), {"host": "esx-01", "depot": DEPOT}, "host_not_found", f"near it: {ESX}."),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_reason_and_the_way_out_are_reported_and_nothing_is_touched(twin, drive, case):
    running = twin(seed=case.seed)
    before = software(running)
    module = drive(running)
    predicted, answer = [module("nvaie_vib", check=check, **{"host": ESX, **case.params}) for check in (True, False)]
    assert predicted == answer
    assert answer["failed"]
    assert not answer["changed"]
    assert case.says in answer["msg"]
    assert answer["failure"]["code"] == case.code
    assert software(running) == before


def test_a_working_host_is_planned_and_refused_with_the_names_of_its_vms(twin, drive):
    working = seed(state="ready", maintenance=False, vms=("train-01", "web-01"))
    working["datacenters"][0]["vms"].append({"name": "asleep", "host": ESX, "memory_gb": 4})
    running = twin(seed=working)
    module = drive(running)
    planned = module("nvaie_vib", check=True, host=ESX, depot=DEPOT)
    assert planned["changed"]
    assert planned["host"]["pending"] == [{"what": "driver", "needs": "reboot"}]
    refused = module("nvaie_vib", host=ESX, depot=DEPOT)
    assert refused["failure"]["code"] == "not_in_maintenance"
    assert refused["failure"]["running_vms"] == ["train-01", "web-01"]
    assert "these VMs run on it: train-01, web-01." in refused["msg"]
    assert not refused["changed"]
    assert software(running)["vibs"] == []


def test_an_empty_host_is_refused_too_while_it_could_get_vms(twin, drive):
    running = twin(seed=seed(maintenance=False))
    refused = drive(running)("nvaie_vib", host=ESX, depot=DEPOT)
    assert refused["failure"]["code"] == "not_in_maintenance"
    assert "No VM runs on it" in refused["msg"]


def test_the_words_of_the_installer_reach_the_operator(twin, drive):
    running = twin(seed=seed())
    running.control.fail_command(
        prefix="esxcli software vib install", text="[InstallationError]\n The bank is damaged."
    )
    answer = drive(running)("nvaie_vib", host=ESX, depot=DEPOT)
    assert answer["failure"]["code"] == "esxcli_failed"
    assert answer["failure"]["errors"] == ["[InstallationError]", "The bank is damaged."]
    assert software(running)["vibs"] == []


def test_a_release_that_is_left_to_the_installer_is_judged_by_it_and_nothing_is_installed(twin, drive):
    running = twin(seed=seed(release="7.0.3", maintenance=True))
    answer = drive(running)("nvaie_vib", host=ESX, depot=DEPOT, other_release="allow")
    assert answer["failure"]["code"] != "wrong_esxi_release"
    assert "DependencyError" in answer["msg"]
    assert answer["host"]["after"]["vibs"] == []
