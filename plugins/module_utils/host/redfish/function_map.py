# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""BIOS settings for GPUs and RDMA, in the spelling of each vendor: a table of facts.

A function is found by the first of its names that the BIOS of the server has. Names are compared without case, signs
and the number that AMI based boards append. `sure` separates a documented or observed name from a probable one; either
is checked against the BMC's own registry before the module stages any value.

Sources: DELL iDRAC BIOS attribute dumps and the help of OpenManage Server Administrator; HPE iLO 5 REST API
documentation and dumps of Gen10 to Gen11; SMC the names that NVIDIA's libredfish sets on Supermicro boards; MEM general
knowledge.
"""

from __future__ import annotations

from typing import Mapping, NamedTuple

ON = ("Enabled", "Enable", "On")
OFF = ("Disabled", "Disable", "Off")
SWITCH = {"enabled": ON, "disabled": OFF}

# Values of a site; every function accepts these words and no other.
WORDS = {
    "virtualization": ("enabled", "disabled"),
    "iommu": ("enabled", "disabled"),
    "sriov": ("enabled", "disabled"),
    "above_4g": ("enabled", "disabled"),
    "power_profile": ("performance", "balanced"),
    "c_states": ("enabled", "disabled"),
}

# Parts of names by which attributes of an unknown make are offered to the operator.
LOOKS_LIKE = {
    "virtualization": ("virtualization", "vmx", "svm"),
    "iommu": ("iommu", "vtd", "directedio", "directio", "iovt"),
    "sriov": ("sriov", "singleroot"),
    "above_4g": ("4g", "mmio", "resourcepadding", "64bit"),
    "power_profile": ("profile", "powerregulator", "energyperf", "powertechnology", "powerperformance"),
    "c_states": ("cstate", "c1e", "c6", "idlepower"),
}


class Setting(NamedTuple):
    """One attribute of a function; with needed=False it may be missing. A word without values leaves it unchanged."""

    names: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]
    needed: bool = True


class Function(NamedTuple):
    """Spelling of a function by one vendor."""

    settings: tuple[Setting, ...]
    sure: bool
    source: str


class Governor(NamedTuple):
    """A profile that decides over other attributes unless it has its free value.

    sets: the values that the others get by a profile, used if the registry contains none of its own. release: whether
    the free value keeps the others unchanged, so that it may be staged beside one of them. overwritten: attributes that
    only some profiles decide over. A change of one needs the free value, unless the task names a profile.
    """

    name: str
    free: str
    governed: tuple[str, ...]
    sets: Mapping[str, Mapping[str, str]]
    release: bool
    overwritten: tuple[str, ...] = ()


MAPS = {
    "dell": {
        "virtualization": Function((Setting(("ProcVirtualization",), SWITCH),), True, "DELL"),
        # On boards with Intel processors one setting covers VT-x and VT-d.
        "iommu": Function((Setting(("IommuSupport", "ProcVirtualization"), SWITCH),), False, "MEM"),
        "sriov": Function((Setting(("SriovGlobalEnable",), SWITCH),), True, "DELL"),
        "above_4g": Function((Setting(("MmioAbove4Gb",), SWITCH),), True, "DELL"),
        "power_profile": Function(
            (Setting(("SysProfile",), {"performance": ("PerfOptimized",), "balanced": ("PerfPerWattOptimizedDapc",)}),),
            True,
            "DELL",
        ),
        "c_states": Function(
            (Setting(("ProcCStates",), SWITCH), Setting(("ProcC1E",), SWITCH, needed=False)), False, "MEM"
        ),
    },
    "hpe": {
        "virtualization": Function((Setting(("ProcVirtualization",), SWITCH),), True, "HPE"),
        "iommu": Function((Setting(("IntelProcVtd", "ProcAmdIoVt"), SWITCH),), True, "HPE"),
        "sriov": Function((Setting(("Sriov",), SWITCH),), True, "HPE"),
        # There is no switch for decoding above 4G; padding makes the room that virtual functions need.
        "above_4g": Function(
            (Setting(("PciResourcePadding",), {"enabled": ("High",), "disabled": ("Normal",)}),), True, "HPE"
        ),
        # Single settings and no named WorkloadProfile: that would rewrite others, and need a reboot of its own first.
        "power_profile": Function(
            (
                Setting(
                    ("PowerRegulator",), {"performance": ("StaticHighPerf",), "balanced": ("DynamicPowerSavings",)}
                ),
                Setting(
                    ("EnergyPerfBias",), {"performance": ("MaxPerf",), "balanced": ("BalancedPerf",)}, needed=False
                ),
            ),
            True,
            "HPE",
        ),
        "c_states": Function(
            (
                Setting(("MinProcIdlePower",), {"enabled": ("C6",), "disabled": ("NoCStates",)}),
                Setting(
                    ("MinProcIdlePkgState",),
                    {"enabled": ("C6Retention", "C6NonRetention"), "disabled": ("NoState",)},
                    needed=False,
                ),
            ),
            True,
            "HPE",
        ),
    },
    "supermicro": {
        "virtualization": Function((Setting(("IntelVirtualizationTechnology", "SVMMode"), SWITCH),), True, "SMC"),
        "iommu": Function((Setting(("IntelVTforDirectedI/O(VT-d)", "IOMMU"), SWITCH),), True, "SMC"),
        "sriov": Function((Setting(("SR-IOVSupport",), SWITCH),), True, "SMC"),
        "above_4g": Function((Setting(("Above4GDecoding",), SWITCH),), False, "MEM"),
        "power_profile": Function(
            (
                Setting(
                    ("PowerTechnology",), {"performance": ("Custom",), "balanced": ("Energy Efficient",)}, needed=False
                ),
                Setting(
                    ("PowerPerformanceTuning",),
                    {"performance": ("BIOS Controls EPB",), "balanced": ("OS Controls EPB",)},
                    needed=False,
                ),
                Setting(
                    ("ENERGY_PERF_BIAS_CFGMode", "EnergyPerformanceBIASSetting"),
                    {
                        "performance": ("Maximum Performance", "Extreme Performance", "Performance"),
                        "balanced": ("Balanced Performance",),
                    },
                ),
            ),
            False,
            "MEM",
        ),
        "c_states": Function(
            (
                # The settings below take effect only with Custom.
                Setting(("PowerTechnology",), {"disabled": ("Custom",)}, needed=False),
                Setting(
                    ("PackageCState", "GlobalC-stateControl"),
                    {"enabled": ("Auto", "Enabled"), "disabled": ("C0/C1 state", *OFF)},
                ),
                Setting(("CPUC6Report",), {"enabled": ("Auto", "Enable"), "disabled": OFF}, needed=False),
                Setting(("EnhancedHaltState(C1E)",), SWITCH, needed=False),
            ),
            False,
            "MEM",
        ),
    },
}

GOVERNORS = {
    # "When the option is set to a mode other than Custom, BIOS sets each option accordingly" (OpenManage help).
    "dell": (
        Governor(
            "SysProfile",
            "Custom",
            ("ProcCStates", "ProcC1E"),
            {"PerfOptimized": {"ProcCStates": "Disabled", "ProcC1E": "Disabled"}},
            False,
        ),
    ),
    # "You can only configure this option if Workload Profile is set to Custom" (iLO 5 attribute help).
    "hpe": (
        Governor(
            "WorkloadProfile",
            "Custom",
            ("PowerRegulator", "EnergyPerfBias", "MinProcIdlePower", "MinProcIdlePkgState"),
            {},
            True,
            # Each profile has its own dependent options ("Workload Profiles dependencies", HPE). That LowLatency
            # disables these and Virtualization-* enable them is [unsure: MEM].
            ("ProcVirtualization", "IntelProcVtd", "ProcAmdIoVt", "Sriov"),
        ),
    ),
}
