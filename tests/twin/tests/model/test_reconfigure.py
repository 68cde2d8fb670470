"""ReconfigVM: all or nothing, and exactly what the API promises."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import reconfigure, tasks

DEVICE = vim.vm.device


def added(device):
    return DEVICE.VirtualDeviceSpec(operation="add", device=device)


def vgpu(name, key=-1):
    return DEVICE.VirtualPCIPassthrough(key=key, backing=DEVICE.VirtualPCIPassthrough.VmiopBackingInfo(vgpu=name))


def option(key, value):
    return vim.option.OptionValue(key=key, value=value)


def fault(task):
    return type(task.error).__name__.rpartition(".")[2]


@pytest.fixture
def here(lab):
    return lab(vms=[{"name": "vm", "extra_config": {"kept": "1"}, "networks": ["train"]}])


def test_vgpus_get_the_keys_from_13000_and_a_freed_key_is_used_again(here):
    here.reconfigure("vm", deviceChange=[added(vgpu("grid_a100-40c", -1)), added(vgpu("grid_a100-20c", -2))])
    assert here.vm("vm").vgpus == [(13000, "grid_a100-40c"), (13001, "grid_a100-20c")]
    gone = DEVICE.VirtualDeviceSpec(operation="remove", device=DEVICE.VirtualPCIPassthrough(key=13000))
    here.reconfigure("vm", deviceChange=[gone])
    here.reconfigure("vm", deviceChange=[added(vgpu("grid_a100-10c"))])
    assert here.vm("vm").vgpus == [(13000, "grid_a100-10c"), (13001, "grid_a100-20c")]


def test_the_summary_of_a_vgpu_names_its_profile(here):
    here.reconfigure("vm", deviceChange=[added(vgpu("grid_a100-40c"))])
    (device,) = [one for one in here.vm("vm").devices if one.key == 13000]
    assert device.deviceInfo.summary == "NVIDIA GRID vGPU grid_a100-40c"


EXTRA = {
    "a new key": ([("new", "2")], {"kept": "1", "new": "2"}),
    "another value": ([("kept", "3")], {"kept": "3"}),
    "an empty value deletes": ([("kept", "")], {}),
    "an empty value for what is not there": ([("other", "")], {"kept": "1"}),
    "an unknown key is kept without a word": (
        [("pciPassthru.set.usebitMMIO", "TRUE")],
        {"kept": "1", "pciPassthru.set.usebitMMIO": "TRUE"},
    ),
    "another spelling is the same key": ([("KEPT", "4")], {"kept": "4"}),
    "the last of two wins": ([("kept", "5"), ("kept", "6")], {"kept": "6"}),
}


@pytest.mark.parametrize("options,after", EXTRA.values(), ids=EXTRA)
def test_extra_config(here, options, after):
    assert here.reconfigure("vm", extraConfig=[option(*pair) for pair in options]).state == "success"
    watched = {"kept", *(key for key, _value in options)}
    own = {key: value for key, value in here.vm("vm").extra.items() if key in watched}
    assert own == after


def test_an_old_change_version_is_refused_and_nothing_is_added_twice(here):
    version = here.vm("vm").change_version
    spec = {"changeVersion": version, "deviceChange": [added(vgpu("grid_a100-40c"))]}
    assert here.reconfigure("vm", **spec).state == "success"
    again = here.reconfigure("vm", **spec)
    assert fault(again) == "ConcurrentAccess"
    assert len(here.vm("vm").vgpus) == 1


def test_a_fault_leaves_the_vm_as_it_was(here):
    before = here.vm("vm").change_version
    wrong = DEVICE.VirtualDeviceSpec(operation="remove", device=DEVICE.VirtualPCIPassthrough(key=13007))
    task = here.reconfigure("vm", annotation="new", memoryMB=8192, deviceChange=[added(vgpu("grid_a100-40c")), wrong])
    assert fault(task) == "InvalidDeviceSpec"
    vm = here.vm("vm")
    assert (vm.annotation, vm.memory_mb, vm.vgpus, vm.change_version) == ("", 32768, [], before)


WHILE_IT_RUNS = {
    "a vGPU": ({"deviceChange": [added(vgpu("grid_a100-40c"))]}, "InvalidPowerState"),
    "the firmware": ({"firmware": "bios"}, "InvalidPowerState"),
    "more CPUs": ({"numCPUs": 16}, "CpuHotPlugNotSupported"),
    "more memory": ({"memoryMB": 65536}, "MemoryHotPlugNotSupported"),
    "less memory": ({"memoryMB": 4096}, "InvalidPowerState"),
    "a new hardware version": ({"version": "vmx-21"}, "InvalidPowerState"),
    "a note": ({"annotation": "hello"}, None),
    "a setting": ({"extraConfig": [option("a", "b")]}, None),
    "a network adapter": (
        {
            "deviceChange": [
                added(
                    DEVICE.VirtualVmxnet3(
                        key=-1, backing=DEVICE.VirtualEthernetCard.NetworkBackingInfo(deviceName="VM Network")
                    )
                )
            ]
        },
        None,
    ),
}


@pytest.mark.parametrize("spec,refusal", WHILE_IT_RUNS.values(), ids=WHILE_IT_RUNS)
def test_while_a_vm_runs(here, spec, refusal):
    here.power_on("vm")
    task = here.reconfigure("vm", **spec)
    assert (fault(task) if task.error else None) == refusal


def test_locking_the_memory_reserves_what_the_vm_has_now_and_later(here):
    here.reconfigure("vm", memoryReservationLockedToMax=True)
    here.reconfigure("vm", memoryMB=16384)
    assert here.vm("vm").memory_allocation.reservation == 16384


@pytest.mark.parametrize(
    "spec",
    [
        {"memoryAllocation": vim.ResourceAllocationInfo(reservation=10**6)},
        {"numCPUs": 6, "numCoresPerSocket": 4},
        {"memoryMB": 1023},
        {"firmware": "uefi"},
    ],
    ids=["reservation above the memory", "cores that do not divide", "odd memory", "unknown firmware"],
)
def test_values_that_make_no_sense_are_refused(lab, spec):
    here = lab(vms=[{"name": "vm", "memory_reservation": "none"}])
    assert fault(here.reconfigure("vm", **spec)) == "InvalidArgument"


def test_a_second_task_on_a_busy_vm_fails_at_once(here):
    vm = here.vm("vm")
    spec = vim.vm.ConfigSpec(annotation="first")
    first = tasks.start(here.world, "ReconfigVM_Task", vm, lambda: reconfigure.reconfigure(here.world, vm, spec))
    second = tasks.start(here.world, "ReconfigVM_Task", vm, lambda: reconfigure.reconfigure(here.world, vm, spec))
    assert (second.state, fault(second)) == ("error", "TaskInProgress")
    here.world.timeline.settle()
    assert first.state == "success"


def test_a_second_task_on_another_object_waits_for_the_first(here):
    cluster, done = here.world.of_kind("ClusterComputeResource")[0], []
    started = [
        tasks.start(here.world, "ReconfigureComputeResource_Task", cluster, lambda at=at: done.append(at))
        for at in range(3)
    ]
    tasks.cancel(here.world, started[1])
    assert [one.state for one in started] == ["queued"] * 3
    here.world.timeline.settle()
    assert ([one.state for one in started], done) == (["success", "error", "success"], [0, 2])


def test_a_task_that_waits_for_the_end_of_its_object_has_no_object(here):
    cluster = here.world.of_kind("ClusterComputeResource")[0]
    tasks.start(here.world, "Destroy_Task", cluster, lambda: here.world.remove(cluster))
    second = tasks.start(here.world, "ReconfigureComputeResource_Task", cluster, lambda: None)
    here.world.timeline.settle()
    assert (second.state, fault(second)) == ("error", "ManagedObjectNotFound")


def test_disks_and_adapters_get_files_units_and_addresses(here):
    disk = DEVICE.VirtualDisk(
        key=-1,
        controllerKey=1000,
        unitNumber=-1,
        capacityInKB=1024,
        backing=DEVICE.VirtualDisk.FlatVer2BackingInfo(diskMode="persistent"),
    )
    task = here.reconfigure(
        "vm", deviceChange=[DEVICE.VirtualDeviceSpec(operation="add", fileOperation="create", device=disk)]
    )
    assert task.state == "success"
    first, second = here.vm("vm").disks
    assert (second.key, second.unitNumber, second.deviceInfo.label) == (2001, 1, "Hard disk 2")
    assert first.backing.fileName != second.backing.fileName
    (nic,) = here.vm("vm").nics
    assert nic.macAddress.startswith("00:50:56:")
    assert nic.backing.port.portKey


def test_a_disk_without_a_backing_is_refused(here):
    task = here.reconfigure("vm", deviceChange=[added(DEVICE.VirtualDisk(key=-1, controllerKey=1000))])
    assert fault(task) == "InvalidDeviceSpec"
    assert len(here.vm("vm").disks) == 1


def test_new_devices_of_one_request_may_refer_to_each_other(here):
    controller = DEVICE.ParaVirtualSCSIController(key=-7, busNumber=0, sharedBus="noSharing")
    disk = DEVICE.VirtualDisk(
        key=-8,
        controllerKey=-7,
        unitNumber=0,
        capacityInKB=1024,
        backing=DEVICE.VirtualDisk.FlatVer2BackingInfo(diskMode="persistent"),
    )
    create = DEVICE.VirtualDeviceSpec(operation="add", fileOperation="create", device=disk)
    assert here.reconfigure("vm", deviceChange=[added(controller), create]).state == "success"
    assert here.vm("vm").disks[-1].controllerKey == 1001


def test_a_network_that_does_not_exist_is_refused(here):
    backing = DEVICE.VirtualEthernetCard.NetworkBackingInfo(deviceName="nowhere")
    task = here.reconfigure("vm", deviceChange=[added(DEVICE.VirtualVmxnet3(key=-1, backing=backing))])
    assert fault(task) == "InvalidDeviceBacking"


def test_an_adapter_of_a_running_vm_is_disconnected_on_request(here):
    here.power_on("vm")
    (nic,) = here.vm("vm").nics
    assert nic.connectable.connected
    off = DEVICE.VirtualVmxnet3(
        key=nic.key,
        connectable=DEVICE.VirtualDevice.ConnectInfo(connected=False, startConnected=True, allowGuestControl=True),
    )
    here.reconfigure("vm", deviceChange=[DEVICE.VirtualDeviceSpec(operation="edit", device=off)])
    (nic,) = here.vm("vm").nics
    assert not nic.connectable.connected
