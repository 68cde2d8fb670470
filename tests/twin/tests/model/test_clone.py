"""Clones: what they take over, what is their own, where they land, and that a failed one leaves nothing."""

from __future__ import annotations

import copy

import pytest
from pyVmomi import vim

from vsphere_twin.model import cloning, inventory, snapshots, tasks

GIB = 1 << 30


@pytest.fixture
def here(lab):
    made = lab(
        hosts=[{"name": "esx-1"}, {"name": "esx-2"}, {"name": "esx-3", "maintenance": True}],
        vms=[
            {
                "name": "base",
                "host": "esx-1",
                "template": True,
                "networks": ["VM Network", "train"],
                "extra_config": {"guestinfo.note": "kept", "disk.EnableUUID": "TRUE"},
                "disk_gb": 100,
            },
            {"name": "vm", "host": "esx-2"},
        ],
    )
    made.folder = inventory.find_by_path(made.world, "lab/vm/jobs")
    made.pool = vim.ResourcePool(made.vm("vm").pool.moid)
    return made


def spec(here, location=None, **more):
    place = vim.vm.RelocateSpec(pool=here.pool, **(location or {}))
    return vim.vm.CloneSpec(location=place, **{"template": False, "powerOn": False, **more})


def clone(here, name="copy", source="base", **more):
    wanted = spec(here, **more)
    return here.task(
        "CloneVM_Task", here.vm(source), lambda: cloning.clone(here.world, here.vm(source), here.folder, name, wanted)
    )


def failed(task):
    assert task.state == "error"
    return type(task.error).__name__.rpartition(".")[2], task.error.msg


def test_a_clone_keeps_settings_and_adapters_but_has_its_own_macs_ports_and_files(here):
    assert clone(here).state == "success"
    made, base = here.vm("copy"), here.vm("base")
    assert made.setting("guestinfo.note") == "kept"
    assert list(made.networks) == list(base.networks)
    assert not {nic.macAddress for nic in made.nics} & {nic.macAddress for nic in base.nics}
    ports = [nic.backing.port.portKey for vm in (made, base) for nic in vm.nics if hasattr(nic.backing, "port")]
    assert len(set(ports)) == 2
    assert made.disks[0].backing.fileName == "[disk] copy/copy.vmdk"


def test_a_clone_of_a_template_lands_on_the_host_of_the_request_or_on_its_own(here):
    clone(here)
    clone(here, "there", location={"host": vim.HostSystem(here.hosts[1].moid)})
    assert [here.vm(name).host.name for name in ("copy", "there")] == ["esx-1", "esx-2"]


def test_a_template_on_a_host_outside_the_cluster_is_cloned_into_it(lab):
    made = lab(vms=[{"name": "base", "template": True}])
    outside = {"name": "alone", "driver": {"family": "none"}}
    data = {
        "users": {"someone": "secret"},
        "datacenters": [
            {
                "name": "lab",
                "datastores": [{"name": "disk"}],
                "networks": [{"name": "VM Network"}],
                "clusters": [{"name": "gpu", "hosts": [{"name": "esx-1"}]}],
                "hosts": [outside],
                "vms": [{"name": "base", "host": "alone", "template": True, "networks": ["VM Network"]}],
                "vm_folders": ["jobs"],
            }
        ],
    }
    made = type(made)(data)
    made.folder = inventory.find_by_path(made.world, "lab/vm/jobs")
    made.pool = vim.ResourcePool(inventory.find_by_path(made.world, "lab/host/gpu/Resources").moid)
    assert clone(made).state == "success"
    assert made.vm("copy").host.name == "esx-1"
    (alone,) = [host for host in made.world.of_kind("HostSystem") if host.name == "alone"]
    task = clone(made, "astray", location={"host": vim.HostSystem(alone.moid)})
    assert failed(task) == ("InvalidArgument", "A specified parameter was not correct: spec.location.host")


REFUSED = {
    "a taken name": ({"name": "vm"}, "DuplicateName", "'vm' already exists"),
    "no name": ({"name": ""}, "InvalidName", "not valid"),
    "a host in maintenance": ({"location": {"host": 2}}, "InvalidHostState", "current state of the host"),
    "a disk that the source does not have": (
        {"location": {"disk": [vim.vm.RelocateSpec.DiskLocator(diskId=9)]}},
        "InvalidArgument",
        "spec.location.disk",
    ),
    "a linked clone without a snapshot": (
        {"location": {"diskMoveType": "createNewChildDiskBacking"}},
        "InvalidArgument",
        "spec.snapshot",
    ),
    "a change that makes no sense": ({"config": vim.vm.ConfigSpec(memoryMB=7)}, "InvalidArgument", "memoryMB"),
    "a power-on that is refused": (
        {"config": vim.vm.ConfigSpec(memoryMB=4 * 1024 * 1024), "powerOn": True},
        "InsufficientMemoryResourcesFault",
        "sufficient memory resources",
    ),
    "too few adapters in the customization": (
        {"customization": vim.vm.customization.Specification(identity=vim.vm.customization.LinuxPrep())},
        "NicSettingMismatch",
        "specification (0) does not match the number of network adapters present in the virtual machine (2)",
    ),
}


@pytest.mark.parametrize("wanted,fault,words", REFUSED.values(), ids=REFUSED)
def test_a_clone_is_refused_and_leaves_nothing_for(here, wanted, fault, words):
    inventory.put(here.world, here.folder, here.vm("vm"))
    wanted = dict(wanted)
    location = dict(wanted.pop("location", {}))
    if "host" in location:
        location["host"] = vim.HostSystem(here.hosts[location["host"]].moid)
    before = {one.moid for one in here.world.of_kind("VirtualMachine")}
    task = clone(here, **{"name": "copy", "location": location, **wanted})
    kind, said = failed(task)
    assert kind == fault
    assert words in said
    assert {one.moid for one in here.world.of_kind("VirtualMachine")} == before
    assert not any(vm.moid not in before for host in here.hosts for vm in host.vms.values())


def test_a_datastore_without_room_refuses_and_thin_disks_need_less(here):
    (store,) = here.world.of_kind("Datastore")
    store.base_free = sum(vm.bytes_on(store.moid) for vm in store.vms.values()) + 50 * GIB
    thick = vim.vm.device.VirtualDisk.FlatVer2BackingInfo(fileName="", diskMode="persistent", thinProvisioned=False)
    locator = vim.vm.RelocateSpec.DiskLocator(diskId=2000, datastore=vim.Datastore(store.moid), diskBackingInfo=thick)
    assert failed(clone(here, "thick", location={"disk": [locator]})) == (
        "NoDiskSpace",
        "Insufficient disk space on datastore 'disk'.",
    )
    assert [clone(here, f"thin-{number}").state for number in (1, 2, 3, 4)] == ["success"] * 3 + ["error"]


def resized(vm, size_gb):
    """The first disk of a VM with another size, as clients send it."""
    disk = copy.copy(vm.disks[0])
    disk.capacityInKB, disk.capacityInBytes = size_gb * 1024**2, size_gb * GIB
    return vim.vm.ConfigSpec(deviceChange=[vim.vm.device.VirtualDeviceSpec(operation="edit", device=disk)])


def test_a_disk_grows_in_the_request_of_a_clone_and_stays_the_copy_that_it_is(here):
    assert clone(here, config=resized(here.vm("base"), 300)).state == "success"
    (disk,) = here.vm("copy").disks
    assert (disk.capacityInBytes, disk.backing.fileName) == (300 * GIB, "[disk] copy/copy.vmdk")
    assert here.vm("base").disks[0].capacityInBytes == 100 * GIB


def test_a_clone_whose_disk_would_shrink_or_not_fit_is_refused(here):
    assert failed(clone(here, config=resized(here.vm("base"), 99)))[0] == "InvalidDeviceOperation"
    flat = {"transform": "flat"}
    task = clone(here, config=resized(here.vm("base"), 20000), location=flat)
    assert failed(task) == ("NoDiskSpace", "Insufficient disk space on datastore 'disk'.")
    assert inventory.find_by_path(here.world, "lab/vm/jobs/copy") is None


def test_a_disk_below_a_snapshot_or_of_a_linked_clone_does_not_grow(here):
    vm = here.vm("vm")
    larger = resized(vm, 300)
    snapshots.create(here.world, vm, "before", "")
    task = here.reconfigure("vm", deviceChange=larger.deviceChange)
    assert failed(task)[0] == "InvalidDeviceOperation"
    linked = {"diskMoveType": "createNewChildDiskBacking"}
    assert failed(clone(here, source="vm", config=larger, location=linked))[0] == "InvalidDeviceOperation"
    assert clone(here, source="vm", location=linked).state == "success"
    # A full copy has no disk below its own, whatever its source has.
    assert clone(here, "full", source="vm", config=larger).state == "success"


def begun(here, name="copy", **more):
    """A clone that runs: its task, and the VM as the inventory shows it."""
    task = cloning.start(here.world, here.vm("base"), here.folder, name, spec(here, **more))
    return task, inventory.find_by_path(here.world, f"lab/vm/jobs/{name}")


def test_a_vm_in_the_making_has_its_name_and_nothing_else_can_be_done_with_it(here):
    task, vm = begun(here)
    assert vm.unfinished
    second = tasks.start(here.world, "ReconfigVM_Task", vm, lambda: None)
    assert isinstance(second.error, vim.fault.TaskInProgress)
    other, _same = begun(here)
    here.world.timeline.settle()
    assert (task.state, task.result, vm.unfinished) == ("success", vm, False)
    assert isinstance(other.error, vim.fault.DuplicateName)
    assert inventory.find_by_path(here.world, "lab/vm/jobs/copy") is vm


@pytest.mark.parametrize("how", ["cancelled", "failed by a test", "refused at its end"])
def test_a_vm_in_the_making_is_gone_when_its_clone_is(here, how):
    if how == "failed by a test":
        here.world.faults.fail_tasks("CloneVM_Task")
    task, vm = begun(here, config=vim.vm.ConfigSpec(memoryMB=7) if how == "refused at its end" else None)
    if how == "cancelled":
        tasks.cancel(here.world, task)
    here.world.timeline.settle()
    assert (task.state, here.world.get(vm.moid)) == ("error", None)
    assert inventory.find_by_path(here.world, "lab/vm/jobs/copy") is None


def test_many_clones_of_one_template_run_side_by_side_and_report_their_progress(here):
    here.world.task_seconds["CloneVM_Task"] = 5.0
    seen = set()
    started = [
        tasks.start(
            here.world,
            "CloneVM_Task",
            here.vm("base"),
            lambda name=f"copy-{number}": cloning.clone(here.world, here.vm("base"), here.folder, name, spec(here)),
            exclusive=False,
        )
        for number in range(8)
    ]
    advance = here.world.touch

    def watch(*entities):
        seen.update(one.progress for one in entities if one in started)
        advance(*entities)

    here.world.touch = watch
    here.world.timeline.settle()
    assert [one.state for one in started] == ["success"] * 8
    assert {10, 40, 90} <= seen
    macs = [nic.macAddress for number in range(8) for nic in here.vm(f"copy-{number}").nics]
    assert len(set(macs)) == 16


def test_a_clone_can_be_a_template_again(here):
    assert clone(here, template=True).state == "success"
    assert here.vm("copy").template
    assert here.vm("copy").pool is None
