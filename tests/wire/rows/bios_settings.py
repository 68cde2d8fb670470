from __future__ import annotations

import functools

import sushy

from ..contract import Row
from ..lab import A100, datacenter, lab

DELL, HPE = "esx-01.lab.example", "esx-02.lab.example"
NEEDED = {"virtualization": "enabled", "iommu": "enabled", "sriov": "enabled", "above_4g": "enabled"}


def system(twin, host):
    """A server as a third-party client sees it."""
    client = sushy.Sushy(
        twin.bmc_endpoints[host],
        verify=str(twin.ca_file),
        auth=sushy.auth.BasicAuth(twin.bmc_username, twin.bmc_password),
    )
    return client.get_system()


def waiting(host, twin):
    """What the next boot brings, and how much of it is scheduled in a job where the make needs one."""
    seen = system(twin, host).bios
    staged = {name: value for name, value in seen.pending_attributes.items() if seen.attributes.get(name) != value}
    with twin.world.lock:
        (server,) = [one for one in twin.world.of_kind("HostSystem") if one.name == host]
        return {"staged": staged, "job": server.bmc.scheduled_job is not None}


def at(host):
    return functools.partial(waiting, host)


FACTORY = {"seed": "factory", "faces": ("redfish",)}
ROWS = [
    Row(
        module="bios_settings",
        name="an iDRAC, with its job",
        at=DELL,
        create={"functions": NEEDED},
        modify={
            "functions": {**NEEDED, "above_4g": "disabled", "power_profile": "performance", "c_states": "disabled"},
            "conflicts": "replace",
        },
        delete={
            "functions": {**dict.fromkeys(NEEDED, "disabled"), "power_profile": "balanced"},
            "conflicts": "replace",
        },
        observe=at(DELL),
        created={
            "staged": dict.fromkeys(("ProcVirtualization", "SriovGlobalEnable", "MmioAbove4Gb"), "Enabled"),
            "job": True,
        },
        modified={
            "staged": {
                "ProcVirtualization": "Enabled",
                "SriovGlobalEnable": "Enabled",
                "SysProfile": "PerfOptimized",
            },
            "job": True,
        },
        deleted={"staged": {}, "job": False},
        **FACTORY,
    ),
    Row(
        module="bios_settings",
        name="an iLO, where single settings free the workload profile",
        at=HPE,
        create={"functions": {"above_4g": "enabled", "power_profile": "performance"}},
        modify={"functions": {"above_4g": "enabled", "power_profile": "performance", "c_states": "disabled"}},
        delete={
            "functions": {"above_4g": "disabled", "power_profile": "balanced", "c_states": "enabled"},
            "attributes": {"WorkloadProfile": "GeneralPowerEfficientCompute"},
            "conflicts": "replace",
        },
        observe=at(HPE),
        created={
            "staged": {
                "PciResourcePadding": "High",
                "WorkloadProfile": "Custom",
                "PowerRegulator": "StaticHighPerf",
                "EnergyPerfBias": "MaxPerf",
            },
            "job": False,
        },
        modified={
            "staged": {
                "PciResourcePadding": "High",
                "WorkloadProfile": "Custom",
                "PowerRegulator": "StaticHighPerf",
                "EnergyPerfBias": "MaxPerf",
                "MinProcIdlePower": "NoCStates",
                "MinProcIdlePkgState": "NoState",
            },
            "job": False,
        },
        deleted={"staged": {}, "job": False},
        **FACTORY,
    ),
    Row(
        module="bios_settings",
        name="a Supermicro board, whose names carry numbers",
        at="esx-01",
        seed=lab(state="factory", bios={"vendor": "supermicro"}),
        faces=("redfish",),
        create={"functions": NEEDED},
        modify={"functions": NEEDED, "attributes": {"Hyper-Threading[ALL]": False}},
        delete={
            "functions": dict.fromkeys(NEEDED, "disabled"),
            "attributes": {"hyper-threading [all]": "enable"},
            "conflicts": "replace",
        },
        observe=at("esx-01"),
        created={
            "staged": {
                "IntelVirtualizationTechnology#3C2E": "Enable",
                "IntelVTforDirectedI/O(VT-d)#1E12": "Enable",
                "SR-IOVSupport#0048": "Enabled",
                "Above4GDecoding#0044": "Enabled",
            },
            "job": False,
        },
        modified={
            "staged": {
                "IntelVirtualizationTechnology#3C2E": "Enable",
                "IntelVTforDirectedI/O(VT-d)#1E12": "Enable",
                "SR-IOVSupport#0048": "Enabled",
                "Above4GDecoding#0044": "Enabled",
                "Hyper-Threading[ALL]#00DA": "Disable",
            },
            "job": False,
        },
        deleted={"staged": {}, "job": False},
    ),
    Row(
        module="bios_settings",
        name="another make, by the names of its registry",
        at="esx-01",
        seed=lab(state="factory", bios={"vendor": "other"}),
        faces=("redfish",),
        create={"attributes": {"pcis007": "PCIS007On"}},
        modify={"attributes": {"PCIS007": "PCIS007On", "PCIS010": "PCIS010On"}},
        delete={"attributes": {"PCIS007": "PCIS007Off", "PCIS010": "PCIS010Off"}, "conflicts": "replace"},
        observe=at("esx-01"),
        created={"staged": {"PCIS007": "PCIS007On"}, "job": False},
        modified={"staged": {"PCIS007": "PCIS007On", "PCIS010": "PCIS010On"}, "job": False},
        deleted={"staged": {}, "job": False},
    ),
]

EXAMPLES_FACES = ("redfish",)
EXAMPLES_UNDO = ("Disable SR-IOV on one server before its reboot",)
EXAMPLES_SEED = {
    **lab(),
    "datacenters": [
        datacenter(
            "dc1",
            [{"name": "esx-01.example.com", "state": "factory", "bios": {"vendor": "hpe"}, "gpus": [A100]}],
            [],
        )
    ],
}
