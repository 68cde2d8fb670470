"""The BIOS settings of a service: the active resource, the settings that wait, and the registry that explains both."""

from __future__ import annotations

from vsphere_twin.model import bmc as bmcs

from .messages import Problem

APPLY_TIMES = {"dell": ["OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset"]}


def active(service):
    """The settings that the machine runs with."""
    layout, bmc = service.layout, service.bmc
    body = {
        "@odata.type": "#Bios.v1_1_1.Bios",
        "Id": "Bios",
        "Name": "BIOS Configuration Current Settings",
        "AttributeRegistry": bmc.table.registry,
        "Attributes": dict(bmc.active),
        "@Redfish.Settings": {
            "@odata.type": "#Settings.v1_3_1.Settings",
            "SettingsObject": {"@odata.id": service.settings_path},
            "SupportedApplyTimes": APPLY_TIMES.get(bmc.vendor, ["OnReset"]),
        },
        "Actions": {
            "#Bios.ResetBios": {"target": layout.path(*layout.system_path, "Bios", "Actions", "Bios.ResetBios")},
            "#Bios.ChangePassword": {
                "target": layout.path(*layout.system_path, "Bios", "Actions", "Bios.ChangePassword")
            },
        },
    }
    if layout.jobs:
        body["@Redfish.Settings"]["Messages"] = []
    return body


def settings(service):
    """Return the values staged for the next boot."""
    layout, bmc = service.layout, service.bmc
    body = {
        "@odata.type": "#Bios.v1_1_1.Bios",
        "Id": layout.settings.rpartition("/")[2],
        "Name": "BIOS Configuration Pending Settings",
        "AttributeRegistry": bmc.table.registry,
        "Attributes": {**bmc.active, **bmc.staged} if layout.whole_settings else dict(bmc.staged),
    }
    if layout.jobs:
        target = layout.path(
            *layout.system_path, *layout.settings.split("/"), "Actions", "Oem", "DellManager.ClearPending"
        )
        body["Actions"] = {"Oem": {"#DellManager.ClearPending": {"target": target}}}
    return body


def registry_file(service):
    """Return the location of the registry."""
    name = service.bmc.table.registry
    return {
        "@odata.type": "#MessageRegistryFile.v1_1_0.MessageRegistryFile",
        "Id": name,
        "Name": "BIOS Attribute Registry File",
        "Registry": name,
        "Languages": ["en"],
        "Location": [{"Language": "en", "Uri": service.layout.path(*service.registry_path.split("/"))}],
    }


def registry(service):
    """Return the attributes, and their dependencies."""
    bmc = service.bmc
    return {
        "@odata.type": "#AttributeRegistry.v1_3_3.AttributeRegistry",
        "Id": bmc.table.registry,
        "Name": "BIOS Attribute Registry",
        "Language": "en",
        "OwningEntity": service.layout.manufacturer,
        "RegistryVersion": "1.0.0",
        "SupportedSystems": [{"ProductName": bmc.host.hardware.model, "FirmwareVersion": "1.12.1"}],
        "RegistryEntries": {
            "Attributes": [_entry(bmc, one) for one in bmc.table.attributes],
            "Dependencies": _dependencies(bmc.table),
            "Menus": [{"MenuName": "BiosMainMenu", "DisplayName": "BIOS Configuration", "MenuPath": "./"}],
        },
    }


def patch(service, body, headers):
    """PATCH the settings: validate them as the BMC does, and return its answer."""
    attributes = body.get("Attributes")
    if not isinstance(attributes, dict):
        raise Problem("PropertyMissing", "Attributes")
    for name in body:
        if name not in ("Attributes", "@Redfish.SettingsApplyTime"):
            raise Problem("PropertyUnknown", name)
    bmcs.stage(service.world, service.bmc, attributes)
    layout, vendor = service.layout, service.bmc.vendor
    if layout.jobs and body.get("@Redfish.SettingsApplyTime", {}).get("ApplyTime") == "OnReset":
        if not service.bmc.staged:
            return service.said("Success")
        job = bmcs.schedule(service.world, service.bmc)
        return service.said("Success", status=202, headers={"Location": layout.path("TaskService", "Tasks", job.id)})
    if vendor == "hpe":
        return service.said("ResetRequired")
    return service.done() if vendor == "other" else service.said("Success")


def _entry(bmc, one):
    entry = {
        "AttributeName": one.name,
        "DisplayName": one.display or one.name,
        "Type": one.kind,
        "MenuPath": one.menu,
        "ReadOnly": bmc.read_only(one.name, bmc.active),
        "ResetRequired": True,
        "Hidden": False,
        "DefaultValue": one.factory,
        "CurrentValue": None,
    }
    if one.kind == "Enumeration":
        entry["Value"] = [{"ValueName": value, "ValueDisplayName": value} for value in one.values]
    elif one.kind == "Integer":
        entry["LowerBound"], entry["UpperBound"] = one.bounds
    elif one.kind == "String":
        entry["MinLength"], entry["MaxLength"] = one.bounds
    return entry


def _dependencies(table):
    found = []
    for key, value, locked in table.locks:
        found += [_dependency(key, "NEQ", value, name, "ReadOnly", True) for name in locked]
    for key, profiles in table.profiles.items():
        for value, others in profiles.items():
            found += [_dependency(key, "EQU", value, name, "CurrentValue", set_to) for name, set_to in others.items()]
    return found


def _dependency(key, condition, value, name, prop, set_to):
    return {
        "DependencyFor": name,
        "Type": "Map",
        "Dependency": {
            "MapFrom": [
                {
                    "MapFromAttribute": key,
                    "MapFromProperty": "CurrentValue",
                    "MapFromCondition": condition,
                    "MapFromValue": value,
                }
            ],
            "MapToAttribute": name,
            "MapToProperty": prop,
            "MapToValue": set_to,
        },
    }
