# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Registries and active settings of servers, in the form of the DMTF's schemas, cut down to what the tests need."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import function_plan, registry
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios_state import BiosState


def choice(name, *values, display="", **flags):
    """The registry's entry of an enumeration."""
    allowed = [{"ValueName": value, "ValueDisplayName": value} for value in values]
    return {"AttributeName": name, "DisplayName": display, "Type": "Enumeration", "Value": allowed, **flags}


def term(name, condition, value, joined=None, of="CurrentValue"):
    found = {"MapFromAttribute": name, "MapFromProperty": of, "MapFromCondition": condition, "MapFromValue": value}
    return {**found, "MapTerms": joined} if joined else found


def rule(target, affected, value, *terms):
    """The registry's entry of a dependency."""
    said = {"MapFrom": list(terms), "MapToAttribute": target, "MapToProperty": affected, "MapToValue": value}
    return {"DependencyFor": target, "Type": "Map", "Dependency": said}


def body(*attributes, rules=()):
    entries = {"Attributes": list(attributes), "Dependencies": list(rules)}
    return {"Id": "BiosAttributeRegistryT1.v1_0_0", "RegistryEntries": entries}


ON_OFF = ("Enabled", "Disabled")
DELL = body(
    choice("ProcVirtualization", *ON_OFF),
    choice("SriovGlobalEnable", *ON_OFF, display="SR-IOV Global Enable"),
    choice("MmioAbove4Gb", *ON_OFF),
    choice("SysProfile", "PerfPerWattOptimizedDapc", "PerfOptimized", "Custom"),
    choice("ProcCStates", *ON_OFF, ReadOnly=True),
    choice("ProcC1E", *ON_OFF, ReadOnly=True),
    choice("SystemBiosVersion", ReadOnly=True),
    {"AttributeName": "AcPwrRcvryUserDelay", "Type": "Integer", "LowerBound": 120, "UpperBound": 600},
    {"AttributeName": "AssetTag", "Type": "String", "MaxLength": 8},
    {"AttributeName": "SetupPassword", "Type": "Password"},
)
# As the registries of iDRACs have it.
DELL_RULES = [
    rule(name, "ReadOnly", True, term("SysProfile", "NEQ", "Custom")) for name in ("ProcCStates", "ProcC1E")
] + [
    rule(name, "CurrentValue", value, term("SysProfile", "EQU", profile))
    for name in ("ProcCStates", "ProcC1E")
    for profile, value in (("PerfOptimized", "Disabled"), ("PerfPerWattOptimizedDapc", "Enabled"))
]
HPE = body(
    choice("WorkloadProfile", "GeneralPowerEfficientCompute", "Virtualization-MaxPerformance", "Custom"),
    choice("ProcVirtualization", *ON_OFF),
    choice("IntelProcVtd", *ON_OFF),
    choice("Sriov", *ON_OFF),
    choice("PciResourcePadding", "Normal", "Medium", "High"),
    choice("PowerRegulator", "DynamicPowerSavings", "StaticHighPerf"),
    choice("EnergyPerfBias", "BalancedPerf", "MaxPerf"),
    choice("MinProcIdlePower", "C6", "C1E", "NoCStates"),
    choice("MinProcIdlePkgState", "C6Retention", "C6NonRetention", "NoState"),
)
SUPERMICRO = body(
    {"AttributeName": "QuietBoot_0035", "Type": "Boolean"},
    choice("IntelVirtualizationTechnology_3C2E", "Enable", "Disable"),
    choice("IntelVTforDirectedI_O_VT_d__1E12", "Enable", "Disable", display="Intel VT for Directed I/O (VT-d)"),
    choice("SR_IOVSupport_002B", *ON_OFF, display="SR-IOV Support"),
    choice("Above4GDecoding#0044", *ON_OFF),
    choice("PowerTechnology_00E1", "Disable", "Energy Efficient", "Custom"),
    choice("ENERGY_PERF_BIAS_CFGMode_00E7", "Extreme Performance", "Maximum Performance", "Balanced Performance"),
    choice("PackageCState_00F4", "C0/C1 state", "Auto"),
    choice("CPUC6Report_00F1", "Enable", "Disable", "Auto"),
)
FACTORY = {
    "dell": {
        "ProcVirtualization": "Enabled",
        "SriovGlobalEnable": "Disabled",
        "MmioAbove4Gb": "Disabled",
        "SysProfile": "PerfPerWattOptimizedDapc",
        "ProcCStates": "Enabled",
        "ProcC1E": "Enabled",
        "SystemBiosVersion": "1.12.1",
        "AcPwrRcvryUserDelay": 120,
        "AssetTag": "",
        "SetupPassword": None,
    },
    "hpe": {
        "WorkloadProfile": "GeneralPowerEfficientCompute",
        "ProcVirtualization": "Enabled",
        "IntelProcVtd": "Enabled",
        "Sriov": "Disabled",
        "PciResourcePadding": "Normal",
        "PowerRegulator": "DynamicPowerSavings",
        "EnergyPerfBias": "BalancedPerf",
        "MinProcIdlePower": "C6",
        "MinProcIdlePkgState": "C6Retention",
    },
    "supermicro": {
        "QuietBoot_0035": True,
        "IntelVirtualizationTechnology_3C2E": "Enable",
        "IntelVTforDirectedI_O_VT_d__1E12": "Disable",
        "SR_IOVSupport_002B": "Disabled",
        "Above4GDecoding#0044": "Disabled",
        "PowerTechnology_00E1": "Energy Efficient",
        "ENERGY_PERF_BIAS_CFGMode_00E7": "Balanced Performance",
        "PackageCState_00F4": "Auto",
        "CPUC6Report_00F1": "Auto",
    },
}
REGISTRIES = {"dell": DELL, "hpe": HPE, "supermicro": SUPERMICRO}


def registry_of(vendor, rules=()):
    found = REGISTRIES[vendor]
    entries = {**found["RegistryEntries"], "Dependencies": list(rules)}
    return registry.parse({**found, "RegistryEntries": entries})


def state(vendor="dell", active=None, **more):
    """A server as it comes, with other active settings where they are given."""
    attributes = {**FACTORY[vendor], **(active or {})}
    functions = function_plan.status(vendor, registry_of(vendor), attributes)
    scheduled = more.pop("scheduled", False if vendor == "dell" else None)
    return BiosState(attributes, scheduled=scheduled, functions=functions, **more)
