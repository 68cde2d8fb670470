# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Fields of vSphere objects by what they reveal. A text field that no table names is replaced.

A name of the form Type.field applies to the fields of one type only.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Text that describes products and hardware; it stays, unless it has the form of an address or contains a known name.
KEPT = _words(
    """
    AboutInfo.fullName AboutInfo.name ElementDescription.key ElementDescription.label ElementDescription.summary
    HostFeatureCapability.key HostService.key HostService.label apiType apiVersion AuthorizationPrivilege.privId
    AuthorizationRole.privilege biosVersion build chipset cpuFeature cpuModel deviceGroupTypes deviceProtocol
    deviceType driver driverVersion esxReleaseVersion evcMode family firmwareMajorRelease firmwareMinorRelease
    firmwareVersion graphicsType guestFamily guestFullName guestId GuestOsDescriptor.fullName
    GuestOsDescriptor.id hardwareVersion HostFeatureCapability.featureName HostGraphicsInfo.deviceName
    HostPciDevice.deviceName HostPowerPolicy.name HostPowerPolicy.shortName
    HostServiceSourcePackage.sourcePackageName hwVersion licenseProductName licenseProductVersion localeBuild
    localeVersion majorVersion model osType patchLevel pciId pciSlotNumber productLineId profileClass
    profileSharing releaseDate scsiLevel slot toolsVersion toolsVersionStatus
    toolsVersionStatus2 vendor vendorName version vgpu vgpuMode VirtualMachineDynamicPassthroughInfo.deviceName
    VirtualMachineDynamicPassthroughInfo.name VirtualMachineVendorDeviceGroupInfoComponentDeviceInfo.deviceName
    VirtualMachineVgpuDeviceInfo.deviceName VirtualMachineVgpuDeviceInfo.name
    VirtualMachineVgpuProfileInfo.profileName vmfsVersion
    """
)
# Fields of KEPT that the author of an appliance fills in freely.
OWN = _words("VAppProductInfo.fullVersion VAppProductInfo.name VAppProductInfo.vendor VAppProductInfo.version")
# A version such as 8.0.3.0 has the form of an address.
VERSIONS = _words(
    """
    apiVersion biosVersion build driverVersion esxReleaseVersion firmwareVersion licenseProductVersion
    localeBuild softwareVersion toolsVersion version vmfsVersion
    """
)
# Words of vSphere in fields of type string. The name of an object is replaced even if it is one of them.
WORDS = _words(
    """
    absolute active advertise allFeasibleDsWithUserPreference any appStatusGray appStatusGreen appStatusRed
    assigned autodetect automatic balance_slb balanced basic bios both cdp checkpoint ClusterComputeResource
    ComputeResource config consumed custom Datacenter Datastore DCUI debug defaultTcpipStack depth directPath
    disabled diskDescriptor diskExtent DistributedVirtualPortgroup DistributedVirtualSwitch down dvsUplink
    dynamic earlyBinding efi enabled encrypted ephemeral error etherswitch failover_explicit
    faultToleranceLogging flat Folder ftEncryptionDisabled ftEncryptionOpportunistic ftEncryptionRequired
    generated generic good guestToolsExecutingScripts guestToolsNotRunning guestToolsRunning guestToolsTypeMSI
    guestToolsTypeOpenVMTools guestToolsTypeTar guestToolsTypeUnknown hard high hostd hostLocal HostSystem
    hvAuto hvOn i440bxHostBridge incapable independent_nonpersistent independent_persistent info inherit
    internal ipv4 ipv6 iscsi lateBinding latest legacyFiltering linux listen lldp loadbalance_ip
    loadbalance_loadbased loadbalance_srcid loadbalance_srcmac local low lwsmd management manual medium mixed
    multipleLag Network never newreno nfs NFS NFS41 none nonpersistent normal notRunning ntp ntpClient ntpd
    ntpServer NUMA numa NUMANoSharing nvidiaVgpu nvme nvmeRdma nvmeTcp nvram online opportunistic OTHER passive
    pcieRootPort pciPassthru performance persistent powerOff PowerOff powerOn ptp pvrdma readOnly readWrite
    ready release required ResourcePool RoCEv1 rocev1 RoCEv2 rocev2 running safe shared sharedDirect
    shuttingDown singleLag slowpath snooping soft sshServer standard static stats StoragePod success supported
    suspend swap tcp terminated TSM TSM-SSH udp UEFI unencrypted unset unsupported untried up uplink UTC
    version2 version3 VFFS vffs VirtualApp VirtualMachine VirtualPCIPassthrough vmDirectory vmfs VMFS
    vmMonitoringDisabled VMotion vmotion vMotion VmwareDistributedVirtualSwitch vpxHeartbeats vpxuser vsan
    vSphereBackupNFC vSphereProvisioning vSphereReplication vSphereReplicationNFC vStorageSupported
    vStorageUnknown vStorageUnsupported warning
    """
)
# Fields of type string that have only such words. A folder with the name shared does not change them.
ENUMS = _words(
    """
    accessMode addressType appHeartbeatStatus appState backingType congestionThresholdMode cryptoState
    defaultPowerOffType defaultResetType defaultSuspendType diskMode DvsHostInfrastructureTrafficResource.key
    ElementDescription.key faultToleranceType firmware ftEncryptionMode graphicsType guestState
    hBDatastoreCandidatePolicy hostDefaultGraphicsType HostFirewallRuleset.key HostFirewallRuleset.label
    hostMonitoring HostMultipathInfoHppLogicalUnitPolicy.path HostNetStackInstance.key HostNetStackInstance.name
    hostPointingDevice htSharing isolationResponse lacpApiVersion level maintenanceMode migrateConnect
    migrateEncryption monitorType multicastFilteringMode netStackInstanceKey networkBootProtocol
    networkResourceControlVersion nicType operation origin pathState powerOffType protectionMode protocol
    rateUnits readyCondition recommendedFirmware resetType restartPriority scaleDescendantsShares
    scheduledHardwareUpgradeStatus severity sharedPassthruAssignmentPolicy sharesScalable
    snapshotPowerOffBehavior standbyAction standbyMode startAction stopAction StringOption.defaultValue
    supportedFirmware supportLevel suspendType swapPlacement systemClockProtocol toolsInstallType
    toolsRunningStatus toolsUpgradePolicy type unmapPriority upgradePolicy use3dRenderer vgpuMode
    virtualExecUsage virtualMmuUsage vmComponentProtecting vmMonitoring vmReactionOnAPDCleared vmSwapPlacement
    volumeTypeList vStorageSupport
    """
)
# Words of the REST services: kinds of libraries, items and categories, states of images and of the tasks on them.
REST_WORDS = _words(
    """
    ASSIGNED CANCELLED COMPLIANT DATASTORE ERROR GENERATED INCOMPATIBLE LOCAL MAINTENANCE_MODE_REQUIRED MULTIPLE
    NO_IMPACT NON_COMPLIANT OK OTHER PARTIAL_MAINTENANCE_MODE_REQUIRED REBOOT_REQUIRED RETRY_PENDING RUNNING SINGLE
    SKIPPED SUBSCRIBED TIMED_OUT UNAVAILABLE UNKNOWN VALID iso ovf vm-template
    """
)
# A time stamp of the REST services. Times are not replaced.
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
# Texts that identify a part or a person, even if they consist of digits.
ALWAYS = _words(
    """
    assetTag canonicalName displayName group identifierValue ownNumber principal serial serial_number
    serialNumber user userName
    """
)
# A number with more than six digits. In a text field it identifies something, beside versions and options of vSphere.
LONG = re.compile(r"\d{7,}")
NUMBERED = VERSIONS | _words("defaultValue id value")
# The value of an option whose key is none of vSphere's own.
OWN_NUMBER = "ownNumber"
# Numbers that identify a storage adapter. They are dropped.
NUMBERS = _words("nodeWorldWideName portWorldWideName")
# Free text and secrets. They are dropped, and a table of pseudonyms never contains them.
DROPPED = _words(
    """
    annotation certificate chapName chapSecret community description details entitlement eula fullFormattedMessage
    knownHosts licenseKey localizedMessage message motd mutualChapName mutualChapSecret note opaqueData password
    privateKey question readOnlyCommunities sessionKey summaryText text thumbprint ticket token
    CustomFieldStringValue.value VAppOvfSectionInfo.contents
    VAppPropertyInfo.defaultValue VAppPropertyInfo.description VAppPropertyInfo.value
    """
)


def option_field(key: str, field: str, value: str) -> str:
    """The name that a field of an option has for the replacements."""
    if field != "value":
        return field
    if SECRET_OPTION.match(key):
        return "password"
    return OWN_NUMBER if LONG.fullmatch(value) and not OPTION.fullmatch(key) else field


# Options whose values are secrets, messages or data for the guest, such as the user data of cloud-init.
SECRET_OPTION = re.compile(
    r"guestinfo\.|machine\.id$|Annotations\.|Config\.Etc\.(?:motd|issue)$|"
    r".*(?:password|passwd|secret|token|credential|community|private_?key|vnc\.key|license|certificate)",
    re.IGNORECASE,
)
# Words of faults that name nothing of a site. They stay where other texts of faults are replaced.
FAULT_TEXTS = frozenset(
    (
        "The amount of graphics resource available in the parent resource pool is insufficient for the operation.",
        "The host does not have sufficient CPU resources to satisfy the reservation.",
        "The host does not have sufficient memory resources to satisfy the reservation.",
        "The operation is not allowed in the current state.",
        "The operation is not supported on the object.",
    )
)
FAULT_FIELDS = frozenset(("localizedMessage", "msg"))
# The managed objects that have a name of their own, with the kind of their pseudonyms.
KINDS = {
    "ClusterComputeResource": "cluster",
    "ComputeResource": "compute",
    "Datacenter": "datacenter",
    "Datastore": "datastore",
    "DistributedVirtualPortgroup": "portgroup",
    "DistributedVirtualSwitch": "dvs",
    "Folder": "folder",
    "HostSystem": "host",
    "Network": "network",
    "OpaqueNetwork": "network",
    "ResourcePool": "pool",
    "StoragePod": "pod",
    "VirtualApp": "vapp",
    "VirtualMachine": "vm",
    "VmwareDistributedVirtualSwitch": "dvs",
}


def order(kind: str, moid: str) -> tuple[bool, str, int, str]:
    """The order in which names get their pseudonyms. A host without cluster has the name of its ComputeResource."""
    return kind == "ComputeResource", kind, len(moid), moid


# Names that vSphere itself gives to objects. They identify no site, and loaders look for them.
GIVEN = frozenset(["Datacenters", "Resources", "Discovered virtual machine", "datastore", "host", "network", "vm"])
# Keys of options whose first part is one of vSphere's own. Other keys can contain names.
OPTION = re.compile(
    r"(?:pciPassthru\d*|ethernet\d+|sched|numa|svga|vmotion|monitor|monitor_control|cpuid|hypervisor|scsi\d+|sata\d+|"
    r"disk|tools|vmware|nvram|virtualHW|mks|migrate|vmci\d*|pciBridge\d+|hpet\d+|Mem|Net|Disk|Cpu|Numa|Misc|UserVars|"
    r"Syslog|VirtualCenter|ads|client|config|event|instance|log|mail|snmp|task|"
    r"VMkernel|Config|Power|LPage|DataMover|NFS|VMFS3|Security|vgpu|vpxd?|das|BufferCache|CBRC|Irq|Migrate|Scsi|SunRPC|SvMotion)"
    r"(?:\.[A-Za-z0-9_]{1,40}){0,5}|(?:svga|cpuid|numa)\w{0,20}"
)
# Fields of an option. Words of vSphere stay there, although an object can have such a name.
OPTIONS = _words("key value")
ANSWERS = _words("true false yes no on off none unknown auto TRUE FALSE")
# Text of these forms reveals nothing: numbers, devices, places on the PCI bus, vGPU types, hardware versions.
HARMLESS = re.compile(
    r"""
      (?:true|false|yes|no|on|off|none|unknown|auto|TRUE|FALSE)
    | -?\d{1,12}(?:\.\d{1,6})?
    | 0x[0-9a-fA-F]{1,8}
    | (?:vmnic|vmk|vmhba|vmrdma|vusb|vSwitch|uplink|ethernet)\d{1,4}
    | key-vim\.host\.[A-Za-z]{1,30}-(?:vmnic|vmk|vmhba|vmrdma|vSwitch)\d{1,4}
    | (?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]
    | (?:grid|nvidia)_[a-z0-9_]{1,40}(?:-[a-z0-9]{1,12}){1,4}
    | vmx-\d{2}
    | (?:management|vmotion|faultToleranceLogging|nvmeRdma|nvmeTcp|vsan|vSphere[A-Za-z]{1,20})
      \.key-vim\.host\.VirtualNic-vmk\d{1,3}
    | (?:host-|vm-|domain-c|datastore-|dvportgroup-|network-|group-[dhnsv]|resgroup-|datacenter-|dvs-)\d{1,9}
    | Uplink[ ]\d{1,3}
    | (?:Hard[ ]disk|Network[ ]adapter|CD/DVD[ ]drive|Floppy[ ]drive|PCI[ ]device|USB[ ]device|Serial[ ]port|
      Parallel[ ]port|
      Video[ ]card|Keyboard|Pointing[ ]device|VMCI[ ]device|IDE|NVDIMM|Virtual[ ]TPM|Precision[ ]clock|Watchdog[ ]timer|
      (?:PCI|PS2|SCSI|SIO|SATA|NVME|USB|USB[ ]xHCI|AHCI)[ ]controller)[ ]?\d{0,4}
    | com\.vmware(?:\.[A-Za-z]{1,30}){1,5}
    """,
    re.VERBOSE,
)
