"""VMs come, move and go, and everything that lists them knows."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.model import cloning, graphics, inventory, power, provision, relocation, snapshots


@pytest.fixture
def here(lab):
    two = [{"name": f"esx-{number}", "gpus": [{"board": "a100_pcie_40gb"}]} for number in (1, 2)]
    return lab(
        hosts=two,
        vms=[
            {"name": "vm", "host": "esx-1", "networks": ["train"], "vgpus": ["grid_a100-40c"]},
            {"name": "base", "template": True, "networks": ["VM Network"]},
        ],
    )


def clone(here, name="copy", **spec):
    source = here.vm("base")
    folder = inventory.find_by_path(here.world, "lab/vm/jobs")
    pool = here.vm("vm").pool
    full = vim.vm.CloneSpec(
        location=vim.vm.RelocateSpec(pool=vim.ResourcePool(pool.moid)), template=False, powerOn=False, **spec
    )
    return cloning.clone(here.world, source, folder, name, full)


def test_a_clone_has_its_own_identity_files_and_addresses(here):
    made, source = clone(here), here.vm("base")
    assert made.uuid != source.uuid
    assert made.instance_uuid != source.instance_uuid
    assert made.nics[0].macAddress != source.nics[0].macAddress
    assert made.disks[0].backing.fileName == "[disk] copy/copy.vmdk"
    assert made.moid in made.host.vms
    assert inventory.path_of(made) == "lab/vm/jobs/copy"


def test_a_clone_takes_the_changes_of_its_config_spec(here):
    made = clone(here, config=vim.vm.ConfigSpec(numCPUs=24, memoryMB=65536))
    assert (made.cpus, made.memory_mb) == (24, 65536)


def test_a_name_is_taken_once_per_folder(here):
    clone(here)
    with pytest.raises(vim.fault.DuplicateName):
        clone(here)


def test_a_clone_that_cannot_be_configured_leaves_nothing_behind(here):
    before = len(here.world.of_kind("VirtualMachine"))
    with pytest.raises(vmodl.fault.InvalidArgument):
        clone(here, config=vim.vm.ConfigSpec(memoryMB=7))
    assert len(here.world.of_kind("VirtualMachine")) == before
    assert not inventory.find_by_path(here.world, "lab/vm/jobs/copy")


def test_a_destroyed_vm_is_gone_from_host_network_datastore_pool_and_folder(here):
    vm = here.vm("vm")
    holders = [vm.host, vm.pool, *vm.networks.values(), *vm.datastores.values()]
    provision.destroy(here.world, vm)
    assert not any(vm.moid in one.vms for one in holders)
    assert here.world.get(vm.moid) is None


def test_a_running_vm_is_not_destroyed(here):
    here.power_on("vm")
    with pytest.raises(vim.fault.InvalidPowerState):
        provision.destroy(here.world, here.vm("vm"))


def test_a_template_becomes_a_vm_with_a_pool(here):
    base = here.vm("base")
    provision.mark_as_vm(here.world, base, here.vm("vm").pool)
    assert not base.template
    assert base.moid in base.pool.vms


@pytest.mark.parametrize("allowed", [False, True])
def test_a_running_vm_with_a_vgpu_moves_only_where_vcenter_allows_it(here, allowed):
    here.world.get("VpxSettings").values["vgpu.hotmigrate.enabled"] = allowed
    here.power_on("vm")
    source, target = here.hosts
    spec = vim.vm.RelocateSpec(host=vim.HostSystem(target.moid))
    if allowed:
        relocation.relocate(here.world, here.vm("vm"), spec)
        assert [bool(host.gpus[0].residents) for host in (source, target)] == [False, True]
    else:
        with pytest.raises(vim.fault.MigrationFeatureNotSupported, match="hot migration is not enabled"):
            relocation.relocate(here.world, here.vm("vm"), spec)


def test_a_snapshot_brings_the_configuration_back(here):
    vm = here.vm("vm")
    made = snapshots.create(here.world, vm, "before", "")
    here.reconfigure("vm", memoryMB=4096, extraConfig=[vim.option.OptionValue(key="x", value="y")])
    snapshots.revert(here.world, made)
    assert (vm.memory_mb, vm.setting("x")) == (32768, None)


def test_a_graphics_type_acts_only_after_xorg_restarts(lab):
    here = lab(hosts=[{"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb", "graphics_type": "shared"}]}])
    (host,) = here.hosts
    wanted = vim.host.GraphicsConfig(
        hostDefaultGraphicsType="sharedDirect",
        sharedPassthruAssignmentPolicy="performance",
        deviceType=[vim.host.GraphicsConfig.DeviceType(deviceId=host.gpus[0].pci_id, graphicsType="sharedDirect")],
    )
    graphics.configure(here.world, host, wanted)
    assert not host.vgpu_types
    graphics.restart_xorg(here.world, host)
    assert host.vgpu_types


def test_a_whole_gpu_goes_to_one_vm(lab):
    backing = vim.vm.device.VirtualPCIPassthrough.DynamicBackingInfo(
        deviceName="",
        allowedDevice=[
            vim.vm.device.VirtualPCIPassthrough.AllowedDevice(vendorId=0x10DE, deviceId=0x20F1),
        ],
    )
    here = lab(
        hosts=[{"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb", "passthrough": True}]}],
        vms=[{"name": "first"}, {"name": "second"}],
    )
    device = vim.vm.device.VirtualPCIPassthrough(key=-1, backing=backing)
    for name in ("first", "second"):
        here.reconfigure(name, deviceChange=[vim.vm.device.VirtualDeviceSpec(operation="add", device=device)])
    assert here.power_on("first").state == "success"
    assert "not available on the host" in here.power_on("second").error.msg
    with pytest.raises(vim.fault.GenericVmConfigFault):
        power.suspend(here.world, here.vm("first"))


@pytest.mark.parametrize(
    "path,kind",
    [
        ("lab/vm/jobs", "Folder"),
        ("/lab/host/gpu/esx-1", "HostSystem"),
        ("lab/host/gpu/Resources", "ResourcePool"),
        ("lab/network/train", "DistributedVirtualPortgroup"),
        ("lab/datastore/disk", "Datastore"),
        ("lab/vm/nothing", None),
    ],
)
def test_everything_has_an_inventory_path(here, path, kind):
    found = inventory.find_by_path(here.world, path)
    assert (found.kind if found is not None else None) == kind
