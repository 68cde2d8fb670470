"""Vendor device groups and GPUDirect: what sits behind one PCIe switch, as a unit or by luck."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from vsphere_twin.model import gpudirect, groups, seed_devices
from vsphere_twin.model.seed_file import SeedError

ROOT, FAR = "0000:36:02.0", "0000:b6:02.0"
FIRMWARE = {"ats": True, "sriov": True, "num_vfs": 4}
READY = {"pciPassthru.allowP2P": "TRUE", "pciPassthru.RelaxACSforP2P": "TRUE"}
MMIO = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "1024"}
VGPU = "grid_a100-40c"
PORT = {"pci_devices": [{"allowed": ["15b3:101d"]}]}


def gpu(root=ROOT, **more):
    return {"board": "a100_pcie_40gb", "root": root, **more}


def nic(device="vmnic1", root=ROOT, **more):
    return {"device": device, "model": "cx6dx", "root": root, "passthrough": True, "firmware": FIRMWARE, **more}


def host(gpus=None, nics=None, **more):
    management = {"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"}
    return {
        "name": "esx-1",
        "kernel": {"atsSupport": True},
        "gpus": gpus or [gpu()],
        "nics": [management, *(nics or [nic()])],
        **more,
    }


def bridged(name="pair-1", **more):
    return gpu("", nvlink=name, **more)


HGX = {
    "gpus": [{"board": "h100_sxm_80gb", "graphics_type": "sharedDirect", "count": 8}],
    "nics": [nic(root=FAR)],
    "nvswitches": 4,
}


def name(world):
    (group,) = groups.offered(world.hosts[0])
    return group.name


GROUPS = {
    "a vGPU and a port": ({}, [("nvidiaVgpu", "pciPassthru")]),
    "a passed-through GPU and a port": ({"gpus": [gpu(passthrough=True)]}, [("pciPassthru", "pciPassthru")]),
    "two pairs": (
        {"gpus": [gpu(), gpu(FAR)], "nics": [nic(), nic("vmnic2", FAR)]},
        [("nvidiaVgpu", "pciPassthru")] * 2,
    ),
    "nothing where GPU and port are apart": ({"nics": [nic(root=FAR)]}, []),
    "nothing where the port belongs to ESXi": ({"nics": [nic(passthrough=False)]}, []),
    "nothing where the GPU is split by MIG": ({"gpus": [gpu(mig=True)]}, []),
    "vGPUs of a pair with a bridge": ({"gpus": [bridged(count=2)], "nics": [nic(root=FAR)]}, [("nvidiaVgpu",) * 2]),
    "whole GPUs of a pair with a bridge": (
        {"gpus": [bridged(count=2, passthrough=True)], "nics": [nic(root=FAR)]},
        [("pciPassthru",) * 2],
    ),
    "nothing where a pair has two modes": (
        {"gpus": [bridged(passthrough=True), bridged()], "nics": [nic(root=FAR)]},
        [],
    ),
    "vGPUs of 2, 4 and 8 GPUs with NVSwitches": (HGX, [("nvidiaVgpu",) * size for size in (2, 2, 2, 2, 4, 4, 8)]),
    "nothing where NVSwitches have no Fabric Manager": ({**HGX, "fabric_manager": False}, []),
    "no whole GPUs beside NVSwitches": ({**HGX, "gpus": [{**HGX["gpus"][0], "passthrough": True}]}, []),
}


@pytest.mark.parametrize("world,kinds", GROUPS.values(), ids=GROUPS)
def test_a_host_offers(lab, world, kinds):
    (found,) = lab(hosts=[host(**world)]).hosts
    assert [tuple(one.kind for one in group.components) for group in groups.offered(found)] == kinds


def test_no_groups_before_release_8(lab):
    assert groups.offered(lab(hosts=[host()], release="7.0.3").hosts[0]) == []


@pytest.mark.parametrize("passthrough", [False, True])
def test_power_on_takes_both_devices_of_one_unit(lab, passthrough):
    apart = [gpu(FAR, passthrough=passthrough), gpu(passthrough=passthrough)]
    prepared = host(apart)
    probe = name(lab(hosts=[prepared]))
    world = lab(hosts=[prepared], vms=[{"name": "vm", "device_groups": [probe]}])
    assert world.power_on("vm").error is None
    (esx,) = world.hosts
    (used,) = [one for one in esx.gpus if one.vms()]
    assert esx.slots[used.pci_id].root == ROOT
    assert "0000:3a:00.0" in esx.claimed
    world.power_off("vm")
    assert (esx.claimed, used.vms()) == ({}, [])


PAIR = f"Nvidia:2@{VGPU}%NVLink"


def test_power_on_gives_a_group_the_gpus_of_one_bridge(lab):
    prepared = host([bridged("a"), bridged("b"), bridged("a"), bridged("b")], [nic(root=FAR)])
    vms = [{"name": "other", "vgpus": [VGPU]}, {"name": "vm", "device_groups": [PAIR]}]
    world = lab(hosts=[prepared], vms=vms)
    world.power_on("other")
    assert world.power_on("vm").error is None
    assert [gpu.bridge for gpu in world.hosts[0].gpus if world.vm("vm") in gpu.vms()] == ["b", "b"]
    world.power_off("vm")
    world.hosts[0].gpus[1].residents = list(world.hosts[0].gpus[0].residents)
    assert f"Device group '{PAIR}' is not available" in world.power_on("vm").error.msg


BRIDGES = {
    "one GPU": [bridged()],
    "two boards": [bridged(), {**bridged(), "board": "a40"}],
    "a board without NVLink": [{**bridged(), "board": "t4", "count": 2}],
}


@pytest.mark.parametrize("gpus", BRIDGES.values(), ids=BRIDGES)
def test_a_bridge_joins_gpus_of_one_board_with_nvlink(lab, gpus):
    with pytest.raises(SeedError, match="NVLink 'pair-1' cannot join"):
        lab(hosts=[host(gpus)])


def test_a_unit_whose_gpu_is_taken_is_not_given(lab):
    probe = name(lab(hosts=[host()]))
    world = lab(hosts=[host()], vms=[{"name": "other", "vgpus": [VGPU]}, {"name": "vm", "device_groups": [probe]}])
    world.power_on("other")
    assert f"Device group '{probe}' is not available" in world.power_on("vm").error.msg
    assert not world.hosts[0].claimed


def ask(world, wanted, drop=0, hardware=None):
    """Add a group, with some of its devices left out."""
    group, members = seed_devices.device_group(world.hosts[0], wanted, -1)
    changes = [vim.vm.device.VirtualDeviceSpec(operation="add", device=one) for one in members[drop:]]
    spec = vim.vm.VirtualDeviceGroups(deviceGroup=[group])
    return world.reconfigure("vm", deviceGroups=spec, deviceChange=changes).error


def test_a_group_comes_whole_and_goes_whole(lab):
    world = lab(hosts=[host()], vms=[{"name": "vm"}])
    assert isinstance(ask(world, name(world), drop=1), vim.fault.InvalidDeviceSpec)
    assert (world.vm("vm").device_groups, groups.members_of(world.vm("vm"), 1)) == ({}, [])
    assert ask(world, name(world)) is None
    members = groups.members_of(world.vm("vm"), 1)
    remove = [vim.vm.device.VirtualDeviceSpec(operation="remove", device=one) for one in members]
    assert isinstance(world.reconfigure("vm", deviceChange=remove[:1]).error, vim.fault.InvalidDeviceSpec)
    assert world.reconfigure("vm", deviceChange=remove).error is None
    assert world.vm("vm").device_groups == {}


def test_a_device_of_a_group_that_the_request_does_not_name_is_refused(lab):
    world = lab(hosts=[host()], vms=[{"name": "vm"}])
    _group, members = seed_devices.device_group(world.hosts[0], name(world), -1)
    changes = [vim.vm.device.VirtualDeviceSpec(operation="add", device=one) for one in members]
    assert isinstance(world.reconfigure("vm", deviceChange=changes).error, vim.fault.InvalidDeviceSpec)
    assert groups.members_of(world.vm("vm"), -1) == []


def test_a_group_that_nobody_offers_or_older_hardware_is_refused(lab):
    world = lab(hosts=[host()], vms=[{"name": "vm", "hardware_version": 19}])
    assert isinstance(ask(world, name(world)), vim.fault.DeviceUnsupportedForVmVersion)
    group, members = seed_devices.device_group(world.hosts[0], name(world), -1)
    group.deviceGroupName = "something else"
    changes = [vim.vm.device.VirtualDeviceSpec(operation="add", device=one) for one in members]
    spec = vim.vm.VirtualDeviceGroups(deviceGroup=[group])
    newer = lab(hosts=[host()], vms=[{"name": "vm", "hardware_version": 20}])
    assert isinstance(
        newer.reconfigure("vm", deviceGroups=spec, deviceChange=changes).error, vim.fault.InvalidDeviceSpec
    )


def verdict(lab, esx=None, extra=None, power="on", **vm):
    extra = READY if extra is None else extra
    world = lab(
        hosts=[esx or host()],
        vms=[{"name": "vm", "power": power, "vgpus": [VGPU], **PORT, "extra_config": {**MMIO, **extra}, **vm}],
    )
    return gpudirect.verdict(world.world, world.vm("vm"))


def test_gpudirect_works_with_everything_in_place(lab):
    assert verdict(lab) == gpudirect.Verdict(True)


def test_gpudirect_works_with_a_function_of_a_port_and_with_a_whole_gpu(lab):
    split = host(
        [gpu(passthrough=True)],
        [nic(passthrough=False, uplink_of="dvs")],
        module_options={"nmlx5_core": "max_vfs=1"},
    )
    devices = {"pci_devices": [{"allowed": ["10de:20f1"]}], "adapters": [{"type": "sriov", "network": "train"}]}
    assert verdict(lab, split, vgpus=[], **devices).works


LACKING = {
    "peer-to-peer": ({"extra": {"pciPassthru.RelaxACSforP2P": "TRUE"}}, "pciPassthru.allowP2P is not TRUE"),
    "relaxed ACS": ({"extra": {"pciPassthru.allowP2P": "TRUE"}}, "pciPassthru.RelaxACSforP2P is not TRUE"),
    "ATS in the kernel": ({"esx": host(kernel={})}, "atsSupport of esx-1 is not in force"),
    "ATS in the firmware": ({"esx": host(nics=[nic(firmware={"ats": False})])}, "ATS is off in the firmware of vmnic1"),
    "a common root": ({"esx": host(nics=[nic(root=FAR)])}, "no port of the VM is on the root of the GPU"),
    "a GPU": ({"vgpus": []}, "the VM has no GPU"),
    "a port": ({"pci_devices": []}, "no network port or virtual function of its own"),
    "a port, having PVRDMA": (
        {"pci_devices": [], "adapters": [{"type": "pvrdma", "network": "train"}]},
        "PVRDMA moves data through the memory of the guest",
    ),
    "power": ({"power": "off"}, "does not run"),
}


@pytest.mark.parametrize("vm,reason", LACKING.values(), ids=LACKING)
def test_gpudirect_does_not_work_without(lab, vm, reason):
    found = verdict(lab, **vm)
    assert not found.works
    assert reason in " ".join(found.reasons)
