"""All privileges: those in the API's description, and some that follow from required ones."""

from __future__ import annotations

import functools

from ..model.permissions import ALWAYS
from . import registry, types

# Methods whose privilege depends on their arguments name none in the API's description.
FURTHER = (
    "Authorization.ModifyPermissions",
    "Datastore.AllocateSpace",
    "Datastore.Browse",
    "Datastore.FileManagement",
    "Global.SetCustomField",
    "Global.Settings",
    "Host.Config.AdvancedConfig",
    "Network.Assign",
    "Resource.AssignVMToPool",
    "Resource.HotMigrate",
    "ScheduledTask.Create",
    "Sessions.ValidateSession",
    "VirtualMachine.Config.AddExistingDisk",
    "VirtualMachine.Config.AddNewDisk",
    "VirtualMachine.Config.AddRemoveDevice",
    "VirtualMachine.Config.AdvancedConfig",
    "VirtualMachine.Config.Annotation",
    "VirtualMachine.Config.CPUCount",
    "VirtualMachine.Config.DiskExtend",
    "VirtualMachine.Config.EditDevice",
    "VirtualMachine.Config.HostUSBDevice",
    "VirtualMachine.Config.Memory",
    "VirtualMachine.Config.RawDevice",
    "VirtualMachine.Config.RemoveDisk",
    "VirtualMachine.Config.Rename",
    "VirtualMachine.Config.Resource",
    "VirtualMachine.Config.Settings",
    "VirtualMachine.Config.SwapPlacement",
    "VirtualMachine.Inventory.Create",
    "VirtualMachine.Inventory.CreateFromExisting",
    "VirtualMachine.Inventory.Delete",
    "VirtualMachine.Provisioning.Clone",
    "VirtualMachine.Provisioning.CloneTemplate",
    "VirtualMachine.Provisioning.Customize",
    "VirtualMachine.Provisioning.DeployTemplate",
    "VirtualMachine.Provisioning.ReadCustSpecs",
)


@functools.lru_cache(maxsize=None)
def known():
    """Their ids, sorted."""
    described = {types.method_of(name, kind).privId for kind, name in registry.methods()}
    return tuple(sorted({one for one in described if one}.union(FURTHER, ALWAYS)))


def granted(role):
    """Return the privileges of a role."""
    return [name for name in known() if role.holds(name)] if role.system else sorted(role.privileges)
