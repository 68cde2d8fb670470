"""The services with fixed names that every vCenter has, beside those of the protocol itself."""

from __future__ import annotations

from .customization import Specs
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
        self.values = dict(SETTINGS)


class Customizations(Service):
    """The customization specifications."""

    def __init__(self, kind, moid):
        super().__init__(kind, moid)
        self.specs = Specs()


# vCenter's advanced settings that clients read, with their defaults.
SETTINGS = {
    "VirtualCenter.InstanceName": "vcenter.example",
    "VirtualCenter.ManagedIP": "10.0.0.1",
    "VirtualCenter.MaxDBConnection": 50,
    "ads.checkInterval": 1440,
    "ads.checkIntervalEnabled": True,
    "ads.maxFetch": 5000,
    "ads.maxFetchEnabled": True,
    "ads.timeout": 60,
    "client.timeout.long": 120,
    "client.timeout.normal": 30,
    "config.vpxd.hostnameUrl": "vcenter.example",
    "event.maxAge": 30,
    "event.maxAgeEnabled": True,
    "instance.id": 1,
    "log.level": "info",
    "mail.sender": "",
    "mail.smtp.port": "25",
    "mail.smtp.server": "",
    "snmp.receiver.1.community": "public",
    "snmp.receiver.1.enabled": True,
    "snmp.receiver.1.name": "localhost",
    "snmp.receiver.1.port": 162,
    **{f"snmp.receiver.{number}.community": "" for number in (2, 3, 4)},
    **{f"snmp.receiver.{number}.enabled": False for number in (2, 3, 4)},
    **{f"snmp.receiver.{number}.name": "" for number in (2, 3, 4)},
    **{f"snmp.receiver.{number}.port": 162 for number in (2, 3, 4)},
    "task.maxAge": 30,
    "task.maxAgeEnabled": True,
    "vgpu.hotmigrate.enabled": False,
}
CLASSES = {"CustomFieldsManager": Fields, "CustomizationSpecManager": Customizations, "VpxSettings": Settings}


def add_all(world):
    """Add every service to the world."""
    for moid, kind in SERVICES.items():
        world.add(CLASSES.get(moid, Service)(kind, moid))
