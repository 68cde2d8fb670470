"""The net change of several runs, and the table of all modules."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import (
    PLANNED,
    Entry,
    Made,
    Step,
    cannot,
    net,
    step,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.table import INVERSE

GIVEN = {
    "id": "1",
    "run": "r1",
    "when": "2026-01-01T00:00:00Z",
    "stage": "hosts",
    "module": "esxi_kernel_setting",
    "host": "esx-01",
    "label": "esx-01",
    "ids": {"moid": "host-1"},
    "request": {"host": "esx-01", "settings": {"atsSupport": True}},
}


def entry(*changes, **more):
    return Entry(**{**GIVEN, **more}, changes=tuple(Made(*change) for change in changes))


def test_the_first_value_before_and_the_last_value_after_count():
    found = net([entry(("a", 1, 2)), entry(("a", 2, 3, "reboot"), ("b", None, "x"), run="r2")])
    assert {path: (one.back, one.left, one.needs) for path, one in found.items()} == {
        "a": (1, 3, "reboot"),
        "b": (None, "x", None),
    }


def test_a_setting_that_a_later_run_took_back_needs_nothing():
    assert net([entry(("a", 1, 2)), entry(("a", 2, 1))]) == {}


def test_a_killed_change_leaves_one_of_two_values():
    found = net([entry(("a", 1, 2)), entry(("a", 2, 3), state=PLANNED)])
    assert (found["a"].left, found["a"].also) == (3, (2,))


def test_a_killed_change_back_may_still_need_a_step():
    found = net([entry(("a", 1, 2)), entry(("a", 2, 1), state=PLANNED)])
    assert (found["a"].back, found["a"].left, found["a"].also) == (1, 1, (2,))


def test_a_step_has_the_object_of_the_last_entry():
    entries = [entry(("a", 1, 2), ("b", 1, 2, "reboot"))]
    made = step(entries, {"x": 1}, net(entries))
    assert made == Step(
        "hosts", "esx-01", "esx-01", "esxi_kernel_setting", {"x": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 2}, "reboot"
    )
    assert cannot(entries, "firmware", "It has no earlier version.").object == "esx-01"


def test_the_table_has_the_function_of_a_module():
    (made,) = INVERSE["esxi_kernel_setting"]([entry(("kernel.atsSupport", "FALSE", "TRUE", "reboot"))])
    assert (made.args, made.back, made.left, made.needs) == (
        {"host": "esx-01", "settings": {"atsSupport": "FALSE"}},
        {"kernel.atsSupport": "FALSE"},
        {"kernel.atsSupport": "TRUE"},
        "reboot",
    )
