"""The small services: typed, and honest about having nothing to list."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import accounts

from .. import privileges
from ..registry import prop
from . import vm_config
from .shape import make

NOTHING = (
    ("LicenseManager", "featureInfo"),
    ("AlarmManager", "defaultExpression"),
)
for _kind, _name in NOTHING:
    prop(_kind, _name)(lambda service, world: [])


@prop("UserDirectory", "domainList")
def domain_list(directory, world):
    """The domains of vCenter; a host has its local users only."""
    return [] if hasattr(directory, "host") else accounts.domains(world)


@prop("CustomFieldsManager", "field")
def field(manager, world):
    return list(manager.fields.values())


@prop("CustomizationSpecManager", "info")
def customization_specs(manager, world):
    return [item.info for item in manager.specs.items.values()]


@prop("AuthorizationManager", "roleList")
def role_list(manager, world):
    return [_role(role) for role in world.permissions.roles.values()]


@prop("AuthorizationManager", "privilegeList")
def privilege_list(manager, world):
    return [
        make(
            vim.AuthorizationManager.Privilege,
            privId=name,
            onParent=False,
            name=name.rpartition(".")[2],
            privGroupName=name.rpartition(".")[0],
        )
        for name in privileges.known()
    ]


@prop("EventManager", "maxCollector")
def max_collector(manager, world):
    return 1000


@prop("VirtualMachineSnapshot", "vm")
def snapshot_vm(snapshot, world):
    return snapshot.vm


@prop("VirtualMachineSnapshot", "config")
def snapshot_config(snapshot, world):
    return vm_config.config(snapshot.vm, world)


@prop("VirtualMachineSnapshot", "childSnapshot")
def child_snapshot(snapshot, world):
    return [one for one in snapshot.vm.snapshots if one.parent is snapshot]


def _role(role):
    return make(
        vim.AuthorizationManager.Role,
        roleId=role.number,
        system=role.system,
        name=role.name,
        info=make(vim.Description, label=role.label, summary=role.label),
        privilege=privileges.granted(role),
    )
