"""The comparison after a restore reports each difference by object and value, apart from those that last."""

from __future__ import annotations

import pytest

from rehearse import restored
from rehearse.failure import RehearsalFailed

HOST, LEAF = "twin HostSystem esx-01", "switch leaf-01"
BEFORE = {
    HOST: {"kernel.ats": "FALSE", "bmc.jobs[0]": "1"},
    LEAF: {"running": "interface 1\n  mtu 1500\n", "saved": ""},
}
LASTING = {"twin HostSystem": ("bmc.jobs",)}


def after(**changes):
    return {**BEFORE, HOST: {**BEFORE[HOST], **changes}}


def test_a_difference_is_named_by_object_and_both_values():
    assert restored.left(BEFORE, BEFORE, {}) == []
    assert restored.left(BEFORE, after(**{"kernel.ats": "TRUE"}), {}) == [f"{HOST}, kernel.ats: FALSE -> TRUE"]
    assert restored.left({}, {HOST: {"mtu": "1500"}}, {}) == [f"{HOST}, mtu: None -> 1500"]


def test_a_configuration_is_compared_line_by_line():
    now = {**BEFORE, LEAF: {"running": "interface 1\n  mtu 9216\n", "saved": ""}}
    assert restored.left(BEFORE, now, {}) == [f"{LEAF}, running: -  mtu 1500", f"{LEAF}, running: +  mtu 9216"]


@pytest.mark.parametrize(
    "lasting, lines",
    [
        ({"twin HostSystem": ("bmc.jobs",)}, 0),
        ({HOST: ("bmc.jobs",)}, 0),
        ({"twin HostSystem": ("bmc.requests",)}, 1),
        ({"twin Host": ("bmc.jobs",)}, 1),
        ({"client HostSystem": ("bmc.jobs",)}, 1),
    ],
)
def test_a_difference_lasts_if_its_object_and_its_path_are_listed(lasting, lines):
    assert len(restored.left(BEFORE, after(**{"bmc.jobs[0]": "2"}), lasting)) == lines


def test_the_result_counts_objects_values_and_lasting_differences():
    found = restored.same(BEFORE, after(**{"bmc.jobs[1]": "2"}), LASTING)
    assert found == "2 objects with 4 values are as before the run, 1 differences last"
    with pytest.raises(RehearsalFailed, match="kernel.ats: FALSE -> TRUE"):
        restored.same(BEFORE, after(**{"kernel.ats": "TRUE"}), LASTING)


def test_many_differences_are_cut_with_their_number():
    many = {f"option{number:02}": "1" for number in range(restored.SHOWN + 2)}
    with pytest.raises(RehearsalFailed, match="option39: None -> 1\nand 2 more$"):
        restored.same(BEFORE, after(**many), LASTING)


def test_requests_to_a_bmc_are_no_change_of_check_mode():
    restored.unchanged(BEFORE, after(**{"bmc.requests": "7"}))
    with pytest.raises(RehearsalFailed, match="The plan of restore changed the data centre"):
        restored.unchanged(BEFORE, after(**{"bmc.attributes.Sriov": "Enabled"}))


def test_a_run_that_changed_one_kind_of_object_only_proves_nothing():
    with pytest.raises(RehearsalFailed, match="The run changed no twin VirtualMachine, twin Cluster"):
        restored.changed(BEFORE, after(**{"kernel.ats": "TRUE"}))
    names = [f"{words} one" for words in restored.CHANGED]
    restored.changed({}, {name: {"mtu": "1"} for name in names})


def test_changes_by_another_fail_the_rehearsal():
    restored.undisturbed("restored: esx-01 (hosts), mtu.vmk1: 9000 -> 1500")
    with pytest.raises(RehearsalFailed, match="changed since by another: esx-01"):
        restored.undisturbed("ok\n  changed since by another: esx-01 (hosts), mtu.vmk1: 4000\n")
