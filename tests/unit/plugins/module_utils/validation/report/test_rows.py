# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import rows

GOOD = {
    "id": "pair.write_bw a > b", "check": "pair.write_bw", "title": "RDMA bandwidth", "layer": "pair",
    "subject": {"from": "a", "to": "b"}, "measured": 92.4, "unit": "Gb/s", "verdict": "pass", "expected": {"low": 80},
}  # fmt: skip


def row(**changed):
    remarks = []
    (made,) = rows.rows([{**GOOD, **changed}], remarks)
    return made, remarks


@pytest.mark.parametrize("measured", [None, "", float("nan"), float("inf"), True, [], {}])
def test_what_was_not_measured_never_counts_as_passed(measured):
    made, remarks = row(measured=measured)
    assert (made["verdict"], made["why"]) == ("not_run", "Nothing was measured.")
    assert "without a measured value" in remarks[0]


@pytest.mark.parametrize("measured", [0, 0.0, -1.5, "Licensed"])
def test_a_measured_value_passes_also_when_it_is_zero(measured):
    made, remarks = row(measured=measured)
    assert (made["verdict"], made["measured"], remarks) == ("pass", measured, [])


@pytest.mark.parametrize("verdict", ["PASS", "ok", "", None, 1])
def test_a_verdict_that_nobody_knows_counts_as_not_run_and_is_reported(verdict):
    made, remarks = row(verdict=verdict)
    assert made["verdict"] == "not_run"
    assert "unknown verdict" in remarks[0]


def test_verdicts_that_are_no_pass_stay_without_a_measurement():
    for verdict in ("fail", "warn", "not_run", "skipped"):
        made, remarks = row(verdict=verdict, measured=None)
        assert (made["verdict"], remarks) == (verdict, [])


@pytest.mark.parametrize(
    "subject,words",
    [
        ({"guest": "job-01"}, "job-01"),
        ({"from": "job-01", "to": "job-02"}, "job-01 → job-02"),
        ({"guests": ["job-01", "job-02"]}, "job-01, job-02"),
        ({"switch": "leaf-01", "port": "Ethernet3"}, "leaf-01 Ethernet3"),
        ({"switch": "leaf-01"}, "leaf-01"),
        ({"host": "esx-01"}, "esx-01"),
        ({}, ""),
    ],
)
def test_a_subject_in_words(subject, words):
    assert rows.on(subject) == words


@pytest.mark.parametrize(
    "expected,unit,better",
    [
        ({"low": 80}, "Gb/s", "higher"),
        ({"high": 5}, "us", "lower"),
        ({"low": 9000}, "bytes", "higher"),
        ({"high": 0}, "bytes", "lower"),
        ({"low": 1, "high": 3}, "", ""),
        ({}, "us", "lower"),
        ({}, "img/s", "higher"),
        ({}, "bytes", ""),
        ({"low": 1, "high": 3}, "ms", "lower"),
    ],
)
def test_which_way_a_figure_gets_better(expected, unit, better):
    assert row(expected=expected, unit=unit)[0]["better"] == better


@pytest.mark.parametrize(
    "variant,words",
    [("4:rdma", "4 nodes, RDMA"), ("1:tcp", "1 node, TCP"), ("before", "before"), ("", ""), ("cuda", "cuda")],
)
def test_a_variant_in_words(variant, words):
    assert row(variant=variant)[0]["kind"] == words


def test_a_secret_in_a_command_is_not_shown():
    made, _remarks = row(command=["tool", "--password=hunter2", "--size", "65536"])
    assert made["command"] == ["tool", "--password=[not shown]", "--size", "65536"]


def test_the_ladder_has_layers_in_order_and_what_is_not_right_first():
    recorded = [
        {**GOOD, "id": "c", "check": "cluster.nccl", "layer": "cluster"},
        {**GOOD, "id": "p1"},
        {**GOOD, "id": "p2", "verdict": "warn"},
        {**GOOD, "id": "p3", "verdict": "fail", "measured": 60},
        {**GOOD, "id": "x", "check": "odd", "layer": "elsewhere"},
    ]
    layers = rows.layers(rows.rows(recorded, []))
    assert [(layer["layer"], layer["verdict"]) for layer in layers] == [
        ("pair", "fail"),
        ("cluster", "pass"),
        ("other", "pass"),
    ]
    (check,) = layers[0]["checks"]
    assert [one["id"] for one in check["rows"]] == ["p3", "p2", "p1"]
    assert (check["low"], check["median"], check["high"]) == (60, 92.4, 92.4)
    assert check["counts"] == {"fail": 1, "warn": 1, "not_run": 0, "skipped": 0, "not_required": 0, "pass": 1}


@pytest.mark.parametrize(
    "measured, verdict, layer", [(8192, "not_required", "not_required"), (None, "not_run", "not_run")]
)
def test_what_is_not_required_is_shown_and_never_passes(measured, verdict, layer):
    recorded = [{**GOOD, "verdict": "not_required", "measured": measured}]
    (row,) = rows.rows(recorded, [])
    assert row["verdict"] == verdict
    (found,) = rows.layers([row])
    assert (found["verdict"], found["counts"]["pass"]) == (layer, 0)


def test_rows_of_a_check_that_expect_different_things_do_not_share_one():
    both = rows.rows([{**GOOD, "expected": {"text": "a"}}, {**GOOD, "expected": {"text": "b"}}], [])
    assert rows.layers(both)[0]["checks"][0]["expected"] == ""


def checks_of(*some):
    """Rows as (id, verdict, ids that it needs)."""
    recorded = [
        {**GOOD, "id": label, "verdict": verdict, "needs": needs, "measured": None if verdict == "not_run" else 1}
        for label, verdict, needs in some
    ]
    return {row["id"]: row["because"] for row in rows.rows(recorded, [])}


def test_what_could_not_run_goes_back_to_what_failed_first_over_any_number_of_steps():
    found = checks_of(
        ("mtu", "fail", []),
        ("clock", "not_run", []),
        ("ping", "not_run", ["mtu", "good"]),
        ("rping", "not_run", ["ping", "clock"]),
        ("good", "pass", []),
    )
    assert found == {"mtu": [], "clock": [], "ping": ["mtu"], "rping": ["mtu", "clock"], "good": []}


@pytest.mark.parametrize(
    "some,found",
    [
        # What warned or was skipped keeps nobody from running, and what nobody knows cannot be the reason.
        ([("a", "warn", []), ("b", "skipped", []), ("c", "not_run", ["a", "b", "unknown"])], []),
        # Only what could not run has such a reason.
        ([("a", "fail", []), ("c", "fail", ["a"])], []),
        ([("c", "not_run", ["c"])], []),
        ([("a", "not_run", ["c"]), ("c", "not_run", ["a"])], ["a"]),
    ],
    ids=["no stop", "ran", "itself", "in a circle"],
)
def test_a_row_without_such_a_reason_stands_for_itself(some, found):
    assert checks_of(*some)["c"] == found


def test_a_row_that_could_not_run_does_not_hide_what_the_others_were_held_to():
    both = [{**GOOD, "expected": {"text": "80", "source": "site"}}, {**GOOD, "verdict": "not_run", "measured": None}]
    (check,) = rows.layers(rows.rows(both, []))[0]["checks"]
    assert (check["expected"], check["source"]) == ("80", "site")


@pytest.mark.parametrize(
    "verdicts, reported",
    [
        (["pass", "pass"], "2 of 2 passed"),
        (["skipped", "skipped"], "2 skipped"),
        (["pass", "fail", "not_run", "not_required"], "1 of 4 passed, 1 failed, 1 not run, 1 not required"),
        (["warn"], "1 warned"),
    ],
)
def test_rows_are_counted_in_words(verdicts, reported):
    assert rows.tally(rows.counts([{"verdict": one} for one in verdicts])) == reported
