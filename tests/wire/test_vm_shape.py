"""vm_shape and what becomes of its VMs: they start, they are repaired, and nothing else about them is touched."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from . import direct_lab
from .lab import READY, lab, result
from .nics import network_lab
from .nth import Nth
from .observe import power_on, reconfigure, virtual_machine
from .rows.vm_shape import P2P, shape_of, window

pytestmark = pytest.mark.usefixtures("brisk")

ONE = {"name": "train-01"}
SHAPE = {
    "cpus": 16,
    "memory_gb": 64,
    "hardware_version": 21,
    "numa_nodes": [1],
    "latency_sensitivity": "high",
    "gpus": ["grid_a100-40c"],
    "direct_nics": 1,
    "gpudirect": "enabled",
    "advanced": {"numa.vcpu.preferHT": True},
}
FULL = {**ONE, **SHAPE}
FULL_SETTINGS = {**P2P, **window(256), "numa.nodeAffinity": "1", "numa.vcpu.preferHT": "TRUE"}


def made(drive, **requested):
    answer = drive("vm_shape", **requested)
    assert not answer["failed"], answer["msg"]
    return answer


def option(key, value=""):
    return vim.option.OptionValue(key=key, value=value)


DAMAGES = {
    "a setting was deleted": ({"extraConfig": [option("pciPassthru.allowP2P")]}, ["pciPassthru.allowP2P"]),
    "a setting was changed": ({"extraConfig": [option("numa.nodeAffinity", "0")]}, ["numa.nodeAffinity"]),
    "the window was made smaller": (
        {"extraConfig": [option("pciPassthru.64bitMMIOSizeGB", "64")]},
        ["pciPassthru.64bitMMIOSizeGB"],
    ),
    "the window was switched off": (
        {"extraConfig": [option("PCIPASSTHRU.use64bitmmio", "FALSE")]},
        ["pciPassthru.use64bitMMIO"],
    ),
    "vCPUs were taken": ({"numCPUs": 8, "numCoresPerSocket": 8}, ["cpus", "cores_per_socket"]),
    "memory was taken": ({"memoryMB": 32768}, ["memory_gb"]),
    "the lock of the memory was opened": (
        {"memoryReservationLockedToMax": False, "memoryAllocation": vim.ResourceAllocationInfo(reservation=0)},
        ["memory_reservation"],
    ),
    "processors are not reserved any more": (
        {"cpuAllocation": vim.ResourceAllocationInfo(reservation=0)},
        ["cpu_reservation_mhz"],
    ),
    "latency sensitivity was set back": (
        {"latencySensitivity": vim.LatencySensitivity(level="normal")},
        ["latency_sensitivity"],
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_was_changed_behind_its_back_is_repaired_and_only_that(twin, drive, damage):
    running = twin(seed=lab({}, {}))
    module = drive(running)
    fleet = {**SHAPE, "vms": [ONE, {"name": "train-02"}]}
    made(module, **fleet)
    reconfigure(running, "train-01", extraConfig=[option("guestinfo.role", "worker")], annotation="mine")
    whole = {name: shape_of(running, name) for name in ("train-01", "train-02")}
    change, paths = DAMAGES[damage]
    reconfigure(running, "train-01", **change)
    assert shape_of(running, "train-01") != whole["train-01"]
    running.requests.clear()
    answer = made(module, **fleet)
    assert [entry["path"] for entry in result(answer)["changes"]] == paths
    assert not result(answer, "train-02")["changed"]
    assert running.requests["ReconfigVM_Task"] == 1
    assert {name: shape_of(running, name) for name in whole} == whole
    with virtual_machine(running, "train-01") as machine:
        assert machine.config.annotation == "mine"


def test_a_fleet_is_read_at_once_and_each_vm_reconfigured_once(twin, drive):
    counts = []
    for number in (1, 12):
        running = twin(seed=lab(*[{"hardware_version": 20}] * number, hardware={"memory_gb": 2048}))
        vms = [{"name": f"train-{position:02}"} for position in range(1, number + 1)]
        made(drive(running), **SHAPE, vms=vms)
        assert running.requests["ReconfigVM_Task"] == running.requests["UpgradeVM_Task"] == number
        assert running.requests["QueryConfigOptionDescriptor"] == 1
        counts.append(running.requests["RetrievePropertiesEx"])
    assert counts[1] <= counts[0] + 1


def test_hardware_versions_are_asked_for_only_where_one_is_raised(twin, drive):
    running = twin(seed=lab({"hardware_version": 21}))
    made(drive(running), **FULL)
    assert (running.requests["QueryConfigOptionDescriptor"], running.requests["UpgradeVM_Task"]) == (0, 0)


def test_hardware_version_22_is_of_vsphere_9(twin, drive):
    requested = {"name": "train-01", "hardware_version": 22}
    answer = drive(twin(seed=lab({"hardware_version": 20})))("vm_shape", **requested)
    assert answer["failure"]["code"] == "hardware_version"
    assert "supports virtual hardware up to version 21" in answer["msg"]
    running = twin(seed={**lab({"hardware_version": 20}), "release": "9.1.0"})
    assert drive(running)("vm_shape", **requested)["changed"]
    assert shape_of(running, "train-01")["hardware"] == "vmx-22"
    assert not drive(running)("vm_shape", **requested)["changed"]


def test_a_shaped_vm_starts_with_its_gpu_and_its_adapter_where_an_unshaped_one_is_refused(twin, drive):
    devices = [{"id": direct_lab.FABRIC}, {"allowed": [direct_lab.A100]}]
    vm = {"pci_devices": devices, "memory_gb": 32}
    running = twin(seed=direct_lab.site(vm))
    assert "memory reservation" in power_on(running, "train-01")
    module = drive(running)
    made(module, **ONE, mmio="ignore")
    assert "PCI MMIO" in power_on(running, "train-01")
    answer = made(module, **ONE, cpus=8, numa_nodes=[0], gpudirect="enabled")
    assert result(answer)["after"]["mmio_size_gb"] == 256
    assert result(answer)["after"]["numa_method"] == "affinity"
    assert power_on(running, "train-01") is None


@pytest.mark.parametrize("hardware, named", [(21, sorted(P2P)), (22, [])])
def test_a_running_vm_without_peer_to_peer_is_named_below_hardware_version_22(twin, drive, hardware, named):
    vm = {**direct_lab.FIT, "hardware_version": hardware, "power": "on", "tools": "none"}
    vm["pci_devices"] = [{"id": direct_lab.FABRIC}]
    running = twin(seed=direct_lab.site(vm, release="9.1.0"))
    requested = {"gpudirect": "enabled", "mmio": "ignore", "power": "cycle"}
    found = result(made(drive(running), check=True, **ONE, **requested))
    assert [one["path"] for one in found["changes"] if one["path"] != "power_cycle"] == named


def test_devices_get_their_nodes_by_a_second_run_after_they_were_added(twin, drive):
    running = twin(seed=lab({"cpus": 4}))
    module = drive(running)
    requested = {**ONE, "numa_nodes": [0], "gpus": ["grid_a100-40c"]}
    first = result(made(module, **requested))
    assert (first["after"]["numa_method"], first["after"]["numa_devices"]) == ("device", [])
    assert not module("vgpu_profile", **ONE, profiles=["grid_a100-40c"])["failed"]
    second = result(made(module, **requested))
    assert [change["path"] for change in second["changes"]] == ["numa_devices"]
    assert second["after"]["numa_devices"] == ["grid_a100-40c: 0"]
    assert not made(module, **requested)["changed"]
    assert power_on(running, "train-01") is None


def test_over_all_nodes_each_adapter_goes_to_the_node_of_its_port(twin, drive):
    near, far = (direct_lab.ports("", root=root)[1] for root in (direct_lab.ROOT, direct_lab.FAR_ROOT))
    nics = [direct_lab.ports()[0], {**near, "numa_node": 0}, {**far, "device": "vmnic2", "numa_node": 1}]
    running = twin(seed=direct_lab.site(direct_lab.FIT, nics=nics))
    with virtual_machine(running, "train-01") as machine:
        given = [entry.id for entry in machine.runtime.host.config.pciPassthruInfo if entry.passthruEnabled]
        of = {
            address: node.typeId for node in machine.runtime.host.hardware.numaInfo.numaNode for address in node.pciId
        }
    nics_given = [address for address in given if address != direct_lab.ROOT]
    devices = [{"kind": "static", "id": address} for address in nics_given]
    assert not drive(running)("passthrough_device", **ONE, devices=devices)["failed"]
    answer = made(drive(running), **ONE, cpus=4, numa_nodes=[0, 1], numa_method="device")
    assert {of[address] for address in given} == {0, 1}
    assert result(answer)["after"]["numa_devices"] == sorted(f"{address}: {of[address]}" for address in given)


def test_a_running_vm_gets_its_reservation_without_a_power_cycle(twin, drive):
    running = twin(seed=lab({"power": "on"}))
    answer = made(drive(running), **ONE)
    assert [change["path"] for change in result(answer)["changes"]] == ["memory_reservation"]
    assert running.requests["PowerOffVM_Task"] == running.requests["ShutdownGuest"] == 0
    assert shape_of(running, "train-01")["memory"] == (16, True)


def test_a_running_vm_is_left_alone_unless_a_power_cycle_is_allowed(twin, drive):
    running = twin(seed=lab({"power": "on"}))
    before = shape_of(running, "train-01")
    answer = drive(running)("vm_shape", **FULL)
    assert answer["failure"]["code"] == "vm_running"
    assert "set power=cycle" in answer["msg"]
    assert shape_of(running, "train-01") == before


def test_a_power_cycle_takes_the_upgrade_and_the_settings_along(twin, drive):
    running = twin(seed=lab({"power": "on", "hardware_version": 19}))
    answer = made(drive(running), **FULL, power="cycle")
    assert result(answer)["changes"][-1]["path"] == "power_cycle"
    seen = shape_of(running, "train-01")
    assert (seen["hardware"], seen["power"], seen["settings"]) == ("vmx-21", "poweredOn", FULL_SETTINGS)
    assert not made(drive(running), **FULL)["changed"]
    assert running.requests["PowerOnVM_Task"] == 1


def test_a_vm_that_does_not_start_with_its_new_shape_runs_again_with_the_old_one(twin, drive):
    large = {"memory_gb": 150, "memory_reservation": "all"}
    running = twin(seed=lab({**READY, "power": "on", "tools": "none"}, large, hardware={"memory_gb": 256}))
    before = shape_of(running, "train-01")
    assert power_on(running, "train-02") is None
    answer = drive(running)("vm_shape", **ONE, memory_gb=100, cpus=4, numa_nodes=[0], power="cycle")
    assert answer["failed"]
    assert "vSphere refused to power it on" in answer["msg"]
    assert "The previous configuration was restored, and the VM runs with it." in answer["msg"]
    assert shape_of(running, "train-01") == before


def test_an_upgrade_that_fails_is_reported_and_nothing_else_is_changed(twin, drive):
    running = twin(seed=lab({"hardware_version": 19}))
    running.control.fail_tasks(method="UpgradeVM_Task", entity="train-01", fault="FileLocked", message="Locked.")
    before = shape_of(running, "train-01")
    answer = drive(running)("vm_shape", **FULL)
    assert answer["failed"]
    assert "cannot upgrade its virtual hardware" in answer["msg"]
    assert (result(answer)["changed"], shape_of(running, "train-01")) == (False, before)


@pytest.mark.parametrize("trouble", ["take_closing", "take_unavailable"])
def test_trouble_at_any_request_ends_with_the_same_shape(twin, drive, monkeypatch, trouble):
    running = twin(seed=lab(*[{"hardware_version": 20}] * 30, hardware={"memory_gb": 4096}))
    module = drive(running)
    module("vm_shape", check=True, **FULL)
    for number in range(1, 31):
        nth = Nth(number, lambda: True)
        monkeypatch.setattr(running.world.faults, trouble, nth)
        name = f"train-{number:02}"
        answer = module("vm_shape", name=name, **SHAPE)
        if not nth.happened:
            break
        assert not answer["failed"], f"request {number}: {answer['msg']}"
        seen = shape_of(running, name)
        assert (seen["cpus"], seen["hardware"], seen["settings"]) == ((16, 16), "vmx-21", FULL_SETTINGS)
    assert number > 8


@pytest.mark.parametrize("source", ["golden", "/lab/vm/golden"])
def test_check_mode_plans_a_vm_that_its_template_will_become(twin, drive, source):
    template = {"name": "golden", "template": True, "hardware_version": 19, "cpus": 4}
    running = twin(seed=lab(template, {}))
    planned = {"template": source, "host": "esx-01"}
    answer = drive(running)("vm_shape", check=True, name="train-09", planned=planned, **SHAPE)
    assert not answer["failed"], answer["msg"]
    found = result(answer, "train-09")
    assert (found["moid"], found["host"]) == (None, "esx-01")
    assert (found["before"]["cpus"], found["after"]["cpus"]) == (4, 16)
    assert found["after"]["hardware_version"] == 21
    assert found["after"]["numa_nodes"] == [1]


def test_gpudirect_is_refused_over_pvrdma_and_taken_by_sriov(twin, drive):
    vms = [
        {"adapters": [{"network": "pg-rdma", "type": "pvrdma"}]},
        {"adapters": [{"network": "pg-sriov", "type": "sriov"}]},
    ]
    running = twin(seed=network_lab(*vms))
    fleet = {"vms": [ONE, {"name": "train-02"}], "gpudirect": "enabled"}
    answer = drive(running)("vm_shape", **fleet)
    assert result(answer)["failure"]["code"] == "gpudirect_pvrdma"
    assert not result(answer, "train-02")["failed"]
    assert P2P.items() <= shape_of(running, "train-02")["settings"].items()
    assert not P2P.items() & shape_of(running, "train-01")["settings"].items()
