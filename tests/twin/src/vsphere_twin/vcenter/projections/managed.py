"""Common properties of every object of the inventory."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import accounts

from .. import calls, types
from ..registry import prop
from .shape import make


@prop("ManagedEntity", "name")
def name(entity, world):
    return entity.name


@prop("ManagedEntity", "parent")
def parent(entity, world):
    return entity.parent


@prop("VirtualMachine", "parentVApp")
@prop("VirtualApp", "parentVApp")
@prop("VirtualApp", "parentFolder")
def no_virtual_app(entity, world):
    """There are no vApps, so nothing lies in one; clients ask all the same."""


@prop("ManagedEntity", "overallStatus")
def overall_status(entity, world):
    return entity.status


@prop("ManagedEntity", "configStatus")
def config_status(entity, world):
    return entity.status


@prop("ManagedEntity", "configIssue")
def config_issue(entity, world):
    return []


@prop("ManagedEntity", "effectiveRole")
def effective_role(entity, world):
    """Return the role of the calling user; empty outside of a call."""
    call = calls.current()
    return [role.number for role in world.permissions.held(call.session.user, entity)] if call else []


@prop("ManagedEntity", "permission")
def permission(entity, world):
    return [shown(row) for row in world.permissions.on(entity)]


def shown(row):
    """Return one permission in the form of the API."""
    return make(
        vim.AuthorizationManager.Permission,
        entity=row.entity,
        principal=accounts.principal(row.user),
        group=False,
        roleId=row.role.number,
        propagate=row.propagate,
    )


@prop("ManagedEntity", "disabledMethod")
def disabled_method(entity, world):
    return []


@prop("ManagedEntity", "recentTask")
def recent_task(entity, world):
    return list(entity.recent_tasks)


@prop("ManagedEntity", "declaredAlarmState")
def declared_alarm_state(entity, world):
    return []


@prop("ManagedEntity", "triggeredAlarmState")
def triggered_alarm_state(entity, world):
    return []


@prop("ManagedEntity", "alarmActionsEnabled")
def alarm_actions_enabled(entity, world):
    return True


@prop("ManagedEntity", "tag")
def tag(entity, world):
    return []


@prop("ManagedEntity", "customValue")
def custom_value(entity, world):
    return [
        make(vim.CustomFieldsManager.StringValue, key=key, value=value) for key, value in entity.custom_values.items()
    ]


@prop("ExtensibleManagedObject", "value")
def value(entity, world):
    return custom_value(entity, world) if hasattr(entity, "custom_values") else []


@prop("ExtensibleManagedObject", "availableField")
def available_field(entity, world):
    fields = world.get("CustomFieldsManager").fields
    kinds = {None, *types.ancestors(entity.kind)}
    return [field for field in fields.values() if getattr(field.managedObjectType, "_wsdlName", None) in kinds]
