"""A GPU works in a guest only with everything that it needs, and nvidia-smi says what there is."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.guests.programs import drivers
from vsphere_twin.model import gpu_errors

NO_DRIVER = "couldn't communicate with the NVIDIA driver"
NO_DEVICE = "No devices were found"
A100 = "GPU 0: GRID A100-40C (UUID: GPU-"


@pytest.mark.parametrize(
    "host, guest, says",
    [
        ("550.54.16", "550.54.15", A100),
        ("550.90.05", "550.54.15", A100),
        ("550.54.16", "535.161.08", A100),
        ("550.54.16", "525.147.05", NO_DEVICE),
        ("550.54.16", "570.124.06", NO_DEVICE),
        ("535.183.04", "470.256.02", A100),
        ("550.54.16", "470.256.02", NO_DEVICE),
    ],
    ids=[
        "pair",
        "older minor",
        "branch before",
        "two before",
        "newer than host",
        "long-term before",
        "long-term, host not",
    ],
)
def test_a_vgpu_works_with_the_drivers_that_the_release_notes_pair(guest_of, host, guest, says):
    machine = guest_of({"driver": {"family": "nvaie", "version": host}}).driver(guest).boot()
    assert says in machine.run("nvidia-smi", "-L")[1]


@pytest.mark.parametrize(
    "vm, driver, state, status, says",
    [
        ({}, None, {}, 9, NO_DRIVER),
        ({"vgpus": []}, {}, {}, 9, NO_DRIVER),
        ({}, {}, {"modprobe": []}, 9, NO_DRIVER),
        ({}, {"kernel": "6.1.0-17-amd64"}, {}, 9, NO_DRIVER),
        ({}, {"flavour": "datacentre"}, {}, 6, NO_DEVICE),
        ({}, {}, {}, 0, A100),
    ],
    ids=["no driver", "no vGPU", "nouveau has it", "built for another kernel", "data centre driver", "all there"],
)
def test_what_is_missing_is_seen(guest_of, vm, driver, state, status, says):
    machine = guest_of(**vm)
    if driver is not None:
        machine.driver(**driver)
    got = machine.boot(**state).run("nvidia-smi", "-L")
    assert got[0] == status
    assert says in got[1]


@pytest.mark.parametrize(
    "driver, kind",
    [
        ({}, "NVIDIA UNIX x86_64 Kernel Module  550.54.15  "),
        ({"open": True}, "NVIDIA UNIX Open Kernel Module for x86_64  "),
    ],
    ids=["proprietary", "open"],
)
def test_a_loaded_driver_reports_its_kind_below_proc(guest_of, driver, kind):
    machine = guest_of().driver(flavour="datacentre", **driver).boot()
    assert f"NVRM version: {kind}" in machine.files["/proc/driver/nvidia/version"]
    machine.run("rmmod", "nvidia_uvm")
    machine.run("rmmod", "nvidia")
    assert machine.files["/proc/driver/nvidia/version"] is None


@pytest.mark.parametrize(
    "flavour, more, exports",
    [
        ("datacentre", {"open": True}, True),
        ("datacentre", {}, False),
        ("grid", {"open": True}, False),
        ("grid", {}, False),
    ],
)
def test_gpu_memory_is_exported_by_the_open_modules_of_a_whole_gpu(flavour, more, exports):
    assert drivers.exports_memory({"version": "550.54.15", "flavour": flavour, **more}) is exports


@pytest.mark.parametrize(
    "signed, says",
    [(False, "could not insert 'nvidia': Key was rejected by service"), (True, "")],
    ids=["unsigned", "signed"],
)
def test_secure_boot_takes_signed_modules_only(guest_of, signed, says):
    machine = guest_of().driver(signed=signed)
    machine.vm.boot_options = vim.vm.BootOptions(efiSecureBootEnabled=True)
    machine.boot()
    assert machine.run("mokutil", "--sb-state") == (0, "SecureBoot enabled\n")
    (content,) = [text for path, text in machine.files.items() if "SecureBoot-" in path]
    assert content.encode() == b"\x06\0\0\0\1"
    assert says in machine.run("modprobe", "nvidia")[1]
    assert ("nvidia" in machine.state["loaded"]) is signed


def test_a_driver_that_was_replaced_under_its_module_waits_for_the_reboot(guest_of):
    machine = guest_of().driver("550.54.15").boot()
    machine.driver("550.90.07")
    status, text = machine.run("nvidia-smi")
    assert status == 18
    assert "Driver/library version mismatch" in text
    assert machine.files["/sys/module/nvidia/version"] == "550.54.15\n"
    assert "550.90.07" in machine.boot().run("nvidia-smi")[1]


def test_the_fields_of_a_csv_are_those_of_a_vgpu(guest_of):
    machine = guest_of().driver().boot()
    fields = "name,memory.total,driver_version,temperature.gpu,mig.mode.current,pci.bus_id"
    assert machine.run("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader") == (
        0,
        "GRID A100-40C, 40960 MiB, 550.54.15, [N/A], Disabled, 00000000:02:00.0\n",
    )
    assert machine.run("nvidia-smi", "--query-gpu=nonsense", "--format=csv")[0] == 2


BRIDGED = {"board": "a100_pcie_40gb", "graphics_type": "sharedDirect", "nvlink": "pair-1", "count": 2}
HGX = {"board": "h100_sxm_80gb", "graphics_type": "sharedDirect", "count": 8}
H100 = "nvidia_h100xm-80c"
H200 = {"board": "h200_nvl", "graphics_type": "sharedDirect", "nvlink": "four", "count": 4}


@pytest.mark.parametrize(
    "host, vgpus, word, active, inactive",
    [
        ({}, ["grid_a100-40c"], "", 0, 0),
        ({"gpus": [{**BRIDGED, "nvlink": ""}]}, ["grid_a100-40c"] * 2, "PHB", 0, 0),
        ({"gpus": [BRIDGED]}, ["grid_a100-40c"] * 2, "NV12", 24, 0),
        ({"gpus": [BRIDGED]}, ["grid_a100-20c"] * 2, "PHB", 0, 0),
        ({"gpus": [BRIDGED]}, ["grid_a100-40c"], "", 0, 0),
        ({"gpus": [H200]}, ["nvidia_h200-141c"] * 2, "NV6", 12, 24),
        ({"gpus": [HGX], "nvswitches": 4}, [H100] * 4, "NV18", 72, 0),
        ({"gpus": [HGX], "nvswitches": 4, "fabric_manager": False}, [H100] * 2, "PHB", 0, 0),
        ({"gpus": [HGX]}, [H100] * 2, "PHB", 0, 0),
    ],
    ids=[
        "one GPU",
        "no bridge",
        "a bridge",
        "parts of GPUs",
        "one GPU of a pair",
        "two of four GPUs",
        "NVSwitches",
        "no Fabric Manager",
        "no NVSwitches",
    ],
)
def test_a_guest_has_nvlink_between_whole_gpus_that_are_connected(guest_of, host, vgpus, word, active, inactive):
    driver = {"version": "580.105.06", "family": "nvaie"}
    big = {"hardware": {"memory_gb": 4096}, "driver": driver, **host}
    mmio = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "2048"}
    machine = guest_of(big, vgpus=vgpus, extra_config=mmio).driver("580.105.08").boot()
    rows = [line.split("\t") for line in machine.run("nvidia-smi", "topo", "-m")[1].splitlines()]
    (first,) = [row[1:] for row in rows if row[0] == "GPU0"]
    assert first[1 : len(vgpus)] == [word] * (len(vgpus) - 1)
    status, text = machine.run("nvidia-smi", "nvlink", "--status")
    assert (status, text.count(" GB/s\n"), text.count("<inactive>\n")) == (0, active, inactive)
    assert text.count("as all links are inActive\n") == (0 if active else len(vgpus))


def test_the_errors_of_each_active_nvlink_are_counted_until_the_vm_starts_again(guest_of):
    mmio = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "2048"}
    machine = guest_of({"gpus": [BRIDGED]}, vgpus=["grid_a100-40c"] * 2, extra_config=mmio).driver().boot()
    gpu_errors.add_link_errors(machine.world, machine.vm, "Replay", 3, gpu=1, link=11)
    first, second = machine.run("nvidia-smi", "nvlink", "--errorcounters")[1].split("GPU 1: ")
    assert (first.count("Errors: 0\n"), second.count("Errors: 0\n")) == (36, 35)
    assert "\t Link 11: Replay Errors: 3\n\t Link 11: Recovery Errors: 0\n" in second
    assert "as all links are inActive" in guest_of().driver().boot().run("nvidia-smi", "nvlink", "-e")[1]


def test_a_mig_backed_vgpu_is_one_mig_device(guest_of):
    gpu = {"board": "a100_pcie_40gb", "graphics_type": "sharedDirect", "mig": True}
    machine = guest_of({"gpus": [gpu]}, vgpus=["grid_a100-3-20c"]).driver().boot()
    lines = machine.run("nvidia-smi", "-L")[1].splitlines()
    assert lines[0].startswith("GPU 0: GRID A100-3-20C (UUID: GPU-")
    assert lines[1].startswith("  MIG 3g.20gb     Device  0: (UUID: MIG-")
    assert "0:8" in machine.run("nvidia-smi", "mig", "-lgi")[1]
    assert machine.run("nvidia-smi", "mig", "-cgi", "19")[0] == 4


def test_the_whole_text_and_the_xml_agree(guest_of):
    machine = guest_of().driver().boot()
    text, xml = machine.run("nvidia-smi", "-q")[1], machine.run("nvidia-smi", "-q", "-x")[1]
    for line in (
        "        Virtualization Mode               : VGPU",
        "    Product Name                          : GRID A100-40C",
    ):
        assert line in text.splitlines()
    assert "<virtualization_mode>VGPU</virtualization_mode>" in xml
    assert "        License Status                    : Unlicensed (Unrestricted)" in text.splitlines()
    assert "<license_status>Unlicensed (Unrestricted)</license_status>" in xml


@pytest.mark.parametrize(
    "env, count",
    [({}, 2), ({"NVIDIA_VISIBLE_DEVICES": "1"}, 1), ({"NVIDIA_VISIBLE_DEVICES": "void", "LAB_GPU_0": "1"}, 1)],
    ids=["guest", "container", "container by CDI"],
)
def test_a_container_sees_the_gpus_that_it_was_given(guest_of, env, count):
    gpu = {"board": "a100_pcie_40gb", "graphics_type": "sharedDirect", "count": 2}
    machine = guest_of({"gpus": [gpu]}, vgpus=["grid_a100-40c"] * 2).driver().boot()
    assert len(machine.run("nvidia-smi", "-L", env=env)[1].splitlines()) == count
