"""The services with fixed names that every vCenter has, beside those of the protocol itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from .customization import Specs
from .world import Entity

# Managed object id: type. The ids are vCenter's own.
SERVICES = {
    "AlarmManager": "AlarmManager",
    "AuthorizationManager": "AuthorizationManager",
    "ClusterProfileManager": "ClusterProfileManager",
    "CompatChecker": "VirtualMachineCompatibilityChecker",
    "CryptoManager": "CryptoManagerKmip",
    "CustomFieldsManager": "CustomFieldsManager",
    "CustomizationSpecManager": "CustomizationSpecManager",
    "DVSManager": "DistributedVirtualSwitchManager",
    "DatastoreNamespaceManager": "DatastoreNamespaceManager",
    "DiagMgr": "DiagnosticManager",
    "DirectPathProfileManager": "DirectPathProfileManager",
    "EventManager": "EventManager",
    "ExtensionManager": "ExtensionManager",
    "FailoverClusterConfigurator": "FailoverClusterConfigurator",
    "FailoverClusterManager": "FailoverClusterManager",
    "FileManager": "FileManager",
    "GuestCustomizationManager": "VirtualMachineGuestCustomizationManager",
    "HealthUpdateManager": "HealthUpdateManager",
    "HostProfileManager": "HostProfileManager",
    "HostSpecificationManager": "HostSpecificationManager",
    "IoFilterManager": "IoFilterManager",
    "IpPoolManager": "IpPoolManager",
    "LicenseAssignmentManager": "LicenseAssignmentManager",
    "LicenseManager": "LicenseManager",
    "LocalizationManager": "LocalizationManager",
    "MoComplianceManager": "ProfileComplianceManager",
    "OverheadMemoryManager": "OverheadMemoryManager",
    "OvfManager": "OvfManager",
    "PerfMgr": "PerformanceManager",
    "ProvChecker": "VirtualMachineProvisioningChecker",
    "ScheduledTaskManager": "ScheduledTaskManager",
    "SearchIndex": "SearchIndex",
    "ServiceMgr": "ServiceManager",
    "SnmpSystem": "HostSnmpSystem",
    "StorageResourceManager": "StorageResourceManager",
    "TaskManager": "TaskManager",
    "TenantManager": "TenantTenantManager",
    "UserDirectory": "UserDirectory",
    "VStorageObjectManager": "VcenterVStorageObjectManager",
    "VpxSettings": "OptionManager",
    "certificateManager": "CertificateManager",
    "guestOperationsAliasManager": "GuestAliasManager",
    "guestOperationsAuthManager": "GuestAuthManager",
    "guestOperationsFileManager": "GuestFileManager",
    "guestOperationsManager": "GuestOperationsManager",
    "guestOperationsProcessManager": "GuestProcessManager",
    "guestOperationsWindowsRegistryManager": "GuestWindowsRegistryManager",
    "virtualDiskManager": "VirtualDiskManager",
}
# The same of the storage policy service (govmomi, pbm/simulator); its ids are of its own.
POLICY_SERVICES = {
    "ServiceInstance": "PbmServiceInstance",
    "SessionManager": "PbmSessionManager",
    "CapabilityMetadataManager": "PbmCapabilityMetadataManager",
    "ProfileManager": "PbmProfileProfileManager",
    "complianceManager": "PbmComplianceManager",
    "placementSolver": "PbmPlacementSolver",
    "ReplicationManager": "PbmReplicationManager",
}
# The same of the service of first-class disks (govmomi, vslm/simulator).
DISK_SERVICES = {
    "ServiceInstance": "VslmServiceInstance",
    "SessionManager": "VslmSessionManager",
    "VStorageObjectManager": "VslmVStorageObjectManager",
    "StorageLifecycleManager": "VslmStorageLifecycleManager",
}
# Services that list changes of other objects.
LISTING = ("EventManager", "TaskManager")
# First release of services that not every vCenter has; the id of this one is [unsure].
SINCE = {"DirectPathProfileManager": (9, 0, 0)}


class Service(Entity):
    """One of the services; its state is plain data."""

    def __init__(self, kind, moid):
        self.kind = kind
        super().__init__(moid)
        if kind in LISTING:
            self.version = None


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


@dataclass
class Licence:
    """A licence key and its features."""

    key: str
    edition: str
    name: str
    labels: dict = field(default_factory=dict)


class Licences(Service):
    """The licence keys of vCenter, and which of its assets has which."""

    def __init__(self, kind, moid):
        super().__init__(kind, moid)
        self.keys = {EVALUATION: Licence(EVALUATION, "eval", "Evaluation Mode")}
        self.assigned: dict[str, str] = {}  # id of a host or the vCenter: a key; evaluation without


class FirstClassDisks(Service):
    """The first-class disks of vCenter, by their identifiers."""

    def __init__(self, kind, moid):
        super().__init__(kind, moid)
        self.disks = {}


class Extensions(Service):
    """Extensions registered with vCenter, by key."""

    def __init__(self, kind, moid):
        super().__init__(kind, moid)
        self.extensions = {}


@dataclass
class DirectPathProfile:
    """A named request for one device."""

    id: str
    name: str
    description: str | None
    config: object  # a DirectPathConfig of the API
    # VM classes and others that refer to it. It cannot be deleted while there is one.
    users: set = field(default_factory=set)
    # Devices that are reserved for it and not in use.
    reserved: int = 0


class DirectPathProfiles(Service):
    """The DirectPath profiles, by their ids."""

    def __init__(self, kind, moid):
        super().__init__(kind, moid)
        self.profiles: dict[str, DirectPathProfile] = {}

    def named(self, name):
        """The profile with this name, or None."""
        return next((one for one in self.profiles.values() if one.name == name), None)


class Alarm(Service):
    """An alarm that vCenter defines on its root folder."""

    def __init__(self, moid, name, system_name, watched):
        super().__init__("Alarm", moid)
        self.name = name
        self.system_name = system_name
        self.watched = watched  # (kind of object, property path or counter, yellow, red)


EVALUATION = "00000-00000-00000-00000-00000"
ALARMS = (
    ("Host connection and power state", "alarm.HostConnectionStateAlarm", ("HostSystem", "runtime.connectionState")),
    ("Host CPU usage", "alarm.HostCPUUsageAlarm", ("HostSystem", 2, 7500, 9000)),
    ("Host memory usage", "alarm.HostMemoryUsageAlarm", ("HostSystem", 24, 9000, 9500)),
    ("Virtual machine CPU usage", "alarm.VmCPUUsageAlarm", ("VirtualMachine", 2, 7500, 9000)),
    ("Virtual machine memory usage", "alarm.VmMemoryUsageAlarm", ("VirtualMachine", 24, 8500, 9500)),
    ("Datastore usage on disk", "alarm.DatastoreDiskUsageAlarm", ("Datastore", 268, 7500, 8500)),
)
# vCenter's advanced settings, with their defaults: those with a description in a public list of vCenter 7.0.1, without
# keys and identifiers of that installation. True is a boolean, "true" a text.
SETTINGS = {
    "DBProc.Log.Buffer": 5000,
    "LicenseServer.matchHostToVirtualCenter": True,
    "Perf.Stats.MaxCollectionThreads": 2,
    "SSL.Version": "all",
    "VirtualCenter.AutoManagedIPV4": "10.0.0.1",
    "VirtualCenter.AutoManagedIPV6": "",
    "VirtualCenter.DBPassword": "",
    "VirtualCenter.DataCollector.ConsentData": "null",
    "VirtualCenter.DataCollector.Enabled": False,
    "VirtualCenter.DataCollector.Schedule": "",
    "VirtualCenter.FQDN": "vcenter.example",
    "VirtualCenter.InstanceName": "vcenter.example",
    "VirtualCenter.ManagedIP": "10.0.0.1",
    "VirtualCenter.MaxDBConnection": 50,
    "VirtualCenter.VimApiUrl": "https://vcenter.example:443/sdk",
    "VirtualCenter.VimPasswordExpirationInDays": 30,
    "WebService.Ports.http": 80,
    "WebService.Ports.https": 443,
    "ads.checkInterval": 1440,
    "ads.checkIntervalEnabled": True,
    "ads.maxFetch": 5000,
    "ads.maxFetchEnabled": True,
    "ads.timeout": 60,
    "alarms.version": -1,
    "client.VerifySSLCertificates": True,
    "client.timeout.long": 120,
    "client.timeout.normal": 30,
    "config.log.level": "info",
    "config.vdt.severity": "none",
    "config.vpxd.enableDebugBrowse": True,
    "config.vpxd.hostnameUrl": "vcenter.example",
    "etc.issue": "",
    "etc.motd": "",
    "event.batchsize": 2000,
    "event.maxAge": 30,
    "event.maxAgeEnabled": True,
    "instance.id": 1,
    "log.level": "info",
    "mail.sender": "",
    "mail.smtp.password": "",
    "mail.smtp.port": "25",
    "mail.smtp.server": "",
    "mail.smtp.username": "",
    "snmp.receiver.1.community": "public",
    "snmp.receiver.1.enabled": True,
    "snmp.receiver.1.name": "localhost",
    "snmp.receiver.1.port": 162,
    **{f"snmp.receiver.{number}.community": "" for number in (2, 3, 4)},
    **{f"snmp.receiver.{number}.enabled": False for number in (2, 3, 4)},
    **{f"snmp.receiver.{number}.name": "" for number in (2, 3, 4)},
    **{f"snmp.receiver.{number}.port": 162 for number in (2, 3, 4)},
    "task.batchsize": 2000,
    "task.maxAge": 30,
    "task.maxAgeEnabled": True,
    "vgpu.hotmigrate.enabled": False,
    "vpxd.KMS.compatCheckInterval": 5,
    "vpxd.KMS.status": 5,
    "vpxd.cert.threshold": 30,
    "vpxd.certmgmt.certs.cn.country": "US",
    "vpxd.certmgmt.certs.cn.email": "vmca@vmware.com",
    "vpxd.certmgmt.certs.cn.localityName": "Palo Alto",
    "vpxd.certmgmt.certs.cn.organizationName": "VMware",
    "vpxd.certmgmt.certs.cn.organizationalUnitName": "VMware Engineering",
    "vpxd.certmgmt.certs.cn.state": "California",
    "vpxd.certmgmt.certs.daysValid": 1825,
    "vpxd.certmgmt.certs.hardThreshold": 30,
    "vpxd.certmgmt.certs.minutesBefore": 1440,
    "vpxd.certmgmt.certs.pollIntervalDays": 5,
    "vpxd.certmgmt.certs.softThreshold": 240,
    "vpxd.certmgmt.mode": "vmca",
    "vpxd.cluster.roboMMEnabled": True,
    "vpxd.event.burstFilter.compressToDb": True,
    "vpxd.event.burstFilter.compressToSyslog": False,
    "vpxd.event.syslog.enabled": True,
    "vpxd.hostkey.newIfMissing": True,
    "vpxd.httpClientIdleTimeout": 900,
    "vpxd.kmscert.threshold": 30,
    "vpxd.license.ForceDownloadDLF": False,
    "vpxd.locale": "",
    "vpxd.motd": "",
    "vpxd.npivWwnGeneration.portWwnNumber": 4,
    "vpxd.npivWwnGeneration.singleNodeWwn": True,
    "vpxd.usageStats.duration": 1209600,
    "vpxd.usageStats.level": 0,
    "vpxd.usageStats.persist": True,
    "vpxd.vdb.space.errorPercent": 95,
    "vpxd.vdb.space.warningPercent": 80,
    "vpxd.vod.persist": True,
    "vpxd.webscriptLauncher.enabled": True,
}
CLASSES = {
    "CustomFieldsManager": Fields,
    "CustomizationSpecManager": Customizations,
    "DirectPathProfileManager": DirectPathProfiles,
    "ExtensionManager": Extensions,
    "LicenseManager": Licences,
    "VStorageObjectManager": FirstClassDisks,
    "VpxSettings": Settings,
}


def add_all(world):
    """Add every service of the release to the world."""
    for moid, kind in SERVICES.items():
        if not world.release.at_least(*SINCE.get(moid, (0,))):
            continue
        world.add(CLASSES.get(moid, Service)(kind, moid))
    for number, (name, system_name, watched) in enumerate(ALARMS, start=1):
        world.add(Alarm(f"alarm-{number}", name, system_name, watched))
