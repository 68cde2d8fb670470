"""vCenter checks the privilege of each part of a request about a VM, and the modules name the one that is missing."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.privileges import NEEDS
from pyVim.task import WaitForTask
from pyVmomi import vim

from vsphere_twin.vcenter import privileges

from .observe import client
from .rows import vm_clone, vm_config

USER, BOSS = "automation@vsphere.local", "administrator@vsphere.local"
CONFIG = "VirtualMachine.Config."
DEVICE = vim.vm.device


def holding(seed, held):
    """The seed with a user whose role has these privileges on everything."""
    access = {"roles": {"some": sorted(held)}, "permissions": [{"user": USER, "role": "some"}]}
    return {**seed, **access, "users": {USER: "secret", BOSS: "VMware1!"}}


def without(seed, missing):
    return holding(seed, set(privileges.known()) - {missing})


def added(device, **more):
    return [DEVICE.VirtualDeviceSpec(operation="add", device=device, **more)]


def disk_of(machine):
    return next(one for one in machine.config.hardware.device if isinstance(one, DEVICE.VirtualDisk))


def grown(machine):
    disk = disk_of(machine)
    disk.capacityInKB, disk.capacityInBytes = disk.capacityInKB * 2, disk.capacityInBytes * 2
    return [DEVICE.VirtualDeviceSpec(operation="edit", device=disk)]


def adapter(machine):
    nic = next(one for one in machine.config.hardware.device if isinstance(one, DEVICE.VirtualEthernetCard))
    return [DEVICE.VirtualDeviceSpec(operation="edit", device=nic)]


def new_disk(_machine):
    backing = DEVICE.VirtualDisk.FlatVer2BackingInfo(fileName="", diskMode="persistent")
    disk = DEVICE.VirtualDisk(key=-1, controllerKey=1000, unitNumber=5, capacityInKB=1048576, backing=backing)
    return added(disk, fileOperation="create")


def passthrough(_machine):
    allowed = [DEVICE.VirtualPCIPassthrough.AllowedDevice(vendorId=0x10DE, deviceId=0x20F1)]
    backing = DEVICE.VirtualPCIPassthrough.DynamicBackingInfo(deviceName="", allowedDevice=allowed)
    return added(DEVICE.VirtualPCIPassthrough(key=-1, backing=backing))


def vgpu(_machine):
    backing = DEVICE.VirtualPCIPassthrough.VmiopBackingInfo(vgpu="grid_a100-40c")
    return added(DEVICE.VirtualPCIPassthrough(key=-1, backing=backing))


def usb(_machine):
    backing = DEVICE.VirtualUSB.RemoteHostBackingInfo(deviceName="path:1/0/0", hostname="esx-01")
    return added(DEVICE.VirtualUSB(key=-1, backing=backing))


def extra(_machine):
    return [vim.option.OptionValue(key="pciPassthru.use64bitMMIO", value="TRUE")]


# Name: (privilege, fields of the specification).
PARTS = {
    "name": (CONFIG + "Rename", {"name": "other"}),
    "annotation": (CONFIG + "Annotation", {"annotation": "other"}),
    "processors": (CONFIG + "CPUCount", {"numCPUs": 8}),
    "memory": (CONFIG + "Memory", {"memoryMB": 32768}),
    "reservation": (CONFIG + "Resource", {"memoryReservationLockedToMax": True}),
    "allocation": (CONFIG + "Resource", {"memoryAllocation": vim.ResourceAllocationInfo(reservation=0)}),
    "firmware": (CONFIG + "Settings", {"firmware": "bios"}),
    "extraConfig": (CONFIG + "AdvancedConfig", {"extraConfig": extra}),
    "vGPU": (CONFIG + "AddRemoveDevice", {"deviceChange": vgpu}),
    "passthrough": (CONFIG + "AddRemoveDevice", {"deviceChange": passthrough}),
    "adapter": (CONFIG + "EditDevice", {"deviceChange": adapter}),
    "network": ("Network.Assign", {"deviceChange": adapter}),
    "new disk": (CONFIG + "AddNewDisk", {"deviceChange": new_disk}),
    "space": ("Datastore.AllocateSpace", {"deviceChange": new_disk}),
    "larger disk": (CONFIG + "DiskExtend", {"deviceChange": grown}),
    "USB": (CONFIG + "HostUSBDevice", {"deviceChange": usb}),
}


def reconfigure(running, fields):
    with client(running) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
        machine = next(one for one in view.view if one.name == "train-01")
        fields = {key: value(machine) if callable(value) else value for key, value in fields.items()}
        WaitForTask(machine.ReconfigVM_Task(vim.vm.ConfigSpec(**fields)))


@pytest.mark.parametrize("part", PARTS)
def test_reconfiguration_needs_the_privilege_of_each_part(twin, part):
    privilege, fields = PARTS[part]
    with pytest.raises(vim.fault.NoPermission) as refused:
        reconfigure(twin(seed=without(vm_config.lab(), privilege)), fields)
    kind = {"Network.Assign": vim.Network, "Datastore.AllocateSpace": vim.Datastore}.get(privilege, vim.VirtualMachine)
    assert (refused.value.privilegeId, type(refused.value.object)) == (privilege, kind)


def test_a_part_that_stays_the_same_needs_no_privilege(twin):
    reconfigure(twin(seed=holding(vm_config.lab(), ())), {"numCPUs": 2, "memoryMB": 16384, "firmware": "efi"})


SHAPE = {"cpus": 16, "memory_gb": 64}
ONE = {"name": "train-01"}
NEW = {"template": "ubuntu-template", "folder": "training", "vms": [{"name": "new-01", "host": "esx-01"}]}
PREP = {"hostname": "new-01", "domain": "example.com"}
# Privilege of the stage machines: (module, its seed, its options).
CALLS = {
    CONFIG + "CPUCount": ("vm_config", vm_config.lab(), {**ONE, "shape": SHAPE}),
    CONFIG + "Memory": ("vm_config", vm_config.lab(), {**ONE, "shape": SHAPE}),
    CONFIG + "Resource": ("vm_config", vm_config.lab(), {**ONE, "shape": SHAPE}),
    CONFIG + "AdvancedConfig": ("vm_config", vm_config.lab(), {**ONE, "vgpu": {"profiles": ["grid_a100-40c"]}}),
    CONFIG + "AddRemoveDevice": ("vm_config", vm_config.lab(), {**ONE, "vgpu": {"profiles": ["grid_a100-40c"]}}),
    CONFIG + "DiskExtend": ("vm_clone", vm_clone.world(), {**NEW, "disk_gb": 80}),
    "Network.Assign": ("vm_config", vm_config.lab(), {**ONE, "vmxnet3": {"adapters": [{"portgroup": "pg-a"}]}}),
    "VirtualMachine.Interact.PowerOn": ("vm_power", vm_config.lab(), {**ONE, "state": "on"}),
    "VirtualMachine.Interact.PowerOff": (
        "vm_power",
        vm_config.lab({"power": "on"}),
        {**ONE, "state": "off", "force": True},
    ),
    "VirtualMachine.Inventory.CreateFromExisting": ("vm_clone", vm_clone.world(), NEW),
    "VirtualMachine.Provisioning.DeployTemplate": ("vm_clone", vm_clone.world(), NEW),
    "VirtualMachine.Provisioning.Customize": ("vm_clone", vm_clone.world(), {**NEW, "customization": PREP}),
    "VirtualMachine.Inventory.Delete": (
        "vm_clone",
        vm_clone.world({"extra_config": {"aiready.vsphere.cloned_from": "/lab/vm/templates/ubuntu-template"}}),
        {"vms": [ONE], "state": "absent"},
    ),
    "Resource.AssignVMToPool": ("vm_clone", vm_clone.world(), NEW),
    "Datastore.AllocateSpace": ("vm_clone", vm_clone.world(), NEW),
}


@pytest.mark.parametrize("privilege", CALLS)
def test_a_module_names_the_privilege_that_the_user_lacks(twin, drive, privilege):
    module, seed, options = CALLS[privilege]
    answer = drive(twin(seed=without(seed, privilege)))(module, **options)
    assert answer["failed"], answer
    assert privilege in answer["msg"], answer["msg"]


def test_each_privilege_of_the_stage_that_a_method_checks_has_such_a_call():
    wanted = {need.privilege for need in NEEDS if need.stage == "machines" and not need.without}
    # Elsewhere: rules of DRS and moves, and what a site seldom changes.
    assert wanted - set(CALLS) == {
        CONFIG + "EditDevice",
        CONFIG + "Settings",
        "Host.Inventory.EditCluster",
        "Resource.ColdMigrate",
    }
