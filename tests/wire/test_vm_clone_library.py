"""Items of content libraries become VMs as templates do."""

from __future__ import annotations

import pytest

from .lab import result
from .rows.vm_clone import BOTH as TWO
from .rows.vm_clone import machine, machines, vm_of, world

pytestmark = pytest.mark.usefixtures("brisk")


def library(*items, **more):
    seed = world({}, **more)
    seed["datacenters"][0]["libraries"] = [{"name": "images", "datastore": "datastore-02", "items": list(items)}]
    return seed


OVF = {"name": "ubuntu", "type": "ovf", "from": "ubuntu-template"}
VMTX = {"name": "ubuntu", "from": "ubuntu-template"}
ITEM = {"library_item": "ubuntu", "folder": "training", "vms": TWO, "cloud_init": {"userdata": "#cloud-config\n"}}


def initialised(name, host):
    metadata = {"instance-id": name, "local-hostname": name}
    return machine(name, host, userdata="#cloud-config\n", metadata=metadata)


@pytest.mark.parametrize("item", [VMTX, OVF], ids=["template", "OVF"])
@pytest.mark.parametrize("named", [{}, {"library": "images"}], ids=["library found", "library named"])
def test_items_of_a_content_library_become_vms_once(twin, drive, item, named):
    running = twin(seed=library(item))
    module = drive(running)
    predicted = module("vm_clone", check=True, **ITEM, **named)
    for changes in (True, False):
        answer = module("vm_clone", **ITEM, **named)
        assert not answer["failed"], answer["msg"]
        assert answer["changed"] is changes
        assert [vm["after"] for vm in answer["vms"]] == [vm["after"] for vm in predicted["vms"]]
    assert result(answer, "new-01")["after"]["source"] == "images/ubuntu"
    assert machines("new-")(running) == {name: initialised(name, f"esx-{name[-2:]}") for name in ("new-01", "new-02")}


def test_a_vm_of_an_ovf_that_a_killed_run_has_not_set_up_is_finished(twin, drive):
    fault = {"method": "ReconfigVM_Task", "fault": "HostNotConnected", "message": "Gone."}
    running = twin(seed=library(OVF), faults=[("fail_tasks", fault)])
    module = drive(running)
    call = {**ITEM, "vms": TWO[:1]}
    assert module("vm_clone", **call)["failed"]
    predicted = module("vm_clone", check=True, **call)
    answer = module("vm_clone", **call)
    assert not answer["failed"], answer["msg"]
    assert [change["path"] for change in result(answer, "new-01")["changes"]] == ["source", "cloud_init", "finished"]
    assert answer["vms"] == predicted["vms"]
    assert machines("new-")(running) == {"new-01": initialised("new-01", "esx-01")}
    assert not module("vm_clone", **call)["changed"]


def size_of(running, name="new-01"):
    return [disk.capacityInKB // 1024**2 for disk in vm_of(running, name).disks]


@pytest.mark.parametrize("item", [VMTX, OVF], ids=["template", "OVF"])
def test_the_disk_of_a_vm_from_a_library_grows(twin, drive, item):
    running = twin(seed=library(item))
    module = drive(running)
    call = {**ITEM, "vms": TWO[:1], "disk_gb": 80}
    predicted = module("vm_clone", check=True, **call)
    answer = module("vm_clone", **call)
    assert not answer["failed"], answer["msg"]
    assert result(answer, "new-01")["changes"] == result(predicted, "new-01")["changes"]
    assert result(answer, "new-01")["after"]["disk_gb"] == 80
    assert size_of(running) == [80]
    assert not module("vm_clone", **call)["changed"]


def test_a_vm_of_an_ovf_whose_disk_a_killed_run_has_not_grown_is_finished(twin, drive):
    fault = {"method": "ReconfigVM_Task", "fault": "HostNotConnected", "message": "Gone."}
    running = twin(seed=library(OVF), faults=[("fail_tasks", fault)])
    module = drive(running)
    call = {**ITEM, "vms": TWO[:1], "disk_gb": 80}
    assert module("vm_clone", **call)["failed"]
    assert size_of(running) == [40]
    predicted = module("vm_clone", check=True, **call)
    answer = module("vm_clone", **call)
    assert not answer["failed"], answer["msg"]
    assert {"path": "disk_gb", "before": 40, "after": 80, "needs": None} in result(answer, "new-01")["changes"]
    assert answer["vms"] == predicted["vms"]
    assert size_of(running) == [80]
    assert not module("vm_clone", **call)["changed"]


def test_a_vm_of_an_ovf_with_a_larger_disk_is_refused_until_the_size_suffices(twin, drive):
    running = twin(seed=library(OVF))
    module = drive(running)
    call = {**ITEM, "vms": TWO[:1], "disk_gb": 20}
    for changed in (True, False):
        answer = module("vm_clone", **call)
        assert "VM new-01: cannot set its first disk to 20 GB. Its first disk has 40 GB, disk_gb is 20" in answer["msg"]
        assert "Set disk_gb to 40 or more, or to 0 to keep the size, then run the task again." in answer["msg"]
        assert result(answer, "new-01")["failure"]["code"] == "disk_would_shrink"
        assert (answer["changed"], size_of(running)) == (changed, [40])
    answer = module("vm_clone", **{**call, "disk_gb": 50})
    assert not answer["failed"], answer["msg"]
    assert size_of(running) == [50]


@pytest.mark.parametrize(
    "item, options, code, says",
    [
        ({"name": "iso", "type": "iso"}, {"library_item": "iso"}, "item_of_wrong_type", "It is of type iso."),
        (OVF, {"library_item": "nope"}, "item_not_found", "There is no item of this name. Correct `library_item`."),
        (OVF, {"library": "nope"}, "library_not_found", "library nope: cannot be found."),
        (
            {**OVF, "eula": "You shall not."},
            {},
            "eula_not_accepted",
            "It has 1 licence agreement(s) that must be accepted. Read them in vCenter, then set accept_eula=true.",
        ),
        (
            OVF,
            {"cloud_init": None, "customization": {"domain": "example.com"}},
            "customization_adapters",
            "The number of adapters of an OVF item is known only after its deployment. Set customization.networks.",
        ),
    ],
    ids=["type", "item", "library", "licence", "adapters"],
)
def test_items_that_cannot_serve_are_refused(twin, drive, item, options, code, says):
    running = twin(seed=library(item))
    answer = drive(running)("vm_clone", check=True, **{**ITEM, **options})
    reported = {vm["failure"].get("code"): vm["msg"] for vm in answer["vms"]}
    assert code in reported
    assert says in reported[code]
    assert machines("new-")(running) == {}


def test_a_bios_ovf_is_found_out_once_it_is_deployed(twin, drive):
    seed = library(OVF)
    next(vm for vm in seed["datacenters"][0]["vms"] if vm["name"] == "ubuntu-template")["firmware"] = "bios"
    running = twin(seed=seed)
    answer = drive(running)("vm_clone", **{**ITEM, "vms": TWO[:1]})
    assert "has no EFI firmware. It was created from images/ubuntu, and its firmware is bios." in answer["msg"]
    assert answer["changed"]


def test_an_item_that_two_libraries_have_is_ambiguous_until_one_is_named(twin, drive):
    seed = library(VMTX)
    (center,) = seed["datacenters"]
    center["libraries"].append({**center["libraries"][0], "name": "more images"})
    running = twin(seed=seed)
    module = drive(running)
    answer = module("vm_clone", **ITEM)
    assert answer["failure"]["code"] == "item_ambiguous"
    assert "There are 2 items of this name. Set `library` to the library of the item." in answer["msg"]
    answer = module("vm_clone", check=True, library="more images", **ITEM)
    assert result(answer, "new-01")["after"]["source"] == "more images/ubuntu"


def test_what_vcenter_says_to_an_ovf_that_it_does_not_deploy_is_reported(twin, drive):
    running = twin(seed=library(OVF))
    for store in running.world.of_kind("Datastore"):
        store.base_free = 10 * 1024**3
    # How large the disks of an OVF are when they are thick, nobody knows before.
    answer = drive(running)("vm_clone", disk="thick", **{**ITEM, "vms": TWO[:1]})
    assert "vCenter refused to deploy images/ubuntu: Insufficient disk space on datastore" in answer["msg"]
    assert result(answer, "new-01")["failure"]["code"] == "deploy_refused"
    assert machines("new-")(running) == {}


def test_a_guest_that_a_killed_run_has_customized_is_not_customized_twice(twin, drive):
    seed = library(OVF)
    next(vm for vm in seed["datacenters"][0]["vms"] if vm["name"] == "ubuntu-template")["networks"] = ["VM Network"]
    fault = {"method": "ReconfigVM_Task", "fault": "HostNotConnected", "message": "Gone."}
    running = twin(seed=seed, faults=[("fail_tasks", fault)])
    module = drive(running)
    custom = {"domain": "lab.example", "networks": [{"type": "dhcp"}]}
    call = {**ITEM, "vms": TWO[:1], "cloud_init": None, "customization": custom}
    assert module("vm_clone", **call)["failed"]
    answer = module("vm_clone", **call)
    assert not answer["failed"], answer["msg"]
    assert not module("vm_clone", **call)["changed"]
