# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import registry

from .servers import body, choice, registry_of, rule, term


@pytest.mark.parametrize(
    "vendor, text, found",
    [
        pytest.param("dell", "SriovGlobalEnable", ["SriovGlobalEnable"], id="exact"),
        pytest.param("dell", "MmioAbove4GB", ["MmioAbove4Gb"], id="other-case"),
        pytest.param("dell", "sr-iov global enable", ["SriovGlobalEnable"], id="as-displayed"),
        pytest.param("supermicro", "SR-IOVSupport", ["SR_IOVSupport_002B"], id="without-number-and-signs"),
        pytest.param("supermicro", "IntelVTforDirectedI/O(VT-d)", ["IntelVTforDirectedI_O_VT_d__1E12"], id="brackets"),
        pytest.param("supermicro", "above4gdecoding", ["Above4GDecoding#0044"], id="number-after-a-hash"),
        pytest.param("dell", "SriovGlobal", [], id="no-guess-from-a-part"),
    ],
)
def test_a_name_is_found_in_every_spelling_but_not_guessed(vendor, text, found):
    assert [attribute.name for attribute in registry_of(vendor).find(text)] == found


def test_attributes_that_differ_in_their_number_only_are_all_found():
    both = registry.parse(body(choice("DeviceSelect_0034", "A"), choice("DeviceSelect_003D", "A")))
    assert [attribute.name for attribute in both.find("DeviceSelect")] == ["DeviceSelect_0034", "DeviceSelect_003D"]
    assert [attribute.name for attribute in both.find("deviceselect_003d")] == ["DeviceSelect_003D"]


@pytest.mark.parametrize(
    "vendor, name, wanted, value",
    [
        ("dell", "SriovGlobalEnable", "enabled", "Enabled"),
        ("dell", "SriovGlobalEnable", True, "Enabled"),
        ("dell", "AcPwrRcvryUserDelay", "300", 300),
        ("dell", "AssetTag", 42, "42"),
        ("supermicro", "QuietBoot", "no", False),
        ("supermicro", "QuietBoot", False, False),
        ("supermicro", "PackageCState", "c0/c1 STATE", "C0/C1 state"),
        ("supermicro", "CPUC6Report", False, "Disable"),
    ],
)
def test_a_value_is_taken_in_the_spelling_of_the_bios(vendor, name, wanted, value):
    (attribute,) = registry_of(vendor).find(name)
    assert registry.accept(attribute, wanted) == value


@pytest.mark.parametrize(
    "vendor, name, wanted, says",
    [
        ("dell", "SriovGlobalEnable", "On please", "accepts one of Enabled, Disabled"),
        ("dell", "AcPwrRcvryUserDelay", 100, "accepts a number from 120 to 600"),
        ("dell", "AcPwrRcvryUserDelay", "long", "accepts a whole number"),
        ("dell", "AssetTag", "far too long", "accepts up to 8 characters"),
        ("supermicro", "QuietBoot", "maybe", "accepts true or false"),
    ],
)
def test_a_value_that_the_bios_does_not_take_is_refused_with_what_it_takes(vendor, name, wanted, says):
    (attribute,) = registry_of(vendor).find(name)
    with pytest.raises(registry.Unacceptable, match=says):
        registry.accept(attribute, wanted)


def test_a_value_may_be_given_as_the_setup_screen_shows_it():
    entry = choice("Profile")
    entry["Value"] = [{"ValueName": "PerfOptimized", "ValueDisplayName": "Performance"}]
    (attribute,) = registry.parse(body(entry)).find("Profile")
    assert registry.accept(attribute, "performance") == "PerfOptimized"


@pytest.mark.parametrize(
    "terms, values, holds",
    [
        ([term("A", "EQU", 1)], {"A": 1}, True),
        ([term("A", "EQU", 1)], {}, False),
        ([term("A", "NEQ", 1)], {"A": 2}, True),
        ([term("A", "GTR", 1), term("B", "LSS", 5, "AND")], {"A": 2, "B": 5}, False),
        ([term("A", "GEQ", 1), term("B", "LEQ", 5, "AND")], {"A": 1, "B": 5}, True),
        ([term("A", "EQU", 1), term("B", "EQU", 1, "OR")], {"A": 2, "B": 1}, True),
        ([term("A", "GTR", 1)], {"A": "text"}, False),
    ],
)
def test_a_dependency_holds_as_its_terms_say(terms, values, holds):
    found = registry.parse(body(choice("T", "x"), rules=[rule("T", "ReadOnly", True, *terms)])).effects(values)
    assert found == ({"T": {"ReadOnly": (True, tuple(one["MapFromAttribute"] for one in terms))}} if holds else {})


@pytest.mark.parametrize("odd", [term("A", "EQU", True, of="ReadOnly"), term("A", "LIKE", 1)])
def test_a_dependency_that_cannot_be_judged_here_is_left_to_the_bios(odd):
    assert registry.parse(body(rules=[rule("T", "ReadOnly", True, odd)])).dependencies == ()


def test_without_a_registry_names_and_types_are_those_of_the_active_settings():
    made = registry.made_of({"Sriov": "Disabled", "Retries": 20, "Quiet": True})
    (found,) = made.find("sriov")
    assert registry.accept(found, "Enabled") == "Enabled"
    assert registry.accept(made.attributes["Retries"], "7") == 7
    assert registry.accept(made.attributes["Quiet"], "off") is False


def test_only_rules_about_setting_an_attribute_itself_make_its_own_flag_one_of_now():
    rules = [
        rule("ProcC1E", "ReadOnly", True, term("SysProfile", "NEQ", "Custom")),
        rule("ProcCStates", "CurrentValue", "Disabled", term("SysProfile", "EQU", "PerfOptimized")),
    ]
    found = registry_of("dell", rules)
    assert [name for name in found.attributes if found.locked_by_others(name)] == ["ProcC1E"]


def test_rules_without_terms_or_without_a_target_lead_to_nothing():
    rules = [rule("ProcC1E", "ReadOnly", True), rule(None, "ReadOnly", True, term("SysProfile", "NEQ", "Custom"))]
    assert registry_of("dell", rules).dependencies == ()


def test_a_registry_without_a_name_has_an_empty_one():
    assert registry.parse({"RegistryEntries": None}).name == ""


@pytest.mark.parametrize("odd", [None, 3, "text", [], ["text", None], {"AttributeName": None}])
def test_a_registry_with_values_of_another_kind_keeps_its_attributes(odd):
    reported = body(choice("T", "x"), rules=[rule("T", "ReadOnly", True, term("T", "EQU", "x"))])
    reported["RegistryEntries"]["Attributes"].append(odd)
    reported["RegistryEntries"]["Attributes"][0]["Value"].append(odd if isinstance(odd, dict) else None)
    reported["RegistryEntries"]["Dependencies"].append({"Dependency": {"MapFrom": [odd]}})
    found = registry.parse(reported)
    assert ([*found.attributes], len(found.dependencies)) == (["T"], 1)
    assert registry.parse({"RegistryEntries": {"Attributes": odd, "Dependencies": odd}}).dependencies == ()


def test_a_rule_with_a_term_of_another_kind_is_left_to_the_bios():
    reported = body(choice("T", "x"), rules=[rule("T", "ReadOnly", True, term("T", "EQU", "x"), None)])
    assert registry.parse(reported).dependencies == ()
