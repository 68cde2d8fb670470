"""VMs that left a site: only those that it created itself are removed, and never most of them by mistake."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

machine_left = FilterModule().filters()["machine_left"]
SOURCE = "/dc1/vm/ubuntu-template"
SITE = [{"name": "job-01"}, {"path": "/dc1/vm/training/job-02"}]


def vm(name, owner="lab", power="on", source=SOURCE, gpus=("grid_a100-40c",), **more):
    return {
        "name": name,
        "moid": f"vm-{name}",
        "path": f"/dc1/vm/training/{name}",
        "instance_uuid": f"uuid-{name}",
        "bios_uuid": f"bios-{name}",
        "host": "esx-01",
        "power": power,
        "source": source,
        "owner": owner,
        "gpus": list(gpus) if power == "on" else [],
        **more,
    }


STAY = [vm("job-01"), vm("job-02")]
TODO = "Set site.absent to [job-03] and site.power to cycle to remove them, or list them in site.vms."


def answer(*more, vms=(*SITE,), owner="lab", absent=(), prune="report"):
    return machine_left([*STAY, *more], list(vms), {"owner": owner, "absent": list(absent), "prune": prune})


def names(entries):
    return [entry["name"] for entry in entries]


def test_a_vm_that_left_is_reported_with_its_gpus_and_the_key_that_removes_it():
    reported = answer(vm("job-03"))
    assert reported["reported"] == [
        "job-03 on esx-01: It is a VM of the site lab and not in site.vms. It runs and holds grid_a100-40c.",
        TODO,
    ]
    assert reported["holding"] == f"VMs that left the site hold GPUs: job-03 (esx-01, grid_a100-40c). {TODO}"
    assert (reported["remove"], reported["off"], reported["problems"]) == ([], [], [])


def test_the_vms_of_a_site_never_left_whichever_way_they_are_named():
    ways = [{"moid": "vm-job-03"}, {"instance_uuid": "uuid-job-03"}, {"bios_uuid": "bios-job-03"}, {"name": "JOB-03"}]
    for way in [*ways, {"path": "/dc1/vm/training/job-03/"}]:
        reported = answer(vm("job-03"), vms=[*SITE, way], prune="delete")
        assert (reported["reported"], reported["remove"]) == ([], []), way


@pytest.mark.parametrize(
    "found, words",
    [
        (vm("rival", owner=None, source=None), "This collection did not create it."),
        (vm("rival", owner="other"), "It belongs to the site other."),
    ],
    ids=["of others", "of another site"],
)
def test_a_vm_of_others_is_never_removed_and_named_where_it_holds_gpus(found, words):
    reported = answer(found, prune="delete")
    assert [one["why"] for one in reported["others"]] == [words]
    assert reported["holding"] == "VMs that the site does not define hold GPUs: rival (esx-01, grid_a100-40c)."
    assert (reported["left"], reported["remove"], reported["leaving"]) == ([], [], [])


@pytest.mark.parametrize("owner", ["lab", ""], ids=["a site with a name", "a site without"])
def test_a_vm_without_an_owner_is_reported_and_removed_only_by_its_name(owner):
    old = vm("job-03", owner=None)
    reported = answer(old, owner=owner, prune="delete")
    assert reported["reported"][0].startswith(
        "job-03 on esx-01: This collection created it, and it is not in site.vms."
    )
    assert reported["remove"] == []
    assert names(answer(old, owner=owner, absent=["job-03"])["remove"]) == ["job-03"]


def test_a_vm_that_is_off_is_reported_and_holds_nothing():
    reported = answer(vm("job-03", power="off"))
    assert reported["reported"][0].endswith("It is off.")
    assert reported["reported"][1] == "Set site.absent to [job-03] to remove them, or list them in site.vms."
    assert reported["holding"] == ""


def test_what_is_removed_is_named_with_its_folder_and_shut_down_where_it_runs():
    reported = answer(vm("job-03"), vm("job-04", power="off"), absent=["job-03", "job-04", "gone"])
    assert reported["remove"] == [
        {"name": "job-03", "folder": "/dc1/vm/training"},
        {"name": "job-04", "folder": "/dc1/vm/training"},
        {"name": "gone"},
    ]
    assert (reported["off"], reported["running"]) == ([{"moid": "vm-job-03"}], ["job-03"])
    assert reported["leaving"] == ["vm-job-03", "vm-job-04"]
    assert reported["reported"] == []


def test_a_vm_of_others_that_is_to_go_is_left_to_the_refusal_of_vm_clone_and_not_shut_down():
    reported = answer(vm("rival", owner=None, source=None), absent=["rival"])
    assert names(reported["remove"]) == ["rival"]
    assert (reported["off"], reported["leaving"]) == ([], [])


def test_prune_removes_what_the_site_created_and_no_more_than_what_stays():
    assert names(answer(vm("job-03"), vm("job-04"), prune="delete")["remove"]) == ["job-03", "job-04"]
    reported = answer(vm("job-03"), vm("job-04"), vm("job-05"), prune="delete")
    (problem,) = reported["problems"]
    assert problem["found"].endswith("Only 2 VMs of the site lab would stay.")
    assert problem["todo"].endswith("set site.absent to [job-03, job-04, job-05].")
    assert (reported["remove"], reported["off"]) == ([], [])
    assert names(answer(vm("job-03"), vm("job-04"), vm("job-05"), prune="delete", absent=["job-03"])["remove"]) == [
        "job-03",
        "job-04",
        "job-05",
    ]


def test_a_site_file_of_another_site_prunes_nothing():
    assert machine_left(STAY, [{"name": "other-01"}], {"owner": "lab", "absent": [], "prune": "delete"})["remove"] == []


def test_prune_can_refuse():
    reported = answer(vm("job-03"), prune="refuse")
    assert reported["problems"] == [
        {"found": "job-03 (esx-01, grid_a100-40c) left the site, and site.prune is refuse.", "todo": TODO}
    ]
    assert answer(prune="refuse")["problems"] == []
    # It may be a VM of another site that has no name.
    assert answer(vm("job-03", owner=None), prune="refuse")["problems"] == []
