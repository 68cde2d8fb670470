"""What vm_shape cannot do is refused before anything is touched, with the reason and with the way out."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from pyVmomi import vmodl

from vsphere_twin.vcenter import registry

from .lab import READY, lab, result


class Case(NamedTuple):
    """A VM, what is wanted of it, and what is said to it."""

    name: str
    vm: dict
    requested: dict
    code: str
    says: str


CASES = [
    Case(
        "hardware that the host does not know",
        {"hardware_version": 20},
        {"hardware_version": 22},
        "hardware_version",
        "Host esx-01 supports virtual hardware up to version 21; the VM has version 20.",
    ),
    Case(
        "a NUMA node that the host has not",
        {},
        {"numa_nodes": [2]},
        "numa_node_unknown",
        "Host esx-01 has the NUMA nodes 0, 1, and 2 is not among them.",
    ),
    Case(
        "more vCPUs than a node has cores",
        {},
        {"numa_nodes": [1], "cpus": 34},
        "numa_too_many_cpus",
        "The VM would have 34 vCPUs, and NUMA node 1 of host esx-01 has 32 cores. Set cpus to 32 or less, or "
        "add nodes to "
        "numa_nodes, or count hyperthreads with advanced numa.vcpu.preferHT=TRUE.",
    ),
    Case(
        "more memory than a node has",
        {},
        {"numa_nodes": [0], "numa_method": "affinity", "memory_gb": 300},
        "numa_too_much_memory",
        "The VM would have 300 GB, and NUMA node 0 of host esx-01 has 256 GB.",
    ),
    Case(
        "device nodes in old hardware",
        {"hardware_version": 19},
        {"numa_nodes": [0], "numa_method": "device"},
        "numa_device_hardware",
        "The VM has virtual hardware version 19, but NUMA nodes of devices need version 20 or newer.",
    ),
    Case(
        "BIOS where EFI is listed",
        {"firmware": "bios"},
        {"firmware": "efi"},
        "firmware_bios",
        "Create the VM from a template that was installed with EFI firmware",
    ),
    Case(
        "BIOS under a GPU to come",
        {"firmware": "bios"},
        {"gpus": ["10de:20f1"]},
        "firmware_bios",
        "Its firmware is BIOS, which cannot map the memory windows of large GPUs.",
    ),
    Case(
        "GPUDirect without an adapter",
        READY,
        {"gpudirect": "enabled"},
        "gpudirect_without_nic",
        "The VM has no SR-IOV or passthrough network adapter, and direct_nics announces none.",
    ),
    Case(
        "high latency sensitivity with open memory",
        {},
        {"latency_sensitivity": "high", "memory_reservation": "ignore"},
        "latency_memory",
        "memory_reservation=ignore keeps 0 of 16 GB.",
    ),
    Case(
        "high latency sensitivity with open processors",
        {},
        {"latency_sensitivity": "high", "cpu_reservation": "ignore"},
        "latency_cpu_reservation",
        "which is 4000 MHz on host esx-01; the VM would have 0 MHz. Use cpu_reservation=auto",
    ),
    Case(
        "sockets that the new number does not fill",
        {"cpus": 4, "cores_per_socket": 4},
        {"cpus": 6},
        "sockets_uneven",
        "6 vCPUs cannot be put into sockets of 4; the cores_per_socket of the VM are 4.",
    ),
    Case(
        "a window that is too small",
        READY,
        {"mmio_size_gb": 64},
        "mmio_too_small",
        "Its GPUs need a window of 128 GB together, and mmio_size_gb is 64.",
    ),
    Case(
        "a setting for a vGPU that is not there",
        READY,
        {"advanced": {"pciPassthru3.cfg.enable_uvm": 1}},
        "advanced_without_device",
        "the VM has no PCI passthrough device or vGPU with the number 3; there are: 0.",
    ),
    Case("a template", {"template": True}, {"cpus": 4}, "template", "Clone a VM from it and change the clone."),
    Case(
        "a VM that vCenter has lost",
        {"connection": "inaccessible"},
        {"cpus": 4},
        "vm_inaccessible",
        "Restore its host or its datastore first.",
    ),
]


def names(cases):
    return [f"train-{number:02}" for number in range(1, len(cases) + 1)]


@pytest.mark.parametrize("check", [True, False])
def test_every_refusal_names_the_reason_and_the_way_out_and_touches_nothing(twin, drive, check):
    hosts = {"memory_gb": 512, "sockets": 2, "cores_per_socket": 32}
    running = twin(seed=lab(*[case.vm for case in CASES], {}, gpus=[{"board": "a100_pcie_40gb"}], hardware=hosts))
    fleet = [{"name": name, **case.requested} for name, case in zip(names(CASES), CASES, strict=True)]
    sound = f"train-{len(CASES) + 1:02}"
    answer = drive(running)("vm_shape", check=check, vms=[*fleet, {"name": sound, "cpus": 4}])
    for name, case in zip(names(CASES), CASES, strict=True):
        found = result(answer, name)
        assert (found["failure"].get("code"), found["changed"]) == (case.code, False), (case.name, found["msg"])
        assert found["msg"].startswith(f"VM {name}: "), case.name
        assert case.says in found["msg"], case.name
    # What is wrong with the others does not keep a sound VM from its shape.
    assert (result(answer, sound)["failed"], result(answer, sound)["changed"]) == (False, True)
    assert running.requests["ReconfigVM_Task"] == (0 if check else 1)
    assert running.requests["UpgradeVM_Task"] == 0


def test_wrong_words_are_refused_before_login(twin, drive):
    running = twin(seed=lab({}))
    wrong = {"pciPassthru.set.usebitMMIO": "TRUE", "numa.vcpu.prefereHT": True, "pciPassthru.allowP2P": "TRUE"}
    answer = drive(running)("vm_shape", name="train-01", advanced=wrong, cpus=5, cores_per_socket=2)
    assert answer["failure"]["code"] == "invalid_parameters"
    assert len(answer["failure"]["problems"]) == 4
    assert "similar keys: numa.vcpu.preferHT" in answer["msg"]
    assert "which the option gpudirect manages" in answer["msg"]
    assert running.requests["Login"] == 0


def test_old_hosts_refuse_nodes_of_devices(twin, drive):
    running = twin(seed=lab({"hardware_version": 19}, release="7.0.3"))
    requested = {"name": "train-01", "numa_nodes": [0], "numa_method": "device"}
    answer = drive(running)("vm_shape", **requested)
    assert answer["failure"]["code"] == "numa_device_release"
    assert "Host esx-01 has ESXi 7.0.3, but NUMA nodes of devices need ESXi 8.0 or newer." in answer["msg"]


def test_a_cluster_that_does_not_report_its_hardware_is_named(twin, drive, monkeypatch):
    def refuses(call, this):
        raise vmodl.fault.NotSupported(msg="Not here.")

    running = twin(seed=lab({"hardware_version": 19}))
    monkeypatch.setitem(registry._methods, ("EnvironmentBrowser", "QueryConfigOptionDescriptor"), refuses)
    registry._find_method.cache_clear()
    answer = drive(running)("vm_shape", name="train-01", hardware_version=21)
    registry._find_method.cache_clear()
    assert answer["failed"]
    assert "cannot list the hardware versions that the hosts support" in answer["msg"]
    assert "Not here." in answer["msg"]
    assert running.requests["ReconfigVM_Task"] == running.requests["UpgradeVM_Task"] == 0
