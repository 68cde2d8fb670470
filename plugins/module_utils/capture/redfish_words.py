# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Words and fields of Redfish that name no site. Every other text of a BMC is replaced.

They come from the schemas of DMTF and from identifiers that vendors use. Words that sites use in names are left out.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of identifiers and names of resources, in lower case. Numbers may follow them.
WORDS = _words(
    """
    aggregation automation composition conditions facilities nodes powerdistribution powerequipment telemetry
    thermalequipment
    a absent access account accounts action actions active actual adapter adapters address addresses all allowable
    alternate an and aol application aspeed assembly asset assignable at attribute attributes audio auto automatic
    available backplane bank bar base baseboard basic battery bay bays bf bidirectional bin bios bluefield bmc board
    bond boot booted bootloader boots bootstrap bridge broadcom bus button by cable cables cache capabilities capability
    card cards cbc cd cert chassis chip class clear clink clock code collection collections com commands complete
    component components compute computer config configuration configurations configure connected connectx consistent
    console control controller controllers controls coprocessor core cores count cpld cpu cpus current custom cx data
    database databases db dbt dbx dedicated default defaults dell descriptor device devices dhcp diagnostics dimm dimms
    direct disabled disk disks display dns down dpu dram drive driver drives duplex dvd dynamic eeprom embedded emulex
    enabled enclosure endpoint endpoints entries entry environment erot eth ethernet event events expander expansion
    extender external fabric fabrics factory failed failover fan fans fc fibre file files firmware first fixed flash
    flexiblelom flexlom flom floppy for force fpga front fru full function functions fw generic gigabit global gpu gpus
    graceful graphics group groups hard harddisk hardware hba hdd health hgx hid high hmc host hosts hot hpe hw i id
    idrac ilo image in independent info inforom infiniband inlet input instance instances int integrated intel interface
    interfaces internal inventory io ip ipmi ipv iroot irot is iscsi item job jobs jtag kek kernel key keyboard lan lc
    leak legacy lenovo level license licenses lifecycle line link linked list load local location log logical lom low
    main management manager managers manifest marvell master matrox max mctp me media mellanox mem member members memory
    message messages metadata mezz mezzanine mgmt microchip microcode micron midplane min mini minor mirror misc mlom
    mode model module modules monitor motherboard mouse multi network networks next nic nics nmi no node none normal
    not number nvdimm nvidia nvlink nvme nvram ob ocp oem of off on onboard one onboot only open openbmc operating
    optical option options or order os osp other out output package page part partition parts path pch pci pcie pcislot
    pdb peer pending persistent phy physical pk planar platform plx policy pool port ports post power powers pre present
    preset primary priority private proc process processor processormodule processors product profile profiles program
    programmable protocol provider proxy psu public pxe qlogic queue raid ram range ready real rear redfish redundancy
    redundant region registries registry remote removable required reset resource restart riser rmii role root router
    rot rules run samsung sas sata scale scsi sd secondary secure security seagate security self sensor sensors serial
    server service services session sessions setting settings setup shared shell signature signatures simple single sku
    slot slots smart smartnic smbus smc soc socket sockets software solidigm spdm special spi ssd standard standby start
    state static status storage string subsystem summary super supermicro supplies supply support supported switch
    switches sysbus system systems table tag target targets task tasks tcp temp temperature test text the thermal thread
    threads time to total tpm transport trusted tx type types uart uefi unit universal unknown up update upstream usb
    user utilities utility v value values vendor version vga vi view virtual vlan vm voltage volume vpd warning watchdog
    western wifi with without wol work write xcc xclarity year zone
    """
)
# Fields that describe products. Their text stays, unless it contains a name, a serial number or an address.
KEPT = _words(
    """
    AcceleratorType ActiveLinkTechnology AddressOrigin AddressState ApplyTime BaseModuleType BiosVersion BootMode
    BootSourceOverrideEnabled BootSourceOverrideMode BootSourceOverrideTarget BusType ChassisType ClassCode
    CompletedTaskOverWritePolicy ConnectTypesSupported ControlMode DeviceClass DeviceId DeviceLocator DeviceType
    DriveFormFactor EffectiveFamily EffectiveModel ErrorCorrection EthernetInterfaceType FirmwareVersion FlowControl
    FlowControlConfiguration FlowControlStatus FormFactor FunctionType Health HealthRollup HostingRoles InstructionSet
    InterfaceType JobState JobType Language Languages LastState LastStateValue Layer LinkNetworkTechnology LinkState
    LinkStatus LocationType ManagerType Manufacturer MaxPCIeType MediaType MemoryDeviceType MemoryMedia MemoryMirroring
    MemoryType MessageId Mode Model NetDevFuncCapabilities NetDevFuncType OperatingMemoryModes OperatingMode
    Orientation OwningEntity PCIClass PCIeType PartNumber PhysicalContext PortProtocol PortType PowerMode
    PowerRestorePolicy PowerState Product ProcessorArchitecture ProcessorType ProductName Protocol RedfishVersion
    Reference RegistryVersion ReleaseDate Revision RevisionId SecureBootCurrentBoot SecureBootMode ServiceLabel
    Severity SignalDetected SlotType Socket SoftwareId SparePartNumber Speed State Step SubModel SubsystemId
    SubsystemVendorId SupportedApplyTimes SupportedLinkCapabilities SystemType TaskState TaskStatus TransferProtocolType
    Vendor VendorId Version VersionString
    """
)
# Identifiers: kept if all of their parts are words or short numbers.
IDENTIFIERS = _words("AttributeRegistry BootOptionReference BootOrder Id MemberId Name Registry RegistryPrefix Uri")
# Fields that identify a part, a place or a person, even if their text has a harmless form.
ALWAYS = _words(
    """
    AssetTag AssociatedMACAddresses ChassisServiceTag ContactName DurableName EmailAddress ExpressServiceCode FQDN
    HostName NodeID NodeId PhoneNumber PhysicalSecurity SKU SerialNumber ServiceTag UserName Building City Contacts
    Country Name@Location Placement PostalAddress Rack Room Row Street Territory
    """
)
# Fields whose text is a name of the server.
NAMES = _words("FQDN HostName")
# Texts of a vendor that a capture keeps, in the registry of BIOS attributes.
CURRENT = "CurrentValue"
