"""Several parts of a VM by one reconfiguration, each planned for what the others make of the VM."""

from __future__ import annotations

from .lab import result
from .nics import adapters_of
from .observe import virtual_machine
from .rows.vm_config import lab
from .rows.vm_shape import shape_of

TRAIN = {"portgroup": "pg-a"}
PARTS = {
    "shape": {"cpus": 8, "memory_gb": 32, "numa_nodes": [0]},
    "vgpu": {"profiles": ["grid_a100-40c"]},
    "vmxnet3": {"adapters": [TRAIN]},
}


def test_a_running_vm_is_reconfigured_once_in_one_power_cycle(twin, drive):
    running = twin(seed=lab({"power": "on"}))
    (vm,) = [one for one in running.world.of_kind("VirtualMachine") if one.name == "train-01"]
    with running.world.changed:
        assert running.world.changed.wait_for(lambda: vm.tools_running, timeout=120)
    module = drive(running)
    refused = module("vm_config", name="train-01", **PARTS)
    assert result(refused)["failure"]["code"] == "vm_running"
    running.requests.clear()
    answer = module("vm_config", name="train-01", power="cycle", **PARTS)
    assert not answer["failed"], answer["msg"]
    assert "power_cycle" in [change["path"] for change in result(answer)["changes"]]
    # One leaves the note about the power cycle, one removes it.
    assert running.requests["ReconfigVM_Task"] == 1 + 2
    assert (running.requests["ShutdownGuest"], running.requests["PowerOnVM_Task"]) == (1, 1)
    shape = shape_of(running, "train-01")
    assert (shape["cpus"], shape["memory"], shape["devices"]) == ((8, 8), (32, True), {13000: 0})
    assert shape["power"] == "poweredOn"
    assert result(answer)["expects"]["vmxnet3"]["path"] == "tcp"
    again = module("vm_config", name="train-01", power="cycle", **PARTS)
    assert not again["changed"]


def test_a_passthrough_device_needs_what_the_same_task_gives_and_gets_its_node(twin, drive):
    running = twin(seed=lab())
    module = drive(running)
    devices = {"devices": [{"kind": "dynamic", "allowed": ["15b3:101d"]}]}
    alone = module("vm_config", name="train-01", passthrough=devices)
    assert result(alone)["failure"]["code"] == "memory_not_reserved"
    parts = {
        "shape": {"numa_nodes": [0], "numa_method": "device", "gpudirect": "enabled"},
        "vgpu": {"profiles": ["grid_a100-40c"]},
        "passthrough": devices,
        "sriov": {"adapters": [{"portgroup": "pg-sriov"}]},
    }
    running.requests.clear()
    answer = module("vm_config", name="train-01", **parts)
    assert not answer["failed"], answer["msg"]
    assert running.requests["ReconfigVM_Task"] == 1
    shape = shape_of(running, "train-01")
    # The vGPU has the first key, by which its setting is numbered.
    assert shape["devices"] == {13000: 0, 13001: 0, 4001: 0}
    assert shape["settings"]["pciPassthru0.cfg.enable_uvm"] == "1"
    # 64 GB for the GPU, twice, and a gigabyte for each of two ports.
    assert shape["settings"]["pciPassthru.64bitMMIOSizeGB"] == "256"
    assert not module("vm_config", name="train-01", **parts)["changed"]


def test_a_vgpu_gets_the_key_of_a_device_that_goes(twin, drive):
    running = twin(seed=lab())
    module = drive(running)
    devices = {"devices": [{"kind": "dynamic", "allowed": ["15b3:101d"]}]}
    assert module("vm_config", name="train-01", shape={}, passthrough=devices)["changed"]
    running.requests.clear()
    answer = module(
        "vm_config", name="train-01", shape={}, passthrough={"state": "absent"}, vgpu={"profiles": ["grid_a100-40c"]}
    )
    assert not answer["failed"], answer["msg"]
    assert running.requests["ReconfigVM_Task"] == 1
    assert result(answer)["after"]["vgpu"]["unified_memory"] == ["pciPassthru0"]


def test_problems_of_all_parts_are_reported_at_once_and_nothing_is_changed(twin, drive):
    running = twin(seed=lab())
    answer = drive(running)(
        "vm_config",
        name="train-01",
        shape={"cpus": 4096},
        vgpu={"profiles": ["grid_a100-99c"]},
        vmxnet3={"adapters": [{"portgroup": "pg-none"}]},
    )
    failure = result(answer)["failure"]
    assert [problem["code"] for problem in failure["problems"]] == [
        "host_cpus",
        "profile_not_offered",
        "portgroup_not_found",
    ]
    assert running.requests["ReconfigVM_Task"] == 0


def test_a_vm_that_does_not_start_gets_all_parts_back(twin, drive):
    running = twin(seed=lab())
    module = drive(running)
    assert module("vm_config", name="train-01", **PARTS)["changed"]
    assert module("vm_power", name="train-01", state="on")["changed"]
    before = shape_of(running, "train-01"), adapters_of(running, "train-01")
    running.control.fail_tasks(method="PowerOnVM_Task", count=1, message="Out of order today.")
    other = {
        "shape": {"cpus": 4, "numa_nodes": [0, 1]},
        "vgpu": {"profiles": ["grid_a100-20c"]},
        "vmxnet3": {"adapters": [TRAIN], "state": "absent"},
        "passthrough": {"devices": [{"kind": "dynamic", "allowed": ["15b3:101d"]}]},
    }
    answer = module("vm_config", name="train-01", power="cycle", **other)
    assert answer["failure"]["code"] == "power_on_refused"
    assert "The previous configuration was restored, and the VM runs with it." in answer["msg"]
    assert (shape_of(running, "train-01"), adapters_of(running, "train-01")) == before


def test_hardware_is_raised_before_the_devices_that_need_it(twin, drive):
    running = twin(seed=lab({"hardware_version": 15}))
    devices = {"devices": [{"kind": "dynamic", "allowed": ["15b3:101d"]}]}
    answer = drive(running)(
        "vm_config", name="train-01", shape={"hardware_version": 20}, passthrough=devices, pvrdma={"state": "absent"}
    )
    assert not answer["failed"], answer["msg"]
    assert (running.requests["UpgradeVM_Task"], running.requests["ReconfigVM_Task"]) == (1, 1)
    with virtual_machine(running, "train-01") as machine:
        assert machine.config.version == "vmx-20"


def test_vms_of_a_task_may_have_different_parts(twin, drive):
    running = twin(seed=lab({}, {}))
    answer = drive(running)(
        "vm_config",
        vms=[{"name": "train-01", "vmxnet3": {"adapters": [TRAIN]}}, {"name": "train-02", "shape": {"cpus": 4}}],
    )
    assert not answer["failed"], answer["msg"]
    assert len(adapters_of(running, "train-01")) == 2
    assert len(adapters_of(running, "train-02")) == 1
    assert (shape_of(running, "train-01")["cpus"], shape_of(running, "train-02")["cpus"]) == ((2, 1), (4, 1))


def test_a_preview_of_a_vm_that_is_not_there_sees_what_its_parts_make_of_it(twin, drive):
    running = twin(seed=lab({"template": True}))
    answer = drive(running)(
        "vm_config",
        check=True,
        vms=[{"name": "train-09", "planned": {"template": "train-01", "host": "esx-01"}, "vgpu": PARTS["vgpu"]}],
        shape={"numa_nodes": [0], "hardware_version": 20},
        passthrough={"devices": [{"kind": "dynamic", "allowed": ["15b3:101d"]}]},
    )
    assert not answer["failed"], answer["msg"]
    after = answer["vms"][0]["after"]
    assert after["vgpu"]["profiles"] == ["grid_a100-40c"]
    assert len(after["passthrough"]["devices"]) == 1
    assert after["shape"]["memory_reservation"] == "all"
