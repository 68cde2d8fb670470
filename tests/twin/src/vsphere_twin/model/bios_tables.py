"""BIOS attributes of the vendors' servers: names, types, values, dependencies, and their effect on ESXi.

Names and values: dumps of iDRAC and iLO BIOS resources, and the names that Supermicro's X12 registries carry. Those of
the vendor called other have no meaning in their names, as on many boards with firmware of AMI.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ENABLED = ("Enabled", "Disabled")
ENABLE = ("Enable", "Disable")


@dataclass(frozen=True)
class Attribute:
    """One attribute of a registry."""

    name: str
    factory: object
    values: tuple = ()  # of an enumeration
    display: str = ""
    kind: str = "Enumeration"  # or String, Integer, Boolean
    read_only: bool = False
    ready: object = None  # the value of a host that is prepared for vGPUs, where it is another one
    bounds: tuple = (0, 0)
    menu: str = "./"


@dataclass(frozen=True)
class Table:
    """Attributes and behaviour of a vendor's BIOS."""

    registry: str
    attributes: tuple
    functions: dict  # function: (attribute, values that mean that it is on)
    # While this attribute has another value than the given one, these are read-only.
    locks: tuple = ()  # (attribute, value, locked attributes)
    # A value of this attribute that sets others: {attribute: {value: {other: value}}}
    profiles: dict = field(default_factory=dict)

    def attribute(self, name):
        return next((one for one in self.attributes if one.name == name), None)


DELL_DAPC = {"ProcCStates": "Enabled", "ProcC1E": "Enabled"}
DELL_PERFORMANCE = {"ProcCStates": "Disabled", "ProcC1E": "Disabled"}
DELL = Table(
    registry="BiosAttributeRegistryH08.v1_2_12",
    attributes=(
        Attribute("SystemModelName", "PowerEdge R750xa", kind="String", read_only=True, display="System Model Name"),
        Attribute("SystemBiosVersion", "1.12.1", kind="String", read_only=True, display="System BIOS Version"),
        Attribute("AssetTag", "", kind="String", bounds=(0, 63), display="Asset Tag"),
        Attribute("BootMode", "Uefi", ("Uefi", "Bios"), "Boot Mode", menu="./BootSettingsRef"),
        Attribute("LogicalProc", "Enabled", ENABLED, "Logical Processor", menu="./ProcSettingsRef"),
        Attribute(
            "ProcVirtualization",
            "Disabled",
            ENABLED,
            "Virtualization Technology",
            ready="Enabled",
            menu="./ProcSettingsRef",
        ),  # fmt: skip
        Attribute("ProcX2Apic", "Enabled", ENABLED, "x2APIC Mode", menu="./ProcSettingsRef"),
        Attribute("SubNumaCluster", "Disabled", ENABLED, "Sub NUMA Cluster", menu="./ProcSettingsRef"),
        Attribute(
            "SriovGlobalEnable",
            "Disabled",
            ENABLED,
            "SR-IOV Global Enable",
            ready="Enabled",
            menu="./IntegratedDevicesRef",
        ),  # fmt: skip
        Attribute(
            "MmioAbove4Gb",
            "Disabled",
            ENABLED,
            "Memory Mapped I/O above 4GB",
            ready="Enabled",
            menu="./IntegratedDevicesRef",
        ),  # fmt: skip
        Attribute(
            "MemoryMappedIOH",
            "56TB",
            ("56TB", "12TB", "512GB"),
            "Memory Mapped I/O Base",
            menu="./IntegratedDevicesRef",
        ),  # fmt: skip
        Attribute(
            "SysProfile",
            "PerfPerWattOptimizedDapc",
            (
                "PerfPerWattOptimizedDapc",
                "PerfPerWattOptimizedOs",
                "PerfOptimized",
                "PerfWorkStationOptimized",
                "Custom",
            ),
            "System Profile",
            ready="PerfOptimized",
            menu="./SysProfileSettingsRef",
        ),
        Attribute("ProcCStates", "Enabled", ENABLED, "C States", ready="Disabled", menu="./SysProfileSettingsRef"),
        Attribute("ProcC1E", "Enabled", ENABLED, "C1E", ready="Disabled", menu="./SysProfileSettingsRef"),
        Attribute("AcPwrRcvryUserDelay", 120, kind="Integer", bounds=(120, 600), display="User Defined Delay"),
    ),
    functions={
        "virtualization": ("ProcVirtualization", ("Enabled",)),
        # On Intel machines of Dell one setting is said to cover VT-x and VT-d [unsure].
        "iommu": ("ProcVirtualization", ("Enabled",)),
        "sriov": ("SriovGlobalEnable", ("Enabled",)),
        "above_4g": ("MmioAbove4Gb", ("Enabled",)),
        "performance": ("SysProfile", ("PerfOptimized",)),
        "c_states_off": ("ProcCStates", ("Disabled",)),
    },
    locks=(("SysProfile", "Custom", ("ProcCStates", "ProcC1E")),),
    profiles={
        "SysProfile": {
            "PerfPerWattOptimizedDapc": DELL_DAPC,
            "PerfPerWattOptimizedOs": DELL_DAPC,
            "PerfOptimized": DELL_PERFORMANCE,
            "PerfWorkStationOptimized": DELL_PERFORMANCE,
        }
    },
)

HPE_PROFILES = {
    "GeneralPowerEfficientCompute": {
        "PowerRegulator": "DynamicPowerSavings",
        "EnergyPerfBias": "BalancedPerf",
        "MinProcIdlePower": "C6",
        "MinProcIdlePkgState": "C6Retention",
    },
    "Virtualization-PowerEfficient": {
        "ProcVirtualization": "Enabled",
        "IntelProcVtd": "Enabled",
        "Sriov": "Enabled",
        "PowerRegulator": "DynamicPowerSavings",
        "EnergyPerfBias": "BalancedPerf",
        "MinProcIdlePower": "C6",
        "MinProcIdlePkgState": "C6Retention",
    },
    "Virtualization-MaxPerformance": {
        "ProcVirtualization": "Enabled",
        "IntelProcVtd": "Enabled",
        "Sriov": "Enabled",
        "PowerRegulator": "StaticHighPerf",
        "EnergyPerfBias": "MaxPerf",
        "MinProcIdlePower": "NoCStates",
        "MinProcIdlePkgState": "NoState",
    },
    "LowLatency": {
        "ProcVirtualization": "Disabled",
        "IntelProcVtd": "Disabled",
        "Sriov": "Disabled",
        "PowerRegulator": "StaticHighPerf",
        "EnergyPerfBias": "MaxPerf",
        "MinProcIdlePower": "NoCStates",
        "MinProcIdlePkgState": "NoState",
    },
}
HPE = Table(
    registry="BiosAttributeRegistryU46.v1_1_90",
    attributes=(
        Attribute("ServerName", "", kind="String", bounds=(0, 14), display="Server Name"),
        Attribute("SerialNumber", "", kind="String", read_only=True, display="Serial Number"),
        Attribute("BootMode", "Uefi", ("Uefi", "LegacyBios"), "Boot Mode"),
        Attribute(
            "WorkloadProfile",
            "GeneralPowerEfficientCompute",
            (*HPE_PROFILES, "Custom"),
            "Workload Profile",
            ready="Virtualization-MaxPerformance",
        ),
        Attribute("ProcVirtualization", "Disabled", ENABLED, "Intel(R) Virtualization Technology", ready="Enabled"),
        Attribute("IntelProcVtd", "Disabled", ENABLED, "Intel(R) VT-d", ready="Enabled"),
        Attribute("Sriov", "Disabled", ENABLED, "SR-IOV", ready="Enabled"),
        Attribute("PciResourcePadding", "Normal", ("Normal", "High", "Disabled"), "PCI Resource Padding", ready="High"),
        Attribute(
            "PowerRegulator",
            "DynamicPowerSavings",
            ("DynamicPowerSavings", "StaticLowPower", "StaticHighPerf", "OsControl"),
            "Power Regulator",
            ready="StaticHighPerf",
        ),
        Attribute(
            "EnergyPerfBias",
            "BalancedPerf",
            ("MaxPerf", "BalancedPerf", "BalancedPower", "PowerSavingsMode"),
            "Energy/Performance Bias",
            ready="MaxPerf",
        ),
        Attribute(
            "MinProcIdlePower",
            "C6",
            ("C6", "C1E", "NoCStates"),
            "Minimum Processor Idle Power Core C-State",
            ready="NoCStates",
        ),  # fmt: skip
        Attribute(
            "MinProcIdlePkgState",
            "C6Retention",
            ("C6Retention", "C6NonRetention", "NoState"),
            "Minimum Processor Idle Power Package C-State",
            ready="NoState",
        ),
        Attribute("ProcHyperthreading", "Enabled", ENABLED, "Intel(R) Hyper-Threading"),
        Attribute("ProcX2Apic", "Enabled", ENABLED, "Processor x2APIC Support"),
        Attribute("SubNumaClustering", "Disabled", ENABLED, "Sub-NUMA Clustering"),
        Attribute("NetworkBootRetryCount", 20, kind="Integer", bounds=(0, 20), display="Network Boot Retry Count"),
    ),
    functions={
        "virtualization": ("ProcVirtualization", ("Enabled",)),
        "iommu": ("IntelProcVtd", ("Enabled",)),
        "sriov": ("Sriov", ("Enabled",)),
        # There is no switch above 4 GB; one field report needs High for virtual functions.
        "above_4g": ("PciResourcePadding", ("High",)),
        "performance": ("PowerRegulator", ("StaticHighPerf",)),
        "c_states_off": ("MinProcIdlePower", ("NoCStates",)),
    },
    locks=(("WorkloadProfile", "Custom", ("MinProcIdlePower", "MinProcIdlePkgState")),),
    profiles={"WorkloadProfile": HPE_PROFILES},
)

PACKAGE_STATES = ("C0/C1 state", "C2 state", "Auto")
SUPERMICRO = Table(
    registry="BiosAttributeRegistry.v1_0_0",
    attributes=(
        Attribute("QuietBoot#002E", True, kind="Boolean", display="Quiet Boot"),
        Attribute("BootModeSelect#0070", "UEFI", ("LEGACY", "UEFI", "DUAL"), "Boot mode select"),
        Attribute("Hyper-Threading[ALL]#00DA", "Enable", ENABLE, "Hyper-Threading [ALL]"),
        Attribute(
            "IntelVirtualizationTechnology#3C2E", "Disable", ENABLE, "Intel Virtualization Technology", ready="Enable"
        ),
        Attribute(
            "IntelVTforDirectedI/O(VT-d)#1E12", "Disable", ENABLE, "Intel VT for Directed I/O (VT-d)", ready="Enable"
        ),
        Attribute("SR-IOVSupport#0048", "Disabled", ENABLED, "SR-IOV Support", ready="Enabled"),
        Attribute("Above4GDecoding#0044", "Disabled", ENABLED, "Above 4G Decoding", ready="Enabled"),
        Attribute("MMIOHighBase#0A1C", "32T", ("56T", "40T", "32T", "24T"), "MMIO High Base"),
        Attribute(
            "PowerTechnology#00E1",
            "Energy Efficient",
            ("Disable", "Energy Efficient", "Custom"),
            "Power Technology",
            ready="Custom",
        ),  # fmt: skip
        Attribute(
            "PowerPerformanceTuning#00E6",
            "OS Controls EPB",
            ("OS Controls EPB", "BIOS Controls EPB"),
            "Power Performance Tuning",
            ready="BIOS Controls EPB",
        ),  # fmt: skip
        Attribute(
            "ENERGY_PERF_BIAS_CFGMode#00E7",
            "Balanced Performance",
            ("Extreme Performance", "Maximum Performance", "Performance", "Balanced Performance", "Power"),
            "ENERGY_PERF_BIAS_CFG Mode",
            ready="Maximum Performance",
        ),
        Attribute("CPUC6Report#00F1", "Enable", (*ENABLE, "Auto"), "CPU C6 Report", ready="Disable"),
        Attribute("EnhancedHaltState(C1E)#00F2", "Enable", ENABLE, "Enhanced Halt State (C1E)", ready="Disable"),
        Attribute("PackageCState#00F4", "Auto", PACKAGE_STATES, "Package C State", ready="C0/C1 state"),
    ),
    functions={
        "virtualization": ("IntelVirtualizationTechnology#3C2E", ("Enable",)),
        "iommu": ("IntelVTforDirectedI/O(VT-d)#1E12", ("Enable",)),
        "sriov": ("SR-IOVSupport#0048", ("Enabled",)),
        "above_4g": ("Above4GDecoding#0044", ("Enabled",)),
        "performance": ("ENERGY_PERF_BIAS_CFGMode#00E7", ("Maximum Performance", "Extreme Performance")),
        "c_states_off": ("CPUC6Report#00F1", ("Disable",)),
    },
)

OTHER = Table(
    registry="BiosAttributeRegistry0ACRK.1.0.0",
    attributes=(
        Attribute("CRFR001", "CRFR001Disabled", ("CRFR001Enabled", "CRFR001Disabled"), "Setup item 1"),
        Attribute("CPUF014", "CPUF014Off", ("CPUF014On", "CPUF014Off"), "Setup item 2", ready="CPUF014On"),
        Attribute("IIOS1FE", "IIOS1FEOff", ("IIOS1FEOn", "IIOS1FEOff"), "Setup item 3", ready="IIOS1FEOn"),
        Attribute("PCIS007", "PCIS007Off", ("PCIS007On", "PCIS007Off"), "Setup item 4", ready="PCIS007On"),
        Attribute("PCIS010", "PCIS010Off", ("PCIS010On", "PCIS010Off"), "Setup item 5", ready="PCIS010On"),
        Attribute("PMCF021", "PMCF021Bal", ("PMCF021Bal", "PMCF021Perf"), "Setup item 6", ready="PMCF021Perf"),
        Attribute("PMCF022", "PMCF022On", ("PMCF022On", "PMCF022Off"), "Setup item 7", ready="PMCF022Off"),
    ),
    functions={
        "virtualization": ("CPUF014", ("CPUF014On",)),
        "iommu": ("IIOS1FE", ("IIOS1FEOn",)),
        "sriov": ("PCIS007", ("PCIS007On",)),
        "above_4g": ("PCIS010", ("PCIS010On",)),
        "performance": ("PMCF021", ("PMCF021Perf",)),
        "c_states_off": ("PMCF022", ("PMCF022Off",)),
    },
)
TABLES = {"dell": DELL, "hpe": HPE, "supermicro": SUPERMICRO, "other": OTHER}
