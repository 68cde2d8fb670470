"""VMs that get a GPU and a port of one PCIe root by DirectPath, and hosts that lack a label or the mode."""

from __future__ import annotations

import pytest
import yaml

from vsphere_twin.guests.programs import hardware
from vsphere_twin.model import gpudirect, groups

from .hosts import SEEDS
from .machines import NAMES, PROFILE, created, desired, setup, vms_of

NVLINK = "Nvidia:2@NVIDIA A100 PCIe 40GB%NVLink"
CLASS, PORT_CLASS = "com.example.gpu", "com.example.port"
LABEL, HARDWARE = "aiready-0000-36", 20
DIRECT = {
    "gpu": {"mode": "directpath", "profile": None},
    "driver": None,
    "licence": "none",
    "network": {"path": "directpath", "nics": ["0000:3b:00.0"]},
}


def seed(port_label=LABEL, given=True):
    """The seed `small` on vSphere 9.1, whose hosts give away the GPU beside the port."""
    made = yaml.safe_load((SEEDS / "small.yml").read_text())
    made["release"] = "9.1.0"
    (cluster,) = made["datacenters"][0]["clusters"]
    for host in cluster["hosts"]:
        (gpu,) = host["gpus"]
        if given:
            gpu.pop("graphics_type", None)
            gpu.update(passthrough=True, label=LABEL)
        next(nic for nic in host["nics"] if nic.get("passthrough"))["label"] = port_label
    return made


def enhanced_seed(checkpoint=True):
    """The seed `small` on vSphere 9.1, whose GPUs and one port of each host VMs get through the vendor's software."""
    made = yaml.safe_load((SEEDS / "small.yml").read_text())
    made["release"] = "9.1.0"
    (cluster,) = made["datacenters"][0]["clusters"]
    for host in cluster["hosts"]:
        host["driver"] = {"family": "none"}
        (gpu,) = host["gpus"]
        gpu.pop("graphics_type", None)
        gpu["dvx"] = {"class": CLASS, "checkpoint": checkpoint}
        port = next(nic for nic in host["nics"] if nic.get("passthrough"))
        del port["passthrough"], port["label"]
        port["dvx"] = {"class": PORT_CLASS, "checkpoint": checkpoint}
    return made


def enhanced_site(**more):
    machine = {**created("passthrough")["machine"], "hardware_version": HARDWARE}
    given = {"assignment": "dvx", "gpu_class": CLASS, "port_class": PORT_CLASS, **more}
    return created("passthrough") | DIRECT | {"machine": machine, "directpath": given}


def test_a_gpu_and_a_port_of_one_root_reach_each_other_and_the_second_run_changes_nothing(lab):
    lab = lab(seed())
    machine = {**created("passthrough")["machine"], "hardware_version": HARDWARE}
    site = lab.site(**created("passthrough") | DIRECT | {"machine": machine})
    first = lab.run(*site)
    assert first.status == 0, first.output
    assert {gpudirect.verdict(lab.twin.world, vm) for vm in vms_of(lab)} == {gpudirect.Verdict(True)}
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output


def test_a_gpu_and_a_port_of_a_device_group_come_as_the_host_offers_them(lab):
    lab = lab(seed())
    (host, *others) = lab.twin.world.of_kind("HostSystem")
    (name,) = {group.name for one in (host, *others) for group in groups.offered(one)}
    machine = {**created("passthrough")["machine"], "hardware_version": HARDWARE}
    requested = {"machine": machine, "licence": "nvaie", "directpath": {"assignment": "group", "group": name}}
    site = lab.site(**created("passthrough") | DIRECT | requested)
    first = lab.run(*site)
    assert first.status == 0, first.output
    assert [list(vm.device_groups.values()) for vm in vms_of(lab)] == [[name]] * len(NAMES)
    assert {gpudirect.verdict(lab.twin.world, vm) for vm in vms_of(lab)} == {gpudirect.Verdict(True)}
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output


def linked(*bridges):
    """The seed above, whose hosts give away a GPU for each name of an NVLink bridge, and for each empty one."""
    made = seed()
    for host in made["datacenters"][0]["clusters"][0]["hosts"]:
        host["gpus"] = [
            {
                "board": "a100_pcie_40gb",
                "root": f"0000:{0x40 + 0x10 * number:02x}:02.0",
                "numa_node": 0,
                "passthrough": True,
                **({"nvlink": bridge} if bridge else {}),
            }
            for number, bridge in enumerate(bridges)
        ]
    return made


def nvlink_site(count):
    """A site whose VMs have this number of GPUs in sets of two."""
    return created("tcp") | {
        "gpu": {"mode": "directpath", "profile": None, "per_vm": count, "nvlink": "required"},
        "directpath": {"assignment": "group", "group": NVLINK},
        "driver": None,
        "machine": {**created("tcp")["machine"], "hardware_version": HARDWARE},
    }


def test_six_gpus_in_nvlink_sets_of_two_are_placed_and_shaped_and_are_peers_in_the_guest(lab):
    lab = lab(linked(*"abcdabcd"))
    site = lab.site(**nvlink_site(6))
    first = lab.run(*site)
    assert first.status == 0, first.output
    for vm in vms_of(lab):
        assert list(vm.device_groups.values()) == [NVLINK] * 3
        # Each 40 GB GPU needs a window of 64 GB, and the size of all is a power of two.
        assert int(vm.setting("pciPassthru.64bitMMIOSizeGB")) >= 6 * 64
        assert setup(vm) == desired() | {"profiles": []}
        gpus = hardware.gpus_of(vm)
        assert [sum(hardware.nvlinks(one, other) for other in gpus) for one in gpus] == [12] * 6
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output


@pytest.mark.turn(1, of=6)
def test_two_vgpus_with_nvlink_are_placed_and_shaped_and_are_peers_in_the_guest(lab):
    made = linked("a", "a")
    for host in made["datacenters"][0]["clusters"][0]["hosts"]:
        for gpu in host["gpus"]:
            gpu.update(passthrough=False, graphics_type="sharedDirect")
    lab = lab(made)
    gpu = {"mode": "vgpu", "profile": PROFILE, "per_vm": 2, "nvlink": "required"}
    site = lab.site(**created("tcp") | {"gpu": gpu})
    first = lab.run(*site)
    assert first.status == 0, first.output
    for vm in vms_of(lab):
        assert setup(vm) == desired() | {"profiles": [PROFILE] * 2}
        # Each 40 GB GPU needs a window of 64 GB.
        assert int(vm.setting("pciPassthru.64bitMMIOSizeGB")) >= 2 * 64
        one, other = hardware.gpus_of(vm)
        assert hardware.nvlinks(one, other) == 12
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output


def test_an_nvlink_set_that_no_host_offers_stops_the_run_before_a_vm_is_created(lab):
    lab = lab(linked("", ""))
    refused = lab.run(*lab.site(**nvlink_site(2)))
    assert refused.status != 0
    assert f"offers no device group {NVLINK}; it offers none. Install the vendor's software" in refused.text, (
        refused.output
    )
    assert [vm.name for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name in NAMES] == []


def test_devices_of_a_class_are_requested_where_the_hosts_have_it_and_can_save_their_state(lab):
    lab = lab(enhanced_seed())
    site = lab.site(**enhanced_site(vmotion="required"))
    first = lab.run(*site)
    assert first.status == 0, first.output
    assert [sorted(one.backing.deviceClass for one in vm.passthrough_devices) for vm in vms_of(lab)] == [
        [CLASS, PORT_CLASS]
    ] * len(NAMES)
    assert {gpudirect.verdict(lab.twin.world, vm) for vm in vms_of(lab)} == {gpudirect.Verdict(True)}
    again = lab.run(*site)
    assert (again.status, again.changed) == (0, 0), again.output


def test_a_missing_label_stops_the_run_and_is_named(lab):
    lab = lab(seed(port_label="other"))
    refused = lab.run(*lab.site(**created("passthrough") | DIRECT))
    assert refused.status != 0
    assert f"is labelled {LABEL}; the labels there are other" in refused.text, refused.output
    assert {vm.power for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name in NAMES} <= {"poweredOff"}


def test_a_gpu_in_the_mode_of_vgpus_stops_the_run_before_a_vm_is_created(lab):
    lab = lab(seed(given=False))
    refused = lab.run(*lab.site(**created("passthrough") | DIRECT))
    assert refused.status != 0
    assert "whole GPUs" in refused.text, refused.output
    assert [vm.name for vm in lab.twin.world.of_kind("VirtualMachine") if vm.name in NAMES] == []
