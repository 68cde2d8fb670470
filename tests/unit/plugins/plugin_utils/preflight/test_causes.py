"""One cause is one row of preflight's table, whatever fails because of it."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import findings, hosts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import BLOCKS, Finding

from house.collection import ROOT

from .world import LIMITS, preview

STRANGER = Finding("hosts", "esx-01", "host", BLOCKS, "vCenter does not know it.")
OBJECT = Finding(
    "privileges", "cluster gpu", "object", BLOCKS, "vCenter has no object of this name, or this user may not see it."
)
NO_DATACENTER = Finding("machines", "DRS", "rules", BLOCKS, "There are: lab.", code="datacenter_not_found")
SWITCH = Finding("switches", "leaf-01", "switch", BLOCKS, "It is away.")


def test_a_datacenter_that_is_not_there_is_one_row_with_those_that_there_are():
    reported = findings.one_datacenter([STRANGER, OBJECT, NO_DATACENTER, SWITCH], "labb", ["esx-01"])
    assert [(one.where, one.what) for one in reported] == [("leaf-01", "switch"), ("datacenter labb", "object")]
    assert reported[1].found == "vCenter has no object of this name, or this user may not see it. There are: lab."
    assert reported[1].todo == "Correct site.datacenter, or give this user access to it."


def test_of_a_datacenter_that_is_there_every_object_has_its_row():
    reported = [STRANGER, OBJECT, SWITCH]
    assert findings.one_datacenter(reported, "lab", ["esx-01"]) == reported


ABSENT = {"found": False, "missing": []}
QUESTIONS = {"problems": [], "stages": [], "privileges": [], "addresses": [], "registries": [], "paths": []}


@pytest.mark.parametrize(
    "kinds, missing, expected",
    [
        (["vm", "network"], ["job-01"], ["vm x: ", "network x: "]),
        (["vm", "folder", "datastore", "network"], [], ["network x: "]),
        (["folder"], None, ["folder x: "]),
        ([], ["job-01"], []),
    ],
    ids=["VMs to create", "all VMs exist", "VMs that were not read", "all names are known"],
)
def test_names_that_a_stage_needs_and_vcenter_does_not_know(kinds, missing, expected):
    objects = [{"kind": kind, "name": "x", **ABSENT} for kind in kinds]
    about = {"name": "vc", "user": "ops", "version": "8.0.3", "is_vcenter": True, "clock_ahead_s": 0}
    vcenter = {"vcenter": about, "objects": objects, "hosts": [], "datastores": [], "strangers": []}
    seen = {"questions": QUESTIONS, "vcenter": vcenter, "vms": {"missing": missing}}
    said = findings.unknown(seen)
    assert [one.partition("x: ")[0] + "x: " for one in said] == expected
    assert all("vCenter has no object of this name, or this user may not see it." in one for one in said)


def vm(name, code, found="it is wrong"):
    return Finding("machines", name, "creation", BLOCKS, found, code=code)


@pytest.mark.parametrize(
    "rows, expected",
    [
        ([vm("job-01", "folder_not_found"), vm("job-02", "folder_not_found")], ["job-01, job-02"]),
        ([vm("job-01", "folder_not_found"), vm("job-02", "folder_not_found", "other")], ["job-01", "job-02"]),
        ([vm("job-01", "no_disk_space"), vm("job-02", "no_disk_space")], ["job-01", "job-02"]),
        ([SWITCH, SWITCH], ["leaf-01", "leaf-01"]),
    ],
    ids=["one name of the site", "two names", "trouble of each VM", "no VMs"],
)
def test_what_one_name_of_the_site_blocks_is_one_row(rows, expected):
    assert [one.where for one in findings.together(rows)] == expected


@pytest.mark.parametrize("there, rows", [(False, ["password"]), (True, ["login"])], ids=["missing", "given"])
def test_a_password_that_is_missing_is_one_row(there, rows):
    seen = {
        "questions": {"problems": [], "stages": [], "privileges": [], "addresses": [], "registries": [], "paths": []},
        "limits": LIMITS,
        "secrets": [["vCenter", "password", there, "Set it."]],
        "vcenter": {"failed": True, "msg": "password is not set; give it to the task."},
    }
    seen["vcenter"]["msg"] = (
        "password is not set; give it to the task, to module_defaults, or by the environment variable VMWARE_PASSWORD."
    )
    reported = [one for one in findings.findings(seen) if one.state == BLOCKS and one.where == "vCenter"]
    assert [one.what for one in reported] == rows


def test_an_adapter_that_is_not_there_is_no_trouble_of_its_mtu():
    away = {"failed": True, "msg": "PVRDMA was wanted. There is no such VMkernel adapter; there are: vmk0. Correct it."}
    mtu = {"failed": True, "msg": "An MTU was wanted. There is no VMkernel adapter vmk9. Correct it."}
    for pvrdma, expected in ((away, ["PVRDMA"]), ({}, ["MTU"])):
        reported = hosts.hosts({"esx-01": preview(answers={"pvrdma": pvrdma, "mtu": mtu})})
        assert [one.what for one in reported if one.state == BLOCKS] == expected


@pytest.mark.parametrize("words", findings.BEFORE_NAMES)
def test_words_before_names_are_in_a_message_of_a_module(words):
    sources = (ROOT / "plugins" / "module_utils" / "vm").rglob("*.py")
    assert any(f"{words}: " in path.read_text(encoding="utf-8") for path in sources)
