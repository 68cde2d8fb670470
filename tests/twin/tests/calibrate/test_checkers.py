"""Each rule that a capture can confirm or refute: an example of each result."""

from __future__ import annotations

import pytest

from twin_labs.captures import capture, vm
from twin_labs.rule_examples import EXAMPLES, NOTHING, bmc, vgpu
from vsphere_twin import calibrate, rules
from vsphere_twin.calibrate.registry import CHECKERS
from vsphere_twin.calibrate.verdict import judged

RULES = {one["id"]: one for one in rules.checks()}


def result(rule, evidence):
    return judged(RULES[rule], CHECKERS[rule](evidence))


def test_each_rule_has_a_checker_and_examples():
    assert sorted(CHECKERS) == sorted(RULES) == sorted(EXAMPLES)
    assert [one["number"] for one in rules.checks()] == list(range(1, 53))


@pytest.mark.parametrize("rule", EXAMPLES)
def test_an_example_confirms_the_rule(rule):
    found = result(rule, EXAMPLES[rule][0])
    assert found.result == calibrate.CONFIRMED, found
    assert all(one.object and one.values for one in found.objects)


@pytest.mark.parametrize("rule", EXAMPLES)
def test_one_counter_example_refutes_the_rule(rule):
    example = EXAMPLES[rule][1]
    assert (example is None) is (RULES[rule].get("refutes") == "never")
    if example is not None:
        found = result(rule, example)
        assert found.result == calibrate.REFUTED, found
        assert all(one.object and one.values for one in found.objects)


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_capture_without_an_example_proves_nothing(rule):
    for evidence in (EXAMPLES[rule][2], NOTHING, capture()):
        found = result(rule, evidence)
        assert found.result == calibrate.UNDETERMINED, found
        assert found.missing


def test_a_counter_example_outweighs_examples():
    mixed = capture(vm([vgpu()]), vm([vgpu(key=14000)], moid="vm-102"))
    found = result("pci-device-keys", mixed)
    assert found.result == calibrate.REFUTED
    assert [one.values for one in found.objects] == ["key 14000, unit 18, controller 100"]


@pytest.mark.parametrize(
    "names, expected",
    [
        (["ProcAmdIoVt", "MinProcIdlePower"], calibrate.UNDETERMINED),
        (["IntelProcVtd", "MinProcIdlePower"], calibrate.REFUTED),
    ],
)
def test_values_of_an_hpe_bios_for_amd_processors_refute_nothing(names, expected):
    found = result("bios-attributes", bmc("HPE", None, names, values=("C6", "NoCStates")))
    assert found.result == expected, found
