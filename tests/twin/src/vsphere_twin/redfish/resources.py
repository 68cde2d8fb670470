"""Resources of a Redfish service, beside its BIOS settings."""

from __future__ import annotations

from . import bios

UNKNOWN_END = "TIME_NA"


def catalogue(service):
    """Every resource that can be read: {path parts: function that gives its body}."""
    layout = service.layout
    system, manager, chassis = layout.system_path, layout.manager_path, ("Chassis", layout.chassis)
    found = {
        (): root,
        ("Systems",): _collection("ComputerSystem", [system]),
        system: computer_system,
        ("Managers",): _collection("Manager", [manager]),
        manager: manager_of,
        ("Chassis",): _collection("Chassis", [chassis]),
        chassis: chassis_of,
        ("SessionService",): session_service,
        ("SessionService", "Sessions"): sessions,
        ("TaskService",): task_service,
        ("TaskService", "Tasks"): lambda one: _members(one, "Task", [("TaskService", "Tasks", j.id) for j in one.jobs]),
        (*system, "Bios"): bios.active,
        (*system, *layout.settings.split("/")): bios.settings,
        ("Registries",): _collection("MessageRegistryFile", [("Registries", service.bmc.table.registry)]),
        ("Registries", service.bmc.table.registry): bios.registry_file,
        tuple(service.registry_path.split("/")): bios.registry,
    }
    for key in service.sessions:
        found["SessionService", "Sessions", key] = _session(key)
    if layout.jobs:
        found[(*manager, "Jobs")] = lambda one: _members(one, "DellJob", [(*manager, "Jobs", j.id) for j in one.jobs])
        for job in service.jobs:
            found[(*manager, "Jobs", job.id)] = _job(job)
            found["TaskService", "Tasks", job.id] = _task(job)
    return found


def root(service):
    """The service root, which anyone may read."""
    return {
        "@odata.type": "#ServiceRoot.v1_6_0.ServiceRoot",
        "Id": "RootService",
        "Name": "Root Service",
        "RedfishVersion": "1.9.0",
        "UUID": service.bmc.host.uuid,
        "Vendor": service.layout.manufacturer,
        "Product": service.layout.product,
        "ProtocolFeaturesSupported": {
            "ExcerptQuery": False,
            "ExpandQuery": {"ExpandAll": False, "Levels": False, "Links": False, "NoLinks": False},
            "FilterQuery": False,
            "SelectQuery": False,
        },
        "Systems": service.link("Systems"),
        "Managers": service.link("Managers"),
        "Chassis": service.link("Chassis"),
        "SessionService": service.link("SessionService"),
        "Tasks": service.link("TaskService"),
        "Registries": service.link("Registries"),
        "Links": {"Sessions": service.link("SessionService", "Sessions")},
    }


def computer_system(service):
    """The server that runs ESXi."""
    layout, host = service.layout, service.bmc.host
    hardware = host.hardware
    target = layout.path(*layout.system_path, "Actions", "ComputerSystem.Reset")
    return {
        "@odata.type": "#ComputerSystem.v1_12_0.ComputerSystem",
        "Id": layout.system,
        "Name": "System",
        "SystemType": "Physical",
        "Manufacturer": layout.manufacturer,
        "Model": hardware.model,
        "SerialNumber": hardware.serial,
        "SKU": hardware.serial,
        "UUID": host.uuid,
        "HostName": host.name,
        "BiosVersion": "1.12.1",
        "PowerState": service.power_state,
        "PowerRestorePolicy": "LastState",
        "BootProgress": {"LastState": _progress(host)},
        "Status": {
            "State": "Enabled" if host.power == "poweredOn" else "Disabled",
            "Health": "OK",
            "HealthRollup": "OK",
        },
        "Boot": {
            "BootSourceOverrideEnabled": service.bmc.boot_override["enabled"],
            "BootSourceOverrideTarget": service.bmc.boot_override["target"],
            "BootSourceOverrideMode": "UEFI",
            "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Cd", "Hdd", "BiosSetup"],
        },
        "ProcessorSummary": {
            "Count": hardware.sockets,
            "CoreCount": hardware.cores,
            "LogicalProcessorCount": 2 * hardware.cores,
            "Model": hardware.cpu_model,
            "Status": {"Health": "OK", "State": "Enabled"},
        },
        "MemorySummary": {
            "TotalSystemMemoryGiB": hardware.memory_gb,
            "Status": {"Health": "OK", "State": "Enabled"},
        },
        "Bios": service.link(*layout.system_path, "Bios"),
        "Links": {
            "Chassis": [service.link("Chassis", layout.chassis)],
            "ManagedBy": [service.link(*layout.manager_path)],
        },
        "Actions": {
            "#ComputerSystem.Reset": {
                "target": target,
                "ResetType@Redfish.AllowableValues": list(service.bmc.system_reset_types),
            }
        },
    }


def manager_of(service):
    """The BMC itself."""
    layout = service.layout
    body = {
        "@odata.type": "#Manager.v1_9_0.Manager",
        "Id": layout.manager,
        "Name": "Manager",
        "ManagerType": "BMC",
        "Model": layout.product,
        "FirmwareVersion": "6.10.80.00" if layout.jobs else "2.72",
        "UUID": service.bmc.host.uuid,
        "PowerState": "On",
        "Status": {"State": "Enabled", "Health": "OK"},
        "Links": {
            "ManagerForServers": [service.link(*layout.system_path)],
            "ManagerForChassis": [service.link("Chassis", layout.chassis)],
        },
        "Actions": {
            "#Manager.Reset": {
                "target": layout.path(*layout.manager_path, "Actions", "Manager.Reset"),
                "ResetType@Redfish.AllowableValues": ["GracefulRestart"],
            }
        },
    }
    if layout.jobs:
        body["Links"]["Oem"] = {"Dell": {"Jobs": service.link(*layout.manager_path, "Jobs")}}
    return body


def chassis_of(service):
    """The box."""
    layout, hardware = service.layout, service.bmc.host.hardware
    return {
        "@odata.type": "#Chassis.v1_14_0.Chassis",
        "Id": layout.chassis,
        "Name": "Computer System Chassis",
        "ChassisType": "RackMount",
        "Manufacturer": layout.manufacturer,
        "Model": hardware.model,
        "SerialNumber": hardware.serial,
        "PowerState": service.power_state,
        "Status": {"State": "Enabled", "Health": "OK"},
        "Links": {
            "ComputerSystems": [service.link(*layout.system_path)],
            "ManagedBy": [service.link(*layout.manager_path)],
        },
    }


def session_service(service):
    """Return the service for logins."""
    return {
        "@odata.type": "#SessionService.v1_1_8.SessionService",
        "Id": "SessionService",
        "Name": "Session Service",
        "ServiceEnabled": True,
        "SessionTimeout": 1800,
        "Sessions": service.link("SessionService", "Sessions"),
    }


def sessions(service):
    """Return the present sessions."""
    return _members(service, "Session", [("SessionService", "Sessions", key) for key in service.sessions])


def task_service(service):
    """Return the service for tasks."""
    return {
        "@odata.type": "#TaskService.v1_1_5.TaskService",
        "Id": "TaskService",
        "Name": "Task Service",
        "ServiceEnabled": True,
        "Tasks": service.link("TaskService", "Tasks"),
    }


def _session(key):
    def body(service):
        return {
            "@odata.type": "#Session.v1_3_0.Session",
            "Id": key,
            "Name": "User Session",
            "UserName": service.bmc.username,
        }

    return body


def _job(job):
    def body(service):
        return {
            "@odata.type": "#DellJob.v1_2_0.DellJob",
            "Id": job.id,
            "Name": "Configure: BIOS.Setup.1-1",
            "JobType": "BIOSConfiguration",
            "JobState": job.state,
            "Message": job.message,
            "MessageId": {"Scheduled": "JCP001", "Completed": "PR19", "Failed": "PR21"}[job.state],
            "MessageArgs": [],
            "PercentComplete": 0 if job.state == "Scheduled" else 100,
            "StartTime": job.started.isoformat(timespec="seconds"),
            "EndTime": UNKNOWN_END,
            "TargetSettingsURI": service.settings_path,
        }

    return body


def _task(job):
    def body(service):
        return {
            "@odata.type": "#Task.v1_5_0.Task",
            "Id": job.id,
            "Name": "Configure: BIOS.Setup.1-1",
            "TaskState": {"Scheduled": "Pending", "Completed": "Completed", "Failed": "Exception"}[job.state],
            "TaskStatus": "Critical" if job.state == "Failed" else "OK",
            "PercentComplete": 0 if job.state == "Scheduled" else 100,
            "StartTime": job.started.isoformat(timespec="seconds"),
            "Messages": [{"Message": job.message, "MessageArgs": []}],
        }

    return body


def _collection(kind, members):
    return lambda service: _members(service, kind, members)


def _members(service, kind, members):
    return {
        "@odata.type": f"#{kind}Collection.{kind}Collection",
        "Name": f"{kind} Collection",
        "Members": [service.link(*one) for one in members],
        "Members@odata.count": len(members),
    }


def _progress(host):
    if host.power != "poweredOn":
        return "None"
    return "OSRunning" if host.running_esxi else "SystemHardwareInitializationComplete"
