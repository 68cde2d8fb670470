"""What a VM needs to start, and the vendor's words when something is missing."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import power

MMIO = "pciPassthru.use64bitMMIO"
SIZE = "pciPassthru.64bitMMIOSizeGB"
NO_ROOM = "The amount of graphics resource available in the parent resource pool is insufficient for the operation."
A100 = "grid_a100-40c"


def a100(count=1, **more):
    return {"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb", "count": count, **more}]}


REFUSED = {
    "memory that is not reserved": (
        {"vgpus": [A100], "memory_reservation": "none"},
        {},
        "GenericVmConfigFault",
        "memory reservation (sched.mem.min) should be equal to memsize(32768)",
    ),
    "no 64-bit MMIO": ({"vgpus": [A100], "extra_config": {}}, {}, "GenericVmConfigFault", "134217728 KB of PCI MMIO"),
    "the mistyped MMIO switch": (
        {"vgpus": [A100], "extra_config": {"pciPassthru.set.usebitMMIO": "TRUE", SIZE: "128"}},
        {},
        "GenericVmConfigFault",
        "PCI MMIO",
    ),
    "the default MMIO window": (
        {"vgpus": [A100], "extra_config": {MMIO: "TRUE"}},
        {},
        "GenericVmConfigFault",
        f"{(128 - 32) * 1024 * 1024} KB of PCI MMIO",
    ),
    "MMIO for one GPU but two in the VM": (
        {"vgpus": [A100, A100], "extra_config": {MMIO: "TRUE", SIZE: "128"}},
        {"hosts": [a100(2)]},
        "GenericVmConfigFault",
        "PCI MMIO",
    ),
    "BIOS firmware": ({"vgpus": [A100], "firmware": "bios"}, {}, "GenericVmConfigFault", "PCI MMIO"),
    "a profile of another board": (
        {"vgpus": ["nvidia_a30-24c"]},
        {},
        "InsufficientGraphicsResourcesFault",
        NO_ROOM,
    ),
    "a profile that nobody knows": ({"vgpus": ["grid_a100-39c"]}, {}, "InsufficientGraphicsResourcesFault", NO_ROOM),
    "graphics type Shared": (
        {"vgpus": [A100]},
        {"hosts": [a100(graphics_type="shared")]},
        "InsufficientGraphicsResourcesFault",
        NO_ROOM,
    ),
    "the graphics driver on a compute board": (
        {"vgpus": [A100]},
        {"hosts": [{**a100(), "driver": {"family": "graphics"}}]},
        "InsufficientGraphicsResourcesFault",
        NO_ROOM,
    ),
    "no driver": (
        {"vgpus": [A100]},
        {"hosts": [{**a100(), "driver": {"family": "none"}}]},
        "InsufficientGraphicsResourcesFault",
        NO_ROOM,
    ),
    "a time-sliced profile on a GPU in MIG mode": (
        {"vgpus": [A100]},
        {"hosts": [a100(mig=True)]},
        "InsufficientGraphicsResourcesFault",
        NO_ROOM,
    ),
    "more GPUs than the host has": (
        {"vgpus": [A100, A100]},
        {},
        "InsufficientGraphicsResourcesFault",
        NO_ROOM,
    ),
    "two boards in one VM": (
        {"vgpus": [A100, "nvidia_a30-24c"]},
        {"hosts": [{"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb"}, {"board": "a30"}]}]},
        "GenericVmConfigFault",
        "one board and one series",
    ),
    "several fractional vGPUs on 7.0": (
        {"vgpus": ["grid_a100-20c", "grid_a100-20c"]},
        {"release": "7.0.3"},
        "GenericVmConfigFault",
        "whole frame buffer",
    ),
    "a host in maintenance": (
        {"vgpus": [A100]},
        {"hosts": [{**a100(), "maintenance": True}]},
        "InvalidHostState",
        "current state of the host",
    ),
    "a disconnected host": (
        {"vgpus": []},
        {"hosts": [{**a100(), "connection": "disconnected"}]},
        "HostNotConnected",
        "disconnected",
    ),
    "more reserved memory than the host has": (
        {"vgpus": [], "memory_gb": 1024},
        {},
        "InsufficientMemoryResourcesFault",
        "sufficient memory resources",
    ),
    "a template": ({"template": True}, {}, "NotSupported", "not supported"),
}


@pytest.mark.parametrize("vm,world,fault,words", REFUSED.values(), ids=REFUSED)
def test_power_on_is_refused_for(lab, vm, world, fault, words):
    here = lab(vms=[{"name": "vm", **vm}], **world)
    task = here.power_on("vm")
    assert (task.state, type(task.error).__name__.rpartition(".")[2]) == ("error", fault)
    assert words in task.error.msg
    assert here.vm("vm").power == "poweredOff"
    assert not any(gpu.residents for host in here.hosts for gpu in host.gpus)


STARTS = {
    "one whole GPU": ([A100], {}),
    "two whole GPUs": ([A100, A100], {"hosts": [a100(2)]}),
    "two halves on 8.0": (["grid_a100-20c", "grid_a100-20c"], {"release": "8.0.0"}),
    "two whole GPUs on 7.0": ([A100, A100], {"hosts": [a100(2)], "release": "7.0.2"}),
    "MIG slices": (["grid_a100-3-20c", "grid_a100-2-10c"], {"hosts": [a100(mig=True)]}),
    "two sizes in mixed-size mode": (["grid_a100-20c", "grid_a100-10c"], {"hosts": [a100(vgpu_mode="mixedSize")]}),
    "no GPU at all": ([], {}),
}


@pytest.mark.parametrize("vgpus,world", STARTS.values(), ids=STARTS)
def test_power_on_takes_the_gpus_and_power_off_gives_them_back(lab, vgpus, world):
    here = lab(vms=[{"name": "vm", "vgpus": vgpus}], **world)
    assert here.power_on("vm").state == "success"
    held = [one.profile.name for host in here.hosts for gpu in host.gpus for one in gpu.residents]
    assert sorted(held) == sorted(vgpus)
    assert here.power_off("vm").state == "success"
    assert not any(gpu.residents for host in here.hosts for gpu in host.gpus)


def test_a_t4_needs_neither_efi_nor_mmio(lab):
    here = lab(
        hosts=[{"name": "esx-1", "gpus": [{"board": "t4"}]}],
        vms=[{"name": "vm", "vgpus": ["grid_t4-16c"], "firmware": "bios", "extra_config": {}}],
    )
    assert here.power_on("vm").state == "success"


def test_the_first_vm_fixes_the_size_until_the_gpu_is_empty(lab):
    vms = [{"name": "half", "vgpus": ["grid_a100-20c"]}, {"name": "quarter", "vgpus": ["grid_a100-10c"]}]
    here = lab(vms=vms)
    assert here.power_on("half").state == "success"
    assert here.power_on("quarter").error.msg == NO_ROOM
    here.power_off("half")
    assert here.power_on("quarter").state == "success"


@pytest.mark.parametrize("policy,used", [("performance", 2), ("consolidation", 1)])
def test_the_assignment_policy_spreads_or_fills(lab, policy, used):
    vms = [{"name": f"vm-{number}", "vgpus": ["grid_a100-20c"]} for number in (1, 2)]
    here = lab(hosts=[{**a100(2), "assignment_policy": policy}], vms=vms)
    for one in vms:
        here.power_on(one["name"])
    assert sum(bool(gpu.residents) for gpu in here.hosts[0].gpus) == used


@pytest.mark.parametrize("drs,state", [("manual", "error"), ("fullyAutomated", "success")])
def test_only_drs_looks_for_another_host(lab, drs, state):
    hosts = [a100(), {**a100(), "name": "esx-2"}]
    vms = [{"name": name, "vgpus": [A100], "host": "esx-1"} for name in ("first", "second")]
    here = lab(hosts=hosts, vms=vms, drs=drs)
    here.power_on("first")
    assert here.power_on("second").state == state
    assert here.vm("second").host.name == ("esx-2" if state == "success" else "esx-1")


def test_a_guest_shuts_down_only_with_tools_and_then_the_gpu_is_free(lab):
    here = lab(vms=[{"name": "vm", "vgpus": [A100]}, {"name": "bare", "tools": "none"}])
    here.power_on("vm")
    here.power_on("bare")
    power.shut_down_guest(here.world, here.vm("vm"))
    here.world.timeline.settle()
    assert here.vm("vm").power == "poweredOff"
    assert not here.hosts[0].gpus[0].residents
    with pytest.raises(vim.fault.ToolsUnavailable, match="Tools is not running"):
        power.shut_down_guest(here.world, here.vm("bare"))


def test_a_start_adds_the_slots_of_adapters_and_the_pci_devices_once(lab):
    here = lab(vms=[{"name": "vm", "vgpus": [A100, A100], "networks": ["VM Network"] * 4}], hosts=[a100(2)])
    vm = here.vm("vm")
    before = dict(vm.extra)
    assert here.power_on("vm").state == "success"
    added = {key: value for key, value in vm.extra.items() if key not in before}
    assert added == {
        **{f"ethernet{number}.pciSlotNumber": slot for number, slot in enumerate(("192", "224", "256", "1184"))},
        **{f"pciPassthru{number}.present": "TRUE" for number in range(2)},
    }
    vm.extra["ethernet0.pciSlotNumber"] = "160"
    here.power_off("vm")
    here.power_on("vm")
    assert vm.setting("ethernet0.pciSlotNumber") == "160"
