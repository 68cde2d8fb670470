"""A long wait is reported while it lasts, restarts the host once, and ends with its own limit."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.action.esxi_reboot import SLICE_S, follow

AWAY = {"code": "host_not_back", "connection": "notResponding", "later_than": "2026-03-01T08:15:30.000000Z"}
BEFORE, AFTER = {"boot_time": "2026-03-01T08:15:30.000000Z"}, {"boot_time": "2026-03-01T09:00:00.000000Z"}


def answer(failure=None, before=None, changed=True):
    return {
        "changed": changed,
        "failed": failure is not None,
        "failure": failure or {},
        "host": {
            "before": BEFORE if before is None else before,
            "after": AFTER,
            "changes": ["boot_time"] if changed else [],
            "changed": changed,
        },
    }


class Wait:
    """A module that takes its whole time for each answer but the last, and a clock that it moves."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.given = []
        self.reported = []
        self.time = 0.0

    def run(self, args):
        self.given.append(args)
        if len(self.answers) > 1:
            self.time += args["timeout_s"]
        return self.answers.pop(0)

    def follow(self, **args):
        return follow({"host": "esx-01", **args}, self.run, self.reported.append, lambda: self.time)


def test_host_that_is_back_within_the_first_slice_is_not_reported_of():
    wait = Wait(answer())
    assert wait.follow(reasons=["driver"]) == answer()
    assert (wait.reported, [args["timeout_s"] for args in wait.given]) == ([], [SLICE_S])


def test_later_slices_only_wait_for_the_boot_that_the_first_one_began():
    wait = Wait(answer(AWAY), answer(AWAY, before={}, changed=False), answer(before={}, changed=False))
    whole = wait.follow(timeout_s=1800)
    assert [args.get("state") for args in wait.given] == [None, "back", "back"]
    assert {args.get("booted_after") for args in wait.given[1:]} == {AWAY["later_than"]}
    assert wait.reported == [
        "esx-01: not back after 60 of 1800 seconds; vCenter reports the connection state notResponding.",
        "esx-01: not back after 120 of 1800 seconds; vCenter reports the connection state notResponding.",
    ]
    assert (whole["changed"], whole["host"]["changed"], whole["host"]["before"]) == (True, True, BEFORE)
    assert (whole["failed"], whole["host"]["changes"]) == (False, ["boot_time"])


def test_limit_ends_the_wait_with_the_last_that_is_known():
    last = {**answer({**AWAY, "connection": "disconnected"}), "msg": "Host esx-01: is not back within 30 seconds."}
    wait = Wait(answer(AWAY), answer(AWAY), last, None)
    whole = wait.follow(timeout_s=150)
    assert [args["timeout_s"] for args in wait.given] == [60, 60, 30]
    assert whole["failure"]["connection"] == "disconnected"
    assert whole["msg"] == whole["host"]["msg"] == "Host esx-01: is not back within 150 seconds."


@pytest.mark.parametrize("failure", [{"code": "not_in_maintenance"}, {"code": "invalid_parameters"}])
def test_other_failures_are_final(failure):
    wait = Wait(answer(failure))
    assert wait.follow()["failure"] == failure


@pytest.mark.parametrize("timeout_s", ["soon", 30, None])
def test_short_or_wrong_limit_is_the_modules_own_business(timeout_s):
    wait = Wait(answer())
    wait.follow(timeout_s=timeout_s)
    assert [args["timeout_s"] for args in wait.given] == [timeout_s]


# As fail_json answers before anything was looked at: without a password, without pyVmomi, without an answer of vCenter.
EARLY = {"failed": True, "msg": "one of the following is required: vcenter_password, vcenter_session"}


def test_failure_before_the_first_look_is_given_as_it_is():
    assert Wait(EARLY).follow() == EARLY


def test_failure_before_a_later_look_keeps_what_the_first_slice_changed():
    whole = Wait(answer(AWAY), EARLY).follow()
    assert (whole["failed"], whole["msg"], whole["changed"]) == (True, EARLY["msg"], True)
    assert (whole["host"]["before"], whole["host"]["changes"]) == (BEFORE, ["boot_time"])
