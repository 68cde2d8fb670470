# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import rows, verdict


def made(verdicts, recorded=None, simulated=(), stages=(), fake=False):
    some = [{"id": f"r{index}", "verdict": one, "measured": 1, "simulated": fake} for index, one in enumerate(verdicts)]
    remarks = []
    said = {"state": recorded, "sentence": "As it was said."} if recorded else None
    return verdict.verdict(said, rows.rows(some, []), list(simulated), list(stages), "", remarks), remarks


@pytest.mark.parametrize(
    "verdicts,recorded,state",
    [
        (["pass", "pass"], "pass", "pass"),
        (["pass", "skipped"], "pass", "pass"),
        (["pass", "warn"], "warn", "warn"),
        (["pass", "fail"], "fail", "fail"),
        # What is recorded never sounds better than the rows.
        (["pass", "fail"], "pass", "fail"),
        (["pass", "warn"], "pass", "warn"),
        (["pass", "not_run"], "pass", "incomplete"),
        (["warn", "not_run"], "warn", "incomplete"),
        ([], "pass", "incomplete"),
        (["skipped"], "pass", "incomplete"),
        # It may know of worse things than the rows.
        (["pass"], "fail", "fail"),
        (["pass"], "incomplete", "incomplete"),
        # Nothing was recorded, or nothing that means something.
        (["pass"], None, "pass"),
        (["pass", "fail"], None, "fail"),
        (["pass"], "great", "pass"),
    ],
)
def test_the_verdict_is_the_worse_of_what_was_recorded_and_of_what_the_rows_say(verdicts, recorded, state):
    assert made(verdicts, recorded)[0]["state"] == state


def test_a_verdict_that_the_rows_do_not_bear_out_is_reported_and_loses_its_sentence():
    found, remarks = made(["pass", "fail"], "pass")
    assert "The recorded verdict is 'pass'" in remarks[0]
    assert found["sentence"] == "1 failed of 2 checks; first: r1."


def test_a_verdict_that_holds_keeps_its_sentence():
    found, remarks = made(["pass"], "pass")
    assert (found["sentence"], remarks) == ("As it was said.", [])


def test_a_stage_that_failed_fails_the_run_whatever_the_checks_say():
    found, _remarks = made(["pass"], "pass", stages=["hosts"])
    assert (found["state"], found["sentence"]) == ("fail", "The run stopped in stage hosts.")


@pytest.mark.parametrize("state", ["pass", "warn", "fail", "incomplete"])
@pytest.mark.parametrize("how", [{"simulated": ["GPUs"]}, {"fake": True}])
def test_a_run_with_anything_simulated_is_a_rehearsal_in_its_title_and_claims_nothing_of_hardware(state, how):
    found, _remarks = made(["pass"], state, **how)
    assert found["rehearsal"] is True
    assert "rehearsal" in found["title"].lower()
    assert "nothing about the speed or the health of real hardware" in found["claim"]


@pytest.mark.parametrize("simulated", [[], ["GPUs"]])
@pytest.mark.parametrize("verdicts", [[], ["not_run"], ["not_run", "skipped", "fail"]])
def test_a_run_in_which_nothing_was_measured_claims_no_measurement(verdicts, simulated):
    some = [{"id": f"r{index}", "verdict": one, "measured": None} for index, one in enumerate(verdicts)]
    found = verdict.verdict(None, rows.rows(some, []), simulated, ["hosts"], "", [])
    assert found["claim"].startswith("Nothing was measured.")
    assert "real devices" not in found["claim"]


COUNTS = [
    {"what": "restarts", "simulated": 2, "all": 2},
    {"what": "versions", "simulated": 0, "all": 3},
    {"what": "trainings", "simulated": 1, "all": 2},
]


@pytest.mark.parametrize("measured", [1, None])
def test_a_claim_counts_whatever_rests_on_simulated_parts(measured):
    some = rows.rows([{"id": "a", "verdict": "pass", "measured": measured, "simulated": False}], [])
    found = verdict.verdict(None, some, [], [], "", [], COUNTS)
    assert found["rehearsal"] is True
    reported = "2 of 2 restarts and 1 of 2 trainings depend on simulated parts."
    assert (reported in found["claim"], "versions" in found["claim"], "checks" in found["claim"]) == (
        True,
        False,
        False,
    )
    assert found["claim"].startswith("Nothing was measured." if measured is None else reported)


def test_a_run_with_a_figure_claims_what_it_measured():
    assert made(["pass"])[0]["claim"].startswith("Measured on real devices.")


@pytest.mark.parametrize("state", ["pass", "warn", "fail", "incomplete"])
def test_a_run_on_real_devices_speaks_of_no_rehearsal(state):
    found, _remarks = made(["pass"], state)
    assert found["rehearsal"] is False
    assert "rehears" not in found["title"].lower()


def test_what_is_not_right_stands_on_top_the_worst_first_and_not_without_end():
    found, _remarks = made(["warn"] * 15 + ["fail"] * 10 + ["not_run"], "fail")
    assert [row["verdict"] for row in found["not_right"]] == ["fail"] * 10 + ["warn"] * 10
    assert found["not_right_more"] == 6


def reported(*some):
    """What is not right of rows as (check, object, verdict, why, needs)."""
    recorded = [
        {
            "id": f"{check} {name}",
            "check": check,
            "verdict": state,
            "why": why,
            "needs": needs,
            "subject": {"guest": name},
            "measured": None if state == "not_run" else 1,
        }
        for check, name, state, why, needs in some
    ]
    found = verdict.verdict(None, rows.rows(recorded, []), [], [], "", [])
    return [
        tuple(one[key] for key in ("title", "on", "verdict", "why", "rows", "holds_up")) for one in found["not_right"]
    ]


def test_what_only_could_not_run_because_of_others_is_counted_with_those():
    found = reported(
        ("mtu", "a", "fail", "1500", []),
        ("ping", "a", "not_run", "mtu a failed", ["mtu a"]),
        ("bandwidth", "a", "not_run", "ping a was not run", ["ping a"]),
        ("clock", "b", "not_run", "nobody looked", []),
    )
    assert found == [("mtu", "a", "fail", "1500", 1, 2), ("clock", "b", "not_run", "nobody looked", 1, 0)]


def test_rows_of_a_check_that_are_wrong_alike_stand_together():
    found = reported(*(("mtu", name, "fail", "1500", []) for name in "abc"), ("mtu", "d", "warn", "8000", []))
    assert found == [("mtu", "a; b; c", "fail", "1500", 3, 0), ("mtu", "d", "warn", "8000", 1, 0)]


def test_figures_of_one_row_are_not_reported_of_the_others_and_many_names_are_counted():
    (found,) = reported(*(("mtu", f"job-{number}", "fail", f"{number}", []) for number in range(1, 10)))
    assert found[1] == "job-1; job-2; job-3; job-4; job-5; 4 more"
    assert found[3] == "job-1: 1"


@pytest.mark.parametrize(
    "verdicts, recorded, remarks",
    [(["pass"], None, 1), ([], None, 0), (["pass"], "pass", 0), ([], "pass", 1)],
    ids=["worked out", "nothing at all", "recorded", "recorded without rows"],
)
def test_a_verdict_that_was_worked_out_says_so(verdicts, recorded, remarks):
    assert len(made(verdicts, recorded)[1]) == remarks
