"""A baseline is read, compared and kept, and nothing worse takes its place unasked."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import baseline

KEY = "sriov: pair.write_bw job-01 > job-02"


def figure(value, better="high", simulated=False):
    return {"key": KEY, "value": value, "unit": "Gb/s", "better": better, "simulated": simulated, "version": "6.1"}


def kept(value=90.0, better="high", simulated=False):
    return baseline.record(baseline.EMPTY, [figure(value, better, simulated)], "run-1", "2026-03-01T08:15:30Z")[0]


def test_what_is_written_is_read_again():
    made = kept()
    assert baseline.parse(baseline.text_of(made)) == made
    assert baseline.parse("") == baseline.EMPTY == {"format": 1, "entries": {}}


@pytest.mark.parametrize(
    "better, value, worse",
    [("high", 90.0, 0.0), ("high", 81.0, 10.0), ("high", 99.0, 0.0), ("low", 99.0, 10.0), ("low", 81.0, 0.0)],
)
def test_how_much_worse_a_figure_is(better, value, worse):
    reported = baseline.compare(kept(better=better), KEY, value)
    assert (reported["worse_percent"], reported["value"], reported["run"]) == (worse, 90.0, "run-1")


@pytest.mark.parametrize("key, value, simulated", [("other", 90.0, False), (KEY, None, False), (KEY, 90.0, True)])
def test_what_cannot_be_compared(key, value, simulated):
    assert baseline.compare(kept(), key, value, simulated) is None


@pytest.mark.parametrize(
    "new, keep, done, value",
    [
        (80.0, "missing", "kept", 90.0),
        (95.0, "missing", "kept", 90.0),
        (80.0, "better", "kept", 90.0),
        (95.0, "better", "replaced", 95.0),
        (80.0, "replace", "replaced", 80.0),
    ],
)
def test_a_worse_run_takes_no_place_unasked(new, keep, done, value):
    made, reported = baseline.record(kept(), [figure(new)], "run-2", "2026-03-02T08:15:30Z", keep)
    assert ([one["done"] for one in reported], made["entries"][KEY]["value"]) == ([done], value)


def test_lower_is_better_for_latency():
    made, _reported = baseline.record(kept(3.0, "low"), [figure(2.0, "low")], "run-2", "", "better")
    assert made["entries"][KEY]["value"] == 2.0


@pytest.mark.parametrize("was, now, done", [(False, True, "kept"), (True, False, "replaced")])
def test_a_simulated_figure_never_takes_the_place_of_a_real_one(was, now, done):
    _made, reported = baseline.record(kept(simulated=was), [figure(70.0, simulated=now)], "run-2", "", "replace")
    assert reported[0]["done"] == done


def test_recording_changes_nothing_that_was_there():
    old = kept()
    copy = json.loads(json.dumps(old))
    baseline.record(old, [figure(99.0)], "run-2", "", "replace")
    assert old == copy
    with pytest.raises(ValueError, match="keep"):
        baseline.record(old, [], "run-2", "", "always")


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"format": 2, "entries": {}}', '{"format": 1, "entries": {"a": {"value": "fast", "better": "high"}}}'],
)
def test_a_damaged_file_is_reported_and_not_taken_for_empty(text):
    with pytest.raises(OperatorError) as raised:
        baseline.parse(text, "baseline.json")
    assert raised.value.code == "baseline_damaged"
