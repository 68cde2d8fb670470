"""The small services: tasks, custom fields, permissions."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import accounts, permissions, tasks

from .. import privileges, types
from ..projections.managed import shown
from ..projections.shape import make
from ..registry import method

FIRST_FIELD = 101
FIELD_CARRIERS = ("HostSystem", "VirtualMachine", "ClusterComputeResource", "Datastore", "Folder", "Datacenter")


@method("Task", "CancelTask")
def cancel_task(call, this):
    tasks.cancel(call.world, this)


@method("CustomFieldsManager", "AddCustomFieldDef")
def add_field(call, this, name, moType=None, fieldDefPolicy=None, fieldPolicy=None):
    _refuse_taken(this, name)
    key = max(this.fields, default=FIRST_FIELD - 1) + 1
    this.fields[key] = make(vim.CustomFieldsManager.FieldDef, key=key, name=name, type=str, managedObjectType=moType)
    call.world.touch(this, *_carriers(call.world))
    return this.fields[key]


@method("CustomFieldsManager", "RemoveCustomFieldDef")
def remove_field(call, this, key):
    if this.fields.pop(key, None) is None:
        raise _no_field()
    carriers = _carriers(call.world)
    for one in carriers:
        one.custom_values.pop(key, None)
    call.world.touch(this, *carriers)


@method("CustomFieldsManager", "RenameCustomFieldDef")
def rename_field(call, this, key, name):
    if key not in this.fields:
        raise _no_field()
    if name != this.fields[key].name:
        _refuse_taken(this, name)
    this.fields[key].name = name
    call.world.touch(this, *_carriers(call.world))


@method("CustomFieldsManager", "SetField")
def set_field(call, this, entity, key, value):
    target = call.resolve(entity)
    if key not in this.fields:
        raise _no_field()
    if value:
        target.custom_values[key] = value
    else:
        target.custom_values.pop(key, None)
    call.world.touch(target)


@method("ExtensibleManagedObject", "setCustomValue")
def set_custom_value(call, this, key, value):
    fields = call.world.get("CustomFieldsManager").fields
    number = next((field.key for field in fields.values() if field.name == key), None)
    if number is None:
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    this.custom_values[number] = value
    call.world.touch(this)


@method("AuthorizationManager", "RetrieveEntityPermissions")
def entity_permissions(call, this, entity, inherited):
    held, target = call.world.permissions, call.resolve(entity)
    return [shown(row) for row in (held.reaching(target) if inherited else held.on(target))]


@method("AuthorizationManager", "RetrieveAllPermissions")
def all_permissions(call, this):
    return [shown(row) for row in call.world.permissions.rows]


@method("AuthorizationManager", "RetrieveRolePermissions")
def role_permissions(call, this, roleId):
    role = call.world.permissions.by_number(roleId)
    return [shown(row) for row in call.world.permissions.rows if row.role is role]


@method("AuthorizationManager", "AddAuthorizationRole")
def add_role(call, this, name, privIds=None):
    if name in call.world.permissions.roles:
        raise permissions.exists(name)
    _require_privileges(privIds)
    made = call.world.permissions.defined(name, privIds or [])
    call.world.touch(this)
    return made.number


@method("AuthorizationManager", "UpdateAuthorizationRole")
def update_role(call, this, roleId, newName, privIds=None):
    _require_privileges(privIds)
    call.world.permissions.rename(roleId, newName, privIds or [])
    call.world.touch(this)


@method("AuthorizationManager", "RemoveAuthorizationRole")
def remove_role(call, this, roleId, failIfUsed):
    call.world.permissions.drop(roleId, failIfUsed)
    _all_may_look_different(call.world, this)


@method("AuthorizationManager", "SetEntityPermissions")
def set_permissions(call, this, entity, permission=None):
    target = call.resolve(entity)
    call.require_privilege("Authorization.ModifyPermissions", target)
    for one in permission or []:
        user = _known_user(call, one.principal)
        call.world.permissions.grant(target, user, call.world.permissions.by_number(one.roleId), bool(one.propagate))
    _all_may_look_different(call.world, this)


@method("AuthorizationManager", "RemoveEntityPermission")
def remove_permission(call, this, entity, user, isGroup):
    target = call.resolve(entity)
    call.require_privilege("Authorization.ModifyPermissions", target)
    call.world.permissions.revoke(target, _known_user(call, user))
    _all_may_look_different(call.world, this)


@method("AuthorizationManager", "HasPrivilegeOnEntities")
def has_privilege(call, this, entity, sessionId, privId=None):
    session = next((one for one in call.sessions.living() if one.public_key == sessionId), None)
    if session is None:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: sessionId", invalidProperty="sessionId"
        )
    return [_granted(call, session.user, ref, privId) for ref in entity]


@method("AuthorizationManager", "HasUserPrivilegeOnEntities")
def has_user_privilege(call, this, entities, userName, privId=None):
    user = _known_user(call, userName)
    return [_granted(call, user, ref, privId) for ref in entities]


@method("AuthorizationManager", "FetchUserPrivilegeOnEntities")
def user_privileges(call, this, entities, userName):
    user = _known_user(call, userName)
    return [
        make(
            vim.AuthorizationManager.UserPrivilegeResult,
            entity=ref,
            privileges=[
                name for name in privileges.known() if call.world.permissions.may(user, name, call.resolve(ref))
            ],
        )
        for ref in entities
    ]


def _require_privileges(names):
    unknown = [name for name in names or [] if name not in privileges.known()]
    if unknown:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: privIds", invalidProperty="privIds"
        )


def _all_may_look_different(world, manager):
    """Permissions reach down, so that every object may show others now."""
    kinds = (
        *FIELD_CARRIERS,
        "ResourcePool",
        "Network",
        "DistributedVirtualPortgroup",
        "VmwareDistributedVirtualSwitch",
    )
    world.touch(manager, *(one for kind in kinds for one in world.of_kind(kind)))


def _refuse_taken(manager, name):
    if any(field.name == name for field in manager.fields.values()):
        raise vim.fault.DuplicateName(
            msg=f"The name '{name}' already exists.", name=name, object=types.reference(manager)
        )


def _no_field():
    return vim.fault.NotFound(msg="The object or item referred to could not be found.")


def _carriers(world):
    """Return all objects of the inventory that can have custom fields."""
    return [one for kind in FIELD_CARRIERS for one in world.of_kind(kind)]


def _known_user(call, name):
    user = accounts.account(call.world, name)
    if user is None:
        raise vim.fault.UserNotFound(msg="The user or group was not found.", principal=name, unresolved=True)
    return user


def _granted(call, user, ref, asked):
    target = call.resolve(ref)
    return make(
        vim.AuthorizationManager.EntityPrivilege,
        entity=ref,
        privAvailability=[
            make(
                vim.AuthorizationManager.PrivilegeAvailability,
                privId=name,
                isGranted=call.world.permissions.may(user, name, target),
            )
            for name in asked or []
        ],
    )
