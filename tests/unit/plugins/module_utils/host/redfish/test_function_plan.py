# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import function_plan, registry
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.function_map import GOVERNORS, MAPS, WORDS

from .servers import FACTORY, body, choice, registry_of

ALL = {
    "virtualization": "enabled",
    "iommu": "enabled",
    "sriov": "enabled",
    "above_4g": "enabled",
    "power_profile": "performance",
    "c_states": "disabled",
}


def resolved(vendor, functions, values=None):
    requests, unmapped, clashes = function_plan.resolve(
        vendor, registry_of(vendor), functions, values or FACTORY[vendor]
    )
    assert (unmapped, clashes) == ({}, [])
    return {name: requested.value for name, requested in requests.items()}


@pytest.mark.parametrize(
    "vendor, attributes",
    [
        (
            "dell",
            {
                "ProcVirtualization": "Enabled",
                "SriovGlobalEnable": "Enabled",
                "MmioAbove4Gb": "Enabled",
                "SysProfile": "PerfOptimized",
                "ProcCStates": "Disabled",
                "ProcC1E": "Disabled",
            },
        ),
        (
            "hpe",
            {
                "ProcVirtualization": "Enabled",
                "IntelProcVtd": "Enabled",
                "Sriov": "Enabled",
                "PciResourcePadding": "High",
                "PowerRegulator": "StaticHighPerf",
                "EnergyPerfBias": "MaxPerf",
                "MinProcIdlePower": "NoCStates",
                "MinProcIdlePkgState": "NoState",
            },
        ),
        (
            "supermicro",
            {
                "IntelVirtualizationTechnology_3C2E": "Enable",
                "IntelVTforDirectedI_O_VT_d__1E12": "Enable",
                "SR_IOVSupport_002B": "Enabled",
                "Above4GDecoding#0044": "Enabled",
                "PowerTechnology_00E1": "Custom",
                "ENERGY_PERF_BIAS_CFGMode_00E7": "Maximum Performance",
                "PackageCState_00F4": "C0/C1 state",
                "CPUC6Report_00F1": "Disable",
            },
        ),
    ],
)
def test_each_make_gets_its_own_attributes_for_the_same_functions(vendor, attributes):
    assert resolved(vendor, ALL) == attributes
    assert function_plan.status(vendor, registry_of(vendor), {**FACTORY[vendor], **attributes}) == ALL


def test_of_spellings_that_mean_the_same_the_one_that_is_there_stays():
    name = "ENERGY_PERF_BIAS_CFGMode_00E7"
    present = {**FACTORY["supermicro"], name: "Extreme Performance"}
    assert resolved("supermicro", {"power_profile": "performance"}, present)[name] == "Extreme Performance"


def test_a_function_that_is_neither_has_no_word():
    half = {**FACTORY["hpe"], "PowerRegulator": "StaticHighPerf"}
    assert function_plan.status("hpe", registry_of("hpe"), half)["power_profile"] is None


def test_functions_that_need_one_attribute_in_two_ways_contradict_each_other():
    functions = {"power_profile": "balanced", "c_states": "disabled"}
    assert function_plan.resolve("supermicro", registry_of("supermicro"), functions, {})[2] == [
        "power_profile needs PowerTechnology_00E1=Energy Efficient, c_states needs PowerTechnology_00E1=Custom"
    ]
    virtualization = {"virtualization": "enabled", "iommu": "disabled"}
    assert function_plan.resolve("dell", registry_of("dell"), virtualization, {})[2]


def test_a_make_without_a_map_is_reported_for_all_functions_with_what_sounds_like_them():
    names = registry_of("supermicro")
    dummy, unmapped, clashes = function_plan.resolve("other", names, {"sriov": "enabled", "iommu": "enabled"}, {})
    assert clashes == []
    with pytest.raises(OperatorError) as reported:
        function_plan.refuse_unmapped("bmc-01", "other", names, unmapped)
    assert reported.value.failure["code"] == "function_unmapped"
    assert reported.value.failure["functions"] == ["iommu", "sriov"]
    assert reported.value.failure["candidates"]["sriov"] == ["SR_IOVSupport_002B"]
    assert "sriov: no map for this vendor, attributes with similar names: SR_IOVSupport_002B" in reported.value.message
    assert "name the attributes with their values under `attributes`" in reported.value.message


def test_a_bios_without_the_attribute_of_a_known_make_is_reported_by_the_attribute():
    requests, unmapped, dummy = function_plan.resolve("hpe", registry_of("dell"), {"above_4g": "enabled"}, {})
    assert requests == {}
    assert unmapped == {"above_4g": "this BIOS has no PciResourcePadding"}


def test_an_attribute_that_knows_none_of_the_values_is_reported_with_those_that_it_knows():
    odd = registry.parse(body(choice("PciResourcePadding", "Small", "Large")))
    dummy, unmapped, clashes = function_plan.resolve("hpe", odd, {"above_4g": "enabled"}, {})
    assert clashes == []
    assert unmapped == {"above_4g": "PciResourcePadding accepts one of Small, Large, none of which is known to be High"}


@pytest.mark.parametrize("vendor", MAPS)
def test_every_make_has_all_functions_with_all_their_words(vendor):
    assert set(MAPS[vendor]) == set(WORDS)
    for function, entry in MAPS[vendor].items():
        assert any(setting.needed for setting in entry.settings), function
        for word in WORDS[function]:
            assert any(setting.needed and setting.values.get(word) for setting in entry.settings), (function, word)


def test_what_a_profile_governs_are_attributes_of_that_makes_functions():
    for vendor, governors in GOVERNORS.items():
        names = {name for entry in MAPS[vendor].values() for setting in entry.settings for name in setting.names}
        for governor in governors:
            assert set(governor.governed) <= names
