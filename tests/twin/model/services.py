"""The services with fixed names that every vCenter has, beside those of the protocol itself."""

from __future__ import annotations

from .world import Entity

# Managed object id: type. The ids are vCenter's own.
SERVICES = {
    "AlarmManager": "AlarmManager",
    "AuthorizationManager": "AuthorizationManager",
    "CertificateManager": "CertificateManager",
    "ClusterProfileManager": "ClusterProfileManager",
    "ComplianceManager": "ProfileComplianceManager",
    "CryptoManager": "CryptoManagerKmip",
    "CustomFieldsManager": "CustomFieldsManager",
    "CustomizationSpecManager": "CustomizationSpecManager",
    "DVSManager": "DistributedVirtualSwitchManager",
    "EventManager": "EventManager",
    "ExtensionManager": "ExtensionManager",
    "FileManager": "FileManager",
    "HostProfileManager": "HostProfileManager",
    "LicenseManager": "LicenseManager",
    "LicenseAssignmentManager": "LicenseAssignmentManager",
    "OvfManager": "OvfManager",
    "PerfMgr": "PerformanceManager",
    "ScheduledTaskManager": "ScheduledTaskManager",
    "SearchIndex": "SearchIndex",
    "StorageResourceManager": "StorageResourceManager",
    "TaskManager": "TaskManager",
    "UserDirectory": "UserDirectory",
    "VpxSettings": "OptionManager",
    "guestOperationsManager": "GuestOperationsManager",
    "virtualDiskManager": "VirtualDiskManager",
}


class Service(Entity):
    """One of the services; what it keeps is plain data."""

    def __init__(self, kind, moid):
        self.kind = kind
        super().__init__(moid)


class Fields(Service):
    """The custom fields that objects may carry."""

    def __init__(self, kind, moid):
        super().__init__(kind, moid)
        self.fields = {}


class Settings(Service):
    """vCenter's own advanced settings."""

    def __init__(self, kind, moid):
        super().__init__(kind, moid)
        self.values = {
            "vgpu.hotmigrate.enabled": False,
            "VirtualCenter.InstanceName": "vcenter.example",
            "config.vpxd.hostnameUrl": "vcenter.example",
            "mail.smtp.port": 25,
        }


CLASSES = {"CustomFieldsManager": Fields, "VpxSettings": Settings}


def add_all(world):
    """Add every service to the world."""
    for moid, kind in SERVICES.items():
        world.add(CLASSES.get(moid, Service)(kind, moid))
