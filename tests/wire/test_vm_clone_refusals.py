"""What cannot be made, moved or removed is refused before anything is touched, with the way out."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from vsphere_twin.model import snapshots

from .lab import result
from .rows.vm_clone import CALL, machines, vm_of, world

SEVERAL = {"code": "some_failed", "next": "docs/failure_codes.md#some_failed"}

pytestmark = pytest.mark.usefixtures("brisk")


class Case(NamedTuple):
    """A change of the world or of the call, and what is said to it."""

    name: str
    options: dict
    code: str
    says: str
    change: object = None


def _template(**values):
    def change(running):
        for name, value in values.items():
            setattr(vm_of(running, "ubuntu-template"), name, value)

    return change


def _host(**values):
    def change(running):
        (host,) = [one for one in running.world.of_kind("HostSystem") if one.name == "esx-02"]
        for name, value in values.items():
            setattr(host, name, value)

    return change


def _stores(**values):
    def change(running):
        for store in running.world.of_kind("Datastore"):
            for name, value in values.items():
                setattr(store, name, value)

    return change


CUSTOM = {"domain": "example.com", "hostname": "a"}
CASES = [
    Case(
        "template of another name",
        {"template": "ubuntu-tmplate"},
        "template_not_found",
        "template ubuntu-tmplate: cannot be found. Datacenter lab has no template of this name that this user may "
        "see; there are: ubuntu-template. Correct `template`.",
    ),
    Case(
        "BIOS template",
        {},
        "template_firmware",
        "template /lab/vm/templates/ubuntu-template: cannot be used as the source of VMs. Its firmware is bios, "
        "and GPUs with "
        "large memory windows need EFI",
        _template(firmware="bios"),
    ),
    Case(
        "a VM that runs as template",
        {"template": "train-01"},
        "source_not_off",
        "It is a VM that is on, not a template. Power it off while it is cloned, or convert it to a template.",
        lambda running: setattr(vm_of(running, "train-01"), "power", "poweredOn"),
    ),
    Case(
        "template whose datastore is gone",
        {},
        "template_not_connected",
        "vCenter reports it as inaccessible. Restore its datastore and host",
        _template(connection="inaccessible"),
    ),
    Case(
        "template with a larger disk",
        {"disk_gb": 20},
        "disk_would_shrink",
        "template /lab/vm/templates/ubuntu-template: cannot be used as the source of VMs. Its first disk has 40 "
        "GB, disk_gb is "
        "20, and vSphere cannot shrink disks. Set disk_gb to 40 or more, or to 0 to keep the size.",
    ),
    Case(
        "customization without tools",
        {"customization": CUSTOM},
        "template_without_tools",
        "VMware Tools are not installed in it, and without them vCenter cannot customize the guest.",
        _template(tools_installed=False),
    ),
    Case(
        "more adapters than the template has",
        {"customization": {"domain": "x", "networks": [{}, {}]}},
        "customization_adapters",
        "VM new-01: cannot customize 2 network adapters. /lab/vm/templates/ubuntu-template has 0.",
    ),
    Case(
        "customization specification of another name",
        {"customization": {"spec": "nope"}},
        "customization_not_found",
        "customization specification nope: cannot be used for the guests. vCenter has no customization "
        "specification of this name.",
    ),
    Case(
        "folder of another name",
        {"folder": "trainings"},
        "folder_not_found",
        "cannot find folder trainings. Datacenter lab has no such folder of VMs; there are: /lab/vm, "
        "/lab/vm/templates, "
        "/lab/vm/training. Correct `folder`, or create the folder first",
    ),
    Case(
        "datacenter of another name",
        {"datacenter": "labs"},
        "datacenter_not_found",
        "datacenter labs: cannot find the datacenter. vCenter has none of this name",
    ),
    Case(
        "cluster of another name",
        {"cluster": "cpu"},
        "cluster_not_found",
        "cluster cpu: cannot be used for the VMs. Datacenter lab has none of this name; there are: gpu.",
    ),
    Case(
        "resource pool of another name",
        {"resource_pool": "research"},
        "pool_not_found",
        "cannot use the resource pool of the task. gpu has no resource pool of this name. Correct `resource_pool`.",
    ),
    Case(
        "host of another name",
        {"vms": [{"name": "new-01", "host": "esx-1"}]},
        "host_not_found",
        "cannot be placed on host esx-1. Datacenter lab has no host of this name; similar names: esx-01, "
        "esx-02. Correct `host`.",
    ),
    Case(
        "host in maintenance",
        {"vms": [{"name": "new-02", "host": "esx-02"}]},
        "host_in_maintenance",
        "VM new-02: cannot be placed on host esx-02. The host is in maintenance mode. Take it out of "
        "maintenance mode, or name another",
        _host(maintenance=True),
    ),
    Case(
        "host that is away",
        {"vms": [{"name": "new-02", "host": "esx-02"}]},
        "host_not_connected",
        "cannot be placed on host esx-02. vCenter reports the host as notResponding. Connect it, or name another host.",
        _host(connection="notResponding"),
    ),
    Case(
        "datastore of another name",
        {"datastore": "datastore-1"},
        "datastore_not_found",
        "cannot be placed on datastore datastore-1. Datacenter lab has no datastore of this name. Use one of the "
        "datastores of host esx-01: datastore-01, "
        "datastore-02.",
    ),
    Case(
        "datastore in maintenance",
        {"datastore": "datastore-01"},
        "datastore_not_usable",
        "The datastore accepts no new VMs: its maintenance mode is inMaintenance.",
        _stores(maintenance="inMaintenance"),
    ),
    Case(
        "no datastore at all",
        {},
        "no_datastore",
        "has no datastore. Host esx-01 has no usable datastore.",
        _stores(accessible=False),
    ),
    Case(
        "too little space for one",
        {},
        "no_disk_space",
        "of disk space. The emptiest datastore of host esx-01, datastore-01, has 1",
        _stores(base_free=10 * 1024**3),
    ),
    Case(
        "a name in other letters",
        {"vms": [{"name": "TRAIN-01"}], "folder": ""},
        "name_taken",
        "/lab/vm/train-01 has this name in a different case, and vCenter ignores the case of names.",
    ),
    Case(
        "a name that a folder has",
        {"vms": [{"name": "training"}], "folder": ""},
        "name_taken",
        "/lab/vm has a folder or vApp of this name. Choose another name or `folder`.",
    ),
    Case(
        "the same name in another folder",
        {"vms": [{"name": "train-01"}]},
        "vm_elsewhere",
        "VM train-01: cannot be created or managed. It is not in /lab/vm/training, and a VM of this name is at "
        "/lab/vm/train-01.",
    ),
    Case(
        "the template itself",
        {"vms": [{"name": "ubuntu-template"}], "folder": "templates"},
        "is_template",
        "VM ubuntu-template: cannot be managed as a VM. It is a template.",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_cannot_be_made_is_refused_before_anything_is(twin, drive, case):
    running = twin(seed=world({}))
    if case.change is not None:
        case.change(running)
    before = machines("")(running)
    answer = drive(running)("vm_clone", **{**CALL, **case.options})
    assert answer["failed"]
    reported = [answer["msg"], *(vm["msg"] for vm in answer["vms"])]
    assert any(case.says in text for text in reported), reported
    assert ({vm["failure"]["code"] for vm in answer["vms"]} or {answer["failure"]["code"]}) == {case.code}
    assert machines("")(running) == before
    assert running.requests["CloneVM_Task"] == 0


def test_too_little_space_for_all_together_is_refused_with_the_sum(twin, drive):
    running = twin(seed=world({}))
    for store in running.world.of_kind("Datastore"):
        store.base_free = sum(vm.disk_bytes for vm in store.vms.values()) + 100 * 1024**3
    fleet = [{"name": f"new-{number}", "datastore": "datastore-01"} for number in range(5)]
    answer = drive(running)("vm_clone", **{**CALL, "vms": fleet, "disk": "thick"})
    assert answer["failure"] == {**SEVERAL, "failed": [vm["name"] for vm in fleet]}
    assert "200.0 GB on datastore datastore-01 for all new VMs of this task." in answer["msg"]
    assert running.requests["CloneVM_Task"] == 0


def test_a_bios_template_is_taken_when_the_user_says_so(twin, drive):
    running = twin(seed=world({}))
    vm_of(running, "ubuntu-template").firmware = "bios"
    answer = drive(running)("vm_clone", firmware="ignore", **CALL)
    assert not answer["failed"], answer["msg"]


def test_a_vm_on_another_host_stays_and_the_other_place_is_reported(twin, drive):
    running = twin(seed=world({"datastore": "datastore-01"}))
    module = drive(running)
    requested = {
        "template": "ubuntu-template",
        "vms": [{"name": "train-01", "host": "esx-02", "datastore": "datastore-02"}],
    }
    kept = result(module("vm_clone", **requested))
    assert (kept["changed"], kept["host"]) == (False, "esx-01")
    assert (kept["host_wanted"], kept["datastore_wanted"]) == ("esx-02", "datastore-02")
    refused = module("vm_clone", move="refuse", **requested)
    assert "is not on host esx-02 and datastore datastore-02. It is on host esx-01" in refused["msg"]
    vm_of(running, "train-01").power = "poweredOn"
    running.world.touch(vm_of(running, "train-01"))
    on = module("vm_clone", move="cold", **requested)
    assert "cannot move to host esx-02 and datastore datastore-02. It is on, and vm_clone moves VMs only" in on["msg"]
    assert running.requests["RelocateVM_Task"] == 0


@pytest.mark.parametrize(
    "name, power, code, says",
    [
        (
            "train-01",
            "poweredOff",
            "not_ours",
            "It was not created by vm_clone, which removes only VMs that it created.",
        ),
        ("ubuntu-template", "poweredOff", "is_template", "It is a template. Remove it in vCenter"),
        (
            "new-01",
            "poweredOn",
            "running",
            "VM new-01: cannot be removed. It is on, and a running VM may be in use. Power it off",
        ),
    ],
)
def test_what_may_be_missed_is_not_removed(twin, drive, name, power, code, says):
    running = twin(seed=world({}))
    module = drive(running)
    module("vm_clone", **CALL)
    vm_of(running, name).power = power
    running.world.touch(vm_of(running, name))
    answer = module("vm_clone", vms=[{"name": name}, {"name": "new-02"}], state="absent")
    assert says in result(answer, name)["msg"]
    assert result(answer, name)["failure"]["code"] == code
    assert vm_of(running, name) is not None
    # The others go all the same.
    assert "new-02" not in machines("new-")(running)


def _snapshot(running, vm):
    snapshots.create(running.world, vm, "before the upgrade", "")


def _disk_of_another(running, vm):
    vm.disks[0].backing.fileName = "[datastore-01] train-01/data.vmdk"
    running.world.touch(vm)


def _shared_disk(running, vm):
    vm.disks[0].backing.sharing = "sharingMultiWriter"
    running.world.touch(vm)


def _of_another(running, vm):
    vm.extra["aiready.vsphere.owner"] = "other/new-01"
    running.world.touch(vm)


@pytest.mark.parametrize(
    "change, code, says",
    [
        (_snapshot, "has_snapshots", "It has snapshots, which would be deleted with it."),
        (_disk_of_another, "other_disks", "would be deleted with it: [datastore-01] train-01/data.vmdk."),
        (_shared_disk, "other_disks", "would be deleted with it: [datastore-01] new-01/new-01.vmdk."),
        (_of_another, "other_owner", "It belongs to other."),
    ],
)
def test_what_would_go_with_a_vm_keeps_it(twin, drive, change, code, says):
    running = twin(seed=world({}))
    module = drive(running)
    module("vm_clone", owner="lab", **CALL)
    change(running, vm_of(running, "new-01"))
    answer = module("vm_clone", vms=CALL["vms"], owner="lab", state="absent")
    assert says in result(answer, "new-01")["msg"]
    assert result(answer, "new-01")["failure"]["code"] == code
    # The others go all the same.
    assert list(machines("new-")(running)) == ["new-01"]


def test_a_removal_is_planned_for_a_vm_that_will_be_off(twin, drive):
    running = twin(seed=world({}))
    module = drive(running)
    module("vm_clone", **CALL)
    vm_of(running, "new-01").power = "poweredOn"
    running.world.touch(vm_of(running, "new-01"))
    requested = {"vms": [{"name": "new-01"}], "state": "absent", "planned": {"power": "off"}}
    looked = module("vm_clone", check=True, **requested)
    assert (looked["failed"], looked["changed"]) == (False, True), looked["msg"]
    assert result(module("vm_clone", **requested), "new-01")["failure"]["code"] == "running"
    assert len(machines("new-")(running)) == 2
